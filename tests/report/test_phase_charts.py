# SPDX-License-Identifier: Apache-2.0
"""Charts of named phases."""

from pathlib import Path

import pytest

from support import sample_result
from support.data import some
from support.phase_result import GIB, PHASES, Course, make_summary, write_result
from ullage.model.summary import Summary
from ullage.report.charts import phases
from ullage.report.charts.phases import publications
from ullage.report.contents import documents
from ullage.report.data import ReportData, load
from ullage.report.vega import to_svg


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> ReportData:
    return load(write_result(tmp_path_factory.mktemp("charts") / "result"))


def test_a_sweep_has_none_of_them_and_phases_have_none_of_its(data: ReportData, tmp_path: Path) -> None:
    sweep = load(sample_result.write_result(tmp_path / "sweep"))
    for chart in phases.CHARTS:
        assert chart.build(sweep) == []
    drawn = {name.rpartition("-")[0] for name, _ in documents(data)}
    assert drawn == {"phase_bars", "phase_latency", "phase_rates"}


def test_every_figure_can_be_drawn(data: ReportData) -> None:
    for name, document in some(documents(data)):
        assert to_svg(document).startswith("<svg"), name


def test_bars_of_bandwidth_and_of_operations_have_the_published_runs_beside_them(data: ReportData) -> None:
    bandwidth, rate = phases.bar_figures(data)
    assert (bandwidth.title, rate.title) == ("Bandwidth", "Rate of operations")
    values = bandwidth.spec["data"]["values"]
    assert [value["who"] for value in values].count("scratch") == 4
    assert {value["who"] for value in values} == {"scratch", *(run.name for run in publications()[0].runs)}
    easy = next(value for value in values if value["who"] == "scratch" and value["phase"] == "ior-easy-write")
    assert easy["x"] == pytest.approx(data.summary.rows[0].median / GIB)
    assert all(value["floor"] < value["x"] for value in [*values, *rate.spec["data"]["values"]])
    assert publications()[0].source in bandwidth.caption
    assert "INVALID phases: 1." in rate.caption


def published(index: int) -> Summary:
    run = publications()[0].runs[index]
    summary = make_summary(Course(repetitions=1, void=""))
    rows = [row.model_copy(update={"median": run.phases[str(row.params["phase"])].rate}) for row in summary.rows]
    return summary.model_copy(update={"rows": rows})


def test_a_published_run_is_not_shown_beside_itself() -> None:
    bandwidth, _ = phases.bar_figures(ReportData(published(0)))
    names = {value["who"] for value in bandwidth.spec["data"]["values"]}
    assert names == {"scratch", publications()[0].runs[1].name}


def test_phases_of_another_benchmark_have_no_published_runs_beside_them() -> None:
    summary = make_summary()
    rows = [row.model_copy(update={"params": {"phase": f"other-{index}"}}) for index, row in enumerate(summary.rows)]
    bandwidth, _ = phases.bar_figures(ReportData(summary.model_copy(update={"rows": rows})))
    assert {value["who"] for value in bandwidth.spec["data"]["values"]} == {"scratch"}
    assert not bandwidth.caption


def test_a_phase_without_a_value_has_no_bar() -> None:
    rows = [row.model_copy(update={"median": 0.0, "low": 0.0}) for row in make_summary().rows]
    assert phases.bar_figures(ReportData(make_summary().model_copy(update={"rows": rows}))) == []


def test_rates_over_time_are_of_operations_where_the_phase_counts_them(data: ReportData) -> None:
    figures = {figure.title: figure for figure in phases.rate_figures(data)}
    assert list(figures) == [name for name, *_ in PHASES]
    for name, amount in (("ior-easy-read", GIB), ("mdtest-easy-stat", 1e3)):
        row = next(row for row in data.summary.rows if row.params["phase"] == name)
        values = [value["y"] for value in figures[name].spec["data"]["values"]]
        assert sum(values) / len(values) == pytest.approx(row.median / amount, rel=0.08)
    assert figures["ior-easy-write"].caption == "Time was up after 300 s, the last rank ended after 312 s."
    assert len(figures["ior-easy-write"].spec["layer"]) == 3
    assert len(figures["find"].spec["layer"]) == 1


def test_targets_share_a_figure(tmp_path: Path) -> None:
    both = load(write_result(tmp_path / "r", Course(targets=("a", "b"))))
    figures = phases.rate_figures(both)
    assert len(figures) == len(PHASES)
    assert {value["who"] for value in figures[0].spec["data"]["values"]} == {"a", "b"}
    assert figures[0].caption.startswith("a: time was up after 300 s")


def test_many_phases_share_the_points_of_the_page(data: ReportData, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(phases, "_ALL_POINTS", 240)
    assert all(len(figure.spec["data"]["values"]) <= 20 for figure in some(phases.rate_figures(data)))


def test_latency_of_all_phases_is_one_figure(data: ReportData) -> None:
    (figure,) = phases.latency_figures(data)
    values = figure.spec["data"]["values"]
    assert len(values) == 5 * len(PHASES)
    stat = {value["name"]: value["x"] for value in values if value["phase"] == "mdtest-easy-stat"}
    assert stat["p50"] < stat["p99"] < stat["max"]
    assert phases.latency_figures(ReportData(data.summary)) == []
