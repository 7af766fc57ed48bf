# SPDX-License-Identifier: Apache-2.0
"""The launches of a run of cells: every cell its minimum, then what is left of the time where intervals are wide."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import ceil
from typing import Final

from ullage.analysis.statistics.intervals import next_look
from ullage.model.plan import Plan
from ullage.model.record import EndRecord
from ullage.model.request import Request
from ullage.quantity import plural
from ullage.results.records import AnyRecord
from ullage.runs.cells.costs import Costs
from ullage.runs.cells.planning import Cell, by_layout, make_plan, shuffled_layouts
from ullage.runs.cells.volume import smaller
from ullage.runs.execution import GENEROUS, LAUNCHES, SHORTEST_S, Deadline, Execution, LaunchSpec, share_out, too_short
from ullage.runs.options.groups import RunOptions
from ullage.runs.peer_runs import PeerJob, PeerRuns
from ullage.runs.session import launches_with_records

# The start of a launch may cost this share of its time, when there is a choice of how many repetitions it makes.
_START_SHARE: Final = 0.1
_FEWEST_MORE: Final = 4


@dataclass(frozen=True)
class CellPeers:
    """A peer in turn with the launches: after each it does the work of the launch's cells.

    ``job_of``: what the peer does beside a cell; None where it cannot do just that.
    """

    tool: str
    runs: PeerRuns
    job_of: Callable[[Cell], PeerJob | None]

    def lacking(self, cells: Iterable[Cell]) -> list[Cell]:
        """Return the cells of which the peer has no number yet."""
        return [cell for cell in cells if (job := self._job(cell)) is not None and not self.runs.count(job)]

    def seconds(self, cells: Iterable[Cell]) -> float:
        """Return how long ``measure`` will take for ``cells``."""
        return sum(self.runs.seconds(job) for job in self._jobs(cells))

    def measure(self, cells: Sequence[Cell], deadline: Deadline) -> None:
        """Measure ``cells``, as far as there is time."""
        jobs = self._jobs(cells)
        stage = f"{self.tool} beside: {len(jobs)} cases"
        self.runs.measure([replace(job, stage=stage) for job in jobs], deadline=deadline)

    def _job(self, cell: Cell) -> PeerJob | None:
        job = self.job_of(cell)
        return job if job is not None and self.runs.may_run(job) else None

    def _jobs(self, cells: Iterable[Cell]) -> list[PeerJob]:
        return [job for cell in cells if (job := self._job(cell)) is not None]


@dataclass
class CellExecution(Execution):
    """One run under way. ``cells`` grows when edges are extended."""

    request: Request
    options: RunOptions
    costs: Costs
    cells: list[Cell]
    in_turn: CellPeers | None = None
    _turn: int = 0
    _numbers: dict[frozenset[str], int] = field(default_factory=dict[frozenset[str], int])

    def expected(self) -> Mapping[str, float]:
        return {cell.case.id: self.costs.repetition_s(cell) for cell in self.cells}

    def begin(self, began: Deadline) -> Deadline:
        """Correct the costs by what is known, write the plans of all cells, and say when the run has to end."""
        if self.session.needed is not None:
            needed = self.session.needed
            self.cells = [cell for cell in self.cells if needed(cell.case, cell.layout)]
        self.costs = self.costs.correct(self.cells)
        self.write_plans(self.cells)
        return self.deadline(began)

    def write_plans(self, cells: Iterable[Cell]) -> None:
        """Write plans for cells that no plan has yet, so that an interrupted run knows all it had to do."""
        result, fewest = self.session.result, self.options.min_repetitions
        known: set[str] = set()
        for number in result.launches():
            ids = {case.id for case in result.read_plan(number).cases}
            known |= ids
            if not result.records_path(number).exists():
                self._numbers[frozenset(ids)] = number
        for group in by_layout(cell for cell in cells if cell.case.id not in known).values():
            number = result.next_launch()
            result.prepare_launch(number, self._plan(group, number, (fewest, fewest), None))
            self._numbers[frozenset(cell.case.id for cell in group)] = number

    def _plan(self, cells: Sequence[Cell], number: int, repetitions: tuple[int, int], seconds: float | None) -> Plan:
        prior = {cell.case.id: self.progress.of(cell.case.id).prior_elapsed_ns for cell in cells}
        # What few repetitions of some layouts seem to show must not decide how many the others get.
        is_settled = repetitions[0] == repetitions[1]
        known = 0.0 if is_settled else round(self.progress.correlation, 2)
        records = str(self.session.result.records_path(number))
        spec = LaunchSpec(self._turn, records, seconds, repetitions, correlation=known)
        return make_plan(self.request, self.options, cells, spec, prior)

    # -- what is still to be done ---------------------------------------------------------------------------------

    @property
    def fewest(self) -> int:
        """The repetitions that a cell must have."""
        asked = self.options.min_repetitions
        return asked if self.session.enough is None else min(asked, self.session.enough)

    def lacking(self, cells: Iterable[Cell]) -> list[Cell]:
        """Return the cells without their minimum."""
        return [cell for cell in cells if self.progress.lacks(cell.case.id, self.fewest)]

    def wide(self, cells: Iterable[Cell]) -> list[Cell]:
        """Return the cells whose interval is wider than asked for, and that may be repeated."""
        options = self.options
        tallies = ((cell, self.progress.of(cell.case.id)) for cell in cells)
        return [
            cell
            for cell, known in tallies
            if not known.has_failed
            and len(known.counted) < options.max_repetitions
            and not known.converged(options.interval, options.min_repetitions)
        ]

    def deadline(self, began: Deadline) -> Deadline:
        """Return ``began`` plus the time that earlier launches have left; what is still lacking always gets some."""
        lacking = self.lacking(self.cells)
        work_s = self.fewest * sum(self.costs.repetition_s(cell) for cell in lacking)
        # A trial of a search is one launch, worth nothing without its minimum; the search keeps to its budget itself.
        is_trial = self.session.needed is not None
        around_s = (1 if is_trial else LAUNCHES) * sum(self._around_s(group) for group in by_layout(lacking).values())
        least_s = GENEROUS * (work_s + around_s) if self.progress.repetitions or is_trial else 0.0
        left_s = self.seconds_left(self.options.time_s, least_s, self.progress.seconds)
        asked = began.earlier(-(self.options.time_s if left_s is None else left_s))
        return Deadline(max(asked.at, began.now() + least_s), began.now) if is_trial else asked

    def note_lacking(self) -> None:
        """Note how many cells lack their minimum, where the time was too short for it.

        Raise ``UserError`` where it was too short for a single repetition.
        """
        lacking, options = len(self.lacking(self.cells)), self.options
        if lacking and self.may_go_on:
            self.check_any(options.time_s, f"{smaller(options)} or fewer cells")
            advice = f"give more --time, {smaller(options)} or fewer cells"
            note = too_short(lacking, len(self.cells), self.fewest, options.time_s, advice)
            for number in launches_with_records(self.session.result)[-1:]:
                self.session.note(number, "warning", note.code, note.text, note.advice)

    # -- spending time --------------------------------------------------------------------------------------------

    def give_minimum(self, cells: Sequence[Cell], deadline: Deadline) -> None:
        """Give every cell its minimum by several launches of each layout, in turn with those of the others.

        Layouts come in a shuffled order, and all are cut in proportion when the time is short. Peers follow at last.
        """
        if self.session.needed is not None:
            self._give_minimum_of_trial(cells, deadline)
            return
        peers, made, left = self.in_turn, 0, 0
        while left != 1 and self.may_go_on and (lacking := self.lacking(cells)):
            left = self._launches_left(lacking, made, deadline)
            done = min(len(self.progress.of(cell.case.id).counted) for cell in lacking)
            total = done + ceil((self.options.min_repetitions - done) / left)
            below = [cell for cell in lacking if self.progress.lacks(cell.case.id, total)]
            self.in_turn = peers if left == 1 else None
            later = None if left == 1 else partial(self._rest_s, lacking, total, left - 1)
            self._sweep_layouts(below, total, deadline, "every cell", later)
            made += 1
        self.in_turn = peers

    def _give_minimum_of_trial(self, cells: Sequence[Cell], deadline: Deadline) -> None:
        """Give cells the repetitions that they should have in the time, then those they must have by measured costs."""
        self._sweep_layouts(self.lacking(cells), self.options.min_repetitions, deadline, "every cell")
        before = 0
        while self.may_go_on and before < self.progress.repetitions:
            before = self.progress.repetitions
            if lacking := self.lacking(cells):
                self.costs = self.costs.correct(self.cells)
                self._sweep_layouts(lacking, self.fewest, self.deadline(deadline), "every cell")

    def _launches_left(self, cells: Sequence[Cell], made: int, deadline: Deadline) -> int:
        """Return in how many launches of each layout ``cells`` get their minimum, after so many ``made``.

        A batch job that cannot finish all of it measures each layout at once: other nodes would go on with it.
        """
        job = self.session.job_time
        left_s = deadline.left_s if job is None else min(deadline.left_s, job.left_s)
        starts_s = max(sum(self.costs.launch_s(layout.ranks) for layout in by_layout(cells)), 1e-6)
        wanted = max(LAUNCHES, int(_START_SHARE * left_s / starts_s))
        spare_s = left_s - self._rest_s(cells, 0, 0)
        return max(1, min(wanted - made, self.options.min_repetitions - made, int(spare_s / starts_s)))

    def _rest_s(self, cells: Sequence[Cell], total: int, launches: int) -> float:
        """Return the seconds that ``cells`` take from ``total`` repetitions to their minimum, in so many launches."""
        groups = by_layout(cells).values()
        starts_s = launches * sum(self.costs.launch_s(group[0].layout.ranks) for group in groups)
        missing = ((cell, self._missing(cell, total)) for cell in cells)
        work_s = sum(count * self.costs.repetition_s(cell) for cell, count in missing)
        return starts_s + work_s + sum(self._in_turn_s(group) for group in groups)

    def _missing(self, cell: Cell, total: int) -> int:
        counted = len(self.progress.of(cell.case.id).counted)
        return max(0, self.options.min_repetitions - max(total, counted))

    def narrow(self, cells: Sequence[Cell], deadline: Deadline) -> None:
        """Repeat what is wide until nothing is, or the time is over."""
        while self.may_go_on and (wide := self.wide(cells)):
            before = self.progress.repetitions
            self._sweep_layouts(wide, None, deadline, "wide intervals")
            if self.progress.repetitions == before:
                return

    def repeat(self, cells: Sequence[Cell], deadline: Deadline) -> None:
        """Repeat ``cells``, however narrow they are, up to as many repetitions as the stop rule looks at next."""
        target = next_look(max((len(self.progress.of(cell.case.id).counted) for cell in cells), default=0) + 1)
        self._sweep_layouts(list(cells), target, deadline, "outliers again")

    def _sweep_layouts(
        self,
        cells: Sequence[Cell],
        maximum: int | None,
        deadline: Deadline,
        stage: str,
        later: Callable[[], float] | None = None,
    ) -> None:
        """Run one launch for each layout of ``cells``.

        ``maximum``: repetitions in all, however narrow intervals are; None: as many as are worth a launch, until
        intervals are narrow. ``later``: the seconds of what is to come after these launches, which has as good a right
        to the time.
        """
        self._turn += 1
        groups = shuffled_layouts(cells, self.options.seed, self._turn)
        for index, group in enumerate(groups):
            if not self.may_go_on:
                return
            self.costs = self.costs.correct(self.cells)
            estimates = [self._estimate(later, maximum) for later in groups[index:]]
            estimates.append(0.0 if later is None else later())
            seconds = share_out(deadline.left_s, estimates) - self.costs.launch_s(group[0].layout.ranks)
            if maximum is None:  # a minimum comes before what is measured beside it
                seconds -= self._in_turn_s(group)
            shortest = min(self.costs.repetition_s(cell) for cell in group)
            may_wait = maximum is None or any(self.progress.of(cell.case.id).counted for cell in group)
            if seconds < SHORTEST_S or (may_wait and seconds < shortest):
                continue
            highest = maximum or self._highest(group)
            lowest = highest if maximum is not None else self.options.min_repetitions
            text = f"{stage}: {plural(len(group), 'case')} with {plural(group[0].layout.ranks, 'rank')}"
            self.session.progress.stage(text, self._to_do(group, highest), deadline.left_s)
            self._launch(group, (lowest, highest), seconds)
            if self.in_turn is not None and self.may_go_on:
                own_s = sum(self._estimate(later, maximum) - self._in_turn_s(later) for later in groups[index + 1 :])
                self.in_turn.measure(group, deadline.earlier(min(own_s, deadline.left_s)))

    def _highest(self, group: Sequence[Cell]) -> int:
        """Return the repetitions in all after a further launch of ``group``.

        They are enough to be worth the launch's start, and as many as the stop rule looks at next.
        """
        each_s = sum(self.costs.repetition_s(cell) for cell in group)
        worth = self.costs.launch_s(group[0].layout.ranks) / _START_SHARE / max(each_s, 1e-6)
        fewest = min(len(self.progress.of(cell.case.id).counted) for cell in group)
        return min(self.options.max_repetitions, next_look(fewest + max(_FEWEST_MORE, ceil(worth))))

    def _to_do(self, group: Sequence[Cell], highest: int) -> int:
        return sum(max(0, highest - len(self.progress.of(cell.case.id).counted)) for cell in group)

    def _estimate(self, group: Sequence[Cell], maximum: int | None) -> float:
        highest = maximum or self._highest(group)
        counted = ((cell, len(self.progress.of(cell.case.id).counted)) for cell in group)
        work = sum(max(0, highest - done) * self.costs.repetition_s(cell) for cell, done in counted)
        return self._around_s(group) + work

    def _around_s(self, group: Sequence[Cell]) -> float:
        """Return the seconds that a launch of ``group`` takes besides its repetitions."""
        return self.costs.launch_s(group[0].layout.ranks) + self._in_turn_s(group)

    def _in_turn_s(self, group: Sequence[Cell]) -> float:
        return 0.0 if self.in_turn is None else self.in_turn.seconds(group)

    def _launch(self, group: Sequence[Cell], repetitions: tuple[int, int], seconds: float) -> None:
        known = self._numbers.pop(frozenset(cell.case.id for cell in group), None)
        number = known if known is not None else self.session.result.next_launch()
        ends: list[EndRecord] = []

        def hear(record: AnyRecord) -> None:
            if isinstance(record, EndRecord):
                ends.append(record)

        ended = self.launch(number, self._plan(group, number, repetitions, seconds), hear)
        if ends:
            self.costs.saw_launch(group[0].layout.ranks, ended.seconds - ends[-1].elapsed_ns / 1e9)
