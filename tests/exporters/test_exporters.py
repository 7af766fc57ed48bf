# SPDX-License-Identifier: Apache-2.0
"""Every form a result can be written in."""

import csv
import io
import json
import re
import sys
from pathlib import Path

import duckdb
import junitparser
import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families

import ullage
from support import phase_result, recorded_results
from support.data import some
from support.sample_result import Shape, make_rows, make_summary, write_result
from ullage.errors import UserError
from ullage.exporters import load_exporters
from ullage.exporters.markdown import escape
from ullage.model.acceptance import Judged, Judgement
from ullage.model.flags import Flag
from ullage.model.summary import Peer, Summary
from ullage.report.data import ReportData, load
from ullage.report.row_records import columns_of, row_ids, row_records
from ullage.results.folder import ResultFolder
from ullage.runs.summary import build_summary


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> ReportData:
    return load(write_result(tmp_path_factory.mktemp("exporters") / "result", Shape(targets=("nvme",), repetitions=3)))


def text_of(name: str, data: ReportData) -> str:
    content = load_exporters()[name].render(data)
    assert isinstance(content, str)
    return content


def test_exporters_are_found_and_described() -> None:
    found = load_exporters()
    others = {
        "hpcc",
        "github-action-benchmark",
        "google-benchmark",
        "ior",
        "ior-json",
        "junit",
        "mdtest",
        "openmetrics",
        "parquet",
    }
    assert set(found) == {"brief", "csv", "html", "json", "md", "pdf", "png", "svg"} | others
    assert all(exporter.doc for exporter in found.values())


def test_csv_holds_plain_numbers_of_every_row(data: ReportData) -> None:
    rows = list(csv.DictReader(io.StringIO(text_of("csv", data))))
    assert len(rows) == len(data.summary.rows)
    for line, row in zip(rows, data.summary.rows, strict=True):
        assert float(line["median"]) == row.median
        assert [float(value) for value in line["repetitions"].split(";")] == row.repetitions
        assert line["block_bytes"] == str(row.params["block_bytes"])
        assert (line["verdict"], line["grade"], line["unit"]) == (row.verdict, row.grade, "B/s")
        assert line["ceiling_source"] == "PCIe 3.0 x4"


def test_csv_of_words_with_commas_quotes_and_lines() -> None:
    word = 'a,"b"\nc'
    rows = [
        row.model_copy(update={"target": word, "peer": Peer(tool=word, version="3", median=2.0)})
        for row in make_rows(Shape())
    ]
    lines = list(
        csv.DictReader(io.StringIO(text_of("csv", ReportData(make_summary().model_copy(update={"rows": rows})))))
    )
    assert {line["target"] for line in lines} == {word}
    assert {line["peer_tool"] for line in lines} == {word}


def test_json_is_the_contract(data: ReportData) -> None:
    text = text_of("json", data)
    assert Summary.model_validate_json(text) == data.summary
    assert json.loads(text)["schema"] == "ullage.summary/2"


def test_markdown_has_the_findings_and_the_tables(data: ReportData) -> None:
    text = text_of("md", data)
    assert text.startswith("# sweep of nvme\n")
    assert "- **warning:** scratch writes with 8M blocks" in text
    tables = [block for block in text.split("\n\n") if block.startswith("|")]
    assert [len(table.splitlines()) for table in tables] == [2 + 2, 2 + len(data.summary.rows)]
    assert {line.count("|") for table in tables[1:] for line in table.splitlines()} == {
        tables[1].splitlines()[0].count("|")
    }


def test_markdown_has_the_tables_of_named_phases(tmp_path: Path) -> None:
    text = text_of("md", load(phase_result.write_result(tmp_path / "r")))
    heads = re.findall(r"^## (.*)$", text, re.MULTILINE)
    own = ["Phases", "Where the score comes from", "Latency of the operations", "Ranks"]
    assert heads == ["Scores", "Findings", *own, "All rows", "How to reproduce"]
    assert r"**bandwidth** 0.9342 GiB/s \[0.9000, 1.000\]" in text
    assert "**INVALID**" in text
    for block in text.split("\n\n"):
        if block.startswith("|"):
            assert len({line.count("|") for line in block.splitlines()}) == 1


def test_markdown_acts_on_nothing_from_a_machine() -> None:
    assert escape("a|b\n<script> [x](y) `z` *w* # _v_") == r"a\|b \<script\> \[x\](y) \`z\` \*w\* \# \_v\_"
    summary = make_summary().model_copy(update={"command": ["ullage", "```\n# not a heading"]})
    code = text_of("md", ReportData(summary)).partition("## How to reproduce")[2].strip()
    assert code.startswith("````\n")
    assert code.endswith("\n````")


def test_html_is_the_page(data: ReportData) -> None:
    assert text_of("html", data).startswith("<!DOCTYPE html>")


@pytest.mark.parametrize(("name", "start"), [("svg", "<svg"), ("png", b"\x89PNG")])
def test_pictures_of_every_chart(name: str, start: str | bytes, tmp_path: Path) -> None:
    small = load(write_result(tmp_path / "r", Shape(targets=("nvme",), accesses=("read",))))
    files = load_exporters()[name].render(small)
    assert not isinstance(files, (str, bytes))
    charts = [f"{chart}-01.{name}" for chart in ("heatmap", "latency", "lines", "time_series")]
    assert sorted(files) == [f"front.{name}", *charts]
    assert all(content[: len(start)] == start for content in files.values())


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> ReportData:
    """A result of all parts of a machine."""
    result = ResultFolder.open(recorded_results.unpack("node_quick", tmp_path_factory.mktemp("node")))
    return load(result, build_summary(result))


def test_github_action_benchmark_has_the_headlines_of_one_direction(node: ReportData) -> None:
    entries = json.loads(text_of("github-action-benchmark", node))
    told = {entry["name"]: (entry["value"], entry["unit"]) for entry in entries}
    parts = {part: one for part, one in node.summary.headline.items() if one.better == "more"}
    assert told == {f"node/{part}": (one.value, one.unit) for part, one in parts.items()}
    assert "noise" in node.summary.headline.keys() - parts.keys()
    assert {*entries[0]} == {"name", "unit", "value", "range", "extra"}


def test_google_benchmark_has_every_repetition_of_the_headlines(node: ReportData) -> None:
    told = json.loads(text_of("google-benchmark", node))
    assert told["context"]["num_cpus"] == node.summary.system["cpu"]["logical_cpus"]  # type: ignore[index]
    for part, one in some(node.summary.headline.items()):
        repetitions = node.summary.rows[one.row].repetitions
        *runs, median = [run for run in told["benchmarks"] if run["run_name"] == f"node/{part}"]
        counter = "bytes_per_second" if one.unit == "B/s" else "items_per_second"
        times = [1e9 * value if one.better == "less" else 1e9 / value for value in repetitions]
        assert [run["real_time"] for run in runs] == pytest.approx(times)
        assert [run["repetition_index"] for run in runs] == list(range(len(repetitions)))
        assert (median["name"], median["aggregate_name"]) == (f"node/{part}_median", "median")
        assert median.get(counter) == (one.value if one.better == "more" else None)
        assert {run["time_unit"] for run in (*runs, median)} == {"ns"}


def test_openmetrics_text_is_well_formed() -> None:
    rows = [row.model_copy(update={"target": 'a"b\\c\nd'}) for row in make_rows(Shape(targets=("nvme",)))]
    lines = text_of("openmetrics", ReportData(make_summary().model_copy(update={"rows": rows}))).splitlines()
    assert lines[-1] == "# EOF"
    assert lines[0] == "# TYPE ullage_bandwidth_bytes_per_second gauge"
    sample = re.compile(r'[a-z_]+\{(?:[a-z_]+="(?:[^"\\]|\\["\\n])*",?)+\} [\d.e+]+')
    assert all(sample.fullmatch(line) for line in lines if not line.startswith("#"))
    assert len({line.rpartition(" ")[0] for line in lines}) == len(lines)


def twins() -> ReportData:
    """Two suites with rows of the same target, metric and parameters, and one with a parameter named as a column."""
    rows = make_rows(Shape(targets=("nvme",)))
    second = [row.model_copy(update={"suite": "disk", "params": {**row.params, "unit": 'x"y'}}) for row in rows]
    other = [row.model_copy(update={"suite": "io500"}) for row in rows]
    return ReportData(make_summary().model_copy(update={"rows": [*rows, *second, *other]}))


def test_openmetrics_is_read_by_the_parser_of_prometheus() -> None:
    data = twins()
    families = {one.name: one for one in text_string_to_metric_families(text_of("openmetrics", data))}
    [gauge] = [one for name, one in families.items() if name != "ullage_row_info"]
    assert [sample.value for sample in gauge.samples] == [row.median for row in data.summary.rows]
    labels = [sample.labels for sample in gauge.samples]
    assert len({label["id"] for label in labels}) == len(data.summary.rows)
    assert {label["suite"] for label in labels} == {"sweep", "disk", "io500"}
    assert not any({"verdict", "grade"} & label.keys() for label in labels)
    judged = {sample.labels["id"]: sample.labels["grade"] for sample in families["ullage_row_info"].samples}
    assert list(judged.values()) == [row.grade or "none" for row in data.summary.rows]


def test_a_row_keeps_its_id_where_its_value_grade_and_neighbours_are_others() -> None:
    summary = twins().summary
    changed = [row.model_copy(update={"median": 1.0, "grade": "C", "low": None}) for row in reversed(summary.rows)]
    ids = row_ids(summary)
    assert row_ids(summary.model_copy(update={"rows": changed})) == ids[::-1]
    doubled = row_ids(summary.model_copy(update={"rows": [summary.rows[0], summary.rows[0]]}))
    assert doubled == [ids[0], f"{ids[0]}-2"]


def judged(verdict: Judgement, **changes: object) -> Judged:
    known = Judged(
        floor=0,
        metric="bandwidth",
        unit="B/s",
        suite="sweep",
        target='a"<&',
        params={"access": "write", "block_bytes": 4096},
        median=2e9,
        shown=1.9e9,
        needed=1.5e9,
        confidence=0.95,
        verdict=verdict,
    )
    return known.model_copy(update=changes)


def test_junit_is_read_by_junitparser_with_a_test_for_each_number_under_a_floor() -> None:
    told = [
        judged("pass"),
        judged("fail", node="n3", needed=3e9),
        judged("cannot tell", suite="disk", reason="the interval holds the bound; repeat more often"),
    ]
    summary = make_summary().model_copy(update={"judged": told})
    read = junitparser.JUnitXml.fromstring(text_of("junit", ReportData(summary)).encode())
    assert (read.tests, read.failures, read.errors) == (3, 1, 1)
    suites = {suite.name: list(suite) for suite in read}
    assert [case.is_passed for case in suites["sweep"]] == [True, False]
    assert suites["sweep"][0].name == 'sweep a"<& write bandwidth, block 4K'
    missed = suites["sweep"][1]
    assert missed.classname == 'ullage.sweep.n3.a"<&'
    assert isinstance(missed.result[0], junitparser.Failure)
    assert (
        missed.result[0].message == "required: at least 3.00 GB/s; median 2.00 GB/s; shown: at most 1.90 GB/s (95.0 %)"
    )
    assert isinstance(suites["disk"][0].result[0], junitparser.Error)
    assert suites["disk"][0].result[0].message == "the interval holds the bound; repeat more often"


def test_junit_of_a_result_without_floors_is_refused(data: ReportData) -> None:
    with pytest.raises(UserError, match=r"nothing is required.*--require"):
        text_of("junit", data)


def test_parquet_is_read_by_duckdb_with_the_values_of_every_row(tmp_path: Path) -> None:
    data = twins()
    content = load_exporters()["parquet"].render(data)
    assert isinstance(content, bytes)
    (tmp_path / "rows.parquet").write_bytes(content)
    with duckdb.connect() as database:
        table = database.read_parquet(str(tmp_path / "rows.parquet"))
        found = [dict(zip(table.columns, line, strict=True)) for line in table.fetchall()]
    assert len(found) == len(data.summary.rows)
    for line, row, own in zip(found, data.summary.rows, row_ids(data.summary), strict=True):
        assert (line["id"], line["median"], line["repetitions"]) == (own, row.median, row.repetitions)
        assert (line["block_bytes"], line["flags"]) == (row.params["block_bytes"], row.flag_codes)
        assert line["param_unit"] == row.params.get("unit")


def test_a_form_whose_library_is_missing_says_what_to_install(
    data: ReportData, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(UserError, match=r"needs DuckDB.*pip install duckdb") as refused:
        load_exporters()["parquet"].render(data)
    assert refused.value.code == 3


def test_bounds_say_whether_they_are_an_interval_or_a_range() -> None:
    [row] = make_rows(Shape(targets=("nvme",), accesses=("read",), ranks=(1,), blocks=(1 << 20,)))
    flag = Flag(code="interval-below-95", reason="two repetitions")
    whole = row.model_copy(update={"flags": []})
    rows = [whole, row.model_copy(update={"flags": [flag]}), row.model_copy(update={"low": None, "high": None})]
    summary = make_summary().model_copy(update={"rows": rows})
    assert [record["bounds"] for record in row_records(summary)] == ["interval", "range", None]


def test_ullage_open_gives_the_rows_as_a_data_frame(tmp_path: Path) -> None:
    result = write_result(tmp_path / "result", Shape(targets=("nvme",)))
    frame = ullage.open(result.path)
    summary = result.read_summary()
    assert list(frame.columns) == columns_of(summary)
    assert frame["id"].is_unique
    assert list(frame["median"]) == [row.median for row in summary.rows]
    assert list(frame["repetitions"]) == [row.repetitions for row in summary.rows]
    with pytest.raises(UserError):
        ullage.open(tmp_path / "nothing")
