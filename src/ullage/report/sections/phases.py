# SPDX-License-Identifier: Apache-2.0
"""Tables of named phases: what each gave, latency of operations and their parts, how far apart ranks were."""

from collections.abc import Iterator, Sequence
from typing import Final, TypeAlias

from ullage.analysis.findings.nodes import often_last, spread_of
from ullage.model.record import Latency, PhaseRecord, RankTime
from ullage.quantity import DASH, format_quantity, plural, significant
from ullage.report.contents import Content, Section
from ullage.report.data import ReportData
from ullage.report.grids import Column, grid_of, time_text
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
from ullage.report.verdicts import classify, is_invalid


def phase_table(data: ReportData) -> Content | None:
    """Return a table of the named phases, without columns that are empty as in an import; None without any phase."""
    phases = named_phases(data)
    if not phases:
        return None
    shared = _shared_reasons(phases)
    columns: list[Column[NamedPhase]] = [
        *([Column("target", lambda phase: phase.target, is_number=False)] if len(data.view.targets) > 1 else []),
        *_PHASE_COLUMNS,
        Column("counts", lambda phase: _counts(phase, shared), is_number=False, css=_void),
    ]
    notes = [f"All phases: {'; '.join(shared)}."] if shared else []
    return Content(notes=notes, grids=grid_of("", columns, phases))


def _shared_reasons(phases: Sequence[NamedPhase]) -> list[str]:
    if len(phases) < 2:
        return []
    return [text for text in phases[0].row.reasons if all(text in phase.row.reasons for phase in phases)]


def _repetitions(phase: NamedPhase) -> str:
    values = [format_list_rate(value, phase.row.unit) for value in phase.row.repetitions[:20]]
    return f"Repetitions: {', '.join(values)}"


def _worn(phase: NamedPhase) -> str:
    cut = " (cut short)" if phase.is_wear_out_cut else ""
    return f"{format_list_rate(phase.wear_out_rate, phase.row.unit)}{cut}" or DASH


def _counts(phase: NamedPhase, shared: Sequence[str]) -> str:
    counts = "INVALID: " if is_invalid(phase.row) else "yes; "
    reasons = "; ".join(text for text in phase.row.reasons if text not in shared)
    return f"{counts}{reasons}" if reasons else counts[:-2]


def _void(phase: NamedPhase) -> str:
    return "void why" if is_invalid(phase.row) else ""


_PHASE_COLUMNS: Final[Sequence[Column[NamedPhase]]] = (
    Column("phase", lambda phase: phase.name, is_number=False, css="target nowrap"),
    Column("value", lambda phase: format_list_rate(phase.row.median, phase.row.unit), hint=_repetitions, css="median"),
    Column("interval or range", lambda phase: format_list_interval(phase.row) or DASH, is_number=False, css="interval"),
    Column("time", lambda phase: time_text(phase.seconds)),
    Column(
        "verdict",
        lambda phase: phase.row.verdict,
        is_number=False,
        css="nowrap",
        dot=lambda phase: classify(phase.row).dot,
    ),
    Column("grade", lambda phase: phase.row.grade or DASH, is_number=False),
    Column("at the wall", lambda phase: format_list_rate(phase.stonewall_rate, phase.row.unit) or DASH),
    Column("with wear-out", _worn),
    Column("n", lambda phase: str(len(phase.row.repetitions))),
)
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


def operation_table(data: ReportData) -> Content | None:
    """Return latencies of operations, or None where no record of a named phase has a histogram."""
    phases = named_phases(data)
    label = labeller(phases)
    lines = [(label(phase), part, found) for phase in phases for part, found in percentiles_by_part(phase.records)]
    return Content(grids=grid_of("", _OPERATION_COLUMNS, lines, whole=True)) if lines else None


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


_Operation: TypeAlias = tuple[str, str, Percentiles]
"""The label of a phase, a part of its operations (empty: the whole), and the percentiles."""


_OPERATION_COLUMNS: Final[Sequence[Column[_Operation]]] = (
    Column("phase", lambda line: "" if line[1] else line[0], is_number=False, css="target nowrap"),
    Column("part", lambda line: line[1] or "whole", is_number=False),
    Column("operations", lambda line: f"{line[2].operations:,}"),
    *map(lambda name: Column(name, lambda line: time_text(line[2].seconds.get(name))), PERCENTILE_NAMES),
)
OPERATIONS: Final = Section(
    name="operations",
    title="Latency of the operations",
    doc="The percentiles are over all ranks and repetitions: half of the operations are faster than p50, one in a "
    "thousand is slower than p99.9. A part is the time of one operation in one call, such as the open of a create.",
    order=60,
    part="metadata",
    build=operation_table,
)


_NS_PER_S: Final = 1e9


def rank_table(data: ReportData) -> Content | None:
    """Return how far apart ranks were, or None where no record of a named phase tells its ranks apart."""
    phases = named_phases(data)
    found = [(phase, record) for phase in phases if (record := _widest(phase.records)) is not None]
    if not found:
        return None
    label, widest = labeller(phases), max(spread_of(record) for _, record in found)
    columns: Sequence[Column[tuple[NamedPhase, PhaseRecord]]] = (
        Column("phase", lambda line: label(line[0]), is_number=False, css="target nowrap"),
        Column(
            "slowest / fastest",
            lambda line: f"{significant(spread_of(line[1]))}x",
            bar=lambda line: (spread_of(line[1]) - 1) / (widest - 1) if widest > 1 else None,
        ),
        Column("fastest rank", lambda line: _ranks(line[1].by_rank and [line[1].by_rank.fastest]), is_number=False),
        Column("slowest ranks", lambda line: _ranks(line[1].by_rank and line[1].by_rank.slowest), is_number=False),
    )
    sound = (record for phase in phases if phase.row.grade != "C" for record in phase.records if record.grade != "C")
    named = [
        f"rank {one.rank} on {one.node} in {one.phases} of {plural(one.unequal, 'repetition')} of phases"
        for one in often_last(sound)
    ]
    return Content(
        notes=[f"Often the slowest: {', '.join(named)} with unequal ranks that nobody disturbed."] if named else [],
        grids=grid_of("", columns, found, whole=True),
    )


def _widest(records: Sequence[PhaseRecord]) -> PhaseRecord | None:
    """Return the repetition whose ranks were furthest apart, or None where none has more than one rank."""
    told = [record for record in records if record.ranks > 1 and record.by_rank is not None and record.by_rank.slowest]
    return max(told, key=spread_of, default=None)


def _ranks(found: Sequence[RankTime] | None) -> str:
    times = [
        f"rank {one.rank} on {one.node}: {format_quantity(one.elapsed_ns / _NS_PER_S, 's')}" for one in found or ()
    ]
    return "; ".join(times)


SLOW_RANKS: Final = Section(
    name="slow_ranks",
    title="Ranks",
    doc="The time of the slowest rank divided by that of the fastest, in the repetition where they differ most.",
    order=70,
    part="metadata",
    build=rank_table,
)


SECTIONS: Final = (PHASES, OPERATIONS, SLOW_RANKS)
