# SPDX-License-Identifier: Apache-2.0
"""What others took of the machine while the suites of a run measured, by the kernel's counters."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final

from ullage.grouping import grouped
from ullage.model.record import Contamination
from ullage.quantity import DASH, percent
from ullage.report.contents import Content, Section
from ullage.report.data import ReportData
from ullage.report.grids import Column, grid_of

GRADES: Final = "Grades: A below 1 % of foreign load, B below 5 %, C above."


@dataclass(frozen=True)
class _Line:
    """A suite: the counters of its phases, and the grades of its rows."""

    suite: str
    found: Sequence[Contamination]
    grades: Sequence[str | None]


def counters(data: ReportData) -> Content:
    """Return the counters of each suite."""
    by_suite = grouped(
        (item.run.suite, item.phase.contamination) for item in data.measured if item.phase.contamination is not None
    )
    lines = [_Line(suite, found, [row.grade for row in data.rows_of(suite)]) for suite, found in by_suite.items()]
    return Content(grids=grid_of("What the kernel counted during the measurements", _COLUMNS, lines, whole=True))


def _counter(name: str, of_all: Callable[[list[int]], float] = max) -> Callable[[_Line], str]:
    def text(line: _Line) -> str:
        known = [value for one in line.found if (value := getattr(one, f"{name}_ppm")) is not None]
        return percent(of_all(known) / 1e6, 1) if known else DASH

    return text


def _rows_of(grade: str) -> Callable[[_Line], str]:
    return lambda line: str(line.grades.count(grade))


_COLUMNS: Final[Sequence[Column[_Line]]] = (
    Column("suite", lambda line: line.suite, is_number=False),
    Column("phases", lambda line: str(len(line.found))),
    Column("others' CPU, median", _counter("foreign_cpu", median)),
    Column("worst", _counter("foreign_cpu")),
    Column("steal, worst", _counter("steal")),
    Column("CPU pressure, worst", _counter("pressure_cpu")),
    Column("I/O pressure, worst", _counter("pressure_io")),
    Column("memory pressure, worst", _counter("pressure_memory")),
    Column("rows A", _rows_of("A")),
    Column("B", _rows_of("B")),
    Column("C", _rows_of("C")),
)


def contamination(data: ReportData) -> Content | None:
    """Return the counters by suite; None for the result of one suite, whose rows have their grades."""
    found = counters(data) if data.summary.parts else Content()
    return found if found.grids else None


SECTION: Final = Section(
    name="contamination",
    title="Work of others",
    doc=f"Other programs, and other guests of the host, took this share of the processors' time. {GRADES}",
    order=81,
    part="noise",
    build=contamination,
)
