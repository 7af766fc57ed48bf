# SPDX-License-Identifier: Apache-2.0
"""The pictures of a memory run, and that Vega-Lite draws them."""

import json

import pytest

from suites.memory.test_tables import KIB, MIB, chase, kernel, row
from ullage.model.summary import Row, Summary
from ullage.report.contents import Chart, documents
from ullage.report.data import ReportData
from ullage.report.vega import to_svg
from ullage.suites.memory import report as charts
from ullage.suites.memory.tables import cache_lines

SYSTEM: dict[str, object] = {"cpu": {"caches": {"L1d": 32 * KIB, "L1i": 32 * KIB, "L2": MIB, "L3": 32 * MIB}}}
CHARTS = charts.CHARTS


def data(rows: list[Row], system: dict[str, object] | None = None) -> ReportData:
    return ReportData(
        Summary(suite="memory", run_id="r", created="now", rows=rows, system=SYSTEM if system is None else system)
    )


def curves() -> list[Row]:
    sizes = [4 * KIB << (2 * step) for step in range(8)]
    found: list[Row] = []
    for index, size in enumerate(sizes):
        found += kernel("read", 2e11 / (index + 1), size=size)
        found += kernel("copy", 1e11 / (index + 1), size=size, threads=2, stores="ordinary")
        found += kernel("copy", 3e11, size=size, threads=2, stores="non-temporal")
        found += [chase(size, 1e-9 * (index + 1)), chase(size, 2e-9 * (index + 1), "small")]
    found += [
        row(metric, value, access="loaded-latency", injection=kind, injectors=1, delay=delay)
        for kind in ("read", "write")
        for delay, rate, time in ((0, 9e9, 2e-7), (100, 1e9, 1.5e-7))
        for metric, value in (("access_time", time), ("injected_bandwidth", rate))
    ]
    return found


@pytest.mark.parametrize("chart", CHARTS, ids=lambda chart: chart.name)
def test_each_has_one_figure_that_can_be_drawn(chart: Chart) -> None:
    (figure,) = chart.build(data(curves()))
    assert figure.caption
    found = [document for name, document in documents(data(curves())) if name.startswith(chart.name)]
    assert len(found) == 1
    assert "<svg" in to_svg(found[0])


@pytest.mark.parametrize("chart", CHARTS, ids=lambda chart: chart.name)
def test_nothing_is_drawn_of_nothing(chart: Chart) -> None:
    assert chart.build(data([])) == []
    assert chart.build(ReportData(Summary(suite="disk", run_id="r", created="now", rows=curves()))) == []


def test_a_machine_that_states_no_caches_has_no_lines() -> None:
    assert cache_lines(data([], {})) == []
    (figure,) = charts.bandwidth_figures(data(curves(), {}))
    assert '"L1"' not in json.dumps(figure.spec)
    assert cache_lines(data([])) == [("L1", 32 * KIB), ("L2", MIB), ("L3", 32 * MIB)]


def test_a_single_set_is_no_curve() -> None:
    rows = [*kernel("read", 1e9), chase(4 * KIB, 1e-9)]
    assert charts.bandwidth_figures(data(rows)) == []
    assert charts.time_figures(data(rows)) == []
