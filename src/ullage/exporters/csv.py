# SPDX-License-Identifier: Apache-2.0
"""All rows as comma-separated values."""

from ullage.exporters import Exporter
from ullage.report.data import ReportData
from ullage.report.table import to_csv


def render(data: ReportData) -> str:
    """One line a row, plain SI numbers."""
    return to_csv(data.summary.rows)


EXPORTER = Exporter("csv", "all rows, plain SI numbers, every repetition", "", render)
