# SPDX-License-Identifier: Apache-2.0
"""What a report shows of noise: what others took of the time, by fixed work and by the kernel's counters."""

from collections.abc import Iterable, Sequence
from statistics import median
from typing import TYPE_CHECKING, Final

from ullage.model.record import Contamination, PhaseRecord
from ullage.model.summary import Row
from ullage.quantity import DASH, format_quantity
from ullage.report.contents import Content, Grid, Heading, Section
from ullage.report.data import ReportData
from ullage.report.table import Cell, number_cell
from ullage.runs.composite.headlines import Rule, threads_text

if TYPE_CHECKING:
    from ullage.results.rows import Measured


_SUITE: Final = "noise"
_MILLION: Final = 1e6
_FIXED_COLUMNS: Final = (
    Heading("threads", is_number=True),
    Heading("noise", is_number=True),
    Heading("worst thread", is_number=True),
    Heading("with the clock's changes", is_number=True),
    Heading("in detours", is_number=True),
    Heading("detours a second", is_number=True),
    Heading("longest detour", is_number=True),
    Heading("quantum, median", is_number=True),
    Heading("longest", is_number=True),
    Heading("clock", is_number=True),
)
_COUNTER_COLUMNS: Final = (
    Heading("suite"),
    Heading("phases", is_number=True),
    Heading("others' CPU, median", is_number=True),
    Heading("worst", is_number=True),
    Heading("steal, worst", is_number=True),
    Heading("CPU pressure, worst", is_number=True),
    Heading("I/O pressure, worst", is_number=True),
    Heading("memory pressure, worst", is_number=True),
    Heading("rows A", is_number=True),
    Heading("B", is_number=True),
    Heading("C", is_number=True),
)
_MANY_C: Final = 0.25


def tables(data: ReportData) -> Content | None:
    """For a noise run, and for runs made of several suites; None for others, whose rows have their grades."""
    rows = data.rows_of(_SUITE)
    if not rows and not data.summary.parts:
        return None
    grids = [
        Grid("Fixed work", _FIXED_COLUMNS, _fixed(data, rows)),
        Grid("What the kernel counted meanwhile", _COUNTER_COLUMNS, _counters(data)),
    ]
    shown = [grid for grid in grids if grid.rows]
    return Content(notes=_notes(data), grids=shown) if shown else None


def _fixed(data: ReportData, rows: Iterable[Row]) -> list[list[Cell]]:
    """A line a case, by its threads."""
    lines: dict[int, list[Cell]] = {}
    by_case: dict[str, dict[str, Row]] = {}
    for row in rows:
        by_case.setdefault(row.case, {})[row.metric] = row
    for found in by_case.values():
        first = next(iter(found.values()))
        threads = int(first.params.get("threads", 1))
        lines[threads] = _fixed_line(threads, found, data.phases_of(first))
    return [lines[threads] for threads in sorted(lines)]


def _fixed_line(threads: int, rows: dict[str, Row], phases: Sequence[PhaseRecord]) -> list[Cell]:
    texts = [
        str(threads),
        *(_share(rows.get(name)) for name in ("noise_share", "worst_noise_share", "turbo_share", "detour_share")),
        _per_second(phases),
        _value(rows.get("longest_detour")),
        _time(phases, "median_ns"),
        _time(phases, "longest_ns"),
        _clock(phases),
    ]
    return [number_cell(text) for text in texts]


def _share(row: Row | None) -> str:
    return DASH if row is None else f"{row.median:.2%}"


def _value(row: Row | None) -> str:
    return DASH if row is None else format_quantity(row.median, row.unit)


def _gauges(phases: Iterable[PhaseRecord], name: str) -> list[float]:
    return [phase.gauges[name].most for phase in phases if name in phase.gauges]


def _time(phases: Sequence[PhaseRecord], name: str) -> str:
    found = _gauges(phases, name)
    return format_quantity(median(found) / 1e9, "s") if found else DASH


def _per_second(phases: Sequence[PhaseRecord]) -> str:
    """Detours a second of each thread: the times watched are added up over the threads."""
    detours, watched = _gauges(phases, "detours"), _gauges(phases, "watched_s")
    return f"{sum(detours) / sum(watched):,.0f}" if detours and sum(watched) > 0 else DASH


def _clock(phases: Sequence[PhaseRecord]) -> str:
    found = [value for value in _gauges(phases, "clock_hz") if value > 0]
    return f"{median(found) / 1e9:.2f} GHz" if found else DASH


def _counters(data: ReportData) -> list[list[Cell]]:
    """A line a suite, over the phases that count."""
    by_suite: dict[str, list[Measured]] = {}
    for item in data.measured:
        by_suite.setdefault(item.run.suite, []).append(item)
    lines: list[list[Cell]] = []
    for suite, items in by_suite.items():
        found = [item.phase.contamination for item in items if item.phase.contamination is not None]
        if found:
            lines.append(_counter_line(suite, found, [row.grade for row in data.rows_of(suite)]))
    return lines


def _counter_line(suite: str, found: Sequence[Contamination], grades: Sequence[str | None]) -> list[Cell]:
    foreign = [one.foreign_cpu_ppm for one in found]
    texts = [
        str(len(found)),
        _ppm(median(foreign)),
        _ppm(max(foreign)),
        _ppm(max(one.steal_ppm for one in found)),
        *(_worst(getattr(one, f"pressure_{kind}_ppm") for one in found) for kind in ("cpu", "io", "memory")),
        *(str(grades.count(grade)) for grade in "ABC"),
    ]
    return [Cell(suite), *(number_cell(text) for text in texts)]


def _worst(values: Iterable[int | None]) -> str:
    known = [value for value in values if value is not None]
    return _ppm(max(known)) if known else DASH


def _ppm(value: float) -> str:
    return f"{value / _MILLION:.1%}"


def _notes(data: ReportData) -> list[str]:
    rows = [row for row in data.summary.rows if row.grade is not None]
    dirty = sum(row.grade == "C" for row in rows)
    notes = [f"{finding.text}" for finding in data.summary.findings if finding.kind in ("noise", "turbo")]
    if rows and dirty > _MANY_C * len(rows):
        notes.append(
            f"{dirty} of {len(rows)} rows are of grade C: others used 5 % or more of the cores' time. Run again on an "
            "idle machine before you decide anything by them."
        )
    return notes


SECTION: Final = Section(
    name="noise",
    title="Noise",
    doc="Noise is what a piece of work takes beyond the shortest one at the same clock; a detour is a stretch in which "
    "a thread could not run. Grades: A below 1 % of foreign load, B below 5 %, C above.",
    order=80,
    build=tables,
    suite=_SUITE,
)


SECTIONS: Final = (SECTION,)

# -- headlines of the front page --------------------------------------------------------------------------------------

HEADLINES: Final = (
    Rule(
        "noise",
        "noise_share",
        lambda row: row.params.get("access") == "fixed-work",
        threads_text,
        lambda row: f"time lost to others, {threads_text(row)}",
    ),
)
