# SPDX-License-Identifier: Apache-2.0
"""Forms that the report itself makes: the summary, all rows, the page, its charts as pictures."""

from collections.abc import Mapping
from typing import Final

from ullage.exporters import Exporter
from ullage.model.summary import SUMMARY_SCHEMA
from ullage.report.contents import documents
from ullage.report.data import ReportData
from ullage.report.first_screen import front_of
from ullage.report.picture import front_svg
from ullage.report.row_table import to_csv
from ullage.report.vega import svg_to_pdf, svg_to_png, to_png, to_svg


def _summary(data: ReportData) -> str:
    """Write the document as ``summary.json`` holds it."""
    return data.summary.model_dump_json(indent=1) + "\n"


def _page(data: ReportData) -> str:
    """Write the page that ``ullage run`` writes."""
    from ullage.report.html import render

    return render(data)


def _beside_page(data: ReportData) -> Mapping[str, str]:
    """Return the table that the page names, by its path."""
    from ullage.report.html import beside

    return beside(data)


def _front_svg(data: ReportData) -> str:
    """Draw the first screen for slides."""
    return front_svg(*front_of(data))


def _front_png(data: ReportData) -> bytes:
    return svg_to_png(_front_svg(data))


def _pdf(data: ReportData) -> bytes:
    from ullage.report.printed import printed_svg

    return svg_to_pdf(printed_svg(data))


def _png_files(data: ReportData) -> Mapping[str, bytes]:
    """Draw the charts by file name, at twice the size of the page; add the front page where there are rows."""
    charts = {f"{name}.png": to_png(document) for name, document in documents(data)}
    return {"front.png": _front_png(data), **charts} if data.summary.rows else charts


def _svg_files(data: ReportData) -> Mapping[str, str]:
    """Draw the charts by file name; add the front page where there are rows."""
    charts = {f"{name}.svg": to_svg(document) for name, document in documents(data)}
    return {"front.svg": _front_svg(data), **charts} if data.summary.rows else charts


EXPORTERS: Final = (
    Exporter("json", f"the summary (schema {SUMMARY_SCHEMA})", "", _summary),
    Exporter("csv", "all rows, plain SI numbers, every repetition", "", lambda data: to_csv(data.summary)),
    Exporter("html", "one self-contained page with charts and tables", "report.html", _page, _beside_page),
    Exporter("png", "a folder of front page and charts as PNG", "charts-png", _png_files, alone=_front_png),
    Exporter("svg", "a folder of front page and charts as SVG", "charts-svg", _svg_files, alone=_front_svg),
    Exporter("pdf", "the page as PDF: first screen, answers and charts", "report.pdf", _pdf),
)
