# SPDX-License-Identifier: Apache-2.0
"""Run cases on cores and memory, or go on with them: launch by launch, what the first results ask for, then peers."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from ullage.errors import EXIT_CASE_FAILED, EXIT_OK
from ullage.results.failed_cases import failed_cases
from ullage.results.records import read_records
from ullage.runs.case_progress import RunProgress
from ullage.runs.cells.deadline import Deadline, share_out
from ullage.runs.kernels.cases import KernelCase
from ullage.runs.kernels.notes import Note
from ullage.runs.kernels.prepared import LAUNCH_S, PreparedKernels, by_launch, expected_s
from ullage.runs.session import Ended, Session
from ullage.units import format_time

if TYPE_CHECKING:
    from ullage.model.plan import Plan

# When a run goes on after its time was over, what it still lacks is finished, with some room for surprises.
_GENEROUS: Final = 1.5
_SHORTEST_S: Final = 0.05
_FIRST_LOOK_S: Final = 1.0
_MORE_SHARE: Final = 0.2
_LATER_SHARE: Final = 0.4


def execute(prepared: PreparedKernels, session: Session, now: Callable[[], float] = time.monotonic) -> int:
    """The exit code; ``now``: a clock in s."""
    tally = RunProgress(file.records for file in session.result.read_records())
    tally.forgive()
    course = _Course(prepared, session, tally)
    deadline = course.deadline(now)
    cases = list(prepared.cases)
    # Where the first results may ask for more, they must not have taken all of the time.
    tries_s = 0.0 if deadline is None or prepared.more is None else _MORE_SHARE * deadline.left_s
    course.launch(cases, None if deadline is None else deadline.earlier(tries_s))
    while extra := course.more(cases):
        kept_s = 0.0 if deadline is None else _LATER_SHARE * deadline.left_s
        course.launch(extra, None if deadline is None else deadline.earlier(kept_s))
        cases += extra
    if prepared.beside is not None and prepared.options.peer and course.may_go_on:
        prepared.beside(session)
    course.note(cases)
    return course.code


@dataclass
class _Course:
    """A run under way. ``may_go_on``: false after a launch that ended in a way that the next would share."""

    prepared: PreparedKernels
    session: Session
    tally: RunProgress
    code: int = EXIT_OK
    may_go_on: bool = True
    _last: int = field(default=0)

    def lacking(self, cases: Sequence[KernelCase]) -> list[KernelCase]:
        """Those with too few repetitions, without those that failed."""
        known = [(case, self.tally.of(case.case.id)) for case in cases]
        fewest = self.prepared.options.repetitions
        return [case for case, found in known if not found.has_failed and len(found.counted) < fewest]

    def deadline(self, now: Callable[[], float]) -> Deadline | None:
        """What of the time earlier launches have not used, and enough for what a run to go on with lacks; or None."""
        options, allowed_s = self.prepared.options, self.session.seconds
        if allowed_s is None and options.time_s is not None:
            lacking = self.lacking(self.prepared.cases)
            least_s = self._estimate(lacking) if self.tally.repetitions else 0.0
            allowed_s = max(options.time_s - self.tally.seconds, _GENEROUS * least_s)
        return None if allowed_s is None else Deadline(now() + allowed_s, now)

    def _estimate(self, cases: Sequence[KernelCase]) -> float:
        counted = ((case, len(self.tally.of(case.case.id).counted)) for case in cases)
        return LAUNCH_S + sum((self.prepared.options.repetitions - done) * case.seconds for case, done in counted)

    def more(self, cases: Sequence[KernelCase]) -> list[KernelCase]:
        """What the results so far ask for, besides ``cases``."""
        if self.prepared.more is None or not self.may_go_on:
            return []
        known = {case.case.id for case in cases}
        return [case for case in self.prepared.more(self.session) if case.case.id not in known]

    def launch(self, cases: Sequence[KernelCase], deadline: Deadline | None) -> None:
        """Every case its repetitions, as far as the time goes; each launch has its part of what is left."""
        groups = list(by_launch(self.lacking(cases)).values())
        for index, group in enumerate(groups):
            seconds = None
            if deadline is not None:
                seconds = share_out(deadline.left_s, [self._estimate(later) for later in groups[index:]]) - LAUNCH_S
            if not self.may_go_on:
                return
            if seconds is not None and seconds < _SHORTEST_S:
                if self.tally.repetitions:
                    return
                # However short the time, a run that was begun says something.
                seconds = _FIRST_LOOK_S
            self._launch(group, seconds)

    def _launch(self, group: Sequence[KernelCase], seconds: float | None) -> None:
        result, options = self.session.result, self.prepared.options
        number = result.next_launch()
        known = {case.case.id: self.tally.of(case.case.id) for case in group}
        to_do = sum(options.repetitions - len(found.counted) for found in known.values())
        left_s = seconds if seconds is not None else _GENEROUS * options.repetitions * expected_s(group)
        self.session.progress.stage(_stage(group), to_do, left_s)
        prior = {case: found.prior_elapsed_ns for case, found in known.items()}
        plan: Plan = self.prepared.plan(group, str(result.records_path(number)), seconds, prior)
        ended = self.session.launch(number, plan, self.tally.add)
        if result.records_path(number).exists():
            self._last = number
        if all(case.optional for case in group) and not ended.was_stopped:
            self._forgive(group, ended)
            return
        if ended.code == EXIT_CASE_FAILED:
            self.code = ended.code
        if not ended.may_go_on:
            self.code, self.may_go_on = ended.code, False

    def _forgive(self, tried: Sequence[KernelCase], ended: Ended) -> None:
        """A try that gave nothing does not end the run; who reads it learns why there are no numbers."""
        if ended.message:
            self.session.messages.remove(ended.message)
        if ended.code != EXIT_OK and self._last:
            failed = failed_cases([read_records(self.session.result.records_path(self._last)).records])
            why = ended.message or (failed[0].text.removeprefix(": ") if failed else "its cases failed")
            self.session.note(self._last, "info", "try-failed", f"{tried[0].launch} was tried in vain: {why}")

    def note(self, cases: Sequence[KernelCase]) -> None:
        """What a reader must know, as events of a launch, once, however often the run is gone on with."""
        if not self._last:
            return
        known = {event.text for file in self.session.result.read_records() for event in file.events}
        for note in (*self.prepared.notes, *self._time_too_short(cases)):
            if note.text not in known:
                self.session.note(self._last, "warning", note.code, note.text, note.advice)

    def _time_too_short(self, cases: Sequence[KernelCase]) -> list[Note]:
        lacking = self.lacking(cases)
        if not lacking or not self.may_go_on or self.prepared.options.time_s is None:
            return []
        text = (
            f"{len(lacking)} of {len(cases)} cases have fewer than {self.prepared.options.repetitions} repetitions: "
            f"the time of {format_time(self.prepared.options.time_s)} was too short for all"
        )
        return [Note("time-too-short", text, "more --time, or fewer cases")]


def _stage(group: Sequence[KernelCase]) -> str:
    name = group[0].launch
    return f"{len(group)} case{'s' if len(group) > 1 else ''}{f' of {name}' if name else ''}"
