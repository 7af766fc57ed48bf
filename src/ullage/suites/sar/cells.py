# SPDX-License-Identifier: Apache-2.0
"""The cases of the suite ``sar``: places, backends, ranks and layouts of images. Pure."""

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ullage.engine import find_registered, validate_parameters
from ullage.errors import UserError
from ullage.identity import case_id
from ullage.model.describe import Describe
from ullage.model.plan import Case, Layout, Named, Parameters, Target
from ullage.runs.cells.planning import Cell
from ullage.suites.sar.options import ImageLayout, SarOptions
from ullage.suites.sar.shape import PHASES, WORKLOAD, SarShape, scaled, shape_of
from ullage.uri import target_path, target_scheme


@dataclass(frozen=True)
class SarCell(Cell):
    """A case of this suite: its sizes are those of its images."""

    @property
    def shape(self) -> SarShape:
        """Its sizes."""
        return shape_of(self.case.workload.parameters)

    @property
    def block_bytes(self) -> int:
        """Bytes of an image."""
        return self.shape.image_bytes

    @property
    def dataset_bytes(self) -> int:
        """See ``Cell``."""
        return self.shape.bytes_kept(self.layout.ranks or 1)

    @property
    def needs_one_folder(self) -> bool:
        """See ``Cell``."""
        return self.case.workload.parameters.get("read_back") != "own"

    @property
    def files(self) -> int:
        """See ``Cell``; a directory takes an inode as a file does."""
        directories = 0 if self.shape.in_containers else self.shape.locations
        return self.shape.files(self.layout.ranks or 1) + directories

    @property
    def phases(self) -> list[str]:
        """See ``Cell``."""
        return list(PHASES)


def make_cells(
    options: SarOptions, targets: Sequence[Target], description: Describe, cores: int | None
) -> list[SarCell]:
    """Return every combination, each once; raise ``UserError`` for what the engine would refuse."""
    placed = [options.place(n, cores) for n in options.ranks]
    cells = [
        _cell(target, backend, layout, words, options, description)
        for layout, target in itertools.product(placed, targets)
        for backend in _backends_of(target, options)
        for words in options.layouts
    ]
    return list({cell.case.id: cell for cell in cells}.values())


def _backends_of(target: Target, options: SarOptions) -> list[str]:
    return options.backends if target_path(target) is not None and options.backends else [target_scheme(target)]


def _cell(
    target: Target, backend: str, layout: Layout, words: ImageLayout, options: SarOptions, description: Describe
) -> SarCell:
    found = find_registered(description, "backend", backend)
    if target_path(target) is not None and "path" not in found.capabilities:
        raise UserError(f"backend '{backend}' uses no storage", "--backend", f"use --target NAME={backend}:")
    holds_data, syncs = "data" in found.capabilities, "metadata" in found.capabilities
    if not holds_data and options.verify == "full":
        raise UserError(f"backend '{backend}' stores no data to verify", "--verify", "use --verify none")
    given: Parameters = {
        "grid": options.grid,
        "depth": options.depth,
        **scaled(options.scale),
        "raw": options.raw,
        "raw_files": options.raw_files,
        "templates": options.templates,
        "subimages": options.subimages,
        "subimage_side": options.side,
        "layout": words,
        "seed": options.seed,
        "read_back": options.read_back,
        "sync": options.sync if syncs else "none",
        "cache": options.cache if holds_data and target_path(target) is not None else "none",
        "verify": (options.verify or "full") if holds_data else "none",
    }
    workload = Named(name=WORKLOAD, parameters=validate_parameters(description, "workload", WORKLOAD, given))
    named = Named(name=backend, parameters=validate_parameters(description, "backend", backend, {}))
    case = Case(id=case_id(named, workload, target, layout), target=target.name, backend=named, workload=workload)
    return _with_kind(Cell(case, target, layout))


def _with_kind(cell: Cell) -> SarCell:
    """Name what sets the cost of a case apart from that of others at its place."""
    layout = str(cell.case.workload.parameters.get("layout", "files"))
    return SarCell(cell.case, cell.target, cell.layout, f"{cell.layout.ranks} ranks {layout}")


def with_kinds(cells: Iterable[Cell]) -> list[Cell]:
    """Make cells of plans those of this suite."""
    return [_with_kind(cell) for cell in cells]
