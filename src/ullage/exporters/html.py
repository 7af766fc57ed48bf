# SPDX-License-Identifier: Apache-2.0
"""The report as one self-contained page."""

from collections.abc import Mapping

from ullage.exporters import Exporter
from ullage.report.data import ReportData


def render(data: ReportData) -> str:
    """The page that ``ullage run`` writes."""
    from ullage.report.html import render as render_page

    return render_page(data)


def beside(data: ReportData) -> Mapping[str, str]:
    """The table that the page names."""
    from ullage.report.html import beside as files_beside

    return files_beside(data)


EXPORTER = Exporter("html", "one self-contained page with charts and tables", "report.html", render, beside)
