# SPDX-License-Identifier: Apache-2.0
"""A map for each test of a matrix: file size by record size, with the sizes of the caches drawn in."""

from collections.abc import Sequence
from typing import Final

from ullage.model.summary import Row
from ullage.report import verdicts
from ullage.report.charts.heatmap import LOG_FROM_RATIO, cell_layers, shade_position
from ullage.report.contents import Chart, Figure
from ullage.report.data import ReportData
from ullage.report.quantity import format_compact, format_row
from ullage.report.vega import INK, Spec, ordinal, tooltip
from ullage.report.verdicts import classify
from ullage.report.view import best_of
from ullage.suites.matrix.findings import shape_of
from ullage.suites.matrix.levels import Level, levels_in
from ullage.suites.matrix.tests import LABELS
from ullage.units import format_bytes

SUITE: Final = "matrix"
_MOST_WITH_TEXT: Final = 14
_WIDTH: Final = 420
# Up to so many records a map fits beside another one.
_MOST_NARROW: Final = 9
_TOOLTIP: Final = tooltip(("what", "cell"), ("text", "median"), ("verdict", "really measured"), ("flags", "flags"))


def build(data: ReportData) -> list[Figure]:
    """A figure for every test of every target that has more than one cell, in the order of IOzone's tests."""
    rows = data.rows_of(SUITE)
    targets = list(dict.fromkeys(row.target for row in rows))
    levels = levels_in(data.summary.system)
    maps = {(target, label): of_test(rows, target, label) for target in targets for label in LABELS}
    several = len(targets) > 1
    return [
        figure(f"{target} · {label}" if several else label, found, levels)
        for (target, label), found in maps.items()
        if len(found) > 1
    ]


def of_test(rows: Sequence[Row], target: str, label: str) -> list[Row]:
    """Of the metric that comes first."""
    found = [row for row in rows if row.target == target and row.params.get("test") == label]
    return [row for row in found if row.metric == found[0].metric]


def figure(title: str, rows: Sequence[Row], levels: Sequence[Level]) -> Figure:
    """The map of one test. Only ``levels`` that some sizes lie below and others above are drawn."""
    files = sorted({shape_of(row)[0] for row in rows})
    records = sorted({shape_of(row)[1] for row in rows})
    drawn = [level for level in levels if crosses(level, files) or crosses(level, records)]
    lines = [level.text for level in drawn]
    words = [
        f"Median in {rows[0].unit} with its prefix. The framed cell is the best.",
        f"Lines: {', '.join(lines)}." if lines else "",
        verdicts.caption(rows),
    ]
    spec = _spec(rows, files, records, levels)
    return Figure(title, " ".join(filter(None, words)), spec, wide=len(records) > _MOST_NARROW)


def crosses(level: Level, sizes: Sequence[int]) -> bool:
    """Whether some of ``sizes`` fit into it and others do not."""
    return min(sizes) <= level.size_bytes < max(sizes)


def _spec(rows: Sequence[Row], files: Sequence[int], records: Sequence[int], levels: Sequence[Level]) -> Spec:
    columns, lines = [format_bytes(size) for size in records], [format_bytes(size) for size in files]
    bare = {"domain": False, "ticks": False}
    x = ordinal("column", columns, "record", axis={"labelAngle": 0, "orient": "bottom", **bare})
    y = ordinal("line", lines, "file", axis=bare)
    with_text = len(columns) <= _MOST_WITH_TEXT and len(lines) <= 2 * _MOST_WITH_TEXT
    step = min(max(_WIDTH // len(columns), 46 if with_text else 12), 84)
    medians = [row.median for row in rows if row.median > 0]
    wide = bool(medians) and max(medians) / min(medians) > LOG_FROM_RATIO
    best = best_of(rows)
    values = [_cell(row, shade_position(row.median, medians, logarithmic=wide), is_best=row is best) for row in rows]
    layers = cell_layers({"x": x, "y": y}, _TOOLTIP, step if with_text else None)
    for level in levels:
        if crosses(level, files):
            layers += _across(level, next(size for size in files if size > level.size_bytes), y)
        if crosses(level, records):
            layers += _down(level, next(size for size in records if size > level.size_bytes), x)
    size = {"width": {"step": step}, "height": {"step": 24 if with_text else 14}}
    return {**size, "data": {"values": values}, "layer": layers}


def _cell(row: Row, position: float, *, is_best: bool) -> Spec:
    file, record = shape_of(row)
    measured = classify(row)
    return {
        "column": format_bytes(record),
        "line": format_bytes(file),
        "label": format_compact(row.median, row.unit),
        "position": round(position, 3),
        "best": is_best,
        "hollow": not measured.filled,
        "measured": measured.label,
        "what": f"file {format_bytes(file)}, record {format_bytes(record)}",
        "text": format_row(row),
        "verdict": row.verdict,
        "flags": ", ".join(row.flags),
    }


def _across(level: Level, first_above: int, y: Spec) -> list[Spec]:
    """A line over the first file that does not fit."""
    place = {"y": {**y, "bandPosition": 0}}
    span = {"x": {"value": 0}, "x2": {"value": "width"}}
    text = {"align": "left", "baseline": "middle", "dx": 4}
    return _line(level, {"line": format_bytes(first_above)}, place, span, {"x": {"value": "width"}}, text)


def _down(level: Level, first_above: int, x: Spec) -> list[Spec]:
    """A line before the first record that does not fit."""
    place = {"x": {**x, "bandPosition": 0}}
    span = {"y": {"value": 0}, "y2": {"value": "height"}}
    text = {"align": "center", "baseline": "bottom", "dy": -3}
    return _line(level, {"column": format_bytes(first_above)}, place, span, {"y": {"value": 0}}, text)


def _line(level: Level, datum: Spec, place: Spec, span: Spec, end: Spec, text: Spec) -> list[Spec]:
    values = {"values": [datum]}
    rule = {"type": "rule", "color": INK, "strokeWidth": 1.4, "strokeDash": [5, 3]}
    words = {"type": "text", "text": level.name, "color": INK, "fontSize": 10.5, **text}
    return [
        {"data": values, "mark": rule, "encoding": {**place, **span}},
        {"data": values, "mark": words, "encoding": {**place, **end}},
    ]


CHART: Final = Chart(
    name="matrix_heatmap",
    title="File size by record size",
    doc="A map for each of IOzone's tests; darker is more, each map in shades of its own. Dashed lines are the sizes "
    "of caches: files below a line, or records right of one, do not fit. A mark beside a number says that it was not "
    "measured as asked.",
    order=22,
    build=build,
)
