# SPDX-License-Identifier: Apache-2.0
"""The cases of the suite ``checkpoint``: places, ranks, layouts of the files and their sizes. Pure.

Layouts ``rank`` and ``shared`` are workload ``transfer``, layout ``tensor`` is workload ``stepfile`` without
computation: the steps of a rank are its tensors.
"""

from collections.abc import Sequence
from typing import Final

from ullage.engine import find_registered
from ullage.errors import EXIT_BAD_INPUT, UserError
from ullage.launch.base import is_one_node
from ullage.model.describe import Describe, Registered
from ullage.model.plan import Layout, Parameters, Target
from ullage.parameters import count_of
from ullage.runs.cells.one_folder import refuse
from ullage.runs.cells.planning import WORKLOAD as TRANSFER
from ullage.runs.cells.planning import Cell, Chosen, cell_of, each_once, sized
from ullage.runs.cells.planning import Sizes as CellSizes
from ullage.suites.checkpoint.options import CheckpointOptions, FileLayout
from ullage.suites.checkpoint.sizes import MODELS, Sizes, asked_bytes, sizes_of
from ullage.uri import target_path, target_scheme, words_of_path

STEPFILE: Final = "stepfile"
# As the engine has them.
_STEPS: Final = 100
_STATE_BYTES: Final = 4 << 20
_DIRECT: Final = "direct"


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
    return sizes_of(share, tensors, options.block, direct=options.cache == _DIRECT)


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
            backend = _backend(options, target, description)
            for name in options.layouts:
                if name == "shared" and lacks_shared(options, target):
                    continue
                workload = _workload(options, name, sizes, backend)
                chosen = backend.name, _backend_parameters(options, backend)
                cells.append(cell_of(target, layout, chosen, workload, description))
    if not cells:
        refuse(targets[0], "add rank or tensor to --layout")
    return with_sizes(each_once(cells))


def _backend(options: CheckpointOptions, target: Target, description: Describe) -> Registered:
    name = options.backend if target_path(target) is not None else target_scheme(target)
    found = find_registered(description, "backend", name)
    if target_path(target) is not None and "path" not in found.capabilities:
        what = f"backend '{name}' uses no storage, so it cannot measure target '{target.name}'"
        raise UserError(what, "--backend", f"give it a target of its own: --target NAME={name}:")
    if _backend_parameters(options, found) and all(parameter.name != _DIRECT for parameter in found.parameters):
        right = "use --cache advise, or another --backend"
        raise UserError(f"backend '{name}' has no direct I/O", "--cache direct", right, EXIT_BAD_INPUT)
    if "data" not in found.capabilities and options.verify not in (None, "none"):
        raise UserError(f"backend '{name}' stores no data to verify", "--verify", "use --verify none")
    return found


def _backend_parameters(options: CheckpointOptions, backend: Registered) -> Parameters:
    return {_DIRECT: True} if options.cache == _DIRECT and "data" in backend.capabilities else {}


def _workload(options: CheckpointOptions, name: FileLayout, sizes: Sizes, backend: Registered) -> Chosen:
    """Return the workload of a layout; what holds no data has no cache to drop and nothing to verify."""
    holds_data = "data" in backend.capabilities
    cache = options.cache if holds_data and options.cache != _DIRECT else "none"
    verify = (options.verify or "kept") if holds_data else "none"
    workload, given = _tensors(sizes, cache, verify) if name == "tensor" else _streams(options, name, sizes)
    if name != "tensor":
        given |= {"cache": cache, "verify": verify}
    return workload, given


def _tensors(sizes: Sizes, cache: str, verify: str) -> Chosen:
    return STEPFILE, {
        "steps": sizes.tensors,
        "state_bytes": sizes.tensor_bytes,
        "layout": "dir-per-rank",
        "order": "forward",
        "sync": "fsync",
        "cache": "drop" if cache == "advise" else "none",
        "verify": "none" if verify == "none" else "full",
    }


def _streams(options: CheckpointOptions, name: FileLayout, sizes: Sizes) -> Chosen:
    return TRANSFER, {
        "phases": ["write", "read"],
        "transfer_bytes": sizes.call_bytes,
        "block_bytes": sizes.rank_bytes,
        "file_mode": "per-process" if name == "rank" else "shared",
        "read_back": options.read_back,
        "sync": "close",
    }
