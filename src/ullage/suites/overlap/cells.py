# SPDX-License-Identifier: Apache-2.0
"""The cases of the suite ``overlap``: places, backends with the methods they have, sizes and depths. Pure."""

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from ullage.engine import find_registered, registered, validate_parameters
from ullage.errors import EXIT_BAD_INPUT, UserError
from ullage.identity import case_id
from ullage.launch.base import with_helpers
from ullage.model.describe import Describe, Registered
from ullage.model.plan import Case, Layout, Named, Parameters, Target
from ullage.parameters import count_of
from ullage.runs.cells.planning import Cell
from ullage.suites.overlap.options import METHODS, Method, OverlapOptions
from ullage.uri import target_path, target_scheme

WORKLOAD: Final = "overlap"
# As the engine has them.
_SIZE: Final = 1 << 20
_DEPTH: Final = 4
_BATCHES: Final = 4
_ROUNDS: Final = 4
_WARM_UPS: Final = 2
_MOVING: Final = 3
_MOST_HELPERS: Final = 64
_DIRECT: Final = "direct"
# What a backend says of itself for each method, with the most at once behind it.
_CAPABILITIES: Final[dict[Method, str]] = {"threads": "file_threads=", "nonblocking": "nonblocking="}
# Only the thread that opened a file may use it, and the rank opens the files.
_THREAD_FILES: Final = "thread_files"
_LACKS: Final[dict[Method, str]] = {
    "threads": "only the thread of the rank may use its files",
    "nonblocking": "it has no call that only begins a transfer",
}


@dataclass(frozen=True)
class OverlapCell(Cell):
    """A case of this suite."""

    @property
    def parameters(self) -> Parameters:
        """Those of the workload that are not their defaults."""
        return self.case.workload.parameters

    @property
    def method(self) -> str:
        """Who moves the data."""
        return str(self.parameters.get("method", "threads"))

    @property
    def block_bytes(self) -> int:
        """See ``Cell``."""
        return count_of(self.parameters, "transfer_bytes", _SIZE)

    @property
    def depth(self) -> int:
        """Transfers of a batch."""
        return count_of(self.parameters, "depth", _DEPTH)

    @property
    def stretch_bytes(self) -> int:
        """Bytes of a rank between two readings of the clock."""
        return self.block_bytes * self.depth * count_of(self.parameters, "batches", _BATCHES)

    @property
    def dataset_bytes(self) -> int:
        """See ``Cell``: of each round three stretches move data, and the warm-ups before them."""
        areas = _WARM_UPS + _MOVING * count_of(self.parameters, "rounds", _ROUNDS)
        return self.layout.ranks * areas * self.stretch_bytes

    @property
    def needs_one_folder(self) -> bool:
        """See ``Cell``."""
        return False

    @property
    def files(self) -> int:
        """See ``Cell``."""
        return self.layout.ranks

    @property
    def phases(self) -> list[str]:
        """See ``Cell``."""
        return ["write"] if self.parameters.get("read") is False else ["write", "read"]


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

    cells: list[OverlapCell]
    missing: list[Missing]


def make_cells(
    options: OverlapOptions, targets: Sequence[Target], description: Describe, cores: int | None, *, direct: set[str]
) -> Cells:
    """Return every combination that a backend has a way for, each once.

    ``direct``: names of targets that serve O_DIRECT. Raise ``UserError`` where nothing can be measured.
    """
    layouts = [_placed(ranks, options, cores) for ranks in options.ranks]
    cells: dict[str, OverlapCell] = {}
    missing: list[Missing] = []
    for target in targets:
        for name in _backends_of(target, options):
            found = _known(description, name)
            ways, lacking = _ways(options, target, found)
            missing += lacking
            if not ways:
                continue
            backend = _named(options, found, description, is_direct=target.name in direct)
            for layout, method, size, depth in itertools.product(layouts, ways, options.sizes, options.depths):
                if depth > most_at_once(found, method):
                    continue
                workload = _workload(options, found, method, (size, depth), description)
                identity = case_id(backend, workload, target, layout)
                case = Case(id=identity, target=target.name, backend=backend, workload=workload)
                cells.setdefault(identity, _with_kind(Cell(case, target, layout)))
    if not cells:
        why = "; ".join(f"{item.backend}: {item.reason}" for item in missing)
        raise UserError(f"nothing can be measured ({why})", "--backend", "name other backends", EXIT_BAD_INPUT)
    return Cells(list(cells.values()), missing)


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
    prefix = _CAPABILITIES[method]
    most = next((int(word.removeprefix(prefix)) for word in backend.capabilities if word.startswith(prefix)), 0)
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


def _named(options: OverlapOptions, backend: Registered, description: Describe, *, is_direct: bool) -> Named:
    has_direct = any(parameter.name == _DIRECT for parameter in backend.parameters)
    own: Parameters = {_DIRECT: True} if options.cache == _DIRECT and has_direct and is_direct else {}
    return Named(name=backend.name, parameters=validate_parameters(description, "backend", backend.name, own))


def _workload(
    options: OverlapOptions, backend: Registered, method: Method, shape: tuple[int, int], description: Describe
) -> Named:
    """Return the workload; what holds no data has no cache to drop and nothing to verify."""
    holds_data = "data" in backend.capabilities
    size, depth = shape
    given: Parameters = {
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
    return Named(name=WORKLOAD, parameters=validate_parameters(description, "workload", WORKLOAD, given))


def _with_kind(cell: Cell) -> OverlapCell:
    """Name what sets the cost of a case apart from that of others at its place."""
    found = OverlapCell(cell.case, cell.target, cell.layout)
    return replace(found, kind=f"{found.method}, {found.layout.ranks} ranks, {found.block_bytes} x {found.depth}")


def with_kinds(cells: Iterable[Cell]) -> list[Cell]:
    """Make cells of plans those of this suite."""
    return [_with_kind(cell) for cell in cells]
