# SPDX-License-Identifier: Apache-2.0
"""Peers in turn with us: which of their jobs is due, within which time, and what comes of it.

A suite says which job stands beside which of its cases, as ``PeerJob``; counting, resuming, giving up, notes and the
lines of ``peers.ndjson`` are here.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Final, Protocol, TypeAlias

from ullage.model.record import PeerRecord
from ullage.peers import Installed, PeerError
from ullage.peers.hpcc import PEER as HPCC
from ullage.peers.hpcc import HpccAnswer, HpccJob, expected_s, hpcc_command, run_hpcc
from ullage.runs.execution import Deadline
from ullage.runs.session import Note, Session, note_once
from ullage.units import format_time

# A run that was begun gets so long at least, however little time is left.
_SHORTEST_LIMIT_S: Final = 2.0


@dataclass(frozen=True, slots=True)
class PeerNumbers:
    """What a tool gave for one phase of one case, by the name of the metric."""

    case: str
    phase: str
    values: dict[str, float]
    version: str
    command: list[str]


@dataclass(frozen=True)
class PeerJob:
    """Work that ``tool`` does beside ``cases`` of ours.

    ``run`` gives numbers one by one, in about ``limit_s`` at most, None: in its own time; ``PeerError`` where there is
    none. ``expected_s`` is what it takes by what is known of ours, ``start_s`` what that leaves out until it was seen.
    ``what`` stands in the sentence on a failure, ``stage`` in that on what goes on, ``note`` is for whoever reads the
    numbers. It is tried until it has failed ``tries`` times in a row, and not at all after ``max_failures`` of its
    tool with no success.
    """

    tool: str
    cases: tuple[str, ...]
    run: Callable[[float | None], Iterable[PeerNumbers]]
    expected_s: float = 0.0
    start_s: float = 0.0
    what: str = ""
    stage: str = ""
    note: Note | None = None
    tries: int = 1
    max_failures: int = 3

    @property
    def key(self) -> tuple[str, tuple[str, ...]]:
        """The same job is known by it however often it is made."""
        return self.tool, self.cases


@dataclass
class PeerRuns:
    """All runs of peers into one result. ``now``: a clock in s."""

    session: Session
    now: Callable[[], float] = time.monotonic
    _counts: dict[tuple[str, str], int] = field(default_factory=dict[tuple[str, str], int])
    _seconds: dict[object, float] = field(default_factory=dict[object, float])
    _longer: dict[str, list[float]] = field(default_factory=dict[str, list[float]])
    _failures: dict[object, int] = field(default_factory=dict[object, int])

    def __post_init__(self) -> None:
        """Go on counting where an earlier part of the run has ended."""
        for record in self.session.result.read_peers():
            key = record.case, record.tool
            self._counts[key] = max(self._counts.get(key, 0), record.repetition + 1)

    def count(self, job: PeerJob) -> int:
        """Return how many numbers each case of ``job`` has at least."""
        return min((self._counts.get((case, job.tool), 0) for case in job.cases), default=0)

    def may_run(self, job: PeerJob) -> bool:
        """Tell whether it makes sense to try ``job``, by how often it and its tool have failed."""
        works = any(tool == job.tool for _, tool in self._counts)
        has_given_up = not works and self._failures.get(job.tool, 0) >= job.max_failures
        return not has_given_up and self._failures.get(job.key, 0) < job.tries

    def seconds(self, job: PeerJob) -> float:
        """Return how long it will take: as long as last time, else as expected and what others took beyond that."""
        known = self._seconds.get(job.key)
        longer = self._longer.get(job.tool)
        return known if known is not None else job.expected_s + (median(longer) if longer else job.start_s)

    def measure(self, jobs: Iterable[PeerJob], rounds: int | None = None, deadline: Deadline | None = None) -> None:
        """Run each of ``jobs`` once, unless it has ``rounds`` numbers already; those with the fewest come first.

        A job that would end after ``deadline`` is left out.
        """
        possible = [job for job in jobs if self.may_run(job) and (rounds is None or self.count(job) < rounds)]
        todo = sorted(possible, key=self.count)
        if deadline is not None and deadline.left_s <= 0:
            return
        stage = ""
        for job in todo:
            if not self.may_run(job) or (deadline is not None and deadline.left_s < self.seconds(job)):
                continue
            if job.stage != stage:
                stage = job.stage
                alike = sum(self.seconds(one) for one in todo if one.stage == stage)
                self.session.progress.stage(stage, 0, alike if deadline is None else deadline.left_s)
            self._measure(job, rounds, deadline)

    def note_left_out(self, jobs: Iterable[PeerJob]) -> None:
        """Note which tools have no number because they would have taken longer than what was left of the time."""
        lacking = [job for job in jobs if not self.count(job) and self.may_run(job) and job.key not in self._failures]
        for tool in dict.fromkeys(job.tool for job in lacking):
            takes_s = sum(self.seconds(job) for job in lacking if job.tool == tool)
            what = (
                f"{tool} was left out: it takes about {format_time(round(takes_s, 1))}, more than was left of the time"
            )
            note_once([Note("peer-left-out", what, "give more --time")], self.session)

    def _measure(self, job: PeerJob, rounds: int | None, deadline: Deadline | None) -> None:
        counts = {case: self._counts.get((case, job.tool), 0) for case in job.cases}
        began = self.now()
        try:
            for numbers in job.run(None if deadline is None else max(_SHORTEST_LIMIT_S, deadline.left_s)):
                if rounds is None or counts[numbers.case] < rounds:
                    self.session.result.append_peer(
                        PeerRecord(
                            case=numbers.case,
                            phase=numbers.phase,
                            tool=job.tool,
                            version=numbers.version,
                            repetition=counts[numbers.case],
                            values=numbers.values,
                            command=numbers.command,
                        )
                    )
        except PeerError as error:
            for key in (job.tool, job.key):
                self._failures[key] = self._failures.get(key, 0) + 1
            note_once([Note("peer-failed", f"{job.tool} gave no number{job.what}: {error}")], self.session)
            return
        took_s = self.now() - began
        self._failures[job.key] = 0
        self._counts.update({(case, job.tool): count + 1 for case, count in counts.items()})
        self._seconds[job.key] = took_s
        self._longer.setdefault(job.tool, []).append(max(0.0, took_s - job.expected_s))
        if job.note is not None:
            note_once([job.note], self.session)


@dataclass(frozen=True)
class KernelPeers:
    """What other tools do beside ours: after all of ours, or, ``in_turn``, after each repetition of them.

    ``jobs`` looks for what is installed, and may ask for what was measured so far; ``lines`` explain it.
    """

    jobs: Callable[[Session], Sequence[PeerJob]]
    lines: tuple[str, ...] = ("What is installed of the peers is run afterwards; `ullage peers` names them.",)
    in_turn: bool = False


class RunHpcc(Protocol):
    """Does a job, in ``limit_s`` at most; ``PeerError`` when it gives no number."""

    def __call__(self, program: Installed, job: HpccJob, *, limit_s: float) -> HpccAnswer:
        """Run ``job`` and return what it says."""
        ...


@dataclass(frozen=True)
class Hpcc:
    """hpcc as this machine has it, which tells in one run what stands beside many cases. ``run`` does a job."""

    program: Installed
    run: RunHpcc = run_hpcc


HpccValues: TypeAlias = Callable[[HpccAnswer], Iterable[tuple[str, str, dict[str, float]]]]
"""Returns case, phase and values by metric, of an answer."""
# hpcc may take so many times its expected time, which was estimated for another core; pairs alone may take 40 s.
_PATIENCE: Final = 5.0
_LEAST_LIMIT_S: Final = 120.0


def hpcc_job(hpcc: Hpcc, job: HpccJob, cases: Iterable[str], values: HpccValues, stage: str) -> PeerJob:
    """Return one run of hpcc beside ``cases`` as a job."""
    likely_s = expected_s(job)

    def run(limit_s: float | None) -> Iterable[PeerNumbers]:
        patience_s = max(_LEAST_LIMIT_S, _PATIENCE * likely_s)
        answer = hpcc.run(hpcc.program, job, limit_s=patience_s if limit_s is None else min(limit_s, patience_s))
        for case, phase, found in values(answer):
            yield PeerNumbers(case, phase, found, answer.version, hpcc_command(hpcc.program, job))

    return PeerJob(HPCC.name, tuple(cases), run, likely_s, stage=stage)
