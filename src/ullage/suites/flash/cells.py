# SPDX-License-Identifier: Apache-2.0
"""The cases of flash: places, formats, transfers, ranks, files and sizes of a block. Pure."""

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, cast

from ullage.engine import find_registered, validate_parameters
from ullage.errors import UserError
from ullage.identity import case_id
from ullage.model.describe import Describe
from ullage.model.plan import Case, Layout, Named, Parameters, Target
from ullage.parameters import count_of
from ullage.runs.cells.planning import Cell
from ullage.runs.options.settings import check_settings, parameters_for
from ullage.suites.flash.formula import HEADER_BYTES, FlashFile, blocks_of, data_bytes, total_blocks
from ullage.suites.flash.options import FlashOptions
from ullage.uri import target_path, target_scheme

WORKLOAD: Final = "flash"
BACKENDS: Final = {"raw": "mpiio", "hdf5": "hdf5"}


@dataclass(frozen=True)
class FlashCell(Cell):
    """A case of this suite: its sizes are those of its blocks."""

    @property
    def parameters(self) -> Parameters:
        """Those of the workload that are not their defaults."""
        return self.case.workload.parameters

    @property
    def file(self) -> FlashFile:
        """The file, one of three, that is written."""
        return cast("FlashFile", str(self.parameters.get("file", "checkpoint")))

    @property
    def cells(self) -> int:
        """Cells of a block in each direction."""
        return count_of(self.parameters, "cells", 8)

    @property
    def blocks(self) -> int:
        """Blocks of all ranks."""
        return total_blocks(self.layout.ranks, count_of(self.parameters, "blocks", 0))

    @property
    def is_collective(self) -> bool:
        """Whether transfers are."""
        return bool(self.case.backend.parameters.get("collective", False))

    @property
    def block_bytes(self) -> int:
        """Bytes of the first rank's part of one unknown."""
        real = 8 if self.file == "checkpoint" else count_of(self.parameters, "plot_real_bytes", 4)
        points = (self.cells + (self.file == "plot-corner")) ** 3
        return blocks_of(0, count_of(self.parameters, "blocks", 0)) * points * real

    @property
    def dataset_bytes(self) -> int:
        """See ``Cell``."""
        real = count_of(self.parameters, "plot_real_bytes", 4)
        return HEADER_BYTES + data_bytes(self.file, self.cells, self.blocks, real)

    @property
    def needs_one_folder(self) -> bool:
        """See ``Cell``."""
        return True

    @property
    def files(self) -> int:
        """See ``Cell``."""
        return 1

    @property
    def phases(self) -> list[str]:
        """See ``Cell``."""
        return ["write", "read"]


def make_cells(
    options: FlashOptions, targets: Sequence[Target], description: Describe, cores: int | None
) -> list[FlashCell]:
    """Return every combination, each once; raise ``UserError`` for what the engine would refuse."""
    layouts = [options.place(n, cores) for n in options.ranks]
    ways = {target.name: _ways(target, options, description) for target in targets}
    backends = sorted({backend for some in ways.values() for backend, _ in some})
    check_settings(options.parameters, backends, {f"{name}.collective": "--access" for name in backends})
    cells = [
        _cell(target, way, layout, options, what, description)
        for layout in layouts
        for target in targets
        for way in ways[target.name]
        for what in itertools.product(options.files, options.cells)
    ]
    return list({cell.case.id: cell for cell in cells}.values())


def _ways(target: Target, options: FlashOptions, description: Describe) -> list[tuple[str, bool]]:
    """Return backends and whether they transfer collectively; a target without a path has its own backend alone."""
    if target_path(target) is None:
        return [(target_scheme(target), False)]
    scheme = target_scheme(target)
    ways: list[tuple[str, bool]] = []
    for form in options.formats:
        name = BACKENDS[form] if scheme in ("posix", "mpiio", "hdf5") else scheme
        found = find_registered(description, "backend", name)
        collective = any(parameter.name == "collective" for parameter in found.parameters)
        ways += [(name, access == "collective") for access in options.transfers if collective or access != "collective"]
    if not ways:
        raise UserError(f"target '{target.name}' has no collective transfers", "--access", "add independent")
    return list(dict.fromkeys(ways))


def _cell(
    target: Target,
    way: tuple[str, bool],
    layout: Layout,
    options: FlashOptions,
    what: tuple[str, int],
    description: Describe,
) -> FlashCell:
    backend, collective = way
    capabilities = find_registered(description, "backend", backend).capabilities
    holds_data = "data" in capabilities
    given: Parameters = {
        "file": what[0],
        "cells": what[1],
        "blocks": options.blocks,
        "plot_real_bytes": options.plot_real_bytes,
        "format": "arrays" if "arrays" in capabilities else "raw",
        "sync": options.sync,
        "cache": options.cache if holds_data else "none",
        "verify": "full" if holds_data else "none",
    }
    workload = Named(name=WORKLOAD, parameters=validate_parameters(description, "workload", WORKLOAD, given))
    own = parameters_for(options.parameters, find_registered(description, "backend", backend))
    if collective:
        own["collective"] = True
    named = Named(name=backend, parameters=validate_parameters(description, "backend", backend, own))
    case = Case(id=case_id(named, workload, target, layout), target=target.name, backend=named, workload=workload)
    return _with_kind(Cell(case, target, layout))


def _with_kind(cell: Cell) -> FlashCell:
    """Name what sets the cost of a case apart from that of others at its place."""
    access = "collective" if cell.case.backend.parameters.get("collective") else "independent"
    return FlashCell(cell.case, cell.target, cell.layout, f"{cell.layout.ranks} ranks {access}")


def with_kinds(cells: Iterable[Cell]) -> list[Cell]:
    """Make cells of plans those of this suite."""
    return [_with_kind(cell) for cell in cells]
