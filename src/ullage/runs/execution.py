# SPDX-License-Identifier: Apache-2.0
"""A run under way: launch after launch, until its time is over, its cases are done, or one ends as the next would.

And what such runs are made with: deadlines, and what is asked of one launch besides its cases.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from ullage.errors import EXIT_ABORTED, EXIT_CASE_FAILED, EXIT_OK, UserError
from ullage.model.plan import Plan
from ullage.model.record import CaseRecord, EventRecord
from ullage.quantity import listing
from ullage.results.folder import PROBE
from ullage.results.records import AnyRecord, read_records
from ullage.runs.case_progress import RunProgress
from ullage.runs.jobtime import repetitions_of
from ullage.runs.session import Ended, Note, Session
from ullage.units import format_time

# The engine needs so long to make anything of a plan at all.
SHORTEST_S: Final = 0.05
# When a run goes on after its time was over, what it still lacks is finished, with some room for surprises.
GENEROUS: Final = 1.5
LAUNCHES: Final = 3
"""So many launches, in turn with others, give a case its repetitions where the time allows: what launches differ by is
known by that only."""


def read_progress(session: Session) -> RunProgress:
    """Read what earlier launches of the result have measured; cases that failed are tried again."""
    found = RunProgress(file.records for file in session.result.read_records())
    found.forgive()
    return found


@dataclass
class Execution:
    """A run from its first launch to its last.

    ``code`` is what the command will return; ``ended``: the launch after which there is no other.
    """

    session: Session
    progress: RunProgress
    code: int = field(default=EXIT_OK, init=False)
    ended: Ended | None = field(default=None, init=False)

    @property
    def may_go_on(self) -> bool:
        """False after a launch that ended in a way that the next would share."""
        return self.ended is None

    def launch(self, number: int, plan: Plan, listener: Callable[[AnyRecord], None] | None = None) -> Ended:
        """Run ``plan``; what comes of it counts for the run."""
        ended = self.attempt(number, plan, listener)
        self.take(ended)
        return ended

    def expected(self) -> Mapping[str, float]:
        """Return the seconds of one repetition of cases, measured or not, as far as they are known."""
        return {}

    def attempt(self, number: int, plan: Plan, listener: Callable[[AnyRecord], None] | None = None) -> Ended:
        """Run ``plan``; how it ends is for the caller to judge.

        In a batch job only the cases are run that it can finish. What is left ends the run, as the end of the job does.
        Raise ``UserError`` where no repetition would fit into a job of that limit.
        """
        job_time = self.session.job_time
        if job_time is None:
            return self._launch_all_of(number, plan, listener)
        fitted = job_time.fit(plan, self.progress, self.expected())
        ended = Ended(EXIT_OK, 0.0) if fitted.plan is None else self._launch_all_of(number, fitted.plan, listener)
        left_out = fitted.lacking(self.progress) if ended.may_go_on else 0
        if not left_out:
            return ended
        cases = f"{left_out} case{' is' if left_out == 1 else 's are'}"
        message = f"{cases} left for another job: the time of this one is over"
        self.session.messages.append(message)
        self.session.was_stopped = True
        job_time.leave_rest()
        return Ended(EXIT_ABORTED, ended.seconds, was_stopped=True, message=message)

    def _launch_all_of(self, number: int, plan: Plan, listener: Callable[[AnyRecord], None] | None) -> Ended:
        """Run ``plan``; what a node that fails leaves of it is measured without that node, where enough are left.

        The repetition that the node has ended counts as failed.
        """
        may_move = plan.order == "shuffled" and not any(case.dataset for case in plan.cases)
        ended = self._launch_once(number, plan, listener, may_move=may_move)
        code = ended.code
        while ended.lost:
            code = EXIT_CASE_FAILED
            self._note_lost(number, plan, ended)
            fewest = repetitions_of(plan)[0]
            cases = [
                case.model_copy(update={"prior_elapsed_ns": self.progress.of(case.id).prior_elapsed_ns})
                for case in plan.cases
                if self.progress.lacks(case.id, fewest)
            ]
            if not cases:
                return Ended(code, ended.seconds)
            left_s = None if plan.time_budget_s is None else max(SHORTEST_S, plan.time_budget_s - ended.seconds)
            number = self.session.result.next_launch()
            records = str(self.session.result.records_path(number))
            plan = plan.model_copy(update={"cases": cases, "time_budget_s": left_s, "records": records})
            ended = self._launch_once(number, plan, listener, may_move=may_move)
        return replace(ended, code=code) if ended.may_go_on else ended

    def _note_lost(self, number: int, plan: Plan, ended: Ended) -> None:
        """Let the repetition that was under way fail by the names of ``ended.lost``, where its case is known."""
        hung = next((case for case in plan.cases if self.progress.of(case.id).stop == "timeout"), None)
        found = hung or self.progress.under_way(plan)
        if found is None:
            return
        repetition = self.progress.of(found.id).begun - (hung is not None)
        text = f"node {listing(ended.lost)} failed in repetition {repetition + 1}"
        event = EventRecord(severity="error", code="node-failed", text=text, case=found.id, node=ended.lost[0])
        self.session.append(number, event)
        # The engine has written the record of a repetition that hung itself; between two of them there is none.
        if hung is None:
            status = "timeout" if ended.hung else "failed"
            failed = CaseRecord(
                case=found.id,
                repetition=repetition,
                status=status,
                stop=status,
                target=found.target,
                backend=found.backend.name,
                workload=found.workload.name,
                elapsed_ns=0,
            )
            self.session.append(number, failed)
            self.progress.add(failed)
        self.progress.forgive(found.id)

    def _launch_once(
        self, number: int, plan: Plan, listener: Callable[[AnyRecord], None] | None, *, may_move: bool
    ) -> Ended:
        def hear(record: AnyRecord) -> None:
            self.progress.add(record)
            if listener is not None:
                listener(record)

        return self.session.launch(number, self.progress.numbered(plan), hear, may_move=may_move)

    def take(self, ended: Ended) -> None:
        """Take over how a launch ended: a failed case makes the run one that failed, anything worse ends it."""
        if ended.code == EXIT_CASE_FAILED:
            self.code = ended.code
        if not ended.may_go_on:
            self.ended, self.code = ended, ended.code

    def check_any(self, seconds: float | None, otherwise: str) -> None:
        """Raise ``UserError`` where nothing was measured for want of time, and not because it failed.

        ``otherwise``: what helps besides more of it.
        """
        given = seconds if self.session.seconds is None else self.session.seconds
        has_failed = self.progress.has_failed or self.code != EXIT_OK
        if self.progress.repetitions or has_failed or given is None:
            return
        self._check_probe()
        right = f"give more time, {otherwise}"
        raise UserError(f"{format_time(given)} is too short for a single repetition", "--time", right)

    def _check_probe(self) -> None:
        """Raise ``UserError`` (exit code 4) where cases of a probe have failed: a device that fails is slow."""
        from ullage.results.events import failed_cases

        files = sorted((self.session.result.path / PROBE).glob("**/*.ndjson"))
        for failed in failed_cases(read_records(file).records for file in files):
            where = f" ({failed.where})" if failed.where else ""
            raise UserError(f"{failed.text}{where}", f"the probe of {failed.target}", "", EXIT_CASE_FAILED)

    def seconds_left(self, asked_s: float | None, least_s: float, used_s: float) -> float | None:
        """Return what earlier launches have left of the time ``asked_s``, at least ``least_s``; None: no limit.

        Whoever goes on with a run may give it another time, which is then the one that counts.
        """
        left_s = None if asked_s is None else max(asked_s - used_s, least_s)
        left_s = left_s if self.session.seconds is None else self.session.seconds
        if left_s is not None and self.session.needed is None:
            self.session.progress.part_time(left_s)
        return left_s


def too_short(lacking: int, cases: int, fewest: int, seconds: float, advice: str) -> Note:
    """Return the note that says why cases lack repetitions; their rows are flagged one by one."""
    text = (
        f"{lacking} of {cases} cases have fewer than {fewest} repetitions: the time of {format_time(seconds)} was too "
        "short for all"
    )
    return Note("time-too-short", text, advice)


@dataclass(frozen=True)
class Deadline:
    """An instant that a part of a run must end at. ``now`` is a clock in s that never goes back."""

    at: float
    now: Callable[[], float] = time.monotonic

    @property
    def left_s(self) -> float:
        """Below 0 when it is over."""
        return self.at - self.now()

    def earlier(self, seconds: float) -> "Deadline":
        """Return the deadline ``seconds`` before this one; where they are negative, after it."""
        return Deadline(self.at - seconds, self.now)


def share_out(left_s: float, estimates: Sequence[float]) -> float:
    """Return the seconds for the first of several launches: its part of all that is left.

    The part is in proportion to ``estimates``, the seconds that each launch is expected to take, even when there is
    plenty: estimates may be wrong, but mostly in the same way for all. What a launch does not use is there for the
    next.
    """
    total = sum(estimates)
    return max(0.0, left_s) * (estimates[0] / total if total > 0 else 1 / len(estimates))


@dataclass(frozen=True)
class LaunchSpec:
    """What one launch of the engine is asked for, besides its cases.

    ``turn``: the pass or round of the run that it belongs to, from 0, on which seeds depend.

    ``seconds``: that it may take, None: as long as it needs; ``repetitions`` of each case in all, least and most;
    ``continues``: with datasets that an earlier launch has left; ``keep``: it leaves its own for others;
    ``correlation``: of each repetition with the one before, as earlier launches have shown it.
    """

    turn: int
    records: str
    seconds: float | None = None
    repetitions: tuple[int, int] = (1, 1)
    continues: bool = False
    keep: bool = False
    correlation: float = 0.0
