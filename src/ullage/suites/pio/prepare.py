# SPDX-License-Identifier: Apache-2.0
"""A run of suite ``pio`` that was checked against engine and machine, ready to be explained or run."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, cast

from ullage.model.request import Request
from ullage.runs.cells.costs import Costs
from ullage.runs.cells.prepared import PreparedCells
from ullage.runs.inputs import EngineContext
from ullage.runs.options.reading import read_options
from ullage.runs.room import check_places, this_machine
from ullage.runs.suite import Explanation
from ullage.suites.pio.cells import PioCell, make_cells, with_kinds
from ullage.suites.pio.options import PioOptions
from ullage.units import format_bytes, format_time, format_volume

_HEADERS: Final = [
    "target",
    "backend",
    "ranks",
    "pattern",
    "request",
    "calls",
    "base",
    "data",
    "phases",
    "takes about",
    "case",
]


@dataclass(frozen=True)
class PreparedPio(PreparedCells):
    """See ``Prepared``."""

    @property
    def shares_less(self) -> str:
        """See ``PreparedCells``."""
        return "use --pattern sequential-own"

    def explain(self) -> Explanation:
        """See ``Prepared``."""
        costs = self.costs(self.cells)
        usual = super().explain()
        return Explanation(
            usual.head, list(_HEADERS), [_row(cast("PioCell", one), costs) for one in self.cells], usual.tail
        )


def _row(cell: PioCell, costs: Costs) -> list[str]:
    parameters = cell.parameters
    base = parameters.get("base_bytes", 0)
    return [
        cell.target.name,
        cell.case.backend.name,
        str(cell.layout.ranks),
        cell.pattern,
        format_bytes(cell.block_bytes),
        "collective" if cell.is_collective else "independent",
        format_bytes(base) if isinstance(base, int) else "0",
        format_volume(cell.dataset_bytes),
        " ".join(cell.phases),
        format_time(costs.repetition_s(cell)),
        cell.case.id,
    ]


def prepare_pio(request: Request, engine_context: EngineContext) -> PreparedPio:
    """Check everything that can be checked without starting anything."""
    options = read_options(PioOptions, request)
    machine = this_machine(request.targets)
    check_places(machine.places)
    cells = make_cells(options, request.targets, engine_context.description, machine.cores)
    text = f"about {format_volume(options.volume)} in an operation, in whole requests of each rank"
    lines = _lines(options, cells)
    prepared = PreparedPio(request, options, machine, cells, with_kinds, text, lines, [])
    prepared.check(cells)
    return prepared


def _lines(options: PioOptions, cells: Sequence[PioCell]) -> list[str]:
    lines = ["Each case writes its file first; what writes is synced within the time."]
    asked = {one.name for one in options.spatials if "collective" in (one.calls or [])}
    measured = {cell.pattern for cell in cells if cell.is_collective}
    left_out = [name for name in sorted(asked) if name not in measured]
    if left_out:
        lines.append(
            f"Not available: collective calls of {', '.join(left_out)}. They need one file of all ranks and "
            "backend hdf5, or mpiio and vertices in the order of the file."
        )
    if any(one.name == "sequential-shared" for one in options.spatials):
        lines.append("Pattern sequential-shared is only read: all ranks own all its bytes.")
    return lines
