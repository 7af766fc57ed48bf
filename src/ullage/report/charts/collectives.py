# SPDX-License-Identifier: Apache-2.0
"""Time of collective operations over the size of their messages, and over ranks."""

from collections.abc import Sequence
from typing import Final

from ullage.model.summary import Row
from ullage.report.axes import size_axis
from ullage.report.collectives.rows import (
    EXCHANGES,
    TREES,
    blocking,
    operation_of,
    own_rows,
    rank_counts,
    ranks_of,
    size_of,
    with_most_ranks,
)
from ullage.report.contents import Chart, Figure
from ullage.report.data import ReportData
from ullage.report.quantity import format_row, plural
from ullage.report.vega import Spec, rank_axis, time_axis, tooltip
from ullage.units import format_bytes

COLORS: Final = ("#1f5f8b", "#d9742b", "#6b7a3a", "#7a4f9a", "#8c564b", "#2a9d8f")
_GROUPS: Final = (("barriers, broadcasts and reductions", TREES), ("gathering and exchanging", EXCHANGES))
_FEWEST: Final = 2
_TOOLTIP: Final = tooltip(
    ("name", "operation"), ("size", "message"), ("x", "ranks"), ("text", "time"), ("flags", "flags")
)
_SIZE_TOOLTIP: Final = tooltip(("name", "operation"), ("size", "message"), ("text", "time"), ("flags", "flags"))


def build(data: ReportData) -> list[Figure]:
    """Of each group of operations a figure over sizes and one over ranks, where there are two of them or more."""
    rows = [row for row in blocking(own_rows(data), "collective_latency") if row.median > 0]
    found: list[Figure] = []
    for title, operations in _GROUPS:
        group = [row for row in rows if operation_of(row) in operations]
        found += [*_over_sizes(title, group), *_over_ranks(title, group)]
    return found


def _over_sizes(title: str, group: Sequence[Row]) -> list[Figure]:
    rows = [row for row in with_most_ranks(group) if size_of(row)]
    sizes = sorted({size_of(row) for row in rows})
    if len(sizes) < _FEWEST:
        return []
    ranks = ranks_of(rows[0])
    x = {**size_axis(sizes), "title": "message"}
    caption = f"{plural(ranks, 'rank')}. Flat: the time of a call; rising by the size: the time of its bytes."
    return [Figure(f"{title}, over the size", caption, _spec(rows, x, [size_of(row) for row in rows], _SIZE_TOOLTIP))]


def _over_ranks(title: str, group: Sequence[Row]) -> list[Figure]:
    """Of each operation its smallest message, since small ones show the steps."""
    counts = rank_counts(group)
    if len(counts) < _FEWEST:
        return []
    smallest = min((size_of(row) for row in group if size_of(row)), default=0)
    rows = [row for row in group if size_of(row) in (0, smallest)]
    x = rank_axis(counts, "x", "ranks")
    words = f"Messages of {format_bytes(smallest)}. " if smallest else ""
    caption = f"{words}Twice as many ranks: a tree needs one step more, an exchange twice the messages."
    return [Figure(f"{title}, over ranks", caption, _spec(rows, x, [ranks_of(row) for row in rows], _TOOLTIP))]


def _spec(rows: Sequence[Row], x: Spec, xs: Sequence[int], tips: list[Spec]) -> Spec:
    names = list(dict.fromkeys(map(operation_of, rows)))
    values = [_point(row, at) for row, at in zip(rows, xs, strict=True)]
    color: Spec = {
        "field": "name",
        "type": "nominal",
        "scale": {"domain": names, "range": list(COLORS[: len(names)])},
        "legend": {"title": None, "symbolType": "stroke", "symbolStrokeWidth": 3},
    }
    y = time_axis([value["y"] for value in values], "y", "time of a call")
    encoding = {"x": x, "y": y, "color": color}
    layers: list[Spec] = [
        {"mark": {"type": "line", "strokeWidth": 2}, "encoding": encoding},
        {"mark": {"type": "point", "filled": True, "size": 34}, "encoding": {**encoding, "tooltip": tips}},
    ]
    return {"width": 410, "height": 260, "data": {"values": values}, "layer": layers}


def _point(row: Row, at: int) -> Spec:
    return {
        "x": at,
        "y": float(f"{row.median:.5g}"),
        "name": operation_of(row),
        "size": format_bytes(size_of(row)) if size_of(row) else "",
        "text": format_row(row),
        "flags": ", ".join(row.flags),
    }


CHART: Final = Chart(
    name="collectives",
    title="Collective operations",
    doc="Blocking calls. Both axes are logarithmic: lines that are parallel differ by a factor that stays.",
    order=6,
    build=build,
)
