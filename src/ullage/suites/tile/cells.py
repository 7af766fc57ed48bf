# SPDX-License-Identifier: Apache-2.0
"""The cases of the suite ``tile``: places, ranks, calls and sets of hints. Pure."""

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from ullage.engine import find_registered, validate_parameters
from ullage.errors import UserError
from ullage.identity import case_id
from ullage.model.describe import Describe, Registered
from ullage.model.plan import Case, Layout, Named, Parameters, Target
from ullage.runs.cells.planning import Cell
from ullage.runs.options.settings import check_settings, parameters_for
from ullage.suites.tile.hints import TileHints
from ullage.suites.tile.options import Calls, TileOptions
from ullage.suites.tile.shape import Tiling, tiling_of
from ullage.uri import target_path, target_scheme

WORKLOAD: Final = "tile"


@dataclass(frozen=True)
class TileCell(Cell):
    """A case of this suite: its sizes are those of its tiles."""

    @property
    def tiling(self) -> Tiling:
        """Its tiles."""
        return tiling_of(self.case.workload.parameters)

    @property
    def block_bytes(self) -> int:
        """Bytes that a rank moves for a frame."""
        return self.tiling.tile_bytes

    @property
    def dataset_bytes(self) -> int:
        """See ``Cell``: the header is never written."""
        return self.tiling.frames * self.tiling.frame_bytes

    @property
    def needs_one_folder(self) -> bool:
        """See ``Cell``."""
        return True

    @property
    def files(self) -> int:
        """See ``Cell``."""
        return 1


def make_cells(
    options: TileOptions, targets: Sequence[Target], description: Describe, cores: int | None
) -> list[TileCell]:
    """Return every combination, each once; raise ``UserError`` for what the engine would refuse."""
    layouts = [options.place(n, cores) for n in options.ranks]
    every = itertools.product(layouts, targets, options.calls, options.hint_sets)
    backends = {
        target.name: find_registered(description, "backend", _backend_of(target, options)) for target in targets
    }
    names = {backend.name for backend in backends.values()}
    taken = [("hints", "--hints"), ("collective", "--calls")]
    check_settings(options.parameters, names, {f"{name}.{key}": option for name in names for key, option in taken})
    cells = [
        _cell(target, layout, options, calls, hints, description)
        for layout, target, calls, hints in every
        if not hints.hints or _has(backends[target.name], "hints")
    ]
    if not cells:
        raise UserError("hints are for backends mpiio and hdf5", "--hints", "add the set default")
    return list({cell.case.id: cell for cell in cells}.values())


def _has(backend: Registered, parameter: str) -> bool:
    return any(one.name == parameter for one in backend.parameters)


def _backend_of(target: Target, options: TileOptions) -> str:
    return options.backend if target_path(target) is not None else target_scheme(target)


def _cell(
    target: Target, layout: Layout, options: TileOptions, calls: Calls, hints: TileHints, description: Describe
) -> TileCell:
    name = _backend_of(target, options)
    found = find_registered(description, "backend", name)
    sees = "views" in found.capabilities
    if not sees and "arrays" not in found.capabilities:
        raise UserError(f"backend '{name}' has neither views of files nor arrays", "--backend", "use mpiio or hdf5")
    if not sees and options.header_bytes:
        raise UserError(f"backend '{name}' places the data itself", "--header", "use --header 0")
    holds_data = "data" in found.capabilities
    tiling = options.tiling(layout.ranks or 1)
    given: Parameters = {
        **tiling.parameters,
        "calls": calls,
        "phases": list(options.access),
        "sync": options.sync,
        "buffers": options.buffers,
        "cache": options.cache if holds_data else "none",
        "verify": options.verify if holds_data else "none",
    }
    own = parameters_for(options.parameters, found)
    if hints.hints:
        own["hints"] = dict(hints.hints)
    if not sees:
        own["collective"] = calls == "collective"
    workload = Named(name=WORKLOAD, parameters=validate_parameters(description, "workload", WORKLOAD, given))
    named = Named(name=name, parameters=validate_parameters(description, "backend", name, own))
    case = Case(id=case_id(named, workload, target, layout), target=target.name, backend=named, workload=workload)
    return _with_kind(Cell(case, target, layout))


def _with_kind(cell: Cell) -> TileCell:
    """Name what sets the cost of a case apart from that of others at its place."""
    words = [f"{cell.layout.ranks} ranks", str(cell.case.workload.parameters.get("calls", "independent"))]
    words += [f"{key}={value}" for key, value in cell.case.backend.parameters.items()]
    return TileCell(cell.case, cell.target, cell.layout, " ".join(words))


def with_kinds(cells: Iterable[Cell]) -> list[Cell]:
    """Make cells of plans those of this suite."""
    return [_with_kind(cell) for cell in cells]
