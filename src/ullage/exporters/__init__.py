# SPDX-License-Identifier: Apache-2.0
"""Forms a result can be written in, found by walking this package and the suites.

A module sets ``EXPORTERS``. ``render`` is pure: it gives the content of one file or of many.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ullage.discovery import gathered, modules_in, suite_modules
from ullage.errors import one_line
from ullage.report.data import ReportData

Content = str | bytes


@dataclass(frozen=True)
class Exporter:
    """Writes a result in another form.

    ``default`` is where the output goes below the result folder when no other place is named; empty: to stdout.
    ``render`` returns a text, or the files of a folder by their names; ``beside`` the files that the text refers to, by
    their paths from the folder it is written to; ``alone`` of a form of many files the one that stands for all: it is
    what is written where a file of that form is named.
    """

    name: str
    doc: str
    default: str
    render: Callable[[ReportData], Content | Mapping[str, Content]]
    beside: Callable[[ReportData], Mapping[str, Content]] | None = None
    alone: Callable[[ReportData], Content] | None = None


def warning_lines(data: ReportData) -> list[str]:
    """Return the warnings of a run as the last lines of another tool's output."""
    return [f"WARNING: {one_line(event.text, 2000)}" for event in data.summary.events if event.severity == "warning"]


def load_exporters() -> dict[str, Exporter]:
    """Return all exporters by name: those of this package, and those of suites that have a form of their own."""
    found: list[Exporter] = gathered([*modules_in(__name__), *suite_modules("exporter")], "EXPORTERS")
    return {exporter.name: exporter for exporter in sorted(found, key=lambda exporter: exporter.name)}
