# SPDX-License-Identifier: Apache-2.0
"""Every chart of the report as an SVG file."""

from collections.abc import Mapping

from ullage.exporters import Exporter
from ullage.report.contents import documents
from ullage.report.data import ReportData
from ullage.report.vega import to_svg


def render(data: ReportData) -> Mapping[str, str]:
    """File names and drawings."""
    return {f"{name}.svg": to_svg(document) for name, document in documents(data)}


EXPORTER = Exporter("svg", "a folder of the charts as SVG", "charts-svg", render)
