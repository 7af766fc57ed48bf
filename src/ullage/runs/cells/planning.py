# SPDX-License-Identifier: Apache-2.0
"""From options to cells and from cells to plans. Pure: the same request makes the same ids on machines alike."""

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ullage.errors import UserError
from ullage.identity import case_id
from ullage.launch.layouts import place_ranks
from ullage.model.describe import Describe
from ullage.model.plan import Case, Layout, Limits, Named, Parameters, Plan, Target
from ullage.model.request import Request
from ullage.runs.cells.settings import WORKLOAD, Way, ways
from ullage.runs.cells.volume import share_bytes
from ullage.suites.sweep.options import RunOptions, SweepOptions

# A launch is a timeout after this long without progress, and after the time a slow target needs for its largest fsync.
_SHORTEST_PATIENCE_S: Final = 120.0
_SLOWEST_SYNC: Final = 10e6


@dataclass(frozen=True)
class Cell:
    """One case with its layout. ``kind``: what else sets its cost apart from that of others at the same place."""

    case: Case
    target: Target
    layout: Layout
    kind: str = ""

    @property
    def block_bytes(self) -> int:
        """Bytes of one transfer."""
        return _count(self.case.workload.parameters, "transfer_bytes", 262144)

    @property
    def dataset_bytes(self) -> int:
        """What one repetition leaves at the target, over all ranks."""
        parameters = self.case.workload.parameters
        return self.layout.ranks * _count(parameters, "segments", 1) * _count(parameters, "block_bytes", 1 << 20)

    @property
    def files(self) -> int:
        """Of the dataset."""
        return self.layout.ranks if self.case.workload.parameters.get("file_mode") == "per-process" else 1

    @property
    def phases(self) -> list[str]:
        """In the order of execution."""
        words = self.case.workload.parameters.get("phases", ["write", "read"])
        return words if isinstance(words, list) else []

    @property
    def place(self) -> tuple[str, str]:
        """Target and backend, which cost much the same at every setting of one kind."""
        return self.target.name, f"{self.case.backend.name} {self.kind}".rstrip()


def _count(parameters: Parameters, name: str, default: int) -> int:
    """A number of the workload; those that equal the engine's default (docs/contract.md) are not in a plan."""
    value = parameters.get(name, default)
    return value if isinstance(value, int) else default


def make_layout(ranks: int, options: SweepOptions, cores: int | None) -> Layout:
    """``cores``: usable ones of a node, None when not known. ``UserError`` when the ranks do not fill the nodes."""
    return place_ranks(ranks, options.nodes, options.ranks_per_node, cores)


def make_cells(
    options: SweepOptions, targets: list[Target], description: Describe, volume_bytes: int, cores: int | None
) -> list[Cell]:
    """Every combination, each once. ``UserError`` for what the engine would refuse."""
    layouts = [make_layout(ranks, options, cores) for ranks in options.ranks]
    all_ways = ways(options, targets, description)
    cells = [
        make_cell(way, layout, block, share_bytes(volume_bytes, layout.ranks, block, _segments(way), weak=options.weak))
        for layout in layouts
        for way in all_ways
        for block in options.blocks
    ]
    return list({cell.case.id: cell for cell in cells}.values())


def _segments(way: Way) -> int:
    return _count(way.workload, "segments", 1)


def make_cell(way: Way, layout: Layout, block_bytes: int, share: int) -> Cell:
    """``share``: bytes of a rank in one segment, a multiple of ``block_bytes``."""
    if block_bytes % 8:
        raise UserError(f"{block_bytes} bytes are no multiple of 8", "--block", "write 128K, 1M or 128K:16M:x2")
    parameters: Parameters = {**way.workload, "transfer_bytes": block_bytes, "block_bytes": share}
    workload = Named(name=WORKLOAD, parameters=parameters)
    identity = case_id(way.backend, workload, way.target, layout)
    case = Case(id=identity, target=way.target.name, backend=way.backend, workload=workload)
    return Cell(case, way.target, layout)


def resized(cell: Cell, options: SweepOptions, layout: Layout, block_bytes: int, volume_bytes: int) -> Cell:
    """The same way of measuring with other ranks or blocks."""
    fixed = {k: v for k, v in cell.case.workload.parameters.items() if k not in ("transfer_bytes", "block_bytes")}
    way = Way(cell.target, cell.case.backend, fixed)
    share = share_bytes(volume_bytes, layout.ranks, block_bytes, _segments(way), weak=options.weak)
    return make_cell(way, layout, block_bytes, share)


def by_layout(cells: Iterable[Cell]) -> dict[Layout, list[Cell]]:
    """Cells of equal layout together, in the order in which the layouts are first met."""
    groups: dict[Layout, list[Cell]] = {}
    for cell in cells:
        groups.setdefault(cell.layout, []).append(cell)
    return groups


def shuffled_layouts(cells: Iterable[Cell], seed: int, turn: int) -> list[list[Cell]]:
    """The groups of ``by_layout`` in an order that depends on ``seed`` and ``turn`` only."""
    groups = list(by_layout(cells).values())
    _random(seed, turn, 0).shuffle(groups)
    return groups


def _random(seed: int, turn: int, ranks: int) -> random.Random:
    return random.Random(f"{seed}/{turn}/{ranks}")  # noqa: S311 - an order, not a secret


@dataclass(frozen=True)
class LaunchSpec:
    """What one launch is asked for: its turn in the run, how many repetitions in all, and for how long."""

    turn: int
    minimum: int
    maximum: int
    seconds: float | None


def _patience_s(cells: Sequence[Cell]) -> float:
    """Two minutes; where an fsync may have to move the largest case at 10 MB/s, longer."""
    return max(_SHORTEST_PATIENCE_S, max(cell.dataset_bytes for cell in cells) / _SLOWEST_SYNC)


def make_plan(
    request: Request,
    options: RunOptions,
    cells: Sequence[Cell],
    turn: LaunchSpec,
    records: str,
    prior: Mapping[str, dict[str, list[int]]] | None = None,
) -> Plan:
    """The plan of one launch over ``cells``, which are of one layout. ``prior``: elapsed ns by case and phase."""
    shuffle = _random(options.seed, turn.turn, cells[0].layout.ranks)
    order = shuffle.sample(list(cells), len(cells))
    known = prior or {}
    used = {cell.target.name: cell.target for cell in cells}
    return Plan(
        run_id=request.run_id,
        suite=request.suite,
        records=records,
        seed=shuffle.getrandbits(52),
        layout=cells[0].layout,
        targets=list(used.values()),
        stop_rule=Named(
            name="median-ci",
            parameters={"relative_width": options.interval, "minimum": turn.minimum, "maximum": turn.maximum},
        ),
        time_budget_s=turn.seconds,
        watchdog_s=options.watchdog_s or _patience_s(cells),
        limits=Limits(space_bytes=options.space),
        keep=options.keep,
        cases=[cell.case.model_copy(update={"prior_elapsed_ns": known.get(cell.case.id, {})}) for cell in order],
    )
