# SPDX-License-Identifier: Apache-2.0
"""Latency of single operations of every phase, and of the parts of an operation."""

from collections.abc import Iterator, Sequence
from typing import Final

from ullage.model.record import Latency, PhaseRecord
from ullage.report.contents import Content, Grid, Heading, Section
from ullage.report.data import ReportData
from ullage.report.latency import NAMES, Percentiles, merge
from ullage.report.phases import labeller, named_phases
from ullage.report.quantity import DASH, format_quantity
from ullage.report.table import Cell, number_cell

_COLUMNS: Final = (
    Heading("phase"),
    Heading("part"),
    Heading("operations", is_number=True),
    *(Heading(name, is_number=True) for name in NAMES),
)


def build(data: ReportData) -> Content | None:
    """None where no record of a named phase has a histogram."""
    phases = named_phases(data)
    label = labeller(phases)
    rows = [_cells(label(phase), part, found) for phase in phases for part, found in percentiles_by_part(phase.records)]
    return Content(grids=[Grid("", _COLUMNS, rows)]) if rows else None


def percentiles_by_part(records: Sequence[PhaseRecord]) -> Iterator[tuple[str, Percentiles]]:
    """The whole operation, whose part is empty, then its parts; over all ``records``."""
    parts: dict[str, list[Latency]] = {"": [record.latency for record in records if record.latency is not None]}
    for record in records:
        for name, latency in record.latency_parts.items():
            if latency is not None:
                parts.setdefault(name, []).append(latency)
    for name, latencies in parts.items():
        found = merge(latencies)
        if found is not None:
            yield name, found


def _cells(label: str, part: str, found: Percentiles) -> list[Cell]:
    values = [found.seconds.get(name) for name in NAMES]
    return [
        Cell("" if part else label, css="target nowrap"),
        Cell(part or "whole"),
        number_cell(f"{found.operations:,}"),
        *(number_cell(DASH if value is None else format_quantity(value, "s")) for value in values),
    ]


SECTION: Final = Section(
    name="operations",
    title="Latency of the operations",
    doc="Over all ranks and repetitions: half of the operations are faster than p50, one in a thousand is slower than "
    "p99.9. A part is what one operation spent in one call, such as the open of a create.",
    order=60,
    build=build,
)
