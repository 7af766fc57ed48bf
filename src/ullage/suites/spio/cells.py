# SPDX-License-Identifier: Apache-2.0
"""The cases of the suite ``spio``: places, ranks and whose files are read; and the volume that they share. Pure."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from ullage.engine import find_registered, validate_parameters
from ullage.errors import EXIT_BAD_INPUT, UserError
from ullage.model.describe import Describe, Registered
from ullage.model.plan import Layout, Named, Parameters, Target
from ullage.runs.cells.planning import WORKLOAD, Cell, Way, each_once, make_cell
from ullage.runs.cells.volume import LARGEST_BYTES, share_bytes
from ullage.suites.spio.options import SpioOptions
from ullage.uri import target_path, target_scheme

# The aggregate volume of SPIOBENCH as published. Later machines have more memory than that, so its share counts too.
PUBLISHED_BYTES: Final = 128_000_000_000
MEMORIES: Final = 3
OWN: Final = "own"
# The engine takes the next rank where there is one node, and the record says so.
NEIGHBOUR: Final = "other-node"
_DIRECT: Final = "direct"


def usual_volume(options: SpioOptions, memory_bytes: int | None, nodes: int) -> int:
    """Return the bytes of all files by the rule: max(128 GB, 3 x memory of ``nodes``), or 4 GiB past the page cache.

    ``memory_bytes``: of one node; None where it is not known, which leaves 128 GB.
    """
    if options.cache == _DIRECT:
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
    name = options.backend if target_path(target) is not None else target_scheme(target)
    found = find_registered(description, "backend", name)
    if target_path(target) is not None and "path" not in found.capabilities:
        what = f"backend '{name}' uses no storage, so it cannot measure target '{target.name}'"
        raise UserError(what, "--backend", f"give it a target of its own: --target NAME={name}:")
    named = Named(name=name, parameters=_backend_parameters(options, found, description))
    own = [word for word in ("read", "reread") if word in options.operations]
    if own or "write" in options.operations:
        # A reread follows a read, also where only the reread is asked for.
        phases = ["write", "read", "reread"] if "reread" in own else ["write", *own]
        yield Way(target, named, _workload_parameters(options, found, phases, OWN, description))
    if "neighbour" in options.operations and ranks > 1:
        yield Way(target, named, _workload_parameters(options, found, ["write", "read"], NEIGHBOUR, description))


def _backend_parameters(options: SpioOptions, backend: Registered, description: Describe) -> Parameters:
    own: Parameters = {}
    if options.cache == _DIRECT and "data" in backend.capabilities:
        if all(parameter.name != _DIRECT for parameter in backend.parameters):
            what = f"backend '{backend.name}' has no direct I/O"
            raise UserError(what, "--cache direct", "use --cache advise, or another --backend", EXIT_BAD_INPUT)
        own = {_DIRECT: True}
    return validate_parameters(description, "backend", backend.name, own)


def _workload_parameters(
    options: SpioOptions, backend: Registered, phases: list[str], read_back: str, description: Describe
) -> Parameters:
    """Return all parameters but the sizes; what holds no data has no cache to drop and nothing to verify."""
    holds_data = "data" in backend.capabilities
    if not holds_data and options.verify not in (None, "none"):
        raise UserError(f"backend '{backend.name}' stores no data to verify", "--verify", "use --verify none")
    given: Parameters = {
        "phases": [*phases],
        "file_mode": "per-process",
        "read_back": read_back,
        "sync": "close",
        "cache": options.cache if holds_data and options.cache != _DIRECT else "none",
        "verify": (options.verify or "kept") if holds_data else "none",
    }
    return validate_parameters(description, "workload", WORKLOAD, given)


def is_of_neighbours(parameters: Parameters) -> bool:
    """Tell whether a case with these parameters of the workload reads the files of neighbours."""
    return parameters.get("read_back", OWN) != OWN


def whose_files(cell: Cell) -> str:
    """Tell whether ranks read files of ``neighbours`` or their ``own``."""
    return "neighbours" if is_of_neighbours(cell.parameters) else "own"


def with_kinds(cells: Iterable[Cell]) -> list[Cell]:
    """Name what sets the cost of each case apart from that of others at its place."""
    return [replace(cell, kind=f"{len(cell.phases)} phases, {whose_files(cell)} files") for cell in cells]
