# SPDX-License-Identifier: Apache-2.0
"""Forms that the report itself makes: the summary, all rows, the page, its charts as pictures."""

from collections.abc import Mapping
from typing import Final

from ullage.exporters import Exporter
from ullage.model.summary import SUMMARY_SCHEMA
from ullage.report.contents import documents
from ullage.report.data import ReportData
from ullage.report.table import to_csv
from ullage.report.vega import to_png, to_svg


def _summary(data: ReportData) -> str:
    """The document as ``summary.json`` holds it."""
    return data.summary.model_dump_json(indent=1) + "\n"


def _rows(data: ReportData) -> str:
    """One line a row, plain SI numbers."""
    return to_csv(data.summary.rows)


def _page(data: ReportData) -> str:
    """The page that ``ullage run`` writes."""
    from ullage.report.html import render

    return render(data)


def _beside_page(data: ReportData) -> Mapping[str, str]:
    """The table that the page names."""
    from ullage.report.html import beside

    return beside(data)


def _png_files(data: ReportData) -> Mapping[str, bytes]:
    """File names and pictures, at twice the size of the page."""
    return {f"{name}.png": to_png(document) for name, document in documents(data)}


def _svg_files(data: ReportData) -> Mapping[str, str]:
    """File names and drawings."""
    return {f"{name}.svg": to_svg(document) for name, document in documents(data)}


EXPORTERS: Final = (
    Exporter("json", f"the summary (schema {SUMMARY_SCHEMA})", "", _summary),
    Exporter("csv", "all rows, plain SI numbers, every repetition", "", _rows),
    Exporter("html", "one self-contained page with charts and tables", "report.html", _page, _beside_page),
    Exporter("png", "a folder of the charts as PNG", "charts-png", _png_files),
    Exporter("svg", "a folder of the charts as SVG", "charts-svg", _svg_files),
)
