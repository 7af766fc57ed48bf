# SPDX-License-Identifier: Apache-2.0
"""Suite ``checkpoint``: its cases (places, ranks, layouts of the files and their sizes), what a run does, and its rows.

Layouts ``rank`` and ``shared`` are workload ``transfer``, layout ``tensor`` is workload ``stepfile`` without
computation: the steps of a rank are its tensors.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final, cast

from ullage.analysis.ceilings.rows import with_ceiling
from ullage.errors import EXIT_BAD_INPUT, UserError
from ullage.launch.base import fewest_nodes, is_one_node
from ullage.model.plan import Layout, Limits, Parameters, Scalar, Target
from ullage.model.summary import Row
from ullage.results.rows import RowContext
from ullage.runs.cells.backends import DIRECT, cache_and_verify, direct_of, storage_backend
from ullage.runs.cells.planning import Cell, Chosen, Sizing, cell_of, refuse
from ullage.runs.cells.prepared import Asked, Preparing, backend_text, layouts_of, plan_columns
from ullage.runs.cells.volume import most_to_choose
from ullage.runs.options.engine import Values
from ullage.runs.options.reading import read_options
from ullage.runs.room import Machine
from ullage.runs.session import Note
from ullage.runs.told import Launches, Source, summarising, told_rows
from ullage.suites.checkpoint.findings import LEAST_RATE, RESTORE, SAVE, findings_of
from ullage.suites.checkpoint.options import (
    MODELS,
    CheckpointOptions,
    FileLayout,
    Sizes,
    asked_bytes,
    fitting_scale,
    sizes_of,
)
from ullage.units import format_volume
from ullage.uri import words_of_path


def layout_of(values: Values) -> FileLayout:
    """Return how the checkpoint of a case lies in files."""
    if "steps" in values:
        return "tensor"
    return "rank" if values["file_mode"] == "per-process" else "shared"


def call_bytes(values: Values) -> int:
    """Return the bytes of one call."""
    return values.count("state_bytes" if "steps" in values else "transfer_bytes")


def rank_bytes(values: Values) -> int:
    """Return the bytes that a rank saves."""
    return values.count("steps") * values.count("state_bytes") if "steps" in values else values.count("block_bytes")


def files_of(values: Values, ranks: int) -> int:
    """Return the files of all ranks."""
    layout = layout_of(values)
    return {"rank": ranks, "shared": 1}[layout] if layout != "tensor" else ranks * values.count("steps")


def _layouts(options: CheckpointOptions, machine: Machine) -> list[Layout]:
    """Return ``layouts_of``; raise ``UserError`` where another node is to be read from and there is none."""
    found = layouts_of(options, machine)
    for layout in found:
        if options.read_back == "other-node" and (layout.nodes == 1 or is_one_node(layout)):
            what = f"{layout.ranks} ranks are on one node" if layout.ranks > 1 else "1 rank has no other node"
            raise UserError(what, "--read-back other-node", "use several --nodes, or --read-back own", EXIT_BAD_INPUT)
    return found


def _lacks_shared(options: CheckpointOptions, target: Target) -> bool:
    """Tell whether layout shared is asked for at a target that has a folder for each rank or node, so no shared file.

    The engine refuses one wherever words in braces stand in the path.
    """
    return "shared" in options.layouts and bool(words_of_path(target))


def make_cells(asked: Asked[CheckpointOptions]) -> list[Cell]:
    """Return every combination; raise ``UserError`` for what the engine would refuse."""
    options, cells = asked.options, list[Cell]()
    for layout in _layouts(options, asked.machine):
        model = MODELS[options.model]
        share = asked_bytes(model, options.mode, cast("float", options.scale), layout.ranks) // layout.ranks
        tensors = options.tensors or model.tensors_of_a_rank
        sizes = sizes_of(share, tensors, options.block, direct=options.cache == DIRECT)
        for target in asked.targets:
            backend = storage_backend(target, options.backend, asked.description)
            checks = cache_and_verify(backend, options.cache, options.verify, "kept")
            chosen = backend.name, direct_of(backend, options.cache)
            for name in options.layouts:
                if name == "shared" and _lacks_shared(options, target):
                    continue
                workload = _tensors(sizes, checks) if name == "tensor" else _streams(options, name, sizes, checks)
                cells.append(cell_of(target, layout, chosen, workload, asked.description))
    if not cells:
        refuse(asked.targets[0], "add rank or tensor to --layout")
    return cells


def _tensors(sizes: Sizes, checks: Parameters) -> Chosen:
    return "stepfile", {
        "steps": sizes.tensors,
        "state_bytes": sizes.tensor_bytes,
        "layout": "dir-per-rank",
        "order": "forward",
        "sync": "fsync",
        "cache": "drop" if checks["cache"] == "advise" else "none",
        "verify": "none" if checks["verify"] == "none" else "full",
    }


def _streams(options: CheckpointOptions, name: FileLayout, sizes: Sizes, checks: Parameters) -> Chosen:
    return "transfer", {
        "phases": ["write", "read"],
        "transfer_bytes": sizes.call_bytes,
        "block_bytes": sizes.rank_bytes,
        "file_mode": "per-process" if name == "rank" else "shared",
        "read_back": options.read_back,
        "sync": "close",
        **checks,
    }


_READERS: Final = {"own": "itself", "other-node": "the next node"}


_COLUMNS: Final = plan_columns(
    "target backend layout ranks a_rank data files a_call reads_data_of",
    backend=backend_text,
    layout=lambda cell: layout_of(cell.values),
    a_rank=lambda cell: format_volume(rank_bytes(cell.values)),
    files=lambda cell: str(files_of(cell.values, cell.layout.ranks)),
    reads_data_of=lambda cell: _READERS[str(cell.values.get("read_back", "own"))],
)


def _settle(options: CheckpointOptions, machine: Machine) -> tuple[CheckpointOptions, str]:
    model = MODELS[options.model]
    whole = f"{options.model}, published as {format_volume(model.bytes)} on {model.ranks} ranks"
    if options.scale is not None:
        return options, f"{whole}, scale {options.scale:g}"
    fewest = fewest_nodes(_layouts(options, machine))
    most = most_to_choose(machine.places, Limits(space_bytes=options.space), machine.memory, fewest)
    scale = fitting_scale(model, options.mode, options.ranks, most)
    return options.model_copy(update={"scale": scale}), f"{whole}, scale {scale:g} (the room at the targets)"


def _lines(asked: Asked[CheckpointOptions], cells: Sequence[Cell]) -> list[str]:
    options = asked.options
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
    if any(cell.values.get("read_back", "own") == "own" for cell in cells):
        lines.append("Each rank reads back what it has saved. The rows say so: data_of is own.")
    return lines


def _notes(asked: Asked[CheckpointOptions], _cells: Sequence[Cell]) -> list[Note]:
    options, scale = asked.options, cast("float", asked.options.scale)
    notes: list[Note] = []
    for target in asked.targets:
        if _lacks_shared(options, target):
            text = f"layout shared was left out on target '{target.name}', which has a folder for each rank or node"
            notes.append(Note("layout-left-out", text, "measure it on a path that all ranks share"))
    if scale < 1:
        part = "its published size" if options.mode == "whole" else "the published part of its ranks"
        text = f"the checkpoint has {100 * scale:g} % of {part}"
        notes.append(Note("scaled-down", text, "measure with --scale 1 before you rely on the times"))
    if options.mode == "whole" and options.read_back == "own":
        text = "each node reads back what it has saved, so its own memory or that of its drive may help"
        notes.append(Note("reads-own-node", text, "read the verdict of each row, or use several nodes"))
    return notes


prepare: Final = Preparing(
    CheckpointOptions,
    _settle,
    make_cells,
    Sizing("file_mode", call_bytes),
    _COLUMNS,
    _lines,
    _notes,
    shares_less="use --read-back own",
    fewer_files="fewer --tensors or --ranks, or another --layout fit",
)


def checkpoint_rows(launches: Launches, context: RowContext, options: CheckpointOptions) -> list[Row]:
    """Return the rows of saving and of restoring, with the layout of the files and whose data was read back."""
    rows = told_rows(launches, context, partial(_tell, options=options))
    # The ceiling of a target bounds all ranks together.
    return [with_ceiling(row, None) if row.metric == LEAST_RATE else row for row in rows]


def _tell(row: Row, source: Source, options: CheckpointOptions) -> Mapping[str, Scalar]:
    # The phases of workload stepfile have names of their own.
    is_save = row.access in ("write", "forward")
    values, own_bytes = source.values, rank_bytes(source.values)
    return {
        "access": "write" if is_save else "read",
        "operation": SAVE if is_save else RESTORE,
        "ranks": row.ranks,
        "nodes": row.params["nodes"],
        "model": options.model,
        "mode": options.mode,
        "layout": layout_of(values),
        "files": files_of(values, row.ranks),
        "block_bytes": call_bytes(values),
        "rank_bytes": own_bytes,
        "volume_bytes": row.ranks * own_bytes,
        "backend": row.params["backend"],
        **({} if options.scale is None else {"scale": options.scale}),
        **({} if is_save else {"data_of": source.phases[-1].data_of}),
    }


summarise: Final = summarising(
    lambda launches, context, request: checkpoint_rows(launches, context, read_options(CheckpointOptions, request)),
    findings_of,
)
