# SPDX-License-Identifier: Apache-2.0
"""The launches of one run: each leaves its plan and records in the result, says how it ended, and may bear notes."""

import contextlib
import json
import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, Protocol, TypeAlias

from ullage.errors import EXIT_ABORTED, EXIT_BAD_INPUT, EXIT_CASE_FAILED, EXIT_ENVIRONMENT, EXIT_OK, UserError
from ullage.identity import plan_bytes
from ullage.launch.base import DeadRank, Launcher
from ullage.launch.process import LaunchOutcome, Timeouts, launch, timeouts_within
from ullage.launch.reach import unusable_hosts
from ullage.launch.running import silence_of
from ullage.launch.stopping import stop_signals
from ullage.model.plan import Case, Layout, Plan
from ullage.model.record import CaseRecord, EventRecord
from ullage.quantity import listing
from ullage.results.folder import ResultFolder, append_line, write_atomically
from ullage.results.records import AnyRecord
from ullage.results.start_errors import telling_lines, why_apart
from ullage.runs.inputs import EngineContext
from ullage.runs.progress import Progress
from ullage.system.allocation import node_names, nodes_lost

if TYPE_CHECKING:
    from ullage.runs.jobtime import JobTime

# Where less than this is free, a line of the records may have found no room.
_LEAST_ROOM_BYTES: Final = 1 << 20
_REPLACE: Final = "rows of this launch are of other nodes than those that follow; have the node checked"
Listener: TypeAlias = Callable[[AnyRecord], None]
Needed: TypeAlias = Callable[[Case, Layout], bool]
"""Tells which cells are to be measured."""
Start: TypeAlias = Callable[[Path, Launcher, Path, Plan, Path, Listener], LaunchOutcome]


class Watch(Protocol):
    """Hears the records of a launch, and tells whether no more of them are wanted."""

    def hear(self, record: AnyRecord) -> None:
        """Take a record."""
        ...

    def is_enough(self) -> bool:
        """Tell whether the launch may end; asked several times a second, so it has to be quick."""
        ...


class Meeting(Protocol):
    """Where runs on several nodes wait for each other, so that they load what they share at the same time."""

    def await_others(self, stage: str) -> None:
        """Wait until all are at ``stage`` or beyond, have ended, or take too long."""
        ...


@dataclass(frozen=True)
class Ended:
    """How a launch ended, as far as a suite cares. ``code`` is by docs/contract.md; ``seconds`` are of wall time.

    ``message``: for people, when the run must not go on. ``lost``: nodes that have failed, without which it may;
    ``hung``: they gave no sign of life.
    """

    code: int
    seconds: float
    was_stopped: bool = False
    message: str = ""
    lost: tuple[str, ...] = ()
    hung: bool = False

    @property
    def may_go_on(self) -> bool:
        """A failed case does not end a run; everything else that is not well does."""
        return self.code in (EXIT_OK, EXIT_CASE_FAILED)


LEFT_BEHIND: Final = "left-behind"
"""Code of the event that says what could not be removed at a target."""


@dataclass(eq=False)
class Session:
    """Launches plans into one result, and shows how it goes on.

    ``seconds``: time to measure in, when it is not the one in the request. ``start``: launches, in the place of
    ``launch``. ``watch``: ends a launch early. ``messages``: why the run must not go on;
    ``was_stopped``: because somebody has asked for it. ``ends_at``: when its launches have to be gone, by
    ``time.monotonic()``; None: when their plans say. ``had_enough``: a launch was ended because no more was wanted.
    ``meeting``: where the first launch into each result waits for those of other nodes.
    ``job_time``: of the batch job that we are in, where that has a limit. ``lost``: nodes that have failed, on which
    nothing is started any more. ``left``: why launches could not remove what they have left at targets. ``tried``:
    hosts on which the engine was started for a try.
    ``needed``: tells which cells are to be measured, where it is not all of them. ``enough``: repetitions of a cell
    that will do where the time is short, if those are fewer than its options ask for.
    """

    result: ResultFolder
    engine_context: EngineContext
    launcher: Launcher
    progress: Progress
    seconds: float | None = None
    start: Start | None = None
    ends_at: float | None = None
    watch: Watch | None = None
    meeting: Meeting | None = None
    job_time: "JobTime | None" = None
    lost: list[str] = field(default_factory=list[str])
    left: list[str] = field(default_factory=list[str])
    tried: set[str] = field(default_factory=set[str])
    messages: list[str] = field(default_factory=list[str], init=False)
    was_stopped: bool = field(default=False, init=False)
    had_enough: bool = field(default=False, init=False)
    needed: Needed | None = field(default=None, init=False)
    enough: int | None = field(default=None, init=False)
    _has_met: bool = field(default=False, init=False)

    def within(
        self,
        result: ResultFolder,
        seconds: float | None = None,
        *,
        on_this_node: bool = False,
        ends_at: float | None = None,
        watch: Watch | None = None,
    ) -> "Session":
        """Return a session for the same launches into another result.

        ``seconds`` and ``ends_at``: its times, where they are not the same; ``on_this_node``: launch here, whatever
        hosts are named; ``watch``: ends a launch early, after the repetition under way.
        """
        return replace(
            self,
            result=result,
            launcher=self.launcher.on_this_node() if on_this_node else self.launcher,
            seconds=self.seconds if seconds is None else seconds,
            ends_at=self.ends_at if ends_at is None else ends_at,
            watch=watch,
        )

    def launch(self, number: int, plan: Plan, listener: Listener, *, may_move: bool = False) -> Ended:
        """Run ``plan`` as launch ``number``; its end is noted in the records when the engine could not do so itself.

        ``may_move``: what is left of it can be measured on other nodes, where enough of them are left.
        """
        self.result.check_there()
        self.try_hosts(number, plan.layout.nodes)
        plan_path = self.result.prepare_launch(number, plan)

        def hear(record: AnyRecord) -> None:
            listener(record)
            self.progress.record(record)
            if isinstance(record, EventRecord) and record.code == LEFT_BEHIND:
                self.left.append(record.text)
            if self.watch is not None:
                self.watch.hear(record)

        stderr_path = self.result.stderr_path(number)
        gone = self._nodes_gone(plan)
        needed = [name for name in node_names() if name not in self.lost][: plan.layout.nodes]
        is_replaced = (may_move or set(gone).isdisjoint(needed)) and self._leave_out(gone, plan.layout.nodes)
        is_begun = is_replaced or not gone
        outcome = self._run(plan_path, plan, stderr_path, hear) if is_begun else _not_begun(gone, plan)
        if is_replaced:
            self.messages.append(
                f"node {listing(gone)} failed before launch {number}; the run goes on without {listing(gone)}"
            )
            self.note(number, "warning", "node-failed", self.messages[-1], _REPLACE)
        ended = end_of(outcome, plan)
        self.was_stopped = self.was_stopped or ended.was_stopped
        self.had_enough = self.had_enough or outcome.stopped_by == "enough"
        if ended.message:
            lost = outcome.lost_nodes
            moves = may_move and ended.code == EXIT_ABORTED and self._leave_out(lost, plan.layout.nodes)
            self.messages.append(f"{ended.message}{f'; the run goes on without {listing(lost)}' if moves else ''}")
            if ended.code == EXIT_ABORTED and not ended.was_stopped:
                advice = _REPLACE if moves else "`ullage resume` finishes what is left"
                self.note(number, "error", "launch-ended", self.messages[-1], advice)
            return replace(ended, lost=lost if moves else (), hung=bool(outcome.silent_node))
        return ended

    def try_hosts(self, number: int, nodes: int | None) -> None:
        """Start the engine once on each host that people have named, before launch ``number`` needs ``nodes`` of them.

        A host that refuses is left out where spare ones are named. Raise ``UserError`` where too few are left.
        """
        hosts = self.launcher.hosts
        if self.start is not None or nodes == 1 or self.tried.issuperset(hosts.names):
            return
        self.tried.update(hosts.names)
        context = self.engine_context
        refusals = unusable_hosts(hosts, context.engine, context.description.engine)
        if not refusals:
            return
        log = self.result.stderr_path(number)
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_text("".join(f"{host}: {one.why}\n{one.said}\n" for host, one in refusals.items()), encoding="utf-8")
        why = "; ".join(f"{host}: {one.why}" for host, one in refusals.items())
        if not self._leave_out(tuple(refusals), nodes):
            right = f"mend that, or leave out what refuses by --exclude {','.join(refusals)}; all that was said: {log}"
            raise UserError(why, "--hosts", right, EXIT_ENVIRONMENT)
        self.messages.append(f"the run goes on without {listing(tuple(refusals))} ({why})")

    def _nodes_gone(self, plan: Plan) -> tuple[str, ...]:
        """Return nodes that the batch job has lost, and that ranks of ``plan`` would be started on, or waited for."""
        launcher, gone = self._usable, nodes_lost() if plan.layout.nodes != 1 else []
        left = [(name, launcher.without([name])) for name in gone]
        return tuple(name for name, one in left if one is None or one.nodes < launcher.nodes)

    @property
    def _usable(self) -> Launcher:
        """The launcher that starts nothing on nodes that have failed."""
        return (self.launcher.without(self.lost) if self.lost else None) or self.launcher

    def _leave_out(self, nodes: Sequence[str], needed: int | None) -> bool:
        """Start nothing on ``nodes`` any more.

        Return False where fewer than ``needed`` are left, where the launcher cannot, and where it knows the nodes by
        other names.
        """
        found = self.launcher.without([*self.lost, *nodes]) if nodes else None
        is_same = found is None or found.nodes == self._usable.nodes
        if found is None or is_same or needed is None or found.nodes < needed:
            return False
        self.lost += nodes
        return True

    def launch_apart(self, folder: Path, plan: Plan) -> tuple[Ended, list[AnyRecord]]:
        """Run ``plan``, whose records go into ``folder``, for something that is no part of what is measured."""
        self.try_hosts(self.result.next_launch(), plan.layout.nodes)
        write_atomically(folder / "plan.json", plan_bytes(plan))
        records: list[AnyRecord] = []
        outcome = self._run(folder / "plan.json", plan, folder / "stderr", records.append)
        return end_of(outcome, plan), records

    def _run(self, plan_path: Path, plan: Plan, stderr_path: Path, hear: Listener) -> LaunchOutcome:
        if self.meeting is not None and not self._has_met:
            self._has_met = True
            self.meeting.await_others(plan.suite)
        engine = self.engine_context.engine
        if self.start is not None:
            return self.start(engine, self._usable, plan_path, plan, stderr_path, hear)
        timeouts = Timeouts() if self.ends_at is None else timeouts_within(self.ends_at - time.monotonic(), plan)
        if self.watch is not None:
            timeouts = replace(timeouts, is_enough=self.watch.is_enough)
        return launch(engine, self._usable, plan_path, plan, stderr_path, hear, timeouts)

    def note(
        self, number: int, severity: Literal["info", "warning", "error"], code: str, text: str, advice: str = ""
    ) -> None:
        """Append an event of the front's own to the records of launch ``number``."""
        self.append(number, EventRecord(severity=severity, code=code, text=text, advice=advice))

    def append(self, number: int, record: EventRecord | CaseRecord) -> None:
        """Append a record of the front's own to those of launch ``number``."""
        append_line(self.result.records_path(number), json.dumps(record.model_dump(mode="json")).encode())


def _not_begun(gone: Sequence[str], plan: Plan) -> LaunchOutcome:
    """Return the end of a launch that would have waited for nodes that the batch job has lost."""
    dead = [DeadRank(None, node, "Slurm took it from the job before the launch", with_node=True) for node in gone]
    return LaunchOutcome(None, None, Path(plan.records), None, "", dead)


def end_of(outcome: LaunchOutcome, plan: Plan) -> Ended:
    """Return what the end of a launch means for the run."""
    if outcome.stopped_by == "signal":
        # This holds even when the signal came too late for this launch: whoever sent it wants no further one.
        return Ended(EXIT_ABORTED, outcome.elapsed_s, was_stopped=True, message="interrupted")
    code = _code(outcome)
    if outcome.stopped_by == "enough":
        return Ended(EXIT_ABORTED, outcome.elapsed_s)
    if code in (EXIT_OK, EXIT_CASE_FAILED):
        return Ended(code, outcome.elapsed_s)
    return Ended(code, outcome.elapsed_s, message=_message(outcome, plan, code))


def _code(outcome: LaunchOutcome) -> int:
    """Return the exit code by the contract, also under launchers that return the code of a rank they killed.

    Some launchers kill the other ranks of one that ends. The engine says its one line only when it refuses, and what it
    refuses in a plan of ours is the surrounding.
    """
    if outcome.code == EXIT_ABORTED and outcome.last_status is None and outcome.stopped_by is None:
        lost = not outcome.dead_ranks and _is_full(outcome.records_path)
        return EXIT_ENVIRONMENT if outcome.engine_said or lost else EXIT_ABORTED
    return outcome.code


def _is_full(records: Path) -> bool:
    try:
        space = os.statvfs(records.parent)
        return space.f_bavail * space.f_frsize < _LEAST_ROOM_BYTES
    except OSError:
        return False


def _message(outcome: LaunchOutcome, plan: Plan, code: int) -> str:
    said = outcome.engine_said
    if code in (EXIT_BAD_INPUT, EXIT_ENVIRONMENT):
        right = why_apart(f"{outcome.engine_said}\n{outcome.stderr_tail}")
        return f"{_refusal(outcome, code)}{f'; {right}' if right else ''}"
    ranks = f"the launch with {plan.layout.ranks} rank{'s' if plan.layout.ranks > 1 else ''}"
    if outcome.dead_ranks:
        dead = outcome.dead_ranks[0]
        if dead.with_node:
            return f"{ranks} ended early: node {dead.node} failed ({dead.cause})"
        which = "a rank" if dead.rank is None else f"rank {dead.rank}"
        return f"{ranks} ended early: {which} on {dead.node or 'an unknown node'} died ({dead.cause})"
    if (watched := _watch_message(outcome, plan)) is not None:
        return f"{ranks} {watched}"
    why = said or " / ".join(telling_lines(outcome.stderr_tail)) or f"exit code {outcome.exit_code}"
    right = why_apart(outcome.stderr_tail)
    return f"{ranks} ended early: {why}{f'; {right}' if right else ''}"


def _watch_message(outcome: LaunchOutcome, plan: Plan) -> str | None:
    """Say how a launch that took too long was ended; return None for any other."""
    if outcome.last_status == "timeout":
        return f"was ended: {outcome.hang or f'no progress for {plan.watchdog_s:g} s'}"
    match outcome.stopped_by:
        case "silent":
            which = ", ".join(str(rank) for rank in outcome.stopped_ranks)
            found = f": rank {which} {'is' if len(outcome.stopped_ranks) == 1 else 'are'} stopped" if which else ""
            return f"gave no sign of life for {silence_of(plan):g} s and was ended{found}"
        case "deadline":
            return "was far beyond its time and was ended"
        case "no start":
            said = " / ".join(telling_lines(outcome.stderr_tail))
            return f"wrote no record in time and was ended{f': {said}' if said else ''}"
        case _:
            return None


def _refusal(outcome: LaunchOutcome, code: int) -> str:
    if outcome.engine_said:
        return outcome.engine_said
    if _is_full(outcome.records_path):
        # The engine's own line had no room either.
        return f"{outcome.records_path}: there is no room left for the result; what was measured is kept"
    return f"the engine refused the plan (exit code {code})"


def terminable() -> contextlib.AbstractContextManager[None]:
    """Let SIGTERM and SIGHUP raise KeyboardInterrupt, as SIGINT does: a run told to end between launches ends well."""

    def interrupt(_number: int) -> None:
        raise KeyboardInterrupt

    return stop_signals(interrupt)


@dataclass(frozen=True)
class Note:
    """Something of the run that is not as one might expect. ``code`` is stable."""

    code: str
    text: str
    advice: str = ""


def launches_with_records(result: ResultFolder) -> list[int]:
    """Return the launches where a note finds readers; in a result in which nothing was started, the planned ones."""
    planned = result.launches()
    return [number for number in planned if result.records_path(number).exists()] or planned


def note_once(notes: Iterable[Note], session: Session, launch: int | None = None) -> None:
    """Add ``notes`` that the result lacks as warnings to the events of ``launch``, else of the last one."""
    launches = launches_with_records(session.result)
    if not launches:
        return
    known = {event.text for file in session.result.read_records() for event in file.events}
    for note in notes:
        if note.text not in known:
            session.note(launches[-1] if launch is None else launch, "warning", note.code, note.text, note.advice)
