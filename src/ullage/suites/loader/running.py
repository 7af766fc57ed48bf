# SPDX-License-Identifier: Apache-2.0
"""What a run of suite ``loader`` measures: a training set on each target, read by numbers of accelerators."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from ullage.analysis.metrics.programs import accelerator_use
from ullage.model.plan import Plan, Target
from ullage.model.request import Request
from ullage.quantity import plural
from ullage.results.records import AnyRecord
from ullage.results.rows import join
from ullage.runs.execution import Execution, LaunchSpec, read_progress
from ullage.runs.listed import datasets_there, listed_plan
from ullage.runs.remains import remove_left
from ullage.runs.room import Machine
from ullage.runs.session import Note, Session, note_once
from ullage.suites.loader.cases import DATASET, CellMaker, LoaderCell, most_that_fit
from ullage.suites.loader.options import LoaderOptions
from ullage.suites.loader.search import Search, Trials, next_listed
from ullage.units import format_time

# -- what is measured --------------------------------------------------------------------------------------------------

# A launch without progress for so long is a timeout; the engine allows more for what is read at once.
_PATIENCE_S: Final = 120.0


@dataclass(frozen=True)
class LoaderWork:
    """What is measured, and the plan of each launch."""

    request: Request
    options: LoaderOptions
    machine: Machine
    cells: CellMaker
    notes: Sequence[Note]

    @property
    def most(self) -> int:
        """The largest number of accelerators that is measured: there are two steps for each."""
        return min(self.options.most_accelerators, most_that_fit(self.options, self.cells.samples))

    def search(self) -> Search:
        """Return the search on one target."""
        options = self.options
        return Search(self.cells.unit, self.most, options.least_use, options.repetitions)

    def numbers(self) -> list[int]:
        """Return the numbers that are measured for certain: the listed ones, or the first of a search."""
        if self.options.accelerators is not None:
            return [n for n in self.options.accelerators if n <= self.most]
        return [self.cells.unit]

    def plan(self, cell: LoaderCell, spec: LaunchSpec) -> Plan:
        """Return the plan of a launch of one case."""
        options = self.options
        return listed_plan(
            self.request,
            spec,
            cell.layout,
            cell.target,
            [cell.case],
            watchdog_s=options.watchdog_s or _PATIENCE_S,
            space=options.space,
            resumable=options.resumable,
        )


# -- how it runs -------------------------------------------------------------------------------------------------------

# A launch in less than this measures nothing.
_SHORTEST_S: Final = 0.5


def trials_of(launches: Iterable[Iterable[AnyRecord]], cases: dict[str, int], epochs: int) -> dict[int, list[float]]:
    """Return the lower of the uses of all epochs together and of the first, one for each repetition.

    They stand by the accelerators of their case.
    """
    first: dict[tuple[str, int, int], float] = {}
    found: dict[int, list[float]] = {}
    for item in join([list(launch) for launch in launches]):
        key, name = (item.case.case, id(item.run), item.phase.repetition), item.phase.phase
        if name == "epoch-1" and (use := accelerator_use(item.phase)) is not None:
            first[key] = use
        use = accelerator_use(item.phase, "all_")
        if use is not None and item.case.case in cases and name == f"epoch-{epochs}":
            found.setdefault(cases[item.case.case], []).append(min(use, first.get(key, use)))
    return found


def execute(prepared: LoaderWork, session: Session) -> int:
    """Measure everything that is left of the run, and return the exit code."""
    run = _Loading(session, read_progress(session), prepared)
    try:
        run.follow()
    finally:
        if not prepared.options.keep and (run.is_whole or not prepared.options.resumable):
            remove_left(session, prepared.request.targets, prepared.request.run_id)
    note_once([*prepared.notes, *run.notes], session)
    run.check_any(prepared.options.time_s, "or fewer --samples or --epochs")
    return run.code


@dataclass
class _Loading(Execution):
    """``is_whole``: nothing is lacking but what failed."""

    prepared: LoaderWork
    is_whole: bool = False
    notes: list[Note] = field(default_factory=list[Note])

    def follow(self) -> None:
        self.is_whole = all(self._measure(target) for target in self.prepared.request.targets)

    def _measure(self, target: Target) -> bool:
        """Measure one target; False where something is left to do."""
        failed: set[int] = set()
        while (wanted := self._next(target, failed)) is not None:
            number, repetitions = wanted
            cell = self.prepared.cells.reads(target, number)
            left = self._left_s()
            if left is not None and left < max(_SHORTEST_S, self._cost_s(cell)):
                self._too_short(target)
                return False
            if not self._has_samples(target) and not self._launch(self.prepared.cells.makes(target), 1):
                return False
            before = self.progress.of(cell.case.id)
            done, wrong = len(before.counted), before.has_failed
            if not self._launch(cell, repetitions):
                return False
            after = self.progress.of(cell.case.id)
            if after.has_failed and not wrong:
                failed.add(number)
            elif len(after.counted) == done:
                self._too_short(target)
                return False
        return True

    def _next(self, target: Target, failed: set[int]) -> tuple[int, int] | None:
        prepared = self.prepared
        trials = self._trials(target)
        if prepared.options.accelerators is None:
            # What cannot run cannot pass.
            seen: Trials = {**trials, **dict.fromkeys(failed, [0.0] * prepared.options.repetitions)}
            return prepared.search().next(seen)
        numbers = [n for n in prepared.numbers() if n not in failed]
        return next_listed(numbers, prepared.options.repetitions, trials)

    def _trials(self, target: Target) -> dict[int, list[float]]:
        prepared = self.prepared
        numbers: Sequence[int] = prepared.options.accelerators or range(
            prepared.cells.unit, prepared.most + 1, prepared.cells.unit
        )
        cases = {prepared.cells.reads(target, number).case.id: number for number in numbers}
        files = self.session.result.read_records()
        return trials_of([file.records for file in files], cases, prepared.options.epochs)

    def _has_samples(self, target: Target) -> bool:
        there = datasets_there(target, self.prepared.request.run_id)
        return not self.prepared.cells.lasts(target) or DATASET in there

    def _launch(self, cell: LoaderCell, repetitions: int) -> bool:
        """Run one case; False where the run must not go on."""
        session, number = self.session, self.session.result.next_launch()
        begun = self.progress.of(cell.case.id).begun
        spec = LaunchSpec(
            0,
            str(session.result.records_path(number)),
            self._left_s(),
            (repetitions, repetitions),
            continues=bool(datasets_there(cell.target, self.prepared.request.run_id)),
            keep=True,
        )
        # Data is known by its dataset's own key, so repetitions may be numbered on, also of samples made again.
        numbered = cell.case.model_copy(update={"first_repetition": begun})
        plan = self.prepared.plan(LoaderCell(numbered, cell.target, cell.layout, cell.accelerators, cell.samples), spec)
        what = plural(cell.accelerators, "accelerator") if cell.accelerators else "making the samples"
        session.progress.stage(f"{cell.target.name}: {what}", repetitions, self._cost_s(cell) * repetitions)
        self.launch(number, plan)
        made = cell.accelerators > 0 or self._has_samples(cell.target)
        return self.may_go_on and made

    def _cost_s(self, cell: LoaderCell) -> float:
        """Return what a repetition takes: as measured, else the time of its computation."""
        known = self.progress.of(cell.case.id).seconds
        if known:
            return max(known)
        if cell.accelerators == 0:
            return 0.0
        options = self.prepared.options
        return options.epochs * cell.samples / options.batch_samples / cell.accelerators * options.pace_s

    def _left_s(self) -> float | None:
        return self.seconds_left(self.prepared.options.time_s, _SHORTEST_S / 2, self.progress.seconds)

    def _too_short(self, target: Target) -> None:
        time_s = self.prepared.options.time_s if self.session.seconds is None else self.session.seconds
        text = f"the time of {format_time(time_s)} was too short to settle what passes on {target.name}"
        self.notes.append(Note("time-too-short", text, "give more --time, fewer --steps or fewer --epochs"))
