# SPDX-License-Identifier: Apache-2.0
"""Cells, and from cells to plans. Pure: the same request makes the same ids on machines alike."""

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Final, TypeAlias, cast

from ullage.engine import Kind, needs_of, validate_parameters
from ullage.errors import EXIT_BAD_INPUT, UserError
from ullage.grouping import grouped
from ullage.identity import case_id
from ullage.launch.base import ranks_on_a_node
from ullage.model.describe import Describe, Needs
from ullage.model.plan import Case, Layout, Limits, Named, Parameters, Plan, Target
from ullage.model.request import Request
from ullage.runs.execution import LaunchSpec
from ullage.runs.options.engine import Values, values_of
from ullage.runs.options.groups import RunOptions
from ullage.uri import words_of_path

WORKLOAD: Final = "transfer"
# A launch without progress for so long is a timeout; the engine allows a stage more by what it moves in one call.
_PATIENCE_S: Final = 120.0


@dataclass(frozen=True)
class Way:
    """A way to measure a target: a backend with its parameters, and those of the workload besides the sizes."""

    target: Target
    backend: Named
    workload: Parameters


@dataclass(frozen=True)
class Sizes:
    """What a case moves and leaves, of which the files are those of its dataset.

    Cases of one ``kind`` cost the same at a place. Without ``needs_one_folder`` no rank needs a file of another.
    """

    kind: str
    block_bytes: int
    dataset_bytes: int
    files: int = 1
    phases: Sequence[str] = ("write", "read")
    needs_one_folder: bool = True


def phases_of(values: Values) -> Sequence[str]:
    """Return the phases that a workload is given, or else a write and a read."""
    return cast("list[str]", values.get("phases", ["write", "read"]))


@dataclass(frozen=True)
class Cell:
    """One case with its layout. ``kind``: what else sets its cost apart from that of others at the same place.

    ``spill``: further targets for data that finds no room at ``target``; ``sizes``: of a workload with its own ones.
    """

    case: Case
    target: Target
    layout: Layout
    kind: str = ""
    spill: tuple[Target, ...] = ()
    sizes: Sizes | None = None

    @property
    def parameters(self) -> Parameters:
        """Those of the workload that are not their defaults."""
        return self.case.workload.parameters

    @cached_property
    def values(self) -> Values:
        """All parameters of the workload."""
        return values_of(self.case.workload.name, self.parameters)

    @property
    def is_collective(self) -> bool:
        """Whether the backend transfers collectively."""
        return bool(self.case.backend.parameters.get("collective", False))

    @cached_property
    def _known(self) -> Sizes:
        """Those of workload ``transfer`` where it has no others."""
        if self.sizes is not None:
            return self.sizes
        values, ranks = values_of(WORKLOAD, self.parameters), self.layout.ranks
        has_own = values["file_mode"] == "per-process"
        return Sizes(
            self.kind,
            values.count("transfer_bytes"),
            ranks * values.count("segments") * values.count("block_bytes"),
            ranks if has_own else 1,
            phases_of(values),
            self.case.workload.name == WORKLOAD and not (has_own and values["read_back"] == "own"),
        )

    @property
    def block_bytes(self) -> int:
        """Bytes of one transfer."""
        return self._known.block_bytes

    @property
    def dataset_bytes(self) -> int:
        """What one repetition leaves at the target, over all ranks."""
        return self._known.dataset_bytes

    @property
    def files(self) -> int:
        """The number of files of the dataset."""
        return self._known.files

    @property
    def needs_one_folder(self) -> bool:
        """Whether ranks share files, so that all of them need the same folder."""
        return self._known.needs_one_folder

    @property
    def phases(self) -> list[str]:
        """The phases in the order of execution."""
        return list(self._known.phases)

    @property
    def place(self) -> tuple[str, str]:
        """Target and backend, which cost much the same at every setting of one kind."""
        return self.target.name, f"{self.case.backend.name} {self.kind}".rstrip()


@dataclass(frozen=True)
class Sizing:
    """How cells get their sizes: by the engine, besides what a call moves and which phases there are.

    ``kind``: parameters of the workload that set the cost of a case apart, besides its ranks and those of the backend.
    """

    kind: str
    block_bytes: Callable[[Values], int]
    phases: Callable[[Values], Sequence[str]] = phases_of

    def by(self, engine: Path) -> Callable[[Iterable[Cell]], list[Cell]]:
        """Return what gives cells, also those read back from plans, the sizes and kinds that they have."""
        return lambda cells: self._sized(list(cells), engine)

    def _sized(self, cells: Sequence[Cell], engine: Path) -> list[Cell]:
        needed = needs_of(engine, [(cell.layout, cell.case.workload) for cell in cells])
        return [self._with(cell, needs) for cell, needs in zip(cells, needed, strict=True)]

    def _with(self, cell: Cell, needs: Needs) -> Cell:
        apart = [str(cell.values[name]) for name in self.kind.split() if name in cell.values]
        backend = [f"{name}={value}" for name, value in cell.case.backend.parameters.items()]
        kind = " ".join([f"{cell.layout.ranks} ranks", cell.case.workload.name, *apart, *backend])
        sizes = Sizes(
            kind, self.block_bytes(cell.values), needs.bytes, needs.inodes, self.phases(cell.values), needs.one_folder
        )
        return replace(cell, kind=kind, sizes=sizes)


Chosen: TypeAlias = tuple[str, Parameters]
"""What is registered with the engine by a name, and the parameters that it is given."""


def cell_of(
    target: Target,
    layout: Layout,
    backend: Chosen,
    workload: Chosen,
    description: Describe,
    spill: Sequence[Target] = (),
) -> Cell:
    """Return a case; raise ``UserError`` for parameters that the engine would refuse."""
    named = _named("backend", backend, description)
    work = _named("workload", workload, description)
    identity = case_id(named, work, target, layout, spill=spill)
    further = [one.name for one in spill]
    case = Case(id=identity, target=target.name, backend=named, workload=work, spill=further)
    return Cell(case, target, layout, spill=tuple(spill))


def _named(kind: Kind, chosen: Chosen, description: Describe) -> Named:
    name, given = chosen
    return Named(name=name, parameters=validate_parameters(description, kind, name, given))


def way_of(target: Target, backend: Chosen, workload: Parameters, description: Describe) -> Way:
    """Return a way with this backend; raise ``UserError`` for parameters that the engine would refuse."""
    named = _named("backend", backend, description)
    return Way(target, named, validate_parameters(description, "workload", WORKLOAD, workload))


def each_once(cells: Iterable[Cell]) -> list[Cell]:
    """Return each case once, where it was first met."""
    return list({cell.case.id: cell for cell in cells}.values())


def make_cell(way: Way, layout: Layout, block_bytes: int, share: int) -> Cell:
    """Make a cell; ``share``: bytes of a rank in one segment, a multiple of ``block_bytes``.

    Raise ``UserError`` where ``block_bytes`` is no multiple of 8.
    """
    if block_bytes % 8:
        raise UserError(f"{block_bytes} bytes are not a multiple of 8", "--block", "write 128K, 1M or 128K:16M:x2")
    parameters: Parameters = {**way.workload, "transfer_bytes": block_bytes, "block_bytes": share}
    workload = Named(name=WORKLOAD, parameters=parameters)
    identity = case_id(way.backend, workload, way.target, layout)
    case = Case(id=identity, target=way.target.name, backend=way.backend, workload=workload)
    return Cell(case, way.target, layout)


def by_layout(cells: Iterable[Cell]) -> dict[Layout, list[Cell]]:
    """Group cells of equal layout, in the order in which the layouts are first met."""
    return grouped((cell.layout, cell) for cell in cells)


def shuffled_layouts(cells: Iterable[Cell], seed: int, turn: int) -> list[list[Cell]]:
    """Return the groups of ``by_layout`` in an order that depends on ``seed`` and ``turn`` only."""
    groups = list(by_layout(cells).values())
    _random(seed, turn, 0).shuffle(groups)
    return groups


def _random(seed: int, turn: int, ranks: int) -> random.Random:
    return random.Random(f"{seed}/{turn}/{ranks}")  # noqa: S311 - an order, not a secret


def make_plan(
    request: Request,
    options: RunOptions,
    cells: Sequence[Cell],
    spec: LaunchSpec,
    prior: Mapping[str, dict[str, list[int]]] | None = None,
) -> Plan:
    """Return the plan of one launch over ``cells``, which are of one layout.

    ``prior``: elapsed ns by case and phase, of earlier launches.
    """
    rule: Parameters = {"relative_width": options.interval, "minimum": spec.repetitions[0]}
    rule["maximum"] = spec.repetitions[1]
    if spec.correlation > 0:
        rule["correlation"] = spec.correlation
    shuffle = _random(options.seed, spec.turn, cells[0].layout.ranks)
    order = shuffle.sample(list(cells), len(cells))
    known = prior or {}
    used = {target.name: target for cell in cells for target in (cell.target, *cell.spill)}
    return Plan(
        run_id=request.run_id,
        suite=request.suite,
        records=spec.records,
        seed=shuffle.getrandbits(52),
        layout=cells[0].layout,
        targets=list(used.values()),
        stop_rule=Named(name="median-ci", parameters=rule),
        time_budget_s=spec.seconds,
        watchdog_s=options.watchdog_s or _PATIENCE_S,
        limits=Limits(space_bytes=options.space),
        keep=options.keep,
        cases=[cell.case.model_copy(update={"prior_elapsed_ns": known.get(cell.case.id, {})}) for cell in order],
    )


def has_several_folders(target: Target, layout: Layout) -> bool:
    """Tell whether the path of ``target`` is certain to differ between ranks of ``layout``.

    Sockets and NUMA nodes of the ranks are known to the engine alone, as are nodes that a layout does not state.
    """
    several = {
        "rank": layout.ranks > 1,
        "local_rank": (ranks_on_a_node(layout) or 1) > 1,
        "node": (layout.nodes or 1) > 1,
        "host": (layout.nodes or 1) > 1,
    }
    return any(several.get(word, False) for word in words_of_path(target))


def check_one_folder(cells: Iterable[Cell], right: str) -> None:
    """Raise ``UserError`` for a case whose ranks share files where they have different folders.

    ``right``: what helps besides another path, such as ``use --read-back own``; it may be empty.
    """
    for cell in cells:
        if cell.needs_one_folder and has_several_folders(cell.target, cell.layout):
            refuse(cell.target, right)


def check_all_of(targets: Iterable[Target], layouts: Iterable[Layout]) -> None:
    """Raise ``UserError`` for a target with several folders in one of ``layouts``: the suite's ranks share files."""
    several = list(layouts)
    for target in targets:
        if any(has_several_folders(target, layout) for layout in several):
            refuse(target)


def refuse(target: Target, right: str = "") -> None:
    """Raise ``UserError``: ranks share files at a target that has several folders."""
    what = "has a folder for each rank or node, but the ranks share files"
    path = "a path that all ranks share, without words in braces"
    where = f"target '{target.name}' ({target.uri.partition(':')[2]})"
    raise UserError(what, where, f"{right}, or use {path}" if right else f"use {path}", EXIT_BAD_INPUT)
