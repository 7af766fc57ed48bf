# SPDX-License-Identifier: Apache-2.0
"""A run of suite ``checkpoint`` that was checked against engine and machine, ready to be explained or run."""

from collections.abc import Sequence
from typing import Final, cast

from ullage.launch.base import fewest_nodes
from ullage.model.plan import Limits
from ullage.model.request import Request
from ullage.runs.cells.planning import Cell
from ullage.runs.cells.prepared import DATA, PLACE, Columns, PreparedCells, backend_text
from ullage.runs.cells.volume import most_to_choose
from ullage.runs.inputs import EngineContext
from ullage.runs.options.reading import read_options
from ullage.runs.room import Machine, check_places, this_machine
from ullage.runs.session import Note
from ullage.suites.checkpoint.cells import (
    lacks_shared,
    layout_of,
    layouts_of,
    make_cells,
    rank_bytes,
    reads_of,
    with_sizes,
)
from ullage.suites.checkpoint.options import CheckpointOptions
from ullage.suites.checkpoint.sizes import MODELS, fitting_scale
from ullage.units import format_bytes, format_volume

_READERS: Final = {"own": "itself", "other-node": "the next node"}


_COLUMNS: Final[Columns] = {
    "target": PLACE["target"],
    "backend": backend_text,
    "layout": layout_of,
    "ranks": PLACE["ranks"],
    "a rank": lambda cell: format_volume(rank_bytes(cell)),
    **DATA,
    "files": lambda cell: str(cell.files),
    "a call": lambda cell: format_bytes(cell.block_bytes),
    "reads data of": lambda cell: _READERS.get(reads_of(cell), reads_of(cell)),
}


def prepare_checkpoint(request: Request, engine_context: EngineContext) -> PreparedCells:
    """Check everything that can be checked without starting anything, and settle the scale."""
    asked = read_options(CheckpointOptions, request)
    machine = this_machine(request.targets)
    check_places(machine.places)
    options, text = _settled(asked, machine)
    # The room of the moment decides, so a resumed run must find the scale of its first launch in the request.
    settled = request.model_copy(update={"options": options.model_dump(mode="json")})
    scale = cast("float", options.scale)
    cells = make_cells(options, request.targets, engine_context.description, scale, machine.cores)
    without = [target.name for target in request.targets if lacks_shared(options, target)]
    lines, notes = _lines(options, cells), _notes(options, scale, without)
    prepared = PreparedCells(
        settled,
        options,
        machine,
        cells,
        with_sizes,
        text,
        lines,
        notes,
        _COLUMNS,
        shares_less="use --read-back own",
        fewer_files="fewer --tensors or --ranks, or another --layout fit",
    )
    prepared.check(cells)
    return prepared


def _settled(options: CheckpointOptions, machine: Machine) -> tuple[CheckpointOptions, str]:
    """Return the options with a scale, and how that was found."""
    model = MODELS[options.model]
    whole = f"{options.model}, published as {format_volume(model.bytes)} on {model.ranks} ranks"
    if options.scale is not None:
        return options, f"{whole}, scale {options.scale:g}"
    fewest = fewest_nodes(layouts_of(options, machine.cores))
    limits = Limits(space_bytes=options.space)
    most = most_to_choose(machine.places, limits, machine.memory, fewest)
    scale = fitting_scale(model, options.mode, options.ranks, most)
    return options.model_copy(update={"scale": scale}), f"{whole}, scale {scale:g} (the room at the targets)"


def _lines(options: CheckpointOptions, cells: Sequence[Cell]) -> list[str]:
    lines = ["The time of saving includes an fsync of every file. It ends when the slowest rank has closed its last."]
    if options.mode == "whole":
        lines.append("The ranks share the whole checkpoint, each an equal part.")
    else:
        lines.append("Each rank saves as much as a rank of the published run, times the scale.")
    if "tensor" in options.layouts:
        tensors = options.tensors or MODELS[options.model].tensors_of_a_rank
        lines.append(f"Layout tensor divides the part of a rank into {tensors} files of equal size.")
    if options.cache == "none":
        lines.append("Nothing is done about caches before reads: expect the verdict warm.")
    if any(reads_of(cell) == "own" for cell in cells):
        lines.append("Each rank reads back what it has saved. The rows say so: data_of is own.")
    return lines


def _notes(options: CheckpointOptions, scale: float, without: Sequence[str]) -> list[Note]:
    """Return notes on what is smaller or nearer than in a real run; ``without``: targets without layout shared."""
    notes: list[Note] = []
    for name in without:
        text = f"layout shared was left out on target '{name}', which has a folder for each rank or node"
        notes.append(Note("layout-left-out", text, "measure it on a path that all ranks share"))
    if scale < 1:
        part = "its published size" if options.mode == "whole" else "the published part of its ranks"
        text = f"the checkpoint has {100 * scale:g} % of {part}"
        notes.append(Note("scaled-down", text, "measure with --scale 1 before you rely on the times"))
    if options.mode == "whole" and options.read_back == "own":
        text = "each node reads back what it has saved, so its own memory or that of its drive may help"
        notes.append(Note("reads-own-node", text, "read the verdict of each row, or use several nodes"))
    return notes
