# SPDX-License-Identifier: Apache-2.0
"""A run of cells that all are known beforehand, checked against engine and machine; and what such runs share."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Generic, Self, TypeAlias, TypeVar

from ullage.model.describe import Describe
from ullage.model.plan import Case, Layout, Limits, Plan, Target
from ullage.model.request import Request
from ullage.model.system import Place
from ullage.quantity import percent
from ullage.results.folder import ResultFolder
from ullage.runs.cells.costs import Basis, Costs, assumed
from ullage.runs.cells.passes import CellExecution
from ullage.runs.cells.planning import Cell, Sizing, by_layout, check_one_folder, each_once, make_plan
from ullage.runs.cells.volume import check_files, check_room, check_room_together, needed_bytes
from ullage.runs.execution import Deadline, LaunchSpec, read_progress
from ullage.runs.inputs import EngineContext
from ullage.runs.jobtime import CaseWork, Work
from ullage.runs.options.groups import RunOptions, StorageOptions
from ullage.runs.options.reading import read_options
from ullage.runs.room import Machine, checked_machine, most_bytes
from ullage.runs.session import Note, Session, launches_with_records, note_once
from ullage.runs.suite import Explanation
from ullage.units import format_bytes, format_time, format_volume

Columns: TypeAlias = Mapping[str, Callable[[Cell], str]]
"""The columns of a table of cases before those of time and id: heads, and what they show."""


def backend_text(cell: Cell) -> str:
    """Name the backend of a case, with the parameters that it is given."""
    parameters = cell.case.backend.parameters
    return " ".join([cell.case.backend.name, *(f"{key}={value}" for key, value in parameters.items())])


_OF_ANY_CELL: Final[Columns] = {
    "target": lambda cell: cell.target.name,
    "backend": lambda cell: cell.case.backend.name,
    "ranks": lambda cell: str(cell.layout.ranks),
    "phases": lambda cell: " ".join(cell.phases),
    "data": lambda cell: format_volume(cell.dataset_bytes),
    "files": lambda cell: f"{cell.files:,}",
    "a_call": lambda cell: format_bytes(cell.block_bytes),
}


def plan_columns(words: str, **own: Callable[[Cell], str]) -> Columns:
    """Return columns with ``words`` as heads, ``_`` for a blank: ``own`` ones, those of any cell, else parameters."""

    def parameter(name: str) -> Callable[[Cell], str]:
        return lambda cell: cell.values.word(name)

    known = {**_OF_ANY_CELL, **own}
    return {word.replace("_", " "): known.get(word, parameter(word)) for word in words.split()}


_USUAL: Final[Columns] = plan_columns(
    "target backend ranks block phases data files",
    backend=backend_text,
    block=_OF_ANY_CELL["a_call"],
    files=lambda cell: str(cell.files),
)


@dataclass(frozen=True)
class RunEstimate:
    """What a run would do. ``volume_text`` says how the volume was found, ``notes`` what else."""

    options: RunOptions
    cells: Sequence[Cell]
    costs: Costs
    machine: Machine
    volume_text: str
    notes: Sequence[str]
    columns: Columns = field(default_factory=lambda: _USUAL)


def explain(estimate: RunEstimate) -> Explanation:
    """Explain what a run would do, from ``estimate`` alone."""
    columns, takes = estimate.columns, estimate.costs.repetition_s
    rows = [
        [*(show(cell) for show in columns.values()), format_time(takes(cell)), cell.case.id] for cell in estimate.cells
    ]
    headers = [*columns, "each takes about" if columns is _USUAL else "takes about", "case"]
    limits = Limits(space_bytes=estimate.options.space)
    lines: list[str] = []
    for place in estimate.machine.places:
        needed = needed_bytes(estimate.cells, place.target, keep=estimate.options.keep)
        free = "unknown" if place.free_bytes is None else format_volume(place.free_bytes)
        allowed = format_volume(most_bytes(place, limits, estimate.machine.memory))
        lines.append(
            f"Space on {place.target}: {format_volume(needed)} at a time; {free} free, of which {allowed} may be taken."
        )
    tail = [*_totals(estimate), *lines]
    return Explanation([*_head(estimate), *estimate.notes], headers, rows, tail)


def work_of(options: RunOptions, cells: Sequence[Cell], costs: Costs) -> Work:
    """Return what the minimum of all cells takes by ``costs``."""
    launches = [
        [CaseWork(cell.case.id, costs.repetition_s(cell), options.min_repetitions) for cell in group]
        for group in by_layout(cells).values()
    ]
    return Work(launches, until_s=options.time_s)


def _head(estimate: RunEstimate) -> list[str]:
    options = estimate.options
    layouts = len(by_layout(estimate.cells))
    repeated = (
        f"Each is repeated {options.min_repetitions} to {options.max_repetitions} times, until its median is known to "
        f"+-{percent(options.interval, 1)}, in {format_time(options.time_s)} in all; "
        f"order shuffled with seed {options.seed}."
    )
    lines = [f"Cases: {len(estimate.cells)}, in {layouts} launches at least; {estimate.volume_text}.", repeated]
    places = {place.target: place for place in estimate.machine.places}
    lines += [
        f"Target {target.name}: {target.uri} ({_nature(places.get(target.name))})."
        for target in {cell.target.name: cell.target for cell in estimate.cells}.values()
    ]
    return lines


def _nature(place: Place | None) -> str:
    if place is None:
        return "no storage"
    if place.is_memory:
        return f"{place.file_system}: memory, not storage"
    kind = place.file_system or "file system unknown"
    return f"{kind} on {place.source or 'an unknown source'}{', remote' if place.is_remote else ''}"


def inexact_volumes(cells: Sequence[Cell], asked: Sequence[int]) -> list[str]:
    """Return a line on how many cells do not move the bytes ``asked`` of them; none where all do."""
    inexact = [cell for cell, wanted in zip(cells, asked, strict=True) if cell.dataset_bytes != wanted]
    if not inexact:
        return []
    what = f"{len(inexact)} cases move another volume: each rank moves whole blocks, one at least"
    return [f"{what}: their true bytes are below."]


def _totals(estimate: RunEstimate) -> list[str]:
    fewest, most = estimate.options.min_repetitions, estimate.options.max_repetitions
    once_s = sum(estimate.costs.repetition_s(cell) for cell in estimate.cells)
    launches_s = sum(estimate.costs.launch_s(layout.ranks) for layout in by_layout(estimate.cells))
    written = sum(cell.dataset_bytes * _count(cell, ("write", "rewrite")) for cell in estimate.cells)
    read = sum(cell.dataset_bytes * _count(cell, ("read", "reread")) for cell in estimate.cells)
    least_s = launches_s + fewest * once_s
    moved = (
        f"Written {format_volume(fewest * written)} to {format_volume(most * written)}, "
        f"read {format_volume(fewest * read)} to {format_volume(most * read)}."
    )
    lasts = (
        f"The minimum takes about {format_time(round(least_s, 1))} ({estimate.costs.basis.text}); "
        f"the run ends when all is known well enough, after {format_time(estimate.options.time_s)} at the latest."
    )
    lines = [*([moved] if written or read else []), lasts]
    if least_s > estimate.options.time_s:
        lines.append("That is more than the time allows: some cells would get fewer repetitions, and be flagged.")
    return lines


def _count(cell: Cell, phases: Iterable[str]) -> int:
    return sum(phase in cell.phases for phase in phases)


# When we choose the volume, all cells' minimum takes this share of the time; the rest narrows intervals and covers
# surprises.
MINIMUM_SHARE: Final = 0.6


@dataclass(frozen=True)
class PreparedCells:
    """See ``Prepared``. ``kinds`` gives cells that were read back from plans the kind they have among ``cells``.

    ``text`` says how the volumes came about, ``lines`` what else a user might not expect of the plan, ``notes`` what
    belongs into the result too. ``shares_less``: what of the suite's options would let each rank have files of its own;
    ``fewer_files``: what would make fewer files, of a suite that may make many. ``costing`` assumes costs before
    anything was measured.
    """

    request: Request
    options: RunOptions
    machine: Machine
    cells: Sequence[Cell]
    kinds: Callable[[Iterable[Cell]], list[Cell]]
    text: str
    lines: Sequence[str]
    notes: Sequence[Note]
    columns: Columns = field(default_factory=lambda: _USUAL)
    shares_less: str = ""
    fewer_files: str = ""
    costing: Callable[[Sequence[Cell], Sequence[Place]], Basis] = assumed

    @property
    def unsettled(self) -> str:
        """See ``Prepared``: nothing is left to a probe."""
        return ""

    def check(self, cells: Sequence[Cell]) -> None:
        """Raise ``UserError`` where the engine would refuse: for want of room or inodes (code 3), or of a folder."""
        check_one_folder(cells, self.shares_less)
        limits = Limits(space_bytes=self.options.space)
        check_room(cells, self.machine.places, limits, self.machine.memory, self.options)
        check_room_together(cells, self.machine.places, limits, self.machine.memory, self.options)
        if self.fewer_files:
            check_files(cells, self.machine.places, limits, self.fewer_files)

    def checked(self) -> Self:
        """Return this after ``check`` of its cells."""
        self.check(self.cells)
        return self

    def costs(self, cells: Sequence[Cell]) -> Costs:
        """Return the costs that are assumed before anything was measured."""
        return Costs(self.costing(cells, self.machine.places))

    def explain(self) -> Explanation:
        lines = [*self.lines, *(f"{note.text}; {note.advice}." for note in self.notes)]
        costs = self.costs(self.cells)
        return explain(RunEstimate(self.options, self.cells, costs, self.machine, self.text, lines, self.columns))

    def work(self) -> Work:
        return work_of(self.options, self.cells, self.costs(self.cells))

    def plans(self, result: ResultFolder) -> list[Plan]:
        return plans_of_layouts(self.request, self.options, self.cells, self.costs(self.cells), result)

    def run(self, session: Session, now: Callable[[], float] = time.monotonic) -> int:
        """See ``Prepared``: the minimum of every cell, then narrowing, within the time. ``now``: a clock in s."""
        began = Deadline(now(), now)
        cells = each_once([*self.kinds(planned_cells(session.result)), *self.cells])
        self.check(cells)
        costs = Costs(self.costs(cells).basis, read_progress(session))
        run = CellExecution(session, costs.progress, self.request, self.options, costs, cells)
        deadline = run.begin(began)
        run.give_minimum(cells, deadline)
        run.narrow(cells, deadline)
        run.note_lacking()
        note_first(self.notes, session)
        return run.code


OptionsT = TypeVar("OptionsT", bound=StorageOptions)


def layouts_of(options: StorageOptions, machine: Machine) -> list[Layout]:
    """Place each number of ranks; raise ``UserError`` where they do not fill the nodes."""
    return [options.place(ranks, machine.cores) for ranks in options.ranks]


@dataclass(frozen=True)
class Asked(Generic[OptionsT]):
    """What the cells of a run follow from. ``text``: how the options were settled, in a few words."""

    options: OptionsT
    text: str
    targets: Sequence[Target]
    machine: Machine
    description: Describe

    @property
    def layouts(self) -> list[Layout]:
        """See ``layouts_of``."""
        return layouts_of(self.options, self.machine)


@dataclass(frozen=True)
class Preparing(Generic[OptionsT]):
    """How a suite prepares runs whose cells follow from its options. What ``PreparedCells`` has too is told there.

    ``settle`` fills in options by the machine, and says how. A resumed run finds them in its request: the machine of
    another moment would settle them differently.
    """

    options: type[OptionsT]
    settle: Callable[[OptionsT, Machine], tuple[OptionsT, str]]
    make_cells: Callable[[Asked[OptionsT]], list[Cell]]
    sizing: Sizing
    columns: Columns
    lines: Callable[[Asked[OptionsT], Sequence[Cell]], Sequence[str]]
    notes: Callable[[Asked[OptionsT], Sequence[Cell]], Sequence[Note]]
    shares_less: str = ""
    fewer_files: str = ""
    costing: Callable[[Sequence[Cell], Sequence[Place]], Basis] = assumed

    def __call__(self, request: Request, engine_context: EngineContext) -> PreparedCells:
        """Check everything that can be checked without starting anything."""
        given, machine = read_options(self.options, request), checked_machine(request.targets)
        options, text = self.settle(given, machine)
        if options is not given:
            request = request.model_copy(update={"options": options.model_dump(mode="json")})
        asked = Asked(options, text, request.targets, machine, engine_context.description)
        kinds = self.sizing.by(engine_context.engine)
        cells = kinds(each_once(self.make_cells(asked)))
        return PreparedCells(
            request,
            options,
            machine,
            cells,
            kinds,
            text,
            self.lines(asked, cells),
            self.notes(asked, cells),
            self.columns,
            self.shares_less,
            self.fewer_files,
            self.costing,
        ).checked()


def note_first(notes: Iterable[Note], session: Session) -> None:
    """Add ``notes`` to the events of the first launch."""
    launches = launches_with_records(session.result)
    if launches:
        note_once(notes, session, launches[0])


def plans_of_layouts(
    request: Request, options: RunOptions, cells: Sequence[Cell], costs: Costs, result: ResultFolder
) -> list[Plan]:
    """Return one plan for each layout, each with its part of the time by ``costs``."""
    groups = by_layout(cells)
    expected = [sum(costs.repetition_s(cell) for cell in group) for group in groups.values()]
    plans: list[Plan] = []
    for number, (group, share) in enumerate(zip(groups.values(), expected, strict=True), start=1):
        seconds = options.time_s * share / sum(expected)
        repetitions = options.min_repetitions, options.max_repetitions
        spec = LaunchSpec(0, str(result.records_path(number)), seconds, repetitions)
        plans.append(make_plan(request, options, group, spec))
    return plans


def planned_cells(result: ResultFolder) -> list[Cell]:
    """Return all cells that any plan of ``result`` holds, each once."""
    found: dict[str, Cell] = {}
    for number in result.launches():
        plan = result.read_plan(number)
        targets = {target.name: target for target in plan.targets}
        for case in plan.cases:
            bare: Case = case.model_copy(update={"prior_elapsed_ns": {}})
            spill = tuple(targets[name] for name in case.spill)
            found.setdefault(case.id, Cell(bare, targets[case.target], plan.layout, spill=spill))
    return list(found.values())
