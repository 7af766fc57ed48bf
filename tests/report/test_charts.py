# SPDX-License-Identifier: Apache-2.0
"""Charts: pure functions from a result to Vega-Lite specs that really compile."""

import json
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.data import some
from support.sample_result import Shape, make_rows, make_summary, write_result
from ullage.report.charts import maps, panels, repetitions
from ullage.report.contents import Figure, documents, load_charts
from ullage.report.data import ReportData, load
from ullage.report.vega import ordered_colors, to_png, to_svg

SHAPES = {
    "full": Shape(),
    "one rank": Shape(ranks=(2,)),
    "one block": Shape(blocks=(1048576,)),
    "one cell": Shape(ranks=(1,), blocks=(1048576,), accesses=("read",)),
    "one sample": Shape(single_sample=True),
    "one target": Shape(targets=("nvme",)),
}


def data_of(folder: Path, shape: Shape) -> ReportData:
    return load(write_result(folder / "result", shape))


def specs_within(node: object) -> Iterator[dict[str, Any]]:
    """Every object of a spec."""
    if isinstance(node, dict):
        yield node
        for value in node.values():
            yield from specs_within(value)
    elif isinstance(node, list):
        for value in node:
            yield from specs_within(value)


def marks(figure: Figure) -> set[str]:
    return {found["mark"]["type"] for found in specs_within(figure.spec) if isinstance(found.get("mark"), dict)}


def test_charts_are_found_and_described() -> None:
    found = load_charts()
    assert [chart.name for chart in found] == [
        "compute_rates",
        "roofline",
        "checkpoint",
        "flash_ownership",
        "loader",
        "memory_mountain",
        "overlap",
        "phase_bars",
        "pio_map",
        "pmem",
        "sar_kernels",
        "spio",
        "stepfile_timeline",
        "tile_picture",
        "access_time",
        "loaded_latency",
        "pio_picture",
        "b_eff",
        "b_eff_io",
        "b_eff_io_hints",
        "nodes",
        "rings",
        "collective_overlap",
        "collectives",
        "pair_matrix",
        "congestion",
        "network_latency",
        "network_rates",
        "lines",
        "tune_response",
        "tune_front",
        "heatmap",
        "matrix_heatmap",
        "comparison",
        "latency",
        "time_series",
        "phase_rates",
        "phase_latency",
    ]  # fmt: skip
    assert all(chart.doc.endswith(".") and chart.title for chart in found)


@pytest.mark.parametrize("name", SHAPES)
def test_every_figure_of_every_shape_is_drawn(name: str, tmp_path: Path) -> None:
    data = data_of(tmp_path, SHAPES[name])
    drawn = dict(documents(data))
    assert drawn
    for document in drawn.values():
        json.dumps(document, allow_nan=False)
        assert to_svg(document).startswith("<svg")


def test_a_picture_in_pixels(tmp_path: Path) -> None:
    picture = to_png(next(documents(data_of(tmp_path, Shape())))[1], scale=1)
    width, height = struct.unpack(">II", picture[16:24])
    assert picture.startswith(b"\x89PNG")
    assert (width > 400, height > 250) == (True, True)


def test_lines_over_ranks_have_a_band_and_a_ceiling(tmp_path: Path) -> None:
    figures = panels.line_charts(data_of(tmp_path, Shape(repetitions=7)))
    assert [figure.title for figure in figures] == ["nvme · write", "nvme · read", "scratch · write", "scratch · read"]
    assert {"line", "area", "point"} <= marks(figures[1])
    assert "Ceiling 3.50 GB/s (detected: PCIe 3.0 x4)" in figures[1].caption
    assert "95 % interval of the median" in figures[1].caption
    assert "Ceiling" not in figures[3].caption


def test_values_in_the_picture_are_those_of_the_rows(tmp_path: Path) -> None:
    data = data_of(tmp_path, Shape())
    figure = panels.line_charts(data)[1]
    row = next(row for row in data.view.panels[1].rows if row.params["ranks"] == 4)
    point = next(p for p in figure.spec["data"]["values"] if p["x"] == 4 and p["series"] == "128K")
    assert point["y"] == pytest.approx(row.median / 1e9)
    assert point["low"] == pytest.approx(row.low / 1e9 if row.low else None)
    assert point["text"].startswith("2.")


def test_what_was_not_measured_as_asked_is_hollow_and_said(tmp_path: Path) -> None:
    figure = panels.line_charts(data_of(tmp_path, Shape()))[3]
    hollow = {
        (point["series"], point["verdict"].split(";")[0]) for point in figure.spec["data"]["values"] if point["hollow"]
    }
    assert hollow == {("128K", "warm"), ("512K", "mixed 37 %")}
    assert "Hollow diamonds: mixed; squares: warm." in figure.caption


def test_a_ceiling_far_above_is_named_and_not_drawn(tmp_path: Path) -> None:
    data = data_of(tmp_path, Shape())
    high = [row.ceiling.model_copy(update={"value": 1e12}) if row.ceiling else None for row in data.summary.rows]
    rows = [row.model_copy(update={"ceiling": ceiling}) for row, ceiling in zip(data.summary.rows, high, strict=True)]
    figure = panels.line_charts(ReportData(data.summary.model_copy(update={"rows": rows})))[0]
    assert "above the drawn range" in figure.caption
    assert not any(found.get("strokeDash") for found in specs_within(figure.spec))


def test_one_rank_count_makes_bars_and_one_sample_no_whiskers(tmp_path: Path) -> None:
    figure = panels.line_charts(data_of(tmp_path, Shape(ranks=(2,))))[0]
    assert {"bar", "rule", "point"} <= marks(figure)
    assert "line" not in marks(figure)
    single = panels.line_charts(ReportData(make_summary(Shape(ranks=(2,), single_sample=True))))[0]
    assert "rule" not in marks(single)
    assert "no interval" in single.caption


def test_many_lines_are_cut_and_it_is_said() -> None:
    shape = Shape(blocks=tuple(131072 * index for index in range(1, 31)), ranks=tuple(range(1, 41)))
    figure = panels.line_charts(ReportData(make_summary(shape)))[0]
    assert "Shows 10 of 30 blocks" in figure.caption
    assert "Shows 20 of 40 rank counts" in figure.caption
    assert len(figure.spec["data"]["values"]) == 200


def test_the_best_cell_of_the_map_is_framed(tmp_path: Path) -> None:
    data = data_of(tmp_path, Shape())
    figure = panels.heat_maps(data)[0]
    best = [cell for cell in figure.spec["data"]["values"] if cell["best"]]
    assert len(best) == 1
    assert best[0]["y"] == max(
        cell["y"] for cell in figure.spec["data"]["values"] if cell["text"].split()[1] == best[0]["text"].split()[1]
    )
    assert len(figure.spec["data"]["values"]) == 16


def test_a_map_needs_two_dimensions() -> None:
    assert panels.heat_maps(ReportData(make_summary(Shape(ranks=(1,))))) == []
    assert panels.heat_maps(ReportData(make_summary(Shape(blocks=(1048576,))))) == []


def test_targets_side_by_side_the_winner_first(tmp_path: Path) -> None:
    figure = maps.build(data_of(tmp_path, Shape(repetitions=7)))[0]
    assert figure.title == "nvme against scratch · write"
    assert figure.caption.startswith("The same ranks and block in both: nvme is faster in ")
    cells = {(cell["column"], cell["series"]): cell for cell in figure.spec["data"]["values"]}
    assert cells["8", "128K"]["outcome"] == "faster"
    assert cells["8", "128K"]["position"] > 0
    assert cells["1", "8M"]["outcome"] == "slower"
    assert cells["1", "8M"]["position"] < 0


def test_the_winner_is_the_one_with_less_where_less_is_better() -> None:
    summary = make_summary()
    rows = [row.model_copy(update={"better": "less", "metric": "time", "unit": "s"}) for row in summary.rows]
    figure = maps.build(ReportData(summary.model_copy(update={"rows": rows})))[0]
    assert figure.title == "scratch against nvme · write"


def test_single_samples_are_judged_by_their_neighbours_or_not_at_all() -> None:
    wide = maps.build(ReportData(make_summary(Shape(single_sample=True))))[0]
    assert "faster" in {cell["outcome"] for cell in wide.spec["data"]["values"]}
    few = Shape(single_sample=True, ranks=(1, 2), blocks=(131072, 524288))
    small = maps.build(ReportData(make_summary(few)))[0]
    assert {cell["outcome"] for cell in small.spec["data"]["values"]} == {"cannot tell"}
    assert all(cell["label"].endswith("?") for cell in small.spec["data"]["values"])


def test_one_target_has_nothing_beside_it() -> None:
    assert maps.build(ReportData(make_summary(Shape(targets=("nvme",))))) == []


def test_latency_is_that_of_the_best_rank_count(tmp_path: Path) -> None:
    figure = repetitions.latencies(data_of(tmp_path, Shape()))[0]
    assert figure.caption == "At 8 ranks, over all repetitions."
    values = figure.spec["data"]["values"]
    assert len(values) == 4 * 5
    assert {value["count"] for value in values} == {"1,604"}
    one = {value["name"]: value["y"] for value in values if value["series"] == "128K"}
    assert one["p50"] < one["p95"] < one["p99"] <= one["p99.9"] <= one["max"]


def test_latency_says_what_was_warm(tmp_path: Path) -> None:
    figure = repetitions.latencies(data_of(tmp_path, Shape()))[3]
    assert "Not measured as asked: 128K warm, 512K mixed 37 %." in figure.caption


def test_without_records_there_is_neither_latency_nor_time_series() -> None:
    data = ReportData(make_summary())
    assert repetitions.latencies(data) == []
    assert repetitions.time_series(data) == []


def test_rates_add_up_to_the_bytes_moved(tmp_path: Path) -> None:
    data = data_of(tmp_path, Shape())
    phase = data.phases_of(data.summary.rows[0])[0]
    points = repetitions.rates(phase)
    assert len(points) == 40
    width = points[1][0] - points[0][0]
    assert phase.series is not None
    assert sum(rate for _, rate in points) * width == pytest.approx(sum(phase.series.bytes), rel=0.01)


def test_a_long_series_is_joined_and_a_scrap_left_out(tmp_path: Path) -> None:
    data = data_of(tmp_path, Shape())
    phase = data.phases_of(data.summary.rows[0])[0]
    assert phase.series is not None
    many = phase.series.model_copy(update={"interval_ns": 1000, "bytes": [500] * 1001, "operations": [1] * 1001})
    points = repetitions.rates(phase.model_copy(update={"series": many, "elapsed_ns": 1_000_100}))
    assert len(points) == 200
    assert {round(rate) for _, rate in points} == {500_000_000}


def test_the_cell_with_the_widest_spread_is_shown(tmp_path: Path) -> None:
    figure = repetitions.time_series(data_of(tmp_path, Shape()))[2]
    assert "Furthest apart: rank 7 on node017" in figure.caption
    names = {value["which"] for value in figure.spec["data"]["values"]}
    assert any(name.startswith("best: 1 rank, block 8M") for name in names)
    assert any(name.startswith("ranks furthest apart (1.5x): 8 ranks") for name in names)


def test_no_text_of_a_machine_gets_into_an_expression() -> None:
    evil = "x' || alert(1) || '"
    rows = [row.model_copy(update={"target": evil + row.target, "verdict": evil}) for row in make_rows(Shape())]
    data = ReportData(make_summary().model_copy(update={"rows": rows}))
    for _, document in some(documents(data)):
        for found in some(specs_within({**document, "data": None, "title": None})):
            for key in ("test", "filter", "labelExpr", "expr", "calculate", "signal"):
                assert "alert" not in str(found.get(key, ""))


def test_ordered_colours_get_lighter() -> None:
    def light(color: str) -> float:
        red, green, blue = bytes.fromhex(color[1:])
        return 0.299 * red + 0.587 * green + 0.114 * blue

    for count in (2, 5, 10):
        shades = [light(color) for color in ordered_colors(count)]
        assert shades == sorted(shades)
        assert len(set(shades)) == count


def test_rows_that_stand_twice_are_not_compared_and_break_nothing() -> None:
    summary = make_summary()
    twice = summary.model_copy(update={"rows": [*summary.rows, *summary.rows]})
    assert maps.build(ReportData(twice)) == []
    assert len(panels.line_charts(ReportData(twice))) == 4
