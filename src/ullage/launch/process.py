# SPDX-License-Identifier: Apache-2.0
"""Run one plan: start the engine under a launcher, follow its records, end it when asked, and say how it ended."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Literal, TypeAlias

from ullage.errors import EXIT_ABORTED, EXIT_BAD_INPUT, EXIT_CASE_FAILED, EXIT_ENVIRONMENT, EXIT_OK, say
from ullage.launch.base import DeadRank, Launcher, is_one_node
from ullage.launch.running import HeartbeatMonitor, Running, silence_of
from ullage.launch.stopping import stop_signals
from ullage.model.plan import Plan
from ullage.model.record import EndRecord, EventRecord
from ullage.reading import end_of
from ullage.results.records import AnyRecord, RecordTail

EndStatus: TypeAlias = Literal["complete", "interrupted", "failed", "timeout"]
StopReason: TypeAlias = Literal["signal", "deadline", "silent", "no start", "enough"]

_POLL_S: Final = 0.2
_START_POLL_S: Final = 0.05
_STARTING_S: Final = 10.0
_START_S: Final = 60.0
_LONGEST_START_S: Final = 300.0
_CONTRACT_CAUSES: Final = frozenset(
    f"exit code {code}" for code in (EXIT_BAD_INPUT, EXIT_ENVIRONMENT, EXIT_CASE_FAILED, EXIT_ABORTED)
)
_LONG_REMOVAL_S: Final = 3.0
_ENGINE_MARK: Final = "ullage-engine:"
_CODES: Final[dict[EndStatus, int]] = {
    "complete": EXIT_OK,
    "failed": EXIT_CASE_FAILED,
    "interrupted": EXIT_ABORTED,
    "timeout": EXIT_ABORTED,
}


@dataclass(frozen=True)
class LaunchOutcome:
    """How a launch ended. ``exit_code`` and ``signal`` are the launcher's own; ``code`` is what all of it means.

    ``hang``: what the engine found hanging, in its words; ``stopped_ranks``: those of this node that were found stopped
    when the launch had given no sign of life for too long. ``silent_node``: all ranks of that node hang, by the engine.
    """

    exit_code: int | None
    signal: int | None
    records_path: Path
    last_status: EndStatus | None
    stderr_tail: str
    dead_ranks: list[DeadRank] = field(default_factory=list[DeadRank])
    stopped_by: StopReason | None = None
    elapsed_s: float = 0.0
    command: list[str] = field(default_factory=list[str])
    hang: str = ""
    stopped_ranks: list[int] = field(default_factory=list[int])
    silent_node: str = ""

    @property
    def lost_nodes(self) -> tuple[str, ...]:
        """The nodes that have failed, as far as anybody has said so."""
        gone = tuple(dead.node for dead in self.dead_ranks if dead.with_node)
        return gone or ((self.silent_node,) if self.silent_node else ())

    @property
    def code(self) -> int:
        """Exit code by docs/contract.md. Launchers change the codes of their ranks, so the end record goes first."""
        if self.last_status is not None:
            return _CODES[self.last_status]
        refused = self.exit_code in (EXIT_BAD_INPUT, EXIT_ENVIRONMENT) and not self.dead_ranks
        return self.exit_code if refused and self.exit_code is not None else EXIT_ABORTED

    @property
    def engine_said(self) -> str:
        """The engine's last own complaint among all that stands in ``stderr_tail``, without its name; empty: none."""
        lines = [line for line in self.stderr_tail.splitlines() if line.startswith(_ENGINE_MARK)]
        return lines[-1].removeprefix(_ENGINE_MARK).strip() if lines else ""

    @property
    def complete(self) -> bool:
        """Whether the engine did all of its plan and no case failed."""
        return self.last_status == "complete"


def deadline_of(plan: Plan) -> float | None:
    """Return the seconds after which a launch of ``plan`` is stuck for certain, or None without a budget.

    The engine keeps its budget to a repetition, and itself ends what hangs, by the limit of each stage. A launch that
    gives no sign of life is ended by ``silence_of``. This deadline is for what escapes both.
    """
    return None if plan.time_budget_s is None else 1.5 * plan.time_budget_s + 2 * plan.watchdog_s + 60


def start_limit_of(plan: Plan) -> float:
    """Return the seconds in which ranks of ``plan`` have to show that they are there."""
    return min(_LONGEST_START_S, _START_S + plan.layout.ranks) if is_one_node(plan.layout) else _LONGEST_START_S


@dataclass(frozen=True, slots=True)
class Timeouts:
    """How long a launch may take.

    ``deadline_s``: from start to end, None for ``deadline_of`` its plan; ``silence_s``: without a sign of life, None
    for ``silence_of`` its plan; ``start_timeout_s``: to its first sign of life, None for ``start_limit_of`` its plan;
    ``stop_grace_s``: from being asked to end to being killed; ``waits_for_removal``: it begins anew while data of the
    launch is being removed, unless it is asked again. ``is_enough`` tells, at every look at the records, whether no
    more of them are wanted.
    """

    deadline_s: float | None = None
    silence_s: float | None = None
    start_timeout_s: float | None = None
    stop_grace_s: float = 15.0
    waits_for_removal: bool = True
    is_enough: Callable[[], bool] | None = None


_USUAL_TIMEOUTS: Final = Timeouts()
_LONGEST_END: Final = 0.25
_SHORTEST_GRACE_S: Final = 0.5


def timeouts_within(seconds: float, plan: Plan) -> Timeouts:
    """Return the timeouts of a launch of ``plan`` that has to be gone after ``seconds``, killed where it must be.

    Its end is part of them: it is asked to end before, and has a quarter of the time for it at most.
    """
    grace_s = min(_USUAL_TIMEOUTS.stop_grace_s, max(_SHORTEST_GRACE_S, _LONGEST_END * seconds))
    usual_s = deadline_of(plan)
    least_s = max(0.0, seconds - grace_s)
    least_s = least_s if usual_s is None else min(usual_s, least_s)
    return Timeouts(least_s, stop_grace_s=grace_s, waits_for_removal=False)


def launch(
    engine: Path,
    launcher: Launcher,
    plan_path: Path,
    plan: Plan,
    stderr_path: Path,
    on_record: Callable[[AnyRecord], None] | None = None,
    timeouts: Timeouts = _USUAL_TIMEOUTS,
) -> LaunchOutcome:
    """Run ``plan`` and wait for its end; every new record goes to ``on_record``.

    SIGINT, SIGTERM and SIGHUP are handed to the ranks, which finish their repetition; a second one ends them at once,
    and what is left after ``timeouts.stop_grace_s`` is killed. The same is done at the deadline, when no sign of life
    has come in time, and when this process is killed; ranks that give no sign of life are killed at once.
    Raise ``UserError`` (exit code 3) when the launcher cannot be started.
    """
    records_path = Path(plan.records)
    tail = RecordTail(records_path, records_path.stat().st_size if records_path.exists() else 0)
    usual = {"deadline_s": deadline_of, "silence_s": silence_of, "start_timeout_s": start_limit_of}
    timeouts = replace(timeouts, **{name: of(plan) for name, of in usual.items() if getattr(timeouts, name) is None})
    signs, stop_file = HeartbeatMonitor(records_path), records_path.with_name(f"{records_path.name}.stop")
    watch = _Watch(tail, signs, stop_file, plan.layout.ranks, on_record, timeouts)
    caught: list[int] = []
    with stderr_path.open("ab") as stderr, stop_signals(caught.append):
        running = Running.start(engine, launcher, plan_path, plan.layout, stderr, timeouts.stop_grace_s)
        try:
            watch.follow(running, caught)
        finally:
            running.kill()
    if caught and watch.stopped_by is None:  # after the last look at a launch that was about to end
        watch.stopped_by = "signal"
    return _outcome(running, watch, launcher, records_path, stderr_path)


@dataclass
class _Watch:
    """Follows a running launch: hands records on, and ends it step by step (ask, ask again, kill) when it must end."""

    _tail: RecordTail
    _signs: HeartbeatMonitor
    _stop_file: Path
    _ranks: int
    _on_record: Callable[[AnyRecord], None] | None
    _timeouts: Timeouts
    last_status: EndStatus | None = None
    stopped_by: StopReason | None = None
    hang: str = ""
    silent_node: str = ""
    stopped_ranks: list[int] = field(default_factory=list[int])
    _knows_ranks: bool = False
    _has_told: bool = False
    _is_slow: bool = False
    _has_records: bool = False
    _asked: int = 0
    _first_asked: float = 0.0
    _has_told_of_removal: bool = False

    @property
    def ended_oddly(self) -> bool:
        """Without an end record, or interrupted by nobody here: a launcher asks the others to end when a rank dies."""
        return self.last_status is None or (self.last_status == "interrupted" and self.stopped_by is None)

    def lost_host(self, running: Running) -> list[DeadRank]:
        """Return the host whose connection ended first, where nobody ended a launch that had begun."""
        was_ended = self.stopped_by is not None or self.last_status is not None or not self._has_records
        if was_ended or not running.lost_host or (running.launcher.poll() or 0) < 0:
            return []
        return [DeadRank(None, running.lost_host, "its daemon is gone", with_node=True)]

    def follow(self, running: Running, caught: list[int]) -> None:
        """Follow the launch until the launcher has ended or has run out of grace."""
        # While ranks start, looks are close together, so that an early death is seen; then they disturb nobody.
        while not running.wait(_POLL_S if self._knows_ranks or self._is_slow else _START_POLL_S):
            self._learn(running)
            self._read()
            if self._out_of_grace(running, caught):
                break
        self._read()
        self._signs.forget()

    def _learn(self, running: Running) -> None:
        """Look for ranks, through /proc, until the first record shows that all are there; then tell the supervisor."""
        if not self._knows_ranks:
            self._is_slow = time.monotonic() - running.started > _STARTING_S
            running.learn_ranks()
            self._knows_ranks = self._has_records or running.ranks_seen >= self._ranks
        if self._has_records and not self._has_told:
            self._has_told = True
            running.launcher.has_started_all()

    def _read(self) -> None:
        for record in self._tail.poll():
            self._has_records = True
            if isinstance(record, EndRecord):
                self.last_status = record.status
            if isinstance(record, EventRecord) and record.code == "timeout":
                self.hang = record.text
                is_whole = record.text.startswith(f"node {record.node} ")
                self.silent_node = record.node if is_whole and record.node else ""
            if self._on_record is not None:
                self._on_record(record)

    def _out_of_grace(self, running: Running, caught: list[int]) -> bool:
        now = time.monotonic()
        silent_s = self._signs.silent_s(now)
        if self._timeouts.silence_s is not None and silent_s > self._timeouts.silence_s:
            self.stopped_by = "silent"
        self.stopped_by = self.stopped_by or self._reason(now - running.started, caught)
        if self.stopped_by is None:
            return False
        if self.stopped_by == "silent":
            self.stopped_ranks = running.stopped_ranks()
            return True
        wanted = max(1, min(2, len(caught)))
        if self._asked < wanted:
            self._first_asked = self._first_asked or now
            self._asked += 1
            # Ranks look for the file once they have begun, and only once.
            running.ask_to_end(self._stop_file if self._has_records and self._asked == 1 else None)
        return now - self._grace_began(now) > self._timeouts.stop_grace_s

    def _grace_began(self, now: float) -> float:
        """Return since when the launch has had its grace. Removal has the time it needs while it makes progress."""
        removed_at = self._signs.removed_at
        if not self._timeouts.waits_for_removal or self._asked > 1 or removed_at <= self._first_asked:
            return self._first_asked
        if now - self._first_asked > _LONG_REMOVAL_S and not self._has_told_of_removal:
            self._has_told_of_removal = True
            say("data of the run is being removed; interrupt again to leave it where it is")
        return removed_at

    def _reason(self, elapsed_s: float, caught: list[int]) -> StopReason | None:
        if caught:
            return "signal"
        limit_s = self._timeouts.deadline_s
        if limit_s is not None and elapsed_s > limit_s:
            return "deadline"
        if self._timeouts.is_enough is not None and self._timeouts.is_enough():
            return "enough"
        start_s = None if self._has_records or self._signs.were_seen else self._timeouts.start_timeout_s
        return "no start" if start_s is not None and elapsed_s > start_s else None


def _outcome(
    running: Running, watch: _Watch, launcher: Launcher, records_path: Path, stderr_path: Path
) -> LaunchOutcome:
    returned = running.launcher.poll() or 0
    tail = end_of(stderr_path)
    reported = launcher.dead_ranks(tail) or ([] if _ENGINE_MARK in tail else watch.lost_host(running))
    return LaunchOutcome(
        exit_code=returned if returned >= 0 else None,
        signal=-returned if returned < 0 else None,
        records_path=records_path,
        last_status=watch.last_status,
        stderr_tail=tail,
        dead_ranks=_dead_ranks(reported, running.first_ended) if watch.ended_oddly else [],
        stopped_by=watch.stopped_by,
        elapsed_s=time.monotonic() - running.started,
        command=running.command,
        hang=watch.hang,
        stopped_ranks=watch.stopped_ranks,
        silent_node=watch.silent_node,
    )


def _dead_ranks(reported: list[DeadRank], first_ended: int | None) -> list[DeadRank]:
    """Return ``reported`` without ends by the contract's exit codes; one without a rank is the first seen ending."""
    dead = [rank for rank in reported if rank.cause not in _CONTRACT_CAUSES]
    return [replace(one, rank=first_ended) if one.rank is None and not one.with_node else one for one in dead]
