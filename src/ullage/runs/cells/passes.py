# SPDX-License-Identifier: Apache-2.0
"""The launches of a sweep: first every cell its minimum, then what is left of the time where the intervals are wide."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import ceil
from typing import Final, Protocol

from ullage.errors import EXIT_CASE_FAILED, EXIT_OK
from ullage.model.plan import Plan
from ullage.model.record import EndRecord
from ullage.model.request import Request
from ullage.results.folder import ResultFolder
from ullage.results.records import AnyRecord
from ullage.runs.case_progress import RunProgress
from ullage.runs.cells.costs import Costs
from ullage.runs.cells.deadline import Deadline, share_out
from ullage.runs.cells.planning import Cell, LaunchSpec, by_layout, make_plan, shuffled_layouts
from ullage.runs.session import Ended, Session
from ullage.suites.sweep.options import RunOptions
from ullage.units import format_time

# Of a launch's time that its start may cost, when there is a choice of how many repetitions it makes.
_START_SHARE: Final = 0.1
_FEWEST_MORE: Final = 4
# What the engine needs to make anything of a plan at all.
_SHORTEST_S: Final = 0.05
# When a run goes on after its time was over, what it still lacks is finished, with some room for surprises.
_GENEROUS: Final = 1.5


class Beside(Protocol):
    """Something else that is measured on the cells of each launch, right after it."""

    def seconds(self, cells: Iterable[Cell]) -> float:
        """How long ``measure`` will take for ``cells``."""
        ...

    def measure(self, cells: Sequence[Cell], deadline: Deadline) -> None:
        """Measure ``cells``, as far as there is time."""
        ...


@dataclass
class Run:
    """One run under way. ``cells`` grows when edges are extended; ``code`` is what the command will return."""

    request: Request
    options: RunOptions
    session: Session
    costs: Costs
    cells: list[Cell] = field(default_factory=list[Cell])
    beside: Beside | None = None
    code: int = EXIT_OK
    ended: Ended | None = None
    _turn: int = 0
    _numbers: dict[frozenset[str], int] = field(default_factory=dict[frozenset[str], int])

    @property
    def tally(self) -> RunProgress:
        """What is known of the cells so far."""
        return self.costs.tally

    @property
    def may_go_on(self) -> bool:
        """False after a launch that ended in a way that the next would share."""
        return self.ended is None

    def write_plans(self, cells: Iterable[Cell]) -> None:
        """Plans for cells that no plan of the result holds yet, so that an interrupted run knows all it had to do."""
        result = self.session.result
        known: set[str] = set()
        for number in result.launches():
            ids = {case.id for case in result.read_plan(number).cases}
            known |= ids
            if not result.records_path(number).exists():
                self._numbers[frozenset(ids)] = number
        for group in by_layout(cell for cell in cells if cell.case.id not in known).values():
            number = result.next_launch()
            result.prepare_launch(number, self._plan(group, number, self._minimum(None)))
            self._numbers[frozenset(cell.case.id for cell in group)] = number

    def _minimum(self, seconds: float | None) -> LaunchSpec:
        fewest = self.options.min_repetitions
        return LaunchSpec(self._turn, fewest, fewest, seconds)

    def _plan(self, cells: Sequence[Cell], number: int, turn: LaunchSpec) -> Plan:
        prior = {cell.case.id: self.tally.of(cell.case.id).prior_elapsed_ns for cell in cells}
        records = str(self.session.result.records_path(number))
        return make_plan(self.request, self.options, cells, turn, records, prior)

    # -- what is still to be done ---------------------------------------------------------------------------------

    def lacking(self, cells: Iterable[Cell]) -> list[Cell]:
        """Cells without their minimum."""
        fewest = self.options.min_repetitions
        tallies = ((cell, self.tally.of(cell.case.id)) for cell in cells)
        return [cell for cell, known in tallies if not known.has_failed and len(known.counted) < fewest]

    def wide(self, cells: Iterable[Cell]) -> list[Cell]:
        """Cells whose interval is wider than asked for, and that may be repeated."""
        options = self.options
        tallies = ((cell, self.tally.of(cell.case.id)) for cell in cells)
        return [
            cell
            for cell, known in tallies
            if not known.has_failed
            and len(known.counted) < options.max_repetitions
            and not known.converged(options.interval, options.min_repetitions)
        ]

    def deadline(self, began: Deadline) -> Deadline:
        """What of the time earlier launches have not used; for what is still lacking there is always some."""
        allowed_s = self.session.seconds
        if allowed_s is None:
            lacking = self.lacking(self.cells)
            work_s = self.options.min_repetitions * sum(self.costs.repetition_s(cell) for cell in lacking)
            around_s = sum(self._around_s(group) for group in by_layout(lacking).values())
            is_fresh = self.tally.repetitions == 0
            least_s = 0.0 if is_fresh else _GENEROUS * (work_s + around_s)
            allowed_s = max(self.options.time_s - self.tally.seconds, least_s)
        return began.earlier(-allowed_s)

    def note_lacking(self) -> None:
        """Rows with too few repetitions are flagged one by one; here stands why."""
        lacking = self.lacking(self.cells)
        launches = launches_with_records(self.session.result)
        if lacking and self.may_go_on and launches:
            text = (
                f"{len(lacking)} of {len(self.cells)} cells have fewer than {self.options.min_repetitions} "
                f"repetitions: the time of {format_time(self.options.time_s)} was too short for all"
            )
            advice = "more --time, a smaller --volume or fewer cells"
            self.session.note(launches[-1], "warning", "time-too-short", text, advice)

    # -- spending time --------------------------------------------------------------------------------------------

    def give_minimum(self, cells: Sequence[Cell], deadline: Deadline) -> None:
        """Every cell its minimum, the layouts in a shuffled order, all cut in proportion when the time is short."""
        self._sweep_layouts(self.lacking(cells), self.options.min_repetitions, deadline, "every cell")

    def narrow(self, cells: Sequence[Cell], deadline: Deadline) -> None:
        """Repeat what is wide until nothing is, or the time is over."""
        while self.may_go_on and (wide := self.wide(cells)):
            before = self.tally.repetitions
            self._sweep_layouts(wide, None, deadline, "wide intervals")
            if self.tally.repetitions == before:
                return

    def repeat(self, cells: Sequence[Cell], deadline: Deadline) -> None:
        """As many repetitions again of ``cells``, however narrow they are."""
        fewest = self.options.min_repetitions
        target = max((len(self.tally.of(cell.case.id).counted) for cell in cells), default=0) + fewest
        self._sweep_layouts(list(cells), target, deadline, "outliers again", insist=True)

    def _sweep_layouts(
        self, cells: Sequence[Cell], maximum: int | None, deadline: Deadline, stage: str, *, insist: bool = False
    ) -> None:
        """One launch for each layout of ``cells``; ``maximum`` null: as many repetitions as are worth a launch."""
        self._turn += 1
        groups = shuffled_layouts(cells, self.options.seed, self._turn)
        for index, group in enumerate(groups):
            if not self.may_go_on:
                return
            self.costs = self.costs.correct(self.cells)
            estimates = [self._estimate(later, maximum) for later in groups[index:]]
            seconds = self._seconds_for(group, maximum, share_out(deadline.left_s, estimates))
            shortest = min(self.costs.repetition_s(cell) for cell in group)
            if seconds < _SHORTEST_S or (maximum is None and seconds < shortest):
                continue
            highest = maximum or self._highest(group)
            lowest = highest if insist or maximum is not None else self.options.min_repetitions
            self.session.progress.stage(_stage(stage, group), self._to_do(group, highest), deadline.left_s)
            self._launch(group, LaunchSpec(self._turn, lowest, highest, seconds))
            if self.beside is not None and self.may_go_on:
                own_s = sum(self._estimate(later, maximum) - self._beside_s(later) for later in groups[index + 1 :])
                self.beside.measure(group, deadline.earlier(min(own_s, deadline.left_s)))

    def _highest(self, group: Sequence[Cell]) -> int:
        """Repetitions in all after a further launch of ``group``: enough to be worth the launch's start."""
        each_s = sum(self.costs.repetition_s(cell) for cell in group)
        worth = self.costs.launch_s(group[0].layout.ranks) / _START_SHARE / max(each_s, 1e-6)
        fewest = min(len(self.tally.of(cell.case.id).counted) for cell in group)
        return min(self.options.max_repetitions, fewest + max(_FEWEST_MORE, ceil(worth)))

    def _to_do(self, group: Sequence[Cell], highest: int) -> int:
        return sum(max(0, highest - len(self.tally.of(cell.case.id).counted)) for cell in group)

    def _estimate(self, group: Sequence[Cell], maximum: int | None) -> float:
        highest = maximum or self._highest(group)
        counted = ((cell, len(self.tally.of(cell.case.id).counted)) for cell in group)
        work = sum(max(0, highest - done) * self.costs.repetition_s(cell) for cell, done in counted)
        return self._around_s(group) + work

    def _around_s(self, group: Sequence[Cell]) -> float:
        """What a launch of ``group`` takes besides its repetitions."""
        return self.costs.launch_s(group[0].layout.ranks) + self._beside_s(group)

    def _beside_s(self, group: Sequence[Cell]) -> float:
        return 0.0 if self.beside is None else self.beside.seconds(group)

    def _seconds_for(self, group: Sequence[Cell], maximum: int | None, share_s: float) -> float:
        """Of ``share_s``, for the repetitions of ``group``: a minimum comes before what is measured beside it."""
        launch_s = self.costs.launch_s(group[0].layout.ranks)
        return share_s - launch_s - (0.0 if maximum is not None else self._beside_s(group))

    def _launch(self, group: Sequence[Cell], turn: LaunchSpec) -> None:
        known = self._numbers.pop(frozenset(cell.case.id for cell in group), None)
        number = known if known is not None else self.session.result.next_launch()
        ends: list[EndRecord] = []

        def hear(record: AnyRecord) -> None:
            self.tally.add(record)
            if isinstance(record, EndRecord):
                ends.append(record)

        ended = self.session.launch(number, self._plan(group, number, turn), hear)
        if ends:
            self.costs.saw_launch(group[0].layout.ranks, ended.seconds - ends[-1].elapsed_ns / 1e9)
        if ended.code == EXIT_CASE_FAILED:
            self.code = ended.code
        if not ended.may_go_on:
            self.ended, self.code = ended, ended.code


def launches_with_records(result: ResultFolder) -> list[int]:
    """Where a note finds readers; of a result in which nothing was started, the launches that were planned."""
    planned = result.launches()
    return [number for number in planned if result.records_path(number).exists()] or planned


def _stage(text: str, group: Sequence[Cell]) -> str:
    ranks = group[0].layout.ranks
    return f"{text}: {len(group)} case{'s' if len(group) > 1 else ''} with {ranks} rank{'s' if ranks > 1 else ''}"
