# SPDX-License-Identifier: Apache-2.0
"""The summary itself: the public contract ``ullage.summary/2``."""

from ullage.exporters import Exporter
from ullage.model.summary import SUMMARY_SCHEMA
from ullage.report.data import ReportData


def render(data: ReportData) -> str:
    """The document as ``summary.json`` holds it."""
    return data.summary.model_dump_json(indent=1) + "\n"


EXPORTER = Exporter("json", f"the summary (schema {SUMMARY_SCHEMA})", "", render)
