# SPDX-License-Identifier: Apache-2.0
"""Numbers for what watches them over time: github-action-benchmark and Bencher, tools of Google Benchmark, Prometheus'
node_exporter; and what became of the floors (``--require``), for CI systems."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final
from xml.etree import ElementTree as ET

from ullage.analysis.compare import fact
from ullage.analysis.metrics.arithmetic import NS_PER_S
from ullage.errors import UserError
from ullage.exporters import Exporter
from ullage.grouping import grouped
from ullage.model.acceptance import Judged, Judgement
from ullage.model.summary import PartValue, Row, Summary
from ullage.report.data import ReportData
from ullage.report.row_records import row_ids, suite_of
from ullage.report.sections.scores import required_number, required_text


def benchmark_entries(data: ReportData) -> str:
    """Write the headlines of which more is better as JSON: that form has no others. ``range``: half the interval."""
    entries = [_entry(name, one) for name, one in _named(data.summary) if one.better == "more"]
    return json.dumps(entries, indent=1) + "\n"


def _named(summary: Summary) -> list[tuple[str, PartValue]]:
    """Return the headlines by names that are the same in every run, such as ``node/memory``."""
    return [(f"{summary.suite}/{part}", one) for part, one in summary.headline.items()]


def _entry(name: str, one: PartValue) -> dict[str, object]:
    entry: dict[str, object] = {"name": name, "unit": one.unit, "value": one.value}
    if one.low is not None and one.high is not None:
        entry["range"] = f"± {(one.high - one.low) / 2:.6g}"
    return {**entry, "extra": f"{one.what}; verdict {one.verdict}, grade {one.grade or 'none'}"}


GITHUB_ACTION_BENCHMARK = Exporter(
    "github-action-benchmark", "headlines for github-action-benchmark and Bencher", "", benchmark_entries
)


def google_benchmark(data: ReportData) -> str:
    """Write all repetitions of the headlines, and their medians, as JSON of Google Benchmark's.

    A rate is also told as the time of one byte or operation, a share of lost time as what is lost of a second. Tools
    ask for ``cpu_time``, which is not known here: it is the real time.
    """
    summary = data.summary
    facts = {"date": summary.created, "host_name": fact(summary.system, "host"), "executable": "ullage"}
    context = {**facts, "num_cpus": fact(summary.system, "cpu", "logical_cpus"), "json_schema_version": 1}
    runs = [run for name, one in _named(summary) for run in _runs(name, one, summary.rows[one.row])]
    return json.dumps({"context": context, "benchmarks": runs}, indent=1) + "\n"


def _runs(name: str, one: PartValue, row: Row) -> Iterator[dict[str, object]]:
    common = {"run_name": name, "repetitions": len(row.repetitions), "threads": row.count("threads", 1)}
    for index, value in enumerate(row.repetitions):
        yield {"name": name, **common, "run_type": "iteration", "repetition_index": index, **_timed(one, value)}
    median = {"run_type": "aggregate", "aggregate_name": "median", "aggregate_unit": "time"}
    yield {"name": f"{name}_median", **common, **median, **_timed(one, one.value)}


def _timed(one: PartValue, value: float) -> Mapping[str, object]:
    found = value if one.better == "less" else 1 / value if value else 0.0
    timed = {"iterations": 1, "real_time": found * NS_PER_S, "cpu_time": found * NS_PER_S, "time_unit": "ns"}
    counter = "bytes_per_second" if one.unit == "B/s" else "items_per_second"
    return timed if one.better == "less" else {**timed, counter: value}


GOOGLE_BENCHMARK = Exporter("google-benchmark", "headlines for tools of Google Benchmark", "", google_benchmark)


_UNITS: Final = {"B/s": "bytes_per_second", "op/s": "operations_per_second", "s": "seconds", "B": "bytes"}


def openmetrics_text(data: ReportData) -> str:
    """Write one gauge a metric, whose labels are the identity of a row: its id, suite, target and parameters.

    What another run may have otherwise stands in ``ullage_row_info``, joined by ``id``: verdict, grade, and the part of
    the machine that a row stands for. It is a gauge, since node_exporter's own format has no other type for it.
    """
    summary = data.summary
    parts = {one.row: part for part, one in summary.headline.items()}
    rows = list(zip(row_ids(summary), summary.rows, strict=True))
    lines: list[str] = []
    for name, of_family in grouped((family_name(row), (own, row)) for own, row in rows).items():
        lines.append(f"# TYPE {name} gauge")
        lines.append(f"# HELP {name} Median of the repetitions measured by Ullage, in {_escape(of_family[0][1].unit)}.")
        lines.extend(f"{name}{{{_labels(_identity(summary, own, row))}}} {row.median!r}" for own, row in of_family)
    told = "What was measured, how disturbed it was, and the part it stands for, by id."
    lines += ["# TYPE ullage_row_info gauge", f"# HELP ullage_row_info {told}"]
    judged = [_judged(own, row, parts.get(index, "")) for index, (own, row) in enumerate(rows)]
    lines.extend(f"ullage_row_info{{{_labels(one)}}} 1" for one in judged)
    return "\n".join([*lines, "# EOF"]) + "\n"


def family_name(row: Row) -> str:
    """Return the name of the row's gauge, such as ``ullage_bandwidth_bytes_per_second``."""
    unit = _UNITS.get(row.unit, row.unit)
    return re.sub(r"_+", "_", re.sub(r"[^a-zA-Z0-9_]", "_", f"ullage_{row.metric}_{unit}")).strip("_")


def _identity(summary: Summary, own: str, row: Row) -> dict[str, str]:
    params = {re.sub(r"[^a-zA-Z0-9_]", "_", key): str(value) for key, value in row.params.items()}
    return {**params, "id": own, "suite": suite_of(summary, row), "target": row.target}


def _judged(own: str, row: Row, part: str) -> dict[str, str]:
    return {"id": own, "verdict": row.verdict, "grade": row.grade or "none", "part": part}


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
EXPORTERS: Final = (GITHUB_ACTION_BENCHMARK, GOOGLE_BENCHMARK, OPENMETRICS, JUNIT)
