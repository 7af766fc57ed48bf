# SPDX-License-Identifier: Apache-2.0
"""Every chart of the report as a PNG file, at twice the size of the page."""

from collections.abc import Mapping

from ullage.exporters import Exporter
from ullage.report.contents import documents
from ullage.report.data import ReportData
from ullage.report.vega import to_png


def render(data: ReportData) -> Mapping[str, bytes]:
    """File names and pictures."""
    return {f"{name}.png": to_png(document) for name, document in documents(data)}


EXPORTER = Exporter("png", "a folder of the charts as PNG", "charts-png", render)
