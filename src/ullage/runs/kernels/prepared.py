# SPDX-License-Identifier: Apache-2.0
"""Work without storage that was checked against engine and machine, ready to be explained or run.

It runs launch by launch, what the first results ask for, then peers.
"""

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Self

from ullage.engine import find_registered, validate_parameters
from ullage.errors import EXIT_OK
from ullage.grouping import grouped
from ullage.identity import case_id
from ullage.model.describe import Describe, Registered
from ullage.model.plan import Case, Layout, Limits, Named, Parameters, Plan, Target
from ullage.model.request import Request
from ullage.quantity import plural
from ullage.results.events import failed_cases
from ullage.results.folder import ResultFolder
from ullage.results.records import read_records
from ullage.runs.execution import (
    GENEROUS,
    LAUNCHES,
    SHORTEST_S,
    Deadline,
    Execution,
    read_progress,
    share_out,
    too_short,
)
from ullage.runs.jobtime import CaseWork, Work
from ullage.runs.kernels.options import CaseOptions
from ullage.runs.peer_runs import KernelPeers, PeerJob, PeerRuns
from ullage.runs.session import Ended, Needed, Note, Session, note_once
from ullage.runs.suite import HEADLINE_REPETITIONS, Explanation
from ullage.units import format_time

LAYOUT: Final = Layout(ranks=1, nodes=1)
# A repetition takes so long besides its windows: for their calibration, clock readings, and the engine's own work.
_AROUND_S: Final = 0.1
_NO_BACKEND: Final = Named(name="null")


@dataclass(frozen=True)
class KernelCase:
    """A case without storage, and how it is explained.

    ``words``: cells of the table that explains it. ``seconds``: expected of one repetition.

    Cases with the same ``launch`` and ``layout`` share a launch of the engine, and are interleaved in it. An
    ``optional`` case is a try: that it fails is worth a note, and no failure of the run. ``is_windowed``: a repetition
    never takes less than ``seconds``.
    """

    case: Case
    target: Target
    words: tuple[str, ...]
    seconds: float
    launch: str = ""
    optional: bool = False
    layout: Layout = LAYOUT
    is_windowed: bool = False


def kernel_case(
    workload: str,
    parameters: Parameters,
    target: Target,
    words: Iterable[str],
    description: Describe,
    *,
    seconds: float | None = None,
    launch: str = "",
    layout: Layout = LAYOUT,
) -> KernelCase:
    """Make a case.

    ``seconds``: of one repetition, where it is not that of the workload's windows. ``layout``: one rank here by
    default. Raise ``UserError`` where the engine has no such workload, or would refuse ``parameters``.
    """
    named = Named(name=workload, parameters=validate_parameters(description, "workload", workload, parameters))
    identity = case_id(_NO_BACKEND, named, target, layout)
    case = Case(id=identity, target=target.name, backend=_NO_BACKEND, workload=named)
    expected = windows_s(find_registered(description, "workload", workload), parameters) if seconds is None else seconds
    return KernelCase(case, target, tuple(words), expected, launch, layout=layout, is_windowed=seconds is None)


def windows_s(workload: Registered, parameters: Parameters) -> float:
    """Return the seconds of one repetition of a windowed workload: warm-up, windows, and what is around them."""
    defaults = {parameter.name: parameter.default for parameter in workload.parameters}

    def number(name: str) -> float:
        value = parameters.get(name, defaults.get(name, 0))
        return float(value) if isinstance(value, (int, float)) else 0.0

    return number("warm_up_s") + number("windows") * number("window_s") + _AROUND_S


_SHORTEST_PATIENCE_S: Final = 120.0
# A case may take so many times its expected time before it counts as hanging.
_MOST_SURPRISE: Final = 20
LAUNCH_S: Final = 1.0
_FIRST_LOOK_S: Final = 2.0
# The starts of further launches may take this share of the work's time.
_MOST_STARTS: Final = 0.1
# These shares of the time are kept back for cases that the first results ask for, and for those that these ask for.
_MORE_SHARE: Final = 0.2
_LATER_SHARE: Final = 0.4


@dataclass(frozen=True)
class PreparedKernels:
    """See ``Prepared``. ``headers``: of the cases' ``words``.

    ``more``: cases that only what was measured can ask for; called after all ``cases`` have run, and again after those
    it has named, until it names no new ones. ``notes`` become events of the run.
    """

    request: Request
    options: CaseOptions
    headers: tuple[str, ...]
    cases: Sequence[KernelCase]
    peers: KernelPeers | None = None
    notes: tuple[Note, ...] = ()
    more: Callable[[Session], Sequence[KernelCase]] | None = None

    @property
    def unsettled(self) -> str:
        """See ``Prepared``: nothing is measured to make the plans."""
        return ""

    def explain(self) -> Explanation:
        options, groups = self.options, by_launch(self.cases)
        limit = "" if options.time_s is None else f", in {format_time(options.time_s)} at most"
        head = [
            f"Cases: {len(self.cases)} in {len(groups)} launch{'es' if len(groups) > 1 else ''}{limit}.",
            f"Each is repeated {options.repetitions} times; order shuffled with seed {options.seed}.",
            *(f"{note.text}; {note.advice}." for note in self.notes),
        ]
        rows = [[*case.words, format_time(case.seconds), case.case.id] for case in self.cases]
        total_s = len(groups) * LAUNCH_S + options.repetitions * sum(case.seconds for case in self.cases)
        tail = [f"All of it takes about {format_time(round(total_s, 1))}."]
        if options.time_s is not None and total_s > options.time_s:
            tail.append("That is more than the time allows: some cases would get fewer repetitions, and be flagged.")
        if options.peer and self.peers is not None:
            tail += self.peers.lines
        return Explanation(head, [*self.headers, "each takes about", "case"], rows, tail)

    def work(self) -> Work:
        """See ``Costed``, without what only measurements can ask for."""
        times = self.options.repetitions
        launches = by_launch(self.cases).values()
        work = [[CaseWork(case.case.id, case.seconds, times) for case in launch] for launch in launches]
        return Work(work, is_firm=all(case.is_windowed for case in self.cases))

    def plans(self, result: ResultFolder) -> list[Plan]:
        """See ``Prepared``: one for each launch, without what only measurements can ask for."""
        groups = by_launch(self.cases).values()
        all_s = sum(expected_s(group) for group in groups)
        share = None if self.options.time_s is None else self.options.time_s / all_s
        return [
            self.plan(group, str(result.records_path(number)), None if share is None else share * expected_s(group))
            for number, group in enumerate(groups, start=1)
        ]

    def plan(
        self,
        cases: Sequence[KernelCase],
        records: str,
        seconds: float | None,
        prior: Mapping[str, dict[str, list[int]]] | None = None,
        times: int | None = None,
    ) -> Plan:
        """Return the plan of one launch; all ``cases`` have one layout.

        ``prior``: earlier elapsed ns by case and phase. ``times``: repetitions in all, where not those asked for.
        """
        known = prior or {}
        targets = {case.target.name: case.target for case in cases}
        return Plan(
            run_id=self.request.run_id,
            suite=self.request.suite,
            records=records,
            seed=self.options.seed,
            layout=cases[0].layout,
            targets=list(targets.values()),
            stop_rule=Named(name="fixed", parameters={"count": times or self.options.repetitions}),
            time_budget_s=seconds,
            watchdog_s=self.options.watchdog_s
            or max(_SHORTEST_PATIENCE_S, _MOST_SURPRISE * max(case.seconds for case in cases)),
            limits=Limits(),
            cases=[case.case.model_copy(update={"prior_elapsed_ns": known.get(case.case.id, {})}) for case in cases],
        )

    def run(self, session: Session, now: Callable[[], float] = time.monotonic) -> int:
        """See ``Prepared``. ``now``: a clock in s."""
        if session.needed is not None:
            return self._only(session.needed).run_alone(session, now)
        runs = PeerRuns(session, now)
        peers = self.peers if self.options.peer else None
        if peers is not None and peers.in_turn and (jobs := peers.jobs(session)):
            return self._in_turn(session, now, runs, jobs)
        return self.run_alone(session, now, peers)

    def run_alone(self, session: Session, now: Callable[[], float], peers: KernelPeers | None = None) -> int:
        """Run all cases in their launches, then ``peers`` as far as they fit into the time; return the exit code."""
        execution = KernelExecution(session, read_progress(session), self)
        deadline = execution.deadline(now)
        cases = execution.follow(deadline)
        if peers is not None and execution.may_go_on:
            runs, jobs = PeerRuns(session, now), peers.jobs(session)
            runs.measure(jobs, rounds=1, deadline=deadline)
            runs.note_left_out(jobs)
        execution.note(cases)
        return execution.code

    def _only(self, needed: Needed) -> Self:
        """Return the same with nothing but the ``needed`` cases, each with samples enough for an interval."""
        cases = [case for case in self.cases if needed(case.case, case.layout)]
        times = max(HEADLINE_REPETITIONS, self.options.repetitions)
        return replace(self, cases=cases, options=self.options.model_copy(update={"repetitions": times}), more=None)

    def _in_turn(self, session: Session, now: Callable[[], float], runs: PeerRuns, jobs: Sequence[PeerJob]) -> int:
        """Run one repetition of ours and the peers by turns, so that both see the machine in the same state.

        Return the worst exit code.
        """
        code, deadline = EXIT_OK, KernelExecution(session, read_progress(session), self).deadline(now)
        for count in range(1, self.options.repetitions + 1):
            options = self.options.model_copy(update={"repetitions": count})
            execution = KernelExecution(session, read_progress(session), replace(self, options=options))
            execution.note(execution.follow(deadline))
            code = max(code, execution.code)
            if not execution.may_go_on or session.was_stopped or not execution.has_all(count):
                return code
            runs.measure(jobs, rounds=count, deadline=deadline)
        runs.note_left_out(jobs)
        return code


@dataclass
class KernelExecution(Execution):
    """A run under way: launch by launch, then what the first results ask for."""

    prepared: PreparedKernels
    _last: int = field(default=0, init=False)

    def follow(self, deadline: Deadline | None) -> list[KernelCase]:
        """Run all launches until ``deadline`` and return the cases that they were for."""
        prepared = self.prepared
        cases = list(prepared.cases)
        # Where the first results may ask for more, they must not have taken all of the time.
        tries_s = 0.0 if deadline is None or prepared.more is None else _MORE_SHARE * deadline.left_s
        self.launch_all(cases, None if deadline is None else deadline.earlier(tries_s))
        while extra := self.more(cases):
            kept_s = 0.0 if deadline is None else _LATER_SHARE * deadline.left_s
            self.launch_all(extra, None if deadline is None else deadline.earlier(kept_s))
            cases += extra
        return cases

    def expected(self) -> Mapping[str, float]:
        return {case.case.id: case.seconds for case in self.prepared.cases}

    def has_all(self, count: int) -> bool:
        """Tell whether each case has ``count`` repetitions, or has failed; False once the time was too short."""
        found = [self.progress.of(case.case.id) for case in self.prepared.cases]
        return all(case.has_failed or len(case.counted) >= count for case in found)

    def lacking(self, cases: Sequence[KernelCase]) -> list[KernelCase]:
        """Return the cases with too few repetitions, without those that failed."""
        return [case for case in cases if self.progress.lacks(case.case.id, self.prepared.options.repetitions)]

    def deadline(self, now: Callable[[], float]) -> Deadline | None:
        """Return the end of the time that earlier launches have not used, or None without a limit.

        A run that is gone on with gets enough for what it lacks.
        """
        least_s = GENEROUS * self._estimate(self.lacking(self.prepared.cases)) if self.progress.repetitions else 0.0
        left_s = self.seconds_left(self.prepared.options.time_s, least_s, self.progress.seconds)
        return None if left_s is None else Deadline(now() + left_s, now)

    def _estimate(self, cases: Sequence[KernelCase], times: int | None = None) -> float:
        wanted = self.prepared.options.repetitions if times is None else times
        counted = ((case, len(self.progress.of(case.case.id).counted)) for case in cases)
        return LAUNCH_S + sum(max(0, wanted - done) * case.seconds for case, done in counted)

    def more(self, cases: Sequence[KernelCase]) -> list[KernelCase]:
        """Return the cases that the results so far ask for, besides ``cases``."""
        if self.prepared.more is None or not self.may_go_on:
            return []
        known = {case.case.id for case in cases}
        return [case for case in self.prepared.more(self.session) if case.case.id not in known]

    def launch_all(self, cases: Sequence[KernelCase], deadline: Deadline | None) -> None:
        """Give every case its repetitions, as far as the time goes, by several launches in turn with others."""
        made, left, times = 0, 0, self.prepared.options.repetitions
        while left != 1 and self.may_go_on and (lacking := self.lacking(cases)):
            left = self._launches_left(lacking, made, deadline)
            done = min(len(self.progress.of(case.case.id).counted) for case in lacking)
            if not self._launch_round(lacking, done + math.ceil((times - done) / left), deadline):
                return
            made += 1

    def _launches_left(self, cases: Sequence[KernelCase], made: int, deadline: Deadline | None) -> int:
        """Return in how many launches ``cases`` get what they lack, after so many ``made``.

        They are few where starts would take much of the time, and one where the time or that of a batch job is too
        short for all.
        """
        groups = by_launch(cases).values()
        job, work_s, starts_s = self.session.job_time, sum(map(self._estimate, groups)), LAUNCH_S * len(groups)
        ends = [end.left_s for end in (job, deadline) if end is not None]
        spare_s = min([_MOST_STARTS * work_s, *(left_s - work_s for left_s in ends)])
        return max(1, min(LAUNCHES, self.prepared.options.repetitions, 1 + int(spare_s / starts_s)) - made)

    def _launch_round(self, cases: Sequence[KernelCase], times: int, deadline: Deadline | None) -> bool:
        """Launch each group once; each has its part of what is left of the time. Return False where that is over.

        Tries get all of their repetitions at once.
        """
        groups = list(by_launch([case for case in cases if self.progress.lacks(case.case.id, times)]).values())
        all_s = sum(self._estimate(group) for group in by_launch(cases).values())
        for group in groups:
            seconds = None
            if deadline is not None:
                own_s = self._estimate(group, times)
                seconds = share_out(deadline.left_s, [own_s, max(0.0, all_s - own_s)]) - LAUNCH_S
                all_s -= own_s
            if not self.may_go_on:
                return False
            if seconds is not None and not self.progress.repetitions:
                # However short the time, a run that was begun says something.
                seconds = max(seconds, _FIRST_LOOK_S)
            elif seconds is not None and seconds < SHORTEST_S:
                return False
            self._launch(group, seconds, self.prepared.options.repetitions if group[0].optional else times)
        return True

    def _launch(self, group: Sequence[KernelCase], seconds: float | None, times: int) -> None:
        result = self.session.result
        number = result.next_launch()
        known = {case.case.id: self.progress.of(case.case.id) for case in group}
        to_do = sum(times - len(found.counted) for found in known.values())
        left_s = seconds if seconds is not None else GENEROUS * times * expected_s(group)
        of = f" of {group[0].launch}" if group[0].launch else ""
        self.session.progress.stage(f"{plural(len(group), 'case')}{of}", to_do, left_s)
        prior = {case: found.prior_elapsed_ns for case, found in known.items()}
        plan: Plan = self.prepared.plan(group, str(result.records_path(number)), seconds, prior, times)
        ended = self.attempt(number, plan)
        if result.records_path(number).exists():
            self._last = number
        if all(case.optional for case in group) and not ended.was_stopped:
            self._forgive(group, ended)
            return
        self.take(ended)

    def _forgive(self, tried: Sequence[KernelCase], ended: Ended) -> None:
        """Let the run go on after a try that gave nothing, and note for the reader why there are no numbers."""
        if ended.message:
            self.session.messages.remove(ended.message)
        if ended.code != EXIT_OK and self._last:
            failed = failed_cases([read_records(self.session.result.records_path(self._last)).records])
            why = ended.message or (failed[0].text.removeprefix(": ") if failed else "its cases failed")
            self.session.note(self._last, "info", "try-failed", f"{tried[0].launch} was tried in vain: {why}")

    def note(self, cases: Sequence[KernelCase]) -> None:
        """Note what a reader must know as events of a launch, once, however often the run is gone on with.

        Raise ``UserError`` where the time was too short for a single repetition.
        """
        options, notes = self.prepared.options, [*self.prepared.notes]
        if (lacking := len(self.lacking(cases))) and self.may_go_on:
            self.check_any(options.time_s, "or ask for fewer cases")
            if options.time_s is not None:
                advice = "give more --time, or run fewer cases"
                notes.append(too_short(lacking, len(cases), options.repetitions, options.time_s, advice))
        if self._last:
            note_once(notes, self.session, self._last)


def by_launch(cases: Sequence[KernelCase]) -> dict[tuple[str, str], list[KernelCase]]:
    """Group the cases of each launch, each case once, launches in the order in which they are first met."""
    return grouped(
        ((case.launch, case.layout.model_dump_json()), case) for case in {case.case.id: case for case in cases}.values()
    )


def expected_s(cases: Sequence[KernelCase]) -> float:
    """Return the sum of the seconds of one repetition of each case."""
    return sum(case.seconds for case in cases)
