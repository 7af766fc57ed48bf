# SPDX-License-Identifier: Apache-2.0
"""Tables of named phases: what each gave, latency of operations and their parts, how far apart ranks were."""

from collections.abc import Iterator, Sequence
from typing import Final

from ullage.analysis.findings.nodes import often_last, spread_of
from ullage.model.record import Latency, PhaseRecord, RankTime
from ullage.quantity import DASH, format_quantity, plural, significant
from ullage.report.contents import Content, Grid, Heading, Section
from ullage.report.data import ReportData
from ullage.report.phases import (
    PERCENTILE_NAMES,
    NamedPhase,
    Percentiles,
    format_list_interval,
    format_list_rate,
    labeller,
    merge,
    named_phases,
)
from ullage.report.table import Cell, number_cell
from ullage.report.verdicts import classify, is_invalid


def phase_table(data: ReportData) -> Content | None:
    """Return a table of the named phases, or None without any."""
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
    rows = [[*([Cell(phase.target)] if with_target else []), *_phase_cells(phase, shared)] for phase in phases]
    notes = [f"All phases: {'; '.join(shared)}."] if shared else []
    return Content(notes=notes, grids=[_without_empty_columns(columns, rows)])


def _without_empty_columns(columns: Sequence[Heading], rows: Sequence[Sequence[Cell]]) -> Grid:
    """Leave out columns of dashes: an imported table has neither grades nor rates at the wall."""
    kept = [index for index in range(len(columns)) if any(row[index].text != DASH for row in rows)]
    return Grid("", [columns[index] for index in kept], [[row[index] for index in kept] for row in rows])


def _shared_reasons(phases: Sequence[NamedPhase]) -> list[str]:
    """Return the reasons that every one of several phases has, so that they are said once."""
    if len(phases) < 2:
        return []
    return [text for text in phases[0].row.reasons if all(text in phase.row.reasons for phase in phases)]


def _phase_cells(phase: NamedPhase, shared: Sequence[str]) -> list[Cell]:
    row, verdict = phase.row, classify(phase.row)
    seconds = phase.seconds
    worn = format_list_rate(phase.wear_out_rate, row.unit) + (" (cut short)" if phase.is_wear_out_cut else "")
    repetitions = ", ".join(format_list_rate(value, row.unit) for value in row.repetitions[:20])
    return [
        Cell(phase.name, css="target nowrap"),
        number_cell(format_list_rate(row.median, row.unit), css="median", hint=f"Repetitions: {repetitions}"),
        Cell(format_list_interval(row) or DASH, css="interval"),
        number_cell(DASH if seconds is None else format_quantity(seconds, "s")),
        Cell(row.verdict, css="nowrap", dot=verdict.dot),
        Cell(row.grade or DASH),
        number_cell(format_list_rate(phase.stonewall_rate, row.unit) or DASH),
        number_cell(worn or DASH),
        number_cell(str(len(row.repetitions))),
        _counts(phase, shared),
    ]


def _counts(phase: NamedPhase, shared: Sequence[str]) -> Cell:
    reasons = "; ".join(text for text in phase.row.reasons if text not in shared)
    if is_invalid(phase.row):
        return Cell(f"INVALID: {reasons}" if reasons else "INVALID", css="void why")
    return Cell(f"yes; {reasons}" if reasons else "yes")


PHASES: Final = Section(
    name="phases",
    title="Phases",
    doc="The phases stand in the order in which they ran. GiB/s are 2³⁰ bytes a second, kIOPS thousands of operations "
    "a second, as in the published lists. The table of all rows has GB/s. At the wall: the work done when the time "
    "was up, divided by that time. With wear-out: the same after every rank did the largest count of any rank.",
    order=2,
    part="metadata",
    build=phase_table,
)


# -- latency of single operations, and of the parts of an operation ----------------------------------------------------


_OPERATION_COLUMNS: Final = (
    Heading("phase"),
    Heading("part"),
    Heading("operations", is_number=True),
    *(Heading(name, is_number=True) for name in PERCENTILE_NAMES),
)


def operation_table(data: ReportData) -> Content | None:
    """Return latencies of operations, or None where no record of a named phase has a histogram."""
    phases = named_phases(data)
    label = labeller(phases)
    rows = [
        _operation_cells(label(phase), part, found)
        for phase in phases
        for part, found in percentiles_by_part(phase.records)
    ]
    return Content(grids=[Grid("", _OPERATION_COLUMNS, rows)]) if rows else None


def percentiles_by_part(records: Sequence[PhaseRecord]) -> Iterator[tuple[str, Percentiles]]:
    """Yield the whole operation, whose part is empty, then its parts; over all ``records``."""
    parts: dict[str, list[Latency]] = {"": [record.latency for record in records if record.latency is not None]}
    for record in records:
        for name, latency in record.latency_parts.items():
            if latency is not None:
                parts.setdefault(name, []).append(latency)
    for name, latencies in parts.items():
        found = merge(latencies)
        if found is not None:
            yield name, found


def _operation_cells(label: str, part: str, found: Percentiles) -> list[Cell]:
    values = [found.seconds.get(name) for name in PERCENTILE_NAMES]
    return [
        Cell("" if part else label, css="target nowrap"),
        Cell(part or "whole"),
        number_cell(f"{found.operations:,}"),
        *(number_cell(DASH if value is None else format_quantity(value, "s")) for value in values),
    ]


OPERATIONS: Final = Section(
    name="operations",
    title="Latency of the operations",
    doc="The percentiles are over all ranks and repetitions: half of the operations are faster than p50, one in a "
    "thousand is slower than p99.9. A part is the time of one operation in one call, such as the open of a create.",
    order=60,
    part="metadata",
    build=operation_table,
)


# -- how far apart the ranks of each phase were, and which were the slowest --------------------------------------------


_NS_PER_S: Final = 1e9
_RANK_COLUMNS: Final = (
    Heading("phase"),
    Heading("slowest / fastest", is_number=True),
    Heading("fastest rank"),
    Heading("slowest ranks"),
)


def rank_table(data: ReportData) -> Content | None:
    """Return how far apart ranks were, or None where no record of a named phase tells its ranks apart."""
    phases = named_phases(data)
    found = [(phase, record) for phase in phases if (record := _widest(phase.records)) is not None]
    if not found:
        return None
    label, widest = labeller(phases), max(spread_of(record) for _, record in found)
    rows = [_rank_cells(label(phase), record, widest) for phase, record in found]
    return Content(notes=_repeatedly_slow(phases), grids=[Grid("", _RANK_COLUMNS, rows)])


def _widest(records: Sequence[PhaseRecord]) -> PhaseRecord | None:
    """Return the repetition whose ranks were furthest apart, or None where none has more than one rank."""
    told = [record for record in records if record.ranks > 1 and record.by_rank is not None and record.by_rank.slowest]
    return max(told, key=spread_of, default=None)


def _rank_cells(label: str, record: PhaseRecord, widest: float) -> list[Cell]:
    spread, by_rank = spread_of(record), record.by_rank
    bar = (spread - 1) / (widest - 1) if widest > 1 else None
    slowest = by_rank.slowest if by_rank is not None else []
    return [
        Cell(label, css="target nowrap"),
        number_cell(f"{significant(spread)}x", bar=bar),
        Cell(_rank(by_rank.fastest) if by_rank is not None else ""),
        Cell("; ".join(map(_rank, slowest))),
    ]


def _rank(found: RankTime) -> str:
    return f"rank {found.rank} on {found.node}: {format_quantity(found.elapsed_ns / _NS_PER_S, 's')}"


def _repeatedly_slow(phases: Sequence[NamedPhase]) -> list[str]:
    """Return a sentence on ranks that are often the slowest: a sign of the node, not of the phase."""
    sound = (record for phase in phases if phase.row.grade != "C" for record in phase.records if record.grade != "C")
    named = [
        f"rank {one.rank} on {one.node} in {one.phases} of {plural(one.unequal, 'repetition')} of phases"
        for one in often_last(sound)
    ]
    return [f"Often the slowest: {', '.join(named)} with unequal ranks that nobody disturbed."] if named else []


SLOW_RANKS: Final = Section(
    name="slow_ranks",
    title="Ranks",
    doc="The time of the slowest rank divided by that of the fastest, in the repetition where they differ most.",
    order=70,
    part="metadata",
    build=rank_table,
)


SECTIONS: Final = (PHASES, OPERATIONS, SLOW_RANKS)
