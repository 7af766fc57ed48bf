# SPDX-License-Identifier: Apache-2.0
"""Suite ``checkpoint``: its cases (places, ranks, layouts of the files and their sizes), what a run does, and its rows.

Layouts ``rank`` and ``shared`` are workload ``transfer``, layout ``tensor`` is workload ``stepfile`` without
computation: the steps of a rank are its tensors.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Final, cast

from ullage.analysis.ceilings.rows import with_ceiling
from ullage.errors import EXIT_BAD_INPUT, UserError
from ullage.launch.base import fewest_nodes, is_one_node
from ullage.model.describe import Describe, Registered
from ullage.model.plan import Layout, Limits, Parameters, Scalar, Target
from ullage.model.request import Request
from ullage.model.summary import Row
from ullage.parameters import count_of
from ullage.results.folder import ResultFolder
from ullage.results.records import AnyRecord
from ullage.results.rows import RowContext
from ullage.runs.cells.backends import storage_backend
from ullage.runs.cells.caches import DIRECT, cache_and_verify, direct_of
from ullage.runs.cells.one_folder import refuse
from ullage.runs.cells.planning import WORKLOAD as TRANSFER
from ullage.runs.cells.planning import Cell, Chosen, cell_of, each_once, sized
from ullage.runs.cells.planning import Sizes as CellSizes
from ullage.runs.cells.prepared import DATA, PLACE, Columns, PreparedCells, backend_text
from ullage.runs.cells.volume import most_to_choose
from ullage.runs.inputs import EngineContext
from ullage.runs.options.reading import read_options
from ullage.runs.room import Machine, checked_machine
from ullage.runs.session import Note
from ullage.runs.suite import SuiteSummary
from ullage.runs.told import Source, launches_of, summary_of, told_rows
from ullage.suites.checkpoint.findings import LEAST_RATE, SAVE, findings_of
from ullage.suites.checkpoint.options import CheckpointOptions, FileLayout
from ullage.suites.checkpoint.sizes import MODELS, Sizes, asked_bytes, fitting_scale, sizes_of
from ullage.units import format_bytes, format_volume
from ullage.uri import words_of_path

# -- cases -------------------------------------------------------------------------------------------------------------

STEPFILE: Final = "stepfile"
# As the engine has them.
_STEPS: Final = 100
_STATE_BYTES: Final = 4 << 20


def layout_of(cell: Cell) -> FileLayout:
    """Return how the checkpoint of a case lies in files."""
    return file_layout(cell.case.workload.name, cell.parameters)


def reads_of(cell: Cell) -> str:
    """Return whose data a rank reads back: ``own`` or ``other-node``."""
    return str(cell.parameters.get("read_back", "own"))


def rank_bytes(cell: Cell) -> int:
    """Return the bytes of a rank."""
    return bytes_of_a_rank(cell.case.workload.name, cell.parameters)


def _sizes(cell: Cell) -> CellSizes:
    """Return the sizes of a case of either workload; those of stepfile have other phases, and a call moves a tensor."""
    ranks, name = cell.layout.ranks, layout_of(cell)
    return CellSizes(
        kind=f"layout {name}, {ranks} ranks",
        block_bytes=call_bytes(cell.case.workload.name, cell.parameters),
        dataset_bytes=ranks * rank_bytes(cell),
        files=files_of(cell.case.workload.name, cell.parameters, ranks),
        needs_one_folder=name == "shared" or reads_of(cell) != "own",
    )


with_sizes: Final = sized(_sizes)


def file_layout(workload: str, parameters: Parameters) -> FileLayout:
    """Return the layout of a case with these parameters."""
    if workload == STEPFILE:
        return "tensor"
    return "rank" if parameters.get("file_mode", "shared") == "per-process" else "shared"


def call_bytes(workload: str, parameters: Parameters) -> int:
    """Return the bytes of one call."""
    if workload == STEPFILE:
        return count_of(parameters, "state_bytes", _STATE_BYTES)
    return count_of(parameters, "transfer_bytes", 1 << 18)


def bytes_of_a_rank(workload: str, parameters: Parameters) -> int:
    """Return the bytes that a rank saves."""
    if workload == STEPFILE:
        return count_of(parameters, "steps", _STEPS) * count_of(parameters, "state_bytes", _STATE_BYTES)
    return count_of(parameters, "block_bytes", 1 << 20)


def files_of(workload: str, parameters: Parameters, ranks: int) -> int:
    """Return the files of all ranks."""
    each = {"rank": ranks, "shared": 1, "tensor": ranks * count_of(parameters, "steps", _STEPS)}
    return each[file_layout(workload, parameters)]


def layouts_of(options: CheckpointOptions, cores: int | None) -> list[Layout]:
    """Place each number of ranks; raise ``UserError`` where they do not fill the nodes, or have no other node."""
    found = [options.place(n, cores) for n in options.ranks]
    for layout in found:
        if options.read_back == "other-node" and (layout.nodes == 1 or is_one_node(layout)):
            what = f"{layout.ranks} ranks are on one node" if layout.ranks > 1 else "1 rank has no other node"
            raise UserError(what, "--read-back other-node", "use several --nodes, or --read-back own", EXIT_BAD_INPUT)
    return found


def sizes_with(options: CheckpointOptions, scale: float, ranks: int) -> Sizes:
    """Return the sizes of a rank of ``ranks``."""
    model = MODELS[options.model]
    share = asked_bytes(model, options.mode, scale, ranks) // ranks
    tensors = options.tensors or model.tensors_of_a_rank
    return sizes_of(share, tensors, options.block, direct=options.cache == DIRECT)


def lacks_shared(options: CheckpointOptions, target: Target) -> bool:
    """Tell whether layout shared is asked for at a target that has a folder for each rank or node, so no shared file.

    The engine refuses one wherever words in braces stand in the path.
    """
    return "shared" in options.layouts and bool(words_of_path(target))


def make_cells(
    options: CheckpointOptions, targets: Sequence[Target], description: Describe, scale: float, cores: int | None
) -> list[Cell]:
    """Return every combination, each once; raise ``UserError`` for what the engine would refuse."""
    cells: list[Cell] = []
    for layout in layouts_of(options, cores):
        sizes = sizes_with(options, scale, layout.ranks)
        for target in targets:
            backend = storage_backend(target, options.backend, description)
            for name in options.layouts:
                if name == "shared" and lacks_shared(options, target):
                    continue
                workload = _workload(options, name, sizes, backend)
                chosen = backend.name, direct_of(backend, options.cache)
                cells.append(cell_of(target, layout, chosen, workload, description))
    if not cells:
        refuse(targets[0], "add rank or tensor to --layout")
    return with_sizes(each_once(cells))


def _workload(options: CheckpointOptions, name: FileLayout, sizes: Sizes, backend: Registered) -> Chosen:
    """Return the workload of a layout, which reads data back with these checks, whatever its words for them."""
    checks = cache_and_verify(backend, options.cache, options.verify, "kept")
    return _tensors(sizes, checks) if name == "tensor" else _streams(options, name, sizes, checks)


def _tensors(sizes: Sizes, checks: Parameters) -> Chosen:
    return STEPFILE, {
        "steps": sizes.tensors,
        "state_bytes": sizes.tensor_bytes,
        "layout": "dir-per-rank",
        "order": "forward",
        "sync": "fsync",
        "cache": "drop" if checks["cache"] == "advise" else "none",
        "verify": "none" if checks["verify"] == "none" else "full",
    }


def _streams(options: CheckpointOptions, name: FileLayout, sizes: Sizes, checks: Parameters) -> Chosen:
    return TRANSFER, {
        "phases": ["write", "read"],
        "transfer_bytes": sizes.call_bytes,
        "block_bytes": sizes.rank_bytes,
        "file_mode": "per-process" if name == "rank" else "shared",
        "read_back": options.read_back,
        "sync": "close",
        **checks,
    }


# -- what a run does ---------------------------------------------------------------------------------------------------

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
    machine = checked_machine(request.targets)
    options, text = _settled(asked, machine)
    # The room of the moment decides, so a resumed run must find the scale of its first launch in the request.
    settled = request.model_copy(update={"options": options.model_dump(mode="json")})
    scale = cast("float", options.scale)
    cells = make_cells(options, request.targets, engine_context.description, scale, machine.cores)
    without = [target.name for target in request.targets if lacks_shared(options, target)]
    lines, notes = _lines(options, cells), _notes(options, scale, without)
    return PreparedCells(
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
    ).checked()


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


# -- rows --------------------------------------------------------------------------------------------------------------

# The phases of workload stepfile have names of their own.
_ACCESSES: Final[Mapping[str, str]] = {"write": "write", "forward": "write", "read": "read", "adjoint": "read"}
_OPERATIONS: Final[Mapping[str, str]] = {"write": SAVE, "read": "restore"}


def summarise(result: ResultFolder, request: Request, context: RowContext) -> SuiteSummary:
    """See ``Summarising``."""
    options, launches = read_options(CheckpointOptions, request), launches_of(result)
    return summary_of(launches, context, checkpoint_rows(launches, context, options), findings_of)


def checkpoint_rows(
    launches: Sequence[Iterable[AnyRecord]], context: RowContext, options: CheckpointOptions
) -> list[Row]:
    """Return the rows of saving and of restoring, with the layout of the files and whose data was read back."""
    rows = told_rows(launches, context, partial(_told, options=options))
    # The ceiling of a target bounds all ranks together.
    return [with_ceiling(row, None) if row.metric == LEAST_RATE else row for row in rows]


def _told(row: Row, source: Source, options: CheckpointOptions) -> Mapping[str, "Scalar"]:
    parameters, ranks, workload = source.workload, row.ranks, source.case.workload
    access = _ACCESSES[row.access]
    rank_bytes = bytes_of_a_rank(workload, parameters)
    params: dict[str, Scalar] = {
        "access": access,
        "operation": _OPERATIONS[access],
        "ranks": ranks,
        "nodes": row.params["nodes"],
        "model": options.model,
        "mode": options.mode,
        "layout": file_layout(workload, parameters),
        "files": files_of(workload, parameters, ranks),
        "block_bytes": call_bytes(workload, parameters),
        "rank_bytes": rank_bytes,
        "volume_bytes": ranks * rank_bytes,
        "backend": row.params["backend"],
    }
    if options.scale is not None:
        params["scale"] = options.scale
    if access == "read":
        params["data_of"] = source.phases[-1].data_of
    return params
