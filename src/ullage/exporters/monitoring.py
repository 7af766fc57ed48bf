# SPDX-License-Identifier: Apache-2.0
"""Medians for what watches numbers over time: github-action-benchmark and Bencher, Prometheus' node_exporter;
and what became of the floors (``--require``), for CI systems."""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final
from xml.etree import ElementTree as ET

from ullage.errors import UserError
from ullage.exporters import Exporter
from ullage.grouping import grouped
from ullage.model.acceptance import Judged, Judgement
from ullage.model.summary import Row, Summary
from ullage.quantity import format_param, param_label
from ullage.report.data import ReportData
from ullage.report.row_records import row_ids, suite_of
from ullage.report.sections.scores import required_number, required_text


def benchmark_entries(data: ReportData) -> str:
    """Write the rows of which more is better, the only ones of that form, as JSON. ``range``: half the interval."""
    entries = [_entry(data.summary, row) for row in data.summary.rows if row.better == "more"]
    return json.dumps(entries, indent=1) + "\n"


def _entry(summary: Summary, row: Row) -> dict[str, object]:
    setting = ", ".join(f"{param_label(key)} {format_param(key, value)}" for key, value in row.params.items())
    name = f"{suite_of(summary, row)}, {row.target}: {row.metric}, {setting}"
    entry: dict[str, object] = {"name": name, "unit": row.unit, "value": row.median}
    if row.low is not None and row.high is not None:
        entry["range"] = f"± {(row.high - row.low) / 2:.6g}"
    entry["extra"] = f"verdict {row.verdict}, grade {row.grade or 'none'}, {len(row.repetitions)} repetitions"
    return entry


GITHUB_ACTION_BENCHMARK = Exporter(
    "github-action-benchmark", "medians for github-action-benchmark and Bencher", "", benchmark_entries
)


_UNITS: Final = {"B/s": "bytes_per_second", "op/s": "operations_per_second", "s": "seconds", "B": "bytes"}


def openmetrics_text(data: ReportData) -> str:
    """Write one gauge a metric, whose labels are the identity of a row: its id, suite, target and parameters.

    Verdict and grade, which another run may have otherwise, stand in ``ullage_row_info``, joined by ``id``.
    """
    summary = data.summary
    rows = list(zip(row_ids(summary), summary.rows, strict=True))
    lines: list[str] = []
    for name, of_family in grouped((family_name(row), (own, row)) for own, row in rows).items():
        lines.append(f"# TYPE {name} gauge")
        lines.append(f"# HELP {name} Median of the repetitions measured by Ullage, in {_escape(of_family[0][1].unit)}.")
        lines.extend(f"{name}{{{_labels(_identity(summary, own, row))}}} {row.median!r}" for own, row in of_family)
    lines += ["# TYPE ullage_row info", "# HELP ullage_row What was measured, and how disturbed it was, by id."]
    lines.extend(f"ullage_row_info{{{_labels(_judged(own, row))}}} 1" for own, row in rows)
    return "\n".join([*lines, "# EOF"]) + "\n"


def family_name(row: Row) -> str:
    """Return the name of the row's gauge, such as ``ullage_bandwidth_bytes_per_second``."""
    unit = _UNITS.get(row.unit, row.unit)
    return re.sub(r"_+", "_", re.sub(r"[^a-zA-Z0-9_]", "_", f"ullage_{row.metric}_{unit}")).strip("_")


def _identity(summary: Summary, own: str, row: Row) -> dict[str, str]:
    params = {re.sub(r"[^a-zA-Z0-9_]", "_", key): str(value) for key, value in row.params.items()}
    return {**params, "id": own, "suite": suite_of(summary, row), "target": row.target}


def _judged(own: str, row: Row) -> dict[str, str]:
    return {"id": own, "verdict": row.verdict, "grade": row.grade or "none"}


def _labels(values: Mapping[str, str]) -> str:
    return ",".join(f'{key}="{_escape(value)}"' for key, value in values.items())


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


OPENMETRICS = Exporter("openmetrics", "medians for Prometheus' node_exporter textfile collector", "", openmetrics_text)


# "cannot tell" ends the command badly, too: a test that is skipped would leave the job green.
_ELEMENTS: Final[dict[Judgement, str]] = {"fail": "failure", "cannot tell": "error"}
_COUNTS: Final[dict[Judgement, str]] = {"fail": "failures", "cannot tell": "errors"}


def junit_xml(data: ReportData) -> str:
    """Write a test for each number under a floor, in a suite for each suite that was measured.

    Raise ``UserError`` where nothing was required: a file without tests would pass.
    """
    summary = data.summary
    if not summary.judged:
        raise UserError("nothing is required of this result", "--format junit", "add --require FILE")
    root = ET.Element("testsuites", {"name": "ullage", **_counted(summary.judged)})
    for suite, judged in grouped((one.suite or "any suite", one) for one in summary.judged).items():
        about = {"name": suite, "timestamp": summary.created, "hostname": str(summary.system.get("host", ""))}
        of_suite = ET.SubElement(root, "testsuite", {**about, **_counted(judged)})
        for one in judged:
            classname = ".".join(filter(None, ["ullage", one.suite, one.node, one.target]))
            case = ET.SubElement(of_suite, "testcase", {"classname": classname, "name": required_number(one)})
            if one.verdict in _ELEMENTS:
                found = ET.SubElement(case, _ELEMENTS[one.verdict], {"type": one.verdict})
                found.set("message", one.reason or required_text(one))
                found.text = required_text(one)
            else:
                ET.SubElement(case, "system-out").text = required_text(one)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _counted(judged: Sequence[Judged]) -> dict[str, str]:
    counts = Counter(one.verdict for one in judged)
    return {"tests": str(len(judged)), **{name: str(counts[verdict]) for verdict, name in _COUNTS.items()}}


JUNIT: Final = Exporter("junit", "what became of the floors, as tests for CI systems", "", junit_xml)
EXPORTERS: Final = (GITHUB_ACTION_BENCHMARK, OPENMETRICS, JUNIT)
