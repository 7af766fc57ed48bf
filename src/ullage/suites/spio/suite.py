# SPDX-License-Identifier: Apache-2.0
"""Suite ``spio``: its cases (places, ranks, whose files are read), the volume that they share, and its rows."""

import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, cast

from ullage.analysis.ceilings.rows import with_ceiling
from ullage.errors import EXIT_BAD_INPUT, UserError
from ullage.grouping import grouped
from ullage.launch.base import fewest_nodes
from ullage.model.describe import Describe, Registered
from ullage.model.plan import Layout, Limits, Parameters, Scalar, Target
from ullage.model.request import Request
from ullage.model.summary import Row
from ullage.parameters import count_of
from ullage.quantity import plural
from ullage.results.folder import ResultFolder
from ullage.results.records import AnyRecord
from ullage.results.rows import RowContext, join
from ullage.runs.cells.backends import storage_backend
from ullage.runs.cells.caches import DIRECT, cache_and_verify, direct_of
from ullage.runs.cells.planning import Cell, Way, each_once, make_cell, way_of
from ullage.runs.cells.prepared import DATA, PHASES, PLACE, Columns, PreparedCells, backend_text, inexact_volumes
from ullage.runs.cells.volume import LARGEST_BYTES, most_to_choose, share_bytes
from ullage.runs.inputs import EngineContext
from ullage.runs.options.reading import read_options
from ullage.runs.room import Machine, checked_machine
from ullage.runs.session import Note
from ullage.runs.suite import SuiteSummary
from ullage.runs.told import Source, cached_share, launches_of, summary_of, told_rows, usual
from ullage.suites.spio.findings import RATE, findings_of
from ullage.suites.spio.options import SpioOptions
from ullage.units import format_bytes, format_volume

# -- cases -------------------------------------------------------------------------------------------------------------

# The aggregate volume of SPIOBENCH as published. Later machines have more memory than that, so its share counts too.
PUBLISHED_BYTES: Final = 128_000_000_000
MEMORIES: Final = 3
OWN: Final = "own"
# The engine takes the next rank where there is one node, and the record says so.
NEIGHBOUR: Final = "other-node"


def usual_volume(options: SpioOptions, memory_bytes: int | None, nodes: int) -> int:
    """Return the bytes of all files by the rule: max(128 GB, 3 x memory of ``nodes``), or 4 GiB past the page cache.

    ``memory_bytes``: of one node; None where it is not known, which leaves 128 GB.
    """
    if options.cache == DIRECT:
        return LARGEST_BYTES
    return max(PUBLISHED_BYTES, MEMORIES * nodes * (memory_bytes or 0))


def fitted_volume(volume_bytes: int, options: SpioOptions, most_bytes: int) -> int:
    """Return ``volume_bytes`` or ``most_bytes``, whichever is less, in whole blocks of every number of ranks.

    It is rounded up where there is room for that, else down; one block for each rank is the least.
    """
    unit = math.lcm(*options.ranks) * options.block
    if unit > volume_bytes:
        unit = max(options.ranks) * options.block
    rounded = -(-volume_bytes // unit) * unit
    return rounded if rounded <= most_bytes else max(most_bytes // unit * unit, max(options.ranks) * options.block)


def layouts_of(options: SpioOptions, cores: int | None) -> list[Layout]:
    """Place each number of ranks; raise ``UserError`` where they do not fill the nodes."""
    return [options.place(n, cores) for n in options.ranks]


def make_cells(
    options: SpioOptions, targets: Sequence[Target], description: Describe, volume_bytes: int, cores: int | None
) -> list[Cell]:
    """Return every combination, each once; raise ``UserError`` for what the engine would refuse."""
    cells = [
        make_cell(way, layout, options.block, share_bytes(volume_bytes, layout.ranks or 1, options.block))
        for layout in layouts_of(options, cores)
        for target in targets
        for way in _ways(options, target, layout.ranks or 1, description)
    ]
    return with_kinds(each_once(cells))


def _ways(options: SpioOptions, target: Target, ranks: int, description: Describe) -> Iterator[Way]:
    """Yield how a target is measured: a case that reads its own files, and one that reads those of neighbours.

    These are two cases, so that no rank reads as its neighbour's what its node has read before.
    """
    found = storage_backend(target, options.backend, description)
    chosen = found.name, direct_of(found, options.cache)
    own = [word for word in ("read", "reread") if word in options.operations]
    if own or "write" in options.operations:
        # A reread follows a read, also where only the reread is asked for.
        phases = ["write", "read", "reread"] if "reread" in own else ["write", *own]
        yield way_of(target, chosen, _workload(options, found, phases, OWN), description)
    if "neighbour" in options.operations and ranks > 1:
        yield way_of(target, chosen, _workload(options, found, ["write", "read"], NEIGHBOUR), description)


def _workload(options: SpioOptions, backend: Registered, phases: list[str], read_back: str) -> Parameters:
    """Return all parameters but the sizes."""
    return {
        "phases": [*phases],
        "file_mode": "per-process",
        "read_back": read_back,
        "sync": "close",
        **cache_and_verify(backend, options.cache, options.verify, "kept"),
    }


def is_of_neighbours(parameters: Parameters) -> bool:
    """Tell whether a case with these parameters of the workload reads the files of neighbours."""
    return parameters.get("read_back", OWN) != OWN


def whose_files(cell: Cell) -> str:
    """Tell whether ranks read files of ``neighbours`` or their ``own``."""
    return "neighbours" if is_of_neighbours(cell.parameters) else "own"


def with_kinds(cells: Iterable[Cell]) -> list[Cell]:
    """Name what sets the cost of each case apart from that of others at its place."""
    return [replace(cell, kind=f"{len(cell.phases)} phases, {whose_files(cell)} files") for cell in cells]


# -- what a run does ---------------------------------------------------------------------------------------------------

_COLUMNS: Final[Columns] = {
    "target": PLACE["target"],
    "backend": backend_text,
    "ranks": PLACE["ranks"],
    "reads files of": lambda cell: "a neighbour" if is_of_neighbours(cell.parameters) else "its own",
    **PHASES,
    "a rank": lambda cell: format_volume(cell.dataset_bytes / (cell.layout.ranks or 1)),
    **DATA,
    "files": lambda cell: str(cell.files),
}


def prepare_spio(request: Request, engine_context: EngineContext) -> PreparedCells:
    """Check everything that can be checked without starting anything, and settle the volume."""
    asked = read_options(SpioOptions, request)
    machine = checked_machine(request.targets)
    if asked.cache == "drop" and os.geteuid() != 0:
        raise UserError("only root may drop all caches", "--cache drop", "use --cache advise", EXIT_BAD_INPUT)
    options, text = _settled(asked, machine)
    # The room of the moment decides, so a resumed run must find the volume of its first launch in the request.
    settled = request.model_copy(update={"options": options.model_dump(mode="json")})
    cells = make_cells(options, request.targets, engine_context.description, cast("int", options.volume), machine.cores)
    lines, notes = _lines(options, cells), _notes(options, machine)
    return PreparedCells(
        settled,
        options,
        machine,
        cells,
        with_kinds,
        text,
        lines,
        notes,
        _COLUMNS,
        shares_less="leave neighbour out of --operation",
        fewer_files="fewer --ranks fit",
    ).checked()


def _settled(options: SpioOptions, machine: Machine) -> tuple[SpioOptions, str]:
    """Return the options with a volume, and how that was found."""
    if options.volume is not None:
        return options, f"volume {format_volume(options.volume)} for every number of ranks, as asked"
    fewest = fewest_nodes(layouts_of(options, machine.cores))
    limits = Limits(space_bytes=options.space)
    wanted = usual_volume(options, machine.memory.total_bytes, _most_nodes(options, machine))
    volume = fitted_volume(wanted, options, most_to_choose(machine.places, limits, machine.memory, fewest))
    rule = "direct I/O" if options.cache == "direct" else f"128 GB or {MEMORIES} x memory"
    rule += ", as far as there is room" if volume < wanted else ""
    text = f"volume {format_volume(volume)} for every number of ranks ({rule})"
    return options.model_copy(update={"volume": volume}), text


def _most_nodes(options: SpioOptions, machine: Machine) -> int:
    """Return the nodes of the layout on the most; 1 where only a batch system knows."""
    return max(layout.nodes or 1 for layout in layouts_of(options, machine.cores))


def _lines(options: SpioOptions, cells: Sequence[Cell]) -> list[str]:
    lines = [f"Each rank has one file and transfers {format_bytes(options.block)} blocks of it in order."]
    if "write" in options.operations:
        lines.append("The time of a write includes an fsync of every file.")
    if "neighbour" in options.operations:
        lines.append("Ranks read the file of the same rank on the next node, or that of the next rank on one node.")
        lines.append("The case for this writes its files first. That write is not reported a second time.")
    if "neighbour" in options.operations and 1 in options.ranks:
        lines.append(
            "A single rank has no neighbour. Rates of neighbours' files are compared with its read of its own."
        )
    if 1 not in options.ranks:
        lines.append("Without 1 among --ranks, nothing is compared with 1 rank.")
    if "reread" in options.operations:
        lines.append("A reread follows the read at once. Caches may answer it, as its verdict then says.")
    if options.cache == "none" and {"read", "neighbour"} & {*options.operations}:
        lines.append("Nothing is done about caches before reads: expect the verdict warm.")
    return [*lines, *inexact_volumes(cells, [cast("int", options.volume)] * len(cells))]


def _notes(options: SpioOptions, machine: Machine) -> list[Note]:
    """Return a note where the memory of the nodes can hold what the files have."""
    total, volume = machine.memory.total_bytes, cast("int", options.volume)
    on_storage = any(not place.is_memory for place in machine.places)
    if options.cache == "direct" or not on_storage or total is None:
        return []
    nodes = _most_nodes(options, machine)
    if volume >= MEMORIES * nodes * total:
        return []
    text = f"the volume of {format_volume(volume)} is less than {MEMORIES} times the memory of {plural(nodes, 'node')}"
    text += f" ({format_volume(total)} each), so caches may hold a part of it"
    return [Note("volume-below-memory", text, "read the verdict of each row, or use --cache direct")]


# -- rows --------------------------------------------------------------------------------------------------------------

_READ: Final = "read"


def summarise(result: ResultFolder, request: Request, context: RowContext) -> SuiteSummary:
    """See ``Summarising``."""
    options, launches = read_options(SpioOptions, request), launches_of(result)
    return summary_of(launches, context, spio_rows(launches, context, options.operations), findings_of)


def spio_rows(launches: Sequence[Iterable[AnyRecord]], context: RowContext, operations: Iterable[str]) -> list[Row]:
    """Return the rows of ``operations``, those of the cached share after the rates and times of their phase.

    What only makes files for a read is left out: the write of a case that reads neighbours' files, and phases that were
    not asked for.
    """
    records, asked = [list(launch) for launch in launches], {*operations}
    told = told_rows(records, context, _tell)
    found = [_bounded(row) for row in told if row.params["operation"] in asked]
    groups = grouped(((item.case.case, item.phase.phase), item.phase) for item in join(records))
    rates = [row for row in found if row.metric == RATE]
    shares = [cached_share(row, groups[row.case, row.access], context) for row in rates]
    return [*found, *(row for some in shares for row in some)]


def _tell(row: Row, source: Source) -> Mapping[str, "Scalar"] | None:
    """Return the parameters of a row; None for a write that only makes what neighbours read."""
    parameters, access = source.workload, row.access
    of_neighbours = is_of_neighbours(parameters)
    if of_neighbours and access != _READ:
        return None
    ranks = row.ranks
    params: dict[str, Scalar] = {
        "access": access,
        "operation": "neighbour" if of_neighbours else access,
        **usual(row, "ranks", "nodes"),
        "block_bytes": count_of(parameters, "transfer_bytes", 1 << 18),
        "volume_bytes": ranks * count_of(parameters, "block_bytes", 1 << 20),
        "backend": row.params["backend"],
    }
    if access != "write":
        params["data_of"] = source.phases[-1].data_of
    return params


def _bounded(row: Row) -> Row:
    """Drop the ceiling of the device from a reread that memory may have answered."""
    return with_ceiling(row, None) if row.access == "reread" and row.verdict != "cold" else row
