# SPDX-License-Identifier: Apache-2.0
"""Medians in the form that github-action-benchmark and Bencher read (``customBiggerIsBetter``)."""

import json

from ullage.exporters import Exporter
from ullage.model.summary import Row
from ullage.report.data import ReportData
from ullage.report.quantity import format_param, param_label


def render(data: ReportData) -> str:
    """The rows of which more is better: that form takes one direction a file. ``range`` is half the interval."""
    entries = [_entry(row) for row in data.summary.rows if row.better == "more"]
    return json.dumps(entries, indent=1) + "\n"


def _entry(row: Row) -> dict[str, object]:
    setting = ", ".join(f"{param_label(key)} {format_param(key, value)}" for key, value in row.params.items())
    entry: dict[str, object] = {"name": f"{row.target}: {row.metric}, {setting}", "unit": row.unit, "value": row.median}
    if row.low is not None and row.high is not None:
        entry["range"] = f"± {(row.high - row.low) / 2:.6g}"
    entry["extra"] = f"verdict {row.verdict}, grade {row.grade or 'none'}, {len(row.repetitions)} repetitions"
    return entry


EXPORTER = Exporter("github-action-benchmark", "medians for github-action-benchmark and Bencher", "", render)
