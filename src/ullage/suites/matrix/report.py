# SPDX-License-Identifier: Apache-2.0
"""What a report shows of a matrix: each of IOzone's tests with its best and its median cell, and its map."""

from collections import Counter
from collections.abc import Sequence
from itertools import product
from statistics import median
from typing import Final

from ullage.model.flags import TOO_SHORT
from ullage.model.summary import Row
from ullage.quantity import DASH, format_quantity, significant
from ullage.report import verdicts
from ullage.report.answers import AnswerRule
from ullage.report.contents import Content, Figure, Grid, peer_ratio
from ullage.report.data import ReportData
from ullage.report.declared import PartOfReport, row_map
from ullage.report.grids import peers_of, texts_grid
from ullage.report.plots import HeatMap
from ullage.report.vega import INK, Spec
from ullage.report.verdicts import headword
from ullage.report.view import best_of
from ullage.suites.matrix.findings import Level, levels_in, shape_of
from ullage.suites.matrix.suite import LABELS
from ullage.units import format_bytes

_SUITE: Final = "matrix"
_WORDS: Final = ("test", "at file / record", "really measured")
_HEADS: Final = ("test", "-i", "cells", "best", "at file / record", "median of cells", "least", "really measured")
_UNITS: Final = (
    "A number is bytes over the time of the transfers and of the fsync after them. Opening and "
    "closing the file is not part of it."
)
_NO_PEER: Final = (
    "No other tool was run for comparison. `ullage import FILE` shows the output of `iozone -a -R` in the same tables."
)


def tables(data: ReportData) -> Content | None:
    """Return a table for each target, or None for other suites and where nothing was measured."""
    rows = data.rows_of(_SUITE)
    if not rows:
        return None
    targets = list(dict.fromkeys(row.target for row in rows))
    several = len(targets) > 1
    grids = [
        grid
        for target in targets
        for grid in _grid(target if several else "", [row for row in rows if row.target == target])
    ]
    return Content(notes=_notes(rows), grids=grids)


def _grid(title: str, rows: Sequence[Row]) -> list[Grid]:
    by_test = {label: [row for row in rows if row.params.get("test") == label] for label in LABELS}
    heads = [*_HEADS, "median ratio to peer"] if any(row.peer for row in rows) else _HEADS
    lines = [_table_line(label, found)[: len(heads)] for label, found in by_test.items() if found]
    return texts_grid(title, heads, lines, _WORDS, whole=True)


def _table_line(label: str, rows: Sequence[Row]) -> list[str]:
    best, unit = best_of(rows), rows[0].unit
    verdicts = Counter(headword(row) for row in rows).most_common()
    ratios = [ratio for row in rows if (ratio := peer_ratio(row)) is not None]
    return [
        label,
        str(rows[0].params.get("iozone", DASH)),
        str(len(rows)),
        DASH if best is None else format_quantity(best.median, unit),
        DASH if best is None else " / ".join(format_bytes(size) for size in shape_of(best)),
        format_quantity(median(row.median for row in rows), unit),
        format_quantity(min(row.median for row in rows), unit),
        ", ".join(f"{count} {word}" for word, count in verdicts),
        significant(median(ratios)) if ratios else DASH,
    ]


def _notes(rows: Sequence[Row]) -> list[str]:
    short = sum(row.has_flag(TOO_SHORT) for row in rows)
    peers = peers_of(rows)
    is_imported = all(not row.case for row in rows)
    notes = [] if is_imported else [_UNITS]
    if not is_imported:
        notes.append(f"{', '.join(peers)} ran for comparison." if peers else _NO_PEER)
    if short:
        notes.append(
            f"{short} of {len(rows)} numbers come from phases below 10 ms, which are too short to be timed well."
        )
    return notes


_MOST_WITH_TEXT: Final = 14
_WIDTH: Final = 420
# A map of up to so many records fits beside another one.
_MOST_NARROW: Final = 9


def figures(data: ReportData) -> list[Figure]:
    """Draw a figure for every test of every target that has more than one cell, in the order of IOzone's tests."""
    rows = data.rows_of(_SUITE)
    targets = list(dict.fromkeys(row.target for row in rows))
    levels = levels_in(data.summary.system)
    maps = {(target, label): _of_test(rows, target, label) for target in targets for label in LABELS}
    several = len(targets) > 1
    return [
        figure(f"{target} · {label}" if several else label, found, levels)
        for (target, label), found in maps.items()
        if len(found) > 1
    ]


def _of_test(rows: Sequence[Row], target: str, label: str) -> list[Row]:
    found = [row for row in rows if row.target == target and row.params.get("test") == label]
    return [row for row in found if row.metric == found[0].metric]


def figure(title: str, rows: Sequence[Row], levels: Sequence[Level]) -> Figure:
    """Draw the map of one test with those ``levels`` that some sizes lie below and others above."""
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
    """Tell whether some of ``sizes`` fit into ``level`` and others do not."""
    return min(sizes) <= level.size_bytes < max(sizes)


def _spec(rows: Sequence[Row], files: Sequence[int], records: Sequence[int], levels: Sequence[Level]) -> Spec:
    found = HeatMap(
        *([format_bytes(size) for size in records], [format_bytes(size) for size in files], "record", "file"),
        width=_WIDTH,
        most_with_text=_MOST_WITH_TEXT,
        least_step=12,
        text_height=24,
    )
    place, lines = found.place(), list[Spec]()
    for level, (axis, sizes) in product(levels, (("y", files), ("x", records))):
        if crosses(level, sizes):
            lines += _level_line(level, axis, sizes, place[axis])
    return row_map(
        found,
        rows,
        lambda row: _sizes(row)[1],
        lambda row: _sizes(row)[0],
        lambda row: "file {}, record {}".format(*_sizes(row)),
        lines,
    )


def _sizes(row: Row) -> tuple[str, str]:
    file, record = shape_of(row)
    return format_bytes(file), format_bytes(record)


# By axis: the field of a map, the axis along the line, where the line ends and its name begins, and the name's look.
_LINES: Final[dict[str, tuple[str, str, str, str | int, Spec]]] = {
    "y": ("line", "x", "width", "width", {"align": "left", "baseline": "middle", "dx": 4}),
    "x": ("column", "y", "height", 0, {"align": "center", "baseline": "bottom", "dy": -3}),
}


def _level_line(level: Level, axis: str, sizes: Sequence[int], at: Spec) -> list[Spec]:
    """Draw a line before the first of the files (y) or records (x) that does not fit."""
    field, along, end, named_at, look = _LINES[axis]
    values = {"values": [{field: format_bytes(next(size for size in sizes if size > level.size_bytes))}]}
    place = {axis: {**at, "bandPosition": 0}}
    rule = {"type": "rule", "color": INK, "strokeWidth": 1.4, "strokeDash": [5, 3]}
    words = {"type": "text", "text": level.name, "color": INK, "fontSize": 10.5, **look}
    span = {along: {"value": 0}, f"{along}2": {"value": end}}
    return [
        {"data": values, "mark": rule, "encoding": {**place, **span}},
        {"data": values, "mark": words, "encoding": {**place, along: {"value": named_at}}},
    ]


_REPORT: Final = PartOfReport(_SUITE, "disk", 9)
SECTION: Final = _REPORT.section(
    "IOzone's tests",
    "Each test over all files and records. The maps show the rate of each cell. Beside each number "
    "stands what answered, the target or a cache.",
    tables,
)
CHART: Final = _REPORT.chart(
    "matrix_heatmap",
    "File size by record size",
    "Each of IOzone's tests has a map with its own shades, where darker is more. Dashed lines are "
    "the sizes of caches: files below a line, or records right of one, do not fit. A mark beside a "
    "number says that it was not measured as asked.",
    figures,
    order=22,
)


ANSWER: Final = AnswerRule(
    "matrix",
    "Which files and records are served from a cache, and which order costs most?",
    "cache-ends access-order reread",
    best={"access-order": "-share"},
)
