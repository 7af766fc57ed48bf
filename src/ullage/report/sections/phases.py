# SPDX-License-Identifier: Apache-2.0
"""Every phase of the benchmark in its own order: what it gave, how long it took, what was really measured."""

from collections.abc import Sequence
from typing import Final

from ullage.report.contents import Content, Grid, Heading, Section
from ullage.report.data import ReportData
from ullage.report.phases import NamedPhase, format_rate, format_rate_interval, named_phases
from ullage.report.quantity import DASH, format_quantity
from ullage.report.table import Cell, number_cell
from ullage.report.verdicts import classify, is_invalid


def build(data: ReportData) -> Content | None:
    """None without named phases."""
    phases = named_phases(data)
    if not phases:
        return None
    with_target = len(data.view.targets) > 1
    columns = [
        *([Heading("target")] if with_target else []),
        Heading("phase"),
        Heading("value", is_number=True),
        Heading("interval"),
        Heading("time", is_number=True),
        Heading("verdict"),
        Heading("grade"),
        Heading("at the wall", is_number=True),
        Heading("with wear-out", is_number=True),
        Heading("n", is_number=True),
        Heading("counts"),
    ]
    shared = _shared_reasons(phases)
    rows = [[*([Cell(phase.target)] if with_target else []), *_cells(phase, shared)] for phase in phases]
    notes = [f"All phases: {'; '.join(shared)}."] if shared else []
    return Content(notes=notes, grids=[_without_empty_columns(columns, rows)])


def _without_empty_columns(columns: Sequence[Heading], rows: Sequence[Sequence[Cell]]) -> Grid:
    """An imported table has neither grades nor rates at the wall: columns of dashes say nothing."""
    kept = [index for index in range(len(columns)) if any(row[index].text != DASH for row in rows)]
    return Grid("", [columns[index] for index in kept], [[row[index] for index in kept] for row in rows])


def _shared_reasons(phases: Sequence[NamedPhase]) -> list[str]:
    """Reasons that every phase has: said once."""
    if len(phases) < 2:
        return []
    return [text for text in phases[0].row.reasons if all(text in phase.row.reasons for phase in phases)]


def _cells(phase: NamedPhase, shared: Sequence[str]) -> list[Cell]:
    row, verdict = phase.row, classify(phase.row)
    seconds = phase.seconds
    worn = format_rate(phase.wear_out_rate, row.unit) + (" (cut short)" if phase.is_wear_out_cut else "")
    repetitions = ", ".join(format_rate(value, row.unit) for value in row.repetitions[:20])
    return [
        Cell(phase.name, css="target nowrap"),
        number_cell(format_rate(row.median, row.unit), css="median", hint=f"Repetitions: {repetitions}"),
        Cell(format_rate_interval(row) or DASH, css="interval"),
        number_cell(DASH if seconds is None else format_quantity(seconds, "s")),
        Cell(row.verdict, css="nowrap", dot=verdict.dot),
        Cell(row.grade or DASH),
        number_cell(format_rate(phase.stonewall_rate, row.unit) or DASH),
        number_cell(worn or DASH),
        number_cell(str(len(row.repetitions))),
        _counts(phase, shared),
    ]


def _counts(phase: NamedPhase, shared: Sequence[str]) -> Cell:
    reasons = "; ".join(text for text in phase.row.reasons if text not in shared)
    if is_invalid(phase.row):
        return Cell(f"INVALID: {reasons}" if reasons else "INVALID", css="void why")
    return Cell(f"yes; {reasons}" if reasons else "yes")


SECTION: Final = Section(
    name="phases",
    title="Phases",
    doc="In the order in which they ran. GiB/s are 2³⁰ bytes a second, kIOPS thousands of operations a second, as the "
    "lists count; the table of all rows has GB/s. At the wall: what was done when the time was up, over that time. "
    "With wear-out: the same after every rank went on to the largest count of any.",
    order=2,
    build=build,
)
