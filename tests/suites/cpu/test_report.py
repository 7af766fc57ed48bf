# SPDX-License-Identifier: Apache-2.0
"""Tables and charts of a cpu run: the seed's columns, libraries, every kernel, the roofline."""

import pytest

from support.flags import flags_of
from support.make_records import plain_row
from ullage.model.summary import Ceiling, Peer, Row, Summary
from ullage.report.contents import Content, Grid
from ullage.report.data import ReportData
from ullage.report.vega import to_svg, with_config
from ullage.suites.cpu import report as charts
from ullage.suites.cpu.tables import tables


def row(metric: str, median: float, case: str, share: float | None = None, **fields: object) -> Row:
    unit = {"compute_rate": "op/s", "clock": "Hz", "memory_bandwidth": "B/s"}.get(metric, "x")
    ceiling = None if share is None else Ceiling(value=median / share, kind="detected", source="cores x clock")
    own = {"metric": metric, "unit": unit, "target": "cpu", "case": case, "ceiling": ceiling, "share": share}
    return plain_row([median] * 6, **{**own, "verdict": "none", "suite": "cpu", **fields})


def kernel(name: str, threads: int, rate: float, share: float = 0.98, **fields: object) -> list[Row]:
    isa, type_, operation = name.split("/")
    params = {"isa": isa, "type": type_, "operation": operation, "threads": threads}
    case = f"{name}-{threads}"
    rate_row = row("compute_rate", rate, case, share, params=params, **fields)
    return [rate_row, row("clock", 3.7e9, case, params=params)]


def work(operation: str, threads: int, rate: float, library: str = "ours", **fields: object) -> Row:
    params = {"operation": operation, "type": "fp64", "threads": threads, "n": 4032, "library": library}
    case = f"{operation}-{library}-{threads}"
    return row("compute_rate", rate, case, 0.9, params={**params, "core": "chosen"}, **fields)


ROWS = [
    *kernel("avx512/fp64/fma", 1, 59e9),
    *kernel("avx512/fp64/fma", 2, 118e9),
    *kernel("scalar/fp64/fma", 2, 14e9),
    *kernel("avx512vnni/int8/dot", 2, 940e9),
    *kernel("avx2/int8/add", 2, 400e9),
    work("solve", 2, 90e9, peer=Peer(tool="hpcc", version="1.5.0", median=88e9)),
    work("gemm", 2, 100e9),
    row(
        "clock_ratio",
        0.93,
        "",
        params={"isa": "avx512", "type": "fp64", "operation": "fma", "threads": 2, "over": "scalar/fp64/fma"},
    ),
]


def data(rows: list[Row]) -> ReportData:
    return ReportData(Summary(suite="node", run_id="r", created="now", rows=rows))


def content(rows: list[Row]) -> Content:
    found = tables(data(rows))
    assert found is not None
    return found


def texts(grid: Grid) -> list[dict[str, str]]:
    heads = [column.heading for column in grid.columns]
    return [dict(zip(heads, [cell.text for cell in cells], strict=True)) for cells in grid.rows]


def test_other_suites_have_no_such_tables() -> None:
    assert tables(data([row("memory_bandwidth", 1e9, "m", params={"threads": 1}, suite="memory")])) is None


def test_an_invalid_kernel_is_not_the_best() -> None:
    rows = [*ROWS, *kernel("avx2/fp64/fma", 2, 999e9, flags=flags_of("INVALID:above-ceiling"))]
    assert texts(content(rows).grids[0])[2]["kernel"] == "avx512 fp64 fma"
    assert any(line["mind"] == "INVALID:above-ceiling" for line in texts(content(rows).grids[3]))


def test_notes_name_the_peer_or_say_that_there_is_none() -> None:
    assert any("hpcc 1.5.0" in note for note in content(ROWS).notes)
    without = [one.model_copy(update={"peer": None}) for one in ROWS]
    assert "No other tool was run for comparison." in content(without).notes


def test_general_charts_leave_the_cores_out() -> None:
    assert data(ROWS).view.swept == []


STREAMS = [
    row("memory_bandwidth", rate, f"s-{level}-{name}", params=params, suite="memory", target="memory")
    for level, rate, name in (("L1", 400e9, "read"), ("DRAM", 30e9, "triad"), ("DRAM", 35e9, "read"))
    for params in [{"kernel": name, "threads": 2, "level": level}]
]


def test_roofs_are_the_best_measured_ones() -> None:
    lines = [one for one in charts.lines_of(data(ROWS)) if one.threads == 2]
    assert [(roof.name, roof.value) for roof in charts.peaks_of(lines)] == [
        ("fp64", 118e9),
        ("fp64 without vectors", 14e9),
    ]
    assert [(roof.name, roof.value) for roof in charts.slopes_of(STREAMS)] == [("L1", 400e9), ("DRAM", 35e9)]


def test_work_is_placed_by_the_least_bytes_it_moves() -> None:
    lines = [one for one in charts.lines_of(data(ROWS)) if one.threads == 2]
    gemm, solve = charts.works_of(lines)
    assert gemm.intensity == pytest.approx(2 * 4032**3 / (3 * 8 * 4032**2))
    assert solve.intensity == pytest.approx(2 / 3 * 4032**3 / (2 * 8 * 4032**2))
    assert (gemm.rate, solve.rate) == (100e9, 90e9)


@pytest.mark.parametrize("streams", [[], STREAMS])
def test_a_roofline_can_be_drawn_with_and_without_memory(streams: list[Row]) -> None:
    (figure,) = charts.roofline_figures(data([*ROWS, *streams]))
    assert ("This result has no bandwidths" in figure.caption) is (not streams)
    svg = to_svg(with_config(figure.spec, figure.title, figure.caption))
    assert "fp64: 118 Gop/s" in svg
    assert ("DRAM: 35.0 GB/s" in svg) is bool(streams)
    assert ("triad" in svg) is bool(streams)


def test_without_floating_point_there_is_no_roofline() -> None:
    assert charts.roofline_figures(data(kernel("avx2/int8/add", 2, 400e9))) == []
    assert charts.roofline_figures(data([])) == []


def test_bars_are_of_the_best_operation_with_the_most_threads() -> None:
    (figure,) = charts.rate_figures(data(ROWS))
    names = [value["name"] for value in figure.spec["data"]["values"]]
    assert names == ["avx512vnni int8 dot", "avx2 int8 add", "avx512 fp64 fma", "scalar fp64 fma"]
    assert "2 threads" in figure.caption
    assert "avx512 fp64 fma" in to_svg(with_config(figure.spec, figure.title, figure.caption))


def test_lines_over_threads_need_three_counts() -> None:
    bars, lines = charts.rate_figures(data([*ROWS, *kernel("avx512/fp64/fma", 4, 200e9)]))
    assert bars.title == "kernels"
    values = [value for value in lines.spec["data"]["values"] if value["name"] == "avx512 fp64 fma"]
    assert [(value["x"], value["text"]) for value in values] == [(1, "1.00 x"), (2, "2.00 x"), (4, "3.39 x")]
