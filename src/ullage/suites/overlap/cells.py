# SPDX-License-Identifier: Apache-2.0
"""The cases of the suite ``overlap``: places, backends with the methods they have, sizes and depths. Pure."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ullage.engine import find_registered, registered
from ullage.errors import EXIT_BAD_INPUT, UserError
from ullage.launch.base import with_helpers
from ullage.model.describe import Describe, Registered
from ullage.model.plan import Layout, Parameters, Target
from ullage.parameters import count_of
from ullage.runs.cells.planning import Cell, Sizes, cell_of, each_once, sized
from ullage.suites.overlap.options import METHODS, Method, OverlapOptions
from ullage.uri import target_path, target_scheme

WORKLOAD: Final = "overlap"
# As the engine has them.
_SIZE: Final = 1 << 20
DEPTH: Final = 4
BATCHES: Final = 4
_ROUNDS: Final = 4
_WARM_UPS: Final = 2
_MOVING: Final = 3
_MOST_HELPERS: Final = 64
_DIRECT: Final = "direct"
# What a backend says of itself for each method, with the most at once behind it.
_CAPABILITIES: Final[dict[Method, str]] = {"threads": "file_threads", "nonblocking": "nonblocking"}
# Only the thread that opened a file may use it, and the rank opens the files.
_THREAD_FILES: Final = "thread_files"
_LACKS: Final[dict[Method, str]] = {
    "threads": "only the thread of the rank may use its files",
    "nonblocking": "it has no call that only begins a transfer",
}


def method_of(cell: Cell) -> str:
    """Return who moves the data."""
    return str(cell.parameters.get("method", "threads"))


def depth_of(cell: Cell) -> int:
    """Return the transfers of a batch."""
    return count_of(cell.parameters, "depth", DEPTH)


def stretch_bytes(cell: Cell) -> int:
    """Return the bytes of a rank between two readings of the clock."""
    size = count_of(cell.parameters, "transfer_bytes", _SIZE)
    return size * depth_of(cell) * count_of(cell.parameters, "batches", BATCHES)


def _sizes(cell: Cell) -> Sizes:
    """Return the sizes of a case: of each round three stretches move data, and the warm-ups before them."""
    size, ranks = count_of(cell.parameters, "transfer_bytes", _SIZE), cell.layout.ranks
    areas = _WARM_UPS + _MOVING * count_of(cell.parameters, "rounds", _ROUNDS)
    return Sizes(
        kind=f"{method_of(cell)}, {ranks} ranks, {size} x {depth_of(cell)}",
        block_bytes=size,
        dataset_bytes=ranks * areas * stretch_bytes(cell),
        files=ranks,
        phases=["write"] if cell.parameters.get("read") is False else ["write", "read"],
        needs_one_folder=False,
    )


with_sizes: Final = sized(_sizes)


@dataclass(frozen=True)
class Missing:
    """What was asked for and cannot be measured: a backend, with one method or at all."""

    target: str
    backend: str
    method: str
    reason: str


@dataclass(frozen=True)
class Cells:
    """All cases, and what has none."""

    cells: list[Cell]
    missing: list[Missing]


def make_cells(
    options: OverlapOptions, targets: Sequence[Target], description: Describe, cores: int | None, *, direct: set[str]
) -> Cells:
    """Return every combination that a backend has a way for, each once.

    ``direct``: names of targets that serve O_DIRECT. Raise ``UserError`` where nothing can be measured.
    """
    layouts = [_placed(ranks, options, cores) for ranks in options.ranks]
    cells: list[Cell] = []
    missing: list[Missing] = []
    for target in targets:
        for name in _backends_of(target, options):
            found = _known(description, name)
            ways, lacking = _ways(options, target, found)
            missing += lacking
            if not ways:
                continue
            backend = name, _backend_parameters(options, found, is_direct=target.name in direct)
            for layout, method, size, depth in itertools.product(layouts, ways, options.sizes, options.depths):
                if depth > most_at_once(found, method):
                    continue
                workload = _workload(options, found, method, (size, depth))
                cells.append(cell_of(target, layout, backend, (WORKLOAD, workload), description))
    if not cells:
        why = "; ".join(f"{item.backend}: {item.reason}" for item in missing)
        raise UserError(f"nothing can be measured ({why})", "--backend", "name other backends", EXIT_BAD_INPUT)
    return Cells(with_sizes(each_once(cells)), missing)


def _backends_of(target: Target, options: OverlapOptions) -> list[str]:
    return options.backends if target_path(target) is not None else [target_scheme(target)]


def _known(description: Describe, name: str) -> Registered:
    """Return the backend, also one that this build lacks; raise ``UserError`` for a word that is none."""
    lacking = [thing for thing in registered(description, "backend") if thing.name == name and not thing.available]
    return lacking[0] if lacking else find_registered(description, "backend", name)


def most_at_once(backend: Registered, method: Method) -> int:
    """Return the most transfers of a file that go on at once by ``method``; 0 where the backend has no such way."""
    if method == "threads" and _THREAD_FILES in backend.capabilities:
        return 0
    most = backend.most(_CAPABILITIES[method], 0)
    return min(most, _MOST_HELPERS) if method == "threads" else most


def _ways(options: OverlapOptions, target: Target, backend: Registered) -> tuple[list[Method], list[Missing]]:
    """Return the methods that a backend has, and what it lacks, with the reason.

    A backend that has one of them is not said to lack the other one.
    """
    if not backend.available:
        return [], [Missing(target.name, backend.name, "", backend.reason or "it is not in this build")]
    if target_path(target) is not None and "path" not in backend.capabilities:
        return [], [Missing(target.name, backend.name, "", "it uses no storage; give it a target of its own")]
    ways: list[Method] = [method for method in METHODS if method in options.methods and most_at_once(backend, method)]
    if ways:
        return ways, []
    reasons = " and ".join(_LACKS[method] for method in options.methods)
    return [], [Missing(target.name, backend.name, ", ".join(options.methods), reasons)]


def _placed(ranks: int, options: OverlapOptions, cores: int | None) -> Layout:
    """Place ``ranks``, each bound to the cores that are its own, which its helper threads share.

    On a single core its threads would only work when it does not compute. So it is not bound there.
    """
    layout = options.place(ranks, cores)
    return with_helpers(layout, 1 + min(max(options.depths), _MOST_HELPERS), cores, options.bind)


def _backend_parameters(options: OverlapOptions, backend: Registered, *, is_direct: bool) -> Parameters:
    has_direct = any(parameter.name == _DIRECT for parameter in backend.parameters)
    return {_DIRECT: True} if options.cache == _DIRECT and has_direct and is_direct else {}


def _workload(options: OverlapOptions, backend: Registered, method: Method, shape: tuple[int, int]) -> Parameters:
    """Return the parameters of the workload; what holds no data has no cache to drop and nothing to verify."""
    holds_data = "data" in backend.capabilities
    size, depth = shape
    return {
        "method": method,
        "transfer_bytes": size,
        "depth": depth,
        "batches": max(1, options.stretch_bytes // (size * depth)),
        "rounds": options.rounds,
        "tests": options.tests if method == "nonblocking" else 0,
        "computation": options.computation,
        "read": "read" in options.accesses,
        "cache": "none" if options.cache == "none" or not holds_data else "drop",
        "verify": "full" if holds_data else "none",
    }
