# SPDX-License-Identifier: Apache-2.0
"""The summary of a run of every node by itself, and what a report shows of it."""

from pathlib import Path
from typing import Any

import pytest

from ullage.model.acceptance import Floor
from ullage.model.request import Request
from ullage.model.summary import PartOutcome, Row, Summary
from ullage.quantity import listing
from ullage.report.charts.maps import node_map as build_chart
from ullage.report.data import ReportData
from ullage.report.html import render
from ullage.report.screen import screen
from ullage.report.sections import nodes as section
from ullage.report.sections import scores
from ullage.results.folder import ResultFolder
from ullage.runs.nodes import request_of_node, summary_of_nodes, with_nodes, write_lists

NAMES = ["n0", "n1", "n2", "n3"]


def row(value: float, **more: object) -> Row:
    samples = [value * factor for factor in (0.99, 0.995, 1.0, 1.0, 1.005, 1.01)]
    known: dict[str, Any] = {
        "metric": "memory_bandwidth", "unit": "B/s", "better": "more", "target": "memory",
        "params": {"access": "triad", "threads": 2}, "median": value, "low": samples[0], "high": samples[-1],
        "repetitions": samples, "verdict": "measured", "grade": "A", "suite": "memory",
    }  # fmt: skip
    return Row.model_validate(known | more)


def request(**options: object) -> Request:
    asked = Request(
        run_id="20260101T000000Z-aaaaaa",
        suite="memory",
        created="2026-01-01T00:00:00+00:00",
        options={"each_node": True, **options},
    )
    return with_nodes(asked, NAMES, "slurm")


def summarised(folder: Path, rows: dict[str, list[Row]], lost: str = "", **options: object) -> Summary:
    result = ResultFolder.create(folder, request(**options))
    outcomes = [
        PartOutcome(
            suite=name, code=5 if name == lost else 0, began=True, reason="the node was lost" if name == lost else ""
        )
        for name in NAMES
    ]
    result.write_outcomes(outcomes)
    for index, name in enumerate(rows):
        ResultFolder.create(result.part(name).path, request_of_node(request(), index))

    def build(part: ResultFolder) -> Summary:
        return Summary(suite="memory", run_id="r", created="", rows=rows[part.path.name])

    return summary_of_nodes(result, result.read_request(), build)


def with_slow(value: float = 3e9) -> dict[str, list[Row]]:
    return {name: [row(value if name == "n2" else 1e10 + 1e7 * index)] for index, name in enumerate(NAMES)}


def test_a_slow_node_is_suspect_and_named_with_the_words_of_its_batch_system(tmp_path: Path) -> None:
    summary = summarised(tmp_path / "r", with_slow())
    assert summary.nodes is not None
    assert {node.name: node.state for node in summary.nodes.nodes} == dict.fromkeys(NAMES, "good") | {"n2": "suspect"}
    (found,) = summary.findings
    assert (found.kind, found.severity, found.numbers["node"]) == ("slow-node", "warning", "n2")
    assert found.text.startswith("n2 is worse than the other nodes in 1 of 1 number.")
    write_lists(ResultFolder(tmp_path / "r"), summary.nodes)
    lists = {path.name: path.read_text() for path in (tmp_path / "r" / "nodes").iterdir()}
    assert lists == {
        "good.txt": "n0\nn1\nn3\n", "suspect.txt": "n2\n", "unknown.txt": "",
        "good.args": "--nodelist=n[0-1,3]\n", "suspect.args": "--exclude=n2\n",
    }  # fmt: skip


def test_a_row_of_the_summary_is_of_the_median_node(tmp_path: Path) -> None:
    summary = summarised(tmp_path / "r", with_slow())
    (found,) = summary.rows
    assert found.repetitions == [1e10, 1.001e10, 3e9, 1.003e10]
    assert found.median == pytest.approx(1.0005e10)
    assert found.has_range


def test_equal_nodes_are_all_good(tmp_path: Path) -> None:
    summary = summarised(tmp_path / "r", with_slow(1e10))
    assert summary.nodes is not None
    assert summary.nodes.named("good") == NAMES
    assert [one.kind for one in summary.findings] == ["equal-nodes"]


def test_of_nodes_that_are_all_disturbed_nothing_is_told_and_each_stands_on_the_page(tmp_path: Path) -> None:
    every = {name: [one.model_copy(update={"grade": "C"}) for one in own] for name, own in with_slow(1e10).items()}
    summary = summarised(tmp_path / "r", every)
    assert summary.findings[0].title == "Whether one of 4 nodes is worse than the others cannot be told"
    assert summary.nodes is not None
    assert summary.nodes.named("unknown") == NAMES
    # These rows lack what the charts of their suite show.
    page = render(
        ReportData(
            summary.model_copy(
                update={"suite": "other", "rows": [one.model_copy(update={"suite": "other"}) for one in summary.rows]}
            )
        )
    )
    assert page.index('<section id="nodes">') < page.index('<div id="parts">')
    assert f"<bdi>4 nodes ({listing(NAMES)})</bdi>" in page


def test_a_lost_node_is_not_good_and_the_others_are_compared(tmp_path: Path) -> None:
    rows = {name: own for name, own in with_slow(1e10).items() if name != "n3"}
    summary = summarised(tmp_path / "r", rows, lost="n3")
    assert summary.nodes is not None
    assert [node.state for node in summary.nodes.nodes] == ["unknown", "unknown", "unknown", "not measured"]
    assert [one.kind for one in summary.findings] == ["equal-nodes", "unknown-nodes", "lost-node"]
    assert "n3: the node was lost" in summary.findings[-1].text


def test_a_disturbed_node_is_not_named_unless_hardly_any_is_undisturbed(tmp_path: Path) -> None:
    rows = with_slow()
    alone = rows | {"n2": [row(3e9, grade="C")]}
    assert summarised(tmp_path / "a", alone).findings[0].kind == "equal-nodes"
    every = {name: [one.model_copy(update={"grade": "C"}) for one in own] for name, own in rows.items()}
    found = summarised(tmp_path / "b", every).findings[0]
    assert found.kind == "slow-node"
    assert "Other programs ran on n2 at that time (grade C)." in found.text


def test_a_node_with_other_work_among_idle_ones_is_suspect(tmp_path: Path) -> None:
    rows = with_slow(1e10) | {"n2": [row(1e10, grade="C")]}
    summary = summarised(tmp_path / "r", rows)
    assert summary.nodes is not None
    assert (summary.nodes.named("good"), summary.nodes.named("suspect")) == (["n0", "n1", "n3"], ["n2"])
    found = next(one for one in summary.findings if one.kind == "busy-node")
    assert found.text.startswith("n2 is suspect: other work ran while it was measured (grade C)")


def test_a_node_is_good_only_once_it_has_shown_it(tmp_path: Path) -> None:
    """Floors that cannot be told, and too few nodes to compare, show nothing; nor does a node that was not measured."""
    floor = Floor(metric="memory_bandwidth", share=0.5).model_dump()
    untold = summarised(tmp_path / "a", with_slow(1e10), require=[floor]).nodes
    assert untold is not None
    assert untold.not_told == NAMES
    assert untold.nodes[0].reason == "1 of 1 floor cannot be told"
    few = summarised(tmp_path / "b", {name: [row(1e10)] for name in NAMES[:2]})
    assert few.nodes is not None
    assert few.nodes.not_told == NAMES
    write_lists(ResultFolder(tmp_path / "b"), few.nodes)
    lists = {path.name: path.read_text() for path in (tmp_path / "b" / "nodes").iterdir()}
    assert lists == {"good.txt": "", "suspect.txt": "", "unknown.txt": "n0\nn1\nn2\nn3\n"}
    assert next(one.title for one in few.findings if one.kind == "unknown-nodes") == "2 nodes have not shown to be good"
    floor = Floor(metric="memory_bandwidth", bound=1e9).model_dump()
    shown = summarised(tmp_path / "c", {name: [row(1e10)] for name in NAMES[:2]}, require=[floor]).nodes
    assert shown is not None
    assert shown.named("good") == NAMES[:2]


def test_of_lost_time_what_is_left_is_compared(tmp_path: Path) -> None:
    def noise(value: float) -> list[Row]:
        return [row(value, metric="noise_share", unit="of time", better="less")]

    little = {name: noise(0.004 if name == "n2" else 0.001) for name in NAMES}
    assert summarised(tmp_path / "a", little).findings[0].kind == "equal-nodes"
    much = {name: noise(0.4 if name == "n2" else 0.001) for name in NAMES}
    assert summarised(tmp_path / "b", much).findings[0].kind == "slow-node"


def test_floors_make_a_node_suspect_and_show_pass_fail_and_cannot_tell(tmp_path: Path) -> None:
    floors = [Floor(metric="memory_bandwidth", bound=8e9), Floor(metric="memory_bandwidth", share=0.5)]
    rows = {name: [row(7e9 if name == "n1" else 1e10)] for name in NAMES}
    summary = summarised(tmp_path / "r", rows, require=[one.model_dump() for one in floors])
    assert [(one.node, one.verdict) for one in summary.judged][:4] == [
        ("n0", "pass"),
        ("n1", "fail"),
        ("n2", "pass"),
        ("n3", "pass"),
    ]
    assert {one.verdict for one in summary.judged[4:]} == {"cannot tell"}
    assert summary.nodes is not None
    assert summary.nodes.named("suspect") == ["n1"]
    content = scores.what_was_required(ReportData(summary))
    assert content is not None
    assert content.notes == ["pass: 3, fail: 1, cannot tell: 4."]
    assert content.grids[0].rows[0][0].text == "fail"
    assert summary.findings[0].title == "1 of 8 required numbers fails on n1"


def test_the_report_has_a_map_a_table_of_nodes_and_one_of_outliers(tmp_path: Path) -> None:
    data = ReportData(summarised(tmp_path / "r", with_slow()))
    (figure,) = build_chart(data)
    cells = figure.spec["data"]["values"]
    assert [cell["column"] for cell in cells if cell["best"]] == ["n2"]
    content = section.build(data)
    assert content is not None
    nodes, outliers = content.grids
    assert [line[0].text for line in nodes.rows] == NAMES
    assert [[cell.text for cell in line[:3]] for line in outliers.rows] == [
        ["n2", "triad memory bandwidth, threads 2", "3.00 GB/s"]
    ]
    assert "Keep jobs off the suspect nodes: --exclude=n2" in content.notes
    shown = "\n".join(line.text for line in screen(data))
    assert "Which nodes are worse than the others?" in shown
    assert "n2 is worse than the other nodes" in shown


def test_results_of_one_node_have_none_of_these() -> None:
    data = ReportData(Summary(suite="memory", run_id="r", created="", rows=[row(1e10)]))
    assert build_chart(data) == []
    assert section.build(data) is None
    assert scores.what_was_required(data) is None


def test_the_request_of_one_node_is_the_same_of_it_alone() -> None:
    whole = request(threads=[1], require=[Floor(metric="clock", bound=1.0).model_dump()])
    own = request_of_node(whole, 3)
    assert own.options == {"threads": [1]}
    assert own.run_id == f"{whole.run_id}.n3"
    long = request_of_node(whole.model_copy(update={"run_id": "x" * 64}), 12345)
    assert (len(long.run_id), long.run_id[-7:]) == (64, ".n12345")
