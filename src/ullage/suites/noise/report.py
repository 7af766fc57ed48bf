# SPDX-License-Identifier: Apache-2.0
"""What a report shows of noise: what others took of the time, by fixed work and by the kernel's counters."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from ullage.analysis.statistics import median
from ullage.grouping import nested
from ullage.model.record import PhaseRecord
from ullage.quantity import DASH, format_quantity
from ullage.report.answers import AnswerRule
from ullage.report.contents import Content, Section
from ullage.report.data import ReportData
from ullage.report.declared import columns
from ullage.report.grids import Column, PhaseLine, grid_of
from ullage.report.headlines import Rule, threads_text
from ullage.report.sections.contamination import GRADES, counters

_SUITE: Final = "noise"


@dataclass(frozen=True)
class _Line(PhaseLine):
    """A case of fixed work, and its repetitions."""

    phases: Sequence[PhaseRecord]

    @property
    def threads(self) -> int:
        return int(self.first.params.get("threads", 1))

    def gauges(self, name: str) -> list[float]:
        """Return the largest value of any thread in each repetition."""
        return [phase.gauges[name].most for phase in self.phases if name in phase.gauges]


def tables(data: ReportData) -> Content | None:
    """Return the tables of a noise run; of a run of several suites what the kernel counted has a section of its own."""
    if not data.rows_of(_SUITE):
        return None
    own = Content() if data.summary.parts else counters(data)
    return Content(notes=own.notes, grids=[*grid_of("Fixed work", _COLUMNS, _lines(data), whole=True), *own.grids])


def _lines(data: ReportData) -> list[_Line]:
    """Return a line for each case, sorted by threads."""
    by_case = nested((row.case, row.metric, row) for row in data.rows_of(_SUITE))
    lines = [_Line(rows, data.phases_of(next(iter(rows.values())))) for rows in by_case.values()]
    return sorted({line.threads: line for line in lines}.values(), key=lambda line: line.threads)


def _per_second(line: _Line) -> str:
    """Show the detours a second of each thread: the times watched are added up over the threads."""
    detours, watched = line.gauges("detours"), line.gauges("watched_s")
    return f"{sum(detours) / sum(watched):,.0f}" if detours and sum(watched) > 0 else DASH


def _median_of(gauge: str, show: Callable[[float], str]) -> Callable[[_Line], str]:
    def text(line: _Line) -> str:
        found = [value for value in line.gauges(gauge) if value > 0]
        return show(median(found)) if found else DASH

    return text


_COLUMNS: Final = columns(
    Column[_Line]("threads", lambda line: str(line.threads)),
    "noise_share:percent=noise worst_noise_share:percent=worst_thread turbo_share:percent=with_the_clock's_changes",
    "detour_share:percent=in_detours",
    Column[_Line]("detours a second", _per_second),
    "longest_detour:value=longest_detour",
    Column[_Line]("quantum, median", _median_of("median_ns", lambda ns: format_quantity(ns / 1e9, "s"))),
    Column[_Line]("longest", _median_of("longest_ns", lambda ns: format_quantity(ns / 1e9, "s"))),
    Column[_Line]("clock", _median_of("clock_hz", lambda hz: f"{hz / 1e9:.2f} GHz")),
)
SECTIONS: Final = (
    Section(
        name="noise",
        title="Noise",
        doc="Noise is the time that a piece of work takes beyond the shortest one at the same clock. A detour is a "
        f"time in which a thread could not run. {GRADES}",
        order=80,
        part="noise",
        build=tables,
        suite=_SUITE,
    ),
)
HEADLINES: Final = (
    Rule(
        "noise",
        "noise_share",
        lambda row: row.params.get("access") == "fixed-work",
        threads_text,
        lambda row: f"time lost to others, {threads_text(row)}",
    ),
)
ANSWERS: Final = (AnswerRule("noise", "How much of the cores' time is lost to others?", ("noise", "turbo")),)
