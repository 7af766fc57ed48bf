# SPDX-License-Identifier: Apache-2.0
"""What a report shows of noise: what others took of the time, by fixed work and by the kernel's counters."""

from collections.abc import Callable
from statistics import median
from typing import Final

from ullage.quantity import DASH, format_quantity
from ullage.report.answers import AnswerRule
from ullage.report.contents import Content
from ullage.report.data import ReportData
from ullage.report.declared import PartOfReport, columns
from ullage.report.grids import Column, MeasuredLine, grid_of, phase_lines
from ullage.report.headlines import Rule, threads_text
from ullage.report.sections.contamination import GRADES, counters

_SUITE: Final = "noise"


def tables(data: ReportData) -> Content | None:
    """Return the tables of a noise run; of a run of several suites what the kernel counted has a section of its own."""
    if not data.rows_of(_SUITE):
        return None
    own = Content() if data.summary.parts else counters(data)
    return Content(notes=own.notes, grids=[*grid_of("Fixed work", _COLUMNS, _lines(data), whole=True), *own.grids])


def _lines(data: ReportData) -> list[MeasuredLine]:
    lines = [MeasuredLine(line.rows, data.phases_of(line.first)) for line in phase_lines(data.rows_of(_SUITE))]
    return [line for _, line in sorted({line.first.count("threads", 1): line for line in lines}.items())]


def _per_second(line: MeasuredLine) -> str:
    """Show the detours a second of each thread: the times watched are added up over the threads."""
    detours, watched = line.gauges("detours"), line.gauges("watched_s")
    return f"{sum(detours) / sum(watched):,.0f}" if detours and sum(watched) > 0 else DASH


def _median_of(gauge: str, show: Callable[[float], str]) -> Callable[[MeasuredLine], str]:
    def text(line: MeasuredLine) -> str:
        found = [value for value in line.gauges(gauge) if value > 0]
        return show(median(found)) if found else DASH

    return text


_COLUMNS: Final = columns(
    Column[MeasuredLine]("threads", lambda line: line.first.word("threads", "1")),
    "noise_share:percent=noise worst_noise_share:percent=worst_thread turbo_share:percent=with_the_clock's_changes",
    "detour_share:percent=in_detours",
    Column[MeasuredLine]("detours a second", _per_second),
    "longest_detour:value=longest_detour",
    Column[MeasuredLine]("quantum, median", _median_of("median_ns", lambda ns: format_quantity(ns / 1e9, "s"))),
    Column[MeasuredLine]("longest", _median_of("longest_ns", lambda ns: format_quantity(ns / 1e9, "s"))),
    Column[MeasuredLine]("clock", _median_of("clock_hz", lambda hz: f"{hz / 1e9:.2f} GHz")),
)
_REPORT: Final = PartOfReport(_SUITE, "noise", 80)
SECTION: Final = _REPORT.section(
    "Noise",
    "Noise is the time that a piece of work takes beyond the shortest one at the same clock. A detour is a "
    f"time in which a thread could not run. {GRADES}",
    tables,
)
HEADLINE: Final = Rule(
    "noise",
    "noise_share",
    lambda row: row.params.get("access") == "fixed-work",
    threads_text,
    lambda row: f"time lost to others, {threads_text(row)}",
)
ANSWER: Final = AnswerRule("noise", "How much of the cores' time is lost to others?", "noise turbo")
