# SPDX-License-Identifier: Apache-2.0
"""A run of suite ``overlap`` that was checked against engine and machine, ready to be explained or run."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, cast

from ullage.model.plan import Limits, Target
from ullage.model.request import Request
from ullage.quantity import plural
from ullage.runs.cells.costs import Basis, Costs, PlaceCost, assumed
from ullage.runs.cells.direct import DirectIo, direct_at
from ullage.runs.cells.planning import Cell
from ullage.runs.cells.prepared import PreparedCells
from ullage.runs.cells.volume import check_files
from ullage.runs.inputs import EngineContext
from ullage.runs.options.reading import read_options
from ullage.runs.room import check_places, this_machine
from ullage.runs.session import Note
from ullage.runs.suite import Explanation
from ullage.suites.overlap.cells import Missing, OverlapCell, make_cells, with_kinds
from ullage.suites.overlap.options import OverlapOptions
from ullage.units import format_bytes, format_time, format_volume
from ullage.uri import target_path

_HEADERS: Final = [
    "target",
    "backend",
    "method",
    "ranks",
    "size",
    "depth",
    "a stretch",
    "phases",
    "data",
    "takes about",
    "case",
]
# Three of four stretches move data and three compute as long as data takes: each byte costs its time twice.
_BESIDES: Final = 2.0


@dataclass(frozen=True)
class PreparedOverlap(PreparedCells):
    """See ``Prepared``."""

    def check(self, cells: Sequence[Cell]) -> None:
        """See ``PreparedCells``; raise ``UserError`` (exit code 3) for want of inodes, too."""
        super().check(cells)
        check_files(cells, self.machine.places, Limits(space_bytes=self.options.space), "fewer --ranks fit")

    def costs(self, cells: Sequence[Cell]) -> Costs:
        """See ``PreparedCells``: computation takes its time too."""
        basis = assumed(cells, self.machine.places)
        places = {place: PlaceCost(cost.fixed_s, _BESIDES * cost.s_per_byte) for place, cost in basis.places.items()}
        return Costs(Basis(places, basis.launch_s, basis.text))

    def explain(self) -> Explanation:
        """See ``Prepared``."""
        costs, usual = self.costs(self.cells), super().explain()
        rows = [_row(cast("OverlapCell", cell), format_time(costs.repetition_s(cell))) for cell in self.cells]
        return Explanation(usual.head, list(_HEADERS), rows, usual.tail)


def _row(cell: OverlapCell, takes: str) -> list[str]:
    return [
        cell.target.name,
        " ".join([cell.case.backend.name, *(f"{key}={value}" for key, value in cell.case.backend.parameters.items())]),
        cell.method,
        str(cell.layout.ranks),
        format_bytes(cell.block_bytes),
        str(cell.depth),
        format_volume(cell.stretch_bytes),
        " ".join(cell.phases),
        format_volume(cell.dataset_bytes),
        takes,
        cell.case.id,
    ]


def prepare_overlap(request: Request, engine_context: EngineContext) -> PreparedOverlap:
    """Check everything that can be checked without starting anything."""
    options = read_options(OverlapOptions, request)
    machine = this_machine(request.targets)
    check_places(machine.places)
    direct = {target.name: direct_at(target) for target in request.targets if options.cache == "direct"}
    served = {name for name, found in direct.items() if found.served}
    found = make_cells(options, request.targets, engine_context.description, machine.cores, direct=served)
    text = f"about {format_volume(options.stretch_bytes)} of a rank between two readings of the clock"
    notes = [*_page_cache(options, request.targets, direct), *map(_not_available, found.missing)]
    lines = _lines(options, found.cells, machine.cores)
    prepared = PreparedOverlap(request, options, machine, found.cells, with_kinds, text, lines, notes)
    prepared.check(found.cells)
    return prepared


def _not_available(missing: Missing) -> Note:
    method = f" with method {missing.method}" if missing.method else ""
    text = f"not available on target '{missing.target}': backend '{missing.backend}'{method}, because {missing.reason}"
    return Note("not-available", text, "leave it out of --backend, or name another --method")


def _page_cache(options: OverlapOptions, targets: Sequence[Target], direct: dict[str, DirectIo]) -> list[Note]:
    """Return notes on targets with a path where O_DIRECT was asked for and is not served."""
    return [
        note
        for target in targets
        if target.name in direct and target_path(target) is not None
        for note in direct[target.name].notes(target.name, options.sizes)
    ]


def _lines(options: OverlapOptions, cells: Sequence[OverlapCell], cores: int | None) -> list[str]:
    lines = [
        "A batch begins its transfers, computes, and waits for them.",
        "I/O alone, computation alone and blocking calls are measured in turn with it.",
        "The computation is fixed work. Its length is found before, from the I/O of a batch.",
    ]
    for layout in {cell.layout.ranks: cell.layout for cell in cells}.values():
        own = plural(layout.threads, "core")
        if layout.binding == "none":
            shared = f"{plural(layout.ranks, 'rank')} on {plural(cores or 1, 'core')}"
            lines.append(f"With {shared}, helper threads take time of the core that computes.")
        else:
            lines.append(f"Each of {plural(layout.ranks, 'rank')} is bound to {own}, which its helper threads share.")
    if options.cache == "direct" and any(not cell.case.backend.parameters for cell in cells):
        lines.append("Backends without O_DIRECT go through the page cache. Their rows say so.")
    if options.cache == "none" and "read" in options.accesses:
        lines.append("Nothing is done about caches before reads: expect the verdict warm.")
    return lines
