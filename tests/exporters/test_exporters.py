# SPDX-License-Identifier: Apache-2.0
"""Every form a result can be written in."""

import csv
import io
import json
import re
from pathlib import Path

import pytest

from support import phase_result
from support.sample_result import Shape, make_rows, make_summary, write_result
from ullage.exporters import load_exporters
from ullage.exporters.markdown import escape
from ullage.model.summary import Peer, Summary
from ullage.report.data import ReportData, load


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> ReportData:
    return load(write_result(tmp_path_factory.mktemp("exporters") / "result", Shape(targets=("nvme",), repetitions=3)))


def text_of(name: str, data: ReportData) -> str:
    content = load_exporters()[name].render(data)
    assert isinstance(content, str)
    return content


def test_exporters_are_found_and_described() -> None:
    found = load_exporters()
    others = {"hpcc", "github-action-benchmark", "ior", "ior-json", "mdtest", "openmetrics"}
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


def test_github_action_benchmark_has_one_direction(data: ReportData) -> None:
    slow = data.summary.rows[0].model_copy(update={"better": "less"})
    summary = data.summary.model_copy(update={"rows": [slow, *data.summary.rows[1:]]})
    entries = json.loads(text_of("github-action-benchmark", ReportData(summary)))
    assert len(entries) == len(data.summary.rows) - 1
    assert len({entry["name"] for entry in entries}) == len(entries)
    assert {*entries[0]} == {"name", "unit", "value", "range", "extra"}


def test_openmetrics_text_is_well_formed() -> None:
    rows = [row.model_copy(update={"target": 'a"b\\c\nd'}) for row in make_rows(Shape(targets=("nvme",)))]
    lines = text_of("openmetrics", ReportData(make_summary().model_copy(update={"rows": rows}))).splitlines()
    assert lines[-1] == "# EOF"
    assert lines[0] == "# TYPE ullage_bandwidth_bytes_per_second gauge"
    sample = re.compile(r'[a-z_]+\{(?:[a-z_]+="(?:[^"\\]|\\["\\n])*",?)+\} [\d.e+]+')
    assert all(sample.fullmatch(line) for line in lines if not line.startswith("#"))
    assert len({line.rpartition(" ")[0] for line in lines}) == len(lines)
