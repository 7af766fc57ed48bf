# SPDX-License-Identifier: Apache-2.0
"""A run of suite ``spio`` that was checked against engine and machine, ready to be explained or run."""

import os
from collections.abc import Sequence
from typing import Final, cast

from ullage.errors import EXIT_BAD_INPUT, UserError
from ullage.launch.base import fewest_nodes
from ullage.model.plan import Limits
from ullage.model.request import Request
from ullage.quantity import plural
from ullage.runs.cells.planning import Cell
from ullage.runs.cells.prepared import DATA, PHASES, PLACE, Columns, PreparedCells, backend_text, inexact_volumes
from ullage.runs.cells.volume import most_to_choose
from ullage.runs.inputs import EngineContext
from ullage.runs.options.reading import read_options
from ullage.runs.room import Machine, check_places, this_machine
from ullage.runs.session import Note
from ullage.suites.spio.cells import (
    MEMORIES,
    fitted_volume,
    is_of_neighbours,
    layouts_of,
    make_cells,
    usual_volume,
    with_kinds,
)
from ullage.suites.spio.options import SpioOptions
from ullage.units import format_bytes, format_volume

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
    machine = this_machine(request.targets)
    check_places(machine.places)
    if asked.cache == "drop" and os.geteuid() != 0:
        raise UserError("only root may drop all caches", "--cache drop", "use --cache advise", EXIT_BAD_INPUT)
    options, text = _settled(asked, machine)
    # The room of the moment decides, so a resumed run must find the volume of its first launch in the request.
    settled = request.model_copy(update={"options": options.model_dump(mode="json")})
    cells = make_cells(options, request.targets, engine_context.description, cast("int", options.volume), machine.cores)
    lines, notes = _lines(options, cells), _notes(options, machine)
    prepared = PreparedCells(
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
    )
    prepared.check(cells)
    return prepared


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
