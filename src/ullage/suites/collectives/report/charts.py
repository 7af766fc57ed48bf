# SPDX-License-Identifier: Apache-2.0
"""Time of collective operations over sizes and ranks, and how much of a nonblocking one hides behind computation."""

from collections.abc import Sequence
from typing import Final

from ullage.model.summary import Row
from ullage.quantity import format_row, plural
from ullage.report.contents import Chart, Figure
from ullage.report.data import ReportData
from ullage.report.plots import COLORS, bar_names, layered, line_layers, nominal, plot, quantity_axis, short, size_axis
from ullage.report.vega import Spec, ordered_colors, ordinal, rank_axis, time_axis, tooltip
from ullage.suites.collectives.report.tables import (
    EXCHANGES,
    TREES,
    blocking,
    in_order,
    operation_of,
    own_rows,
    rank_counts,
    ranks_of,
    size_of,
    with_most_ranks,
)
from ullage.units import format_bytes

_GROUPS: Final = (("barriers, broadcasts and reductions", TREES), ("gathering and exchanging", EXCHANGES))
_FEWEST: Final = 2
_TIME_TOOLTIP: Final = tooltip(
    ("name", "operation"), ("size", "message"), ("x", "ranks"), ("text", "time"), ("flags", "flags")
)
_SIZE_TOOLTIP: Final = tooltip(("name", "operation"), ("size", "message"), ("text", "time"), ("flags", "flags"))


def time_figures(data: ReportData) -> list[Figure]:
    """For each group of operations a figure over sizes and one over ranks, where there are two of them or more."""
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
    x = size_axis(sizes, "message")
    caption = f"{plural(ranks, 'rank')}. Flat: the time of a call; rising by the size: the time of its bytes."
    return [
        Figure(f"{title}, over the size", caption, _time_spec(rows, x, [size_of(row) for row in rows], _SIZE_TOOLTIP))
    ]


def _over_ranks(title: str, group: Sequence[Row]) -> list[Figure]:
    """A figure of each operation's smallest message, since small ones show the steps."""
    counts = rank_counts(group)
    if len(counts) < _FEWEST:
        return []
    smallest = min((size_of(row) for row in group if size_of(row)), default=0)
    rows = [row for row in group if size_of(row) in (0, smallest)]
    x = rank_axis(counts, "x", "ranks")
    words = f"Messages of {format_bytes(smallest)}. " if smallest else ""
    caption = f"{words}Twice as many ranks: a tree needs one step more, an exchange twice the messages."
    return [
        Figure(f"{title}, over ranks", caption, _time_spec(rows, x, [ranks_of(row) for row in rows], _TIME_TOOLTIP))
    ]


def _time_spec(rows: Sequence[Row], x: Spec, xs: Sequence[int], tips: list[Spec]) -> Spec:
    names = list(dict.fromkeys(map(operation_of, rows)))
    values = [_point(row, at) for row, at in zip(rows, xs, strict=True)]
    legend: Spec = {"title": None, "symbolType": "stroke", "symbolStrokeWidth": 3}
    encoding = {
        "x": x,
        "y": time_axis([value["y"] for value in values], "y", "time of a call"),
        "color": nominal("name", names, COLORS[: len(names)], legend),
    }
    return layered(410, 260, line_layers(encoding, tips, 34), values)


def _point(row: Row, at: int) -> Spec:
    return {
        "x": at,
        "y": short(row.median),
        "name": operation_of(row),
        "size": format_bytes(size_of(row)) if size_of(row) else "",
        "text": format_row(row),
        "flags": ", ".join(row.flag_codes),
    }


TIME_CHART: Final = Chart(
    name="collectives",
    title="Collective operations",
    doc="Blocking calls. Both axes are logarithmic: lines that are parallel differ by a factor that stays.",
    order=6,
    build=time_figures,
)


# -- how much of a nonblocking operation hides behind computation ------------------------------------------------------


_OVERLAP_TOOLTIP: Final = tooltip(("name", "operation"), ("tests", "MPI_Test"), ("text", "hidden"), ("flags", "flags"))


def overlap_figures(data: ReportData) -> list[Figure]:
    """One figure: the largest message of each operation, with the most ranks."""
    found = with_most_ranks(in_order(row for row in own_rows(data) if row.metric == "overlap"))
    largest: dict[str, int] = {}
    for row in found:
        largest[operation_of(row)] = max(largest.get(operation_of(row), 0), size_of(row))
    rows = [row for row in found if size_of(row) == largest[operation_of(row)]]
    if not rows:
        return []
    caption = f"{plural(ranks_of(rows[0]), 'rank')}, the largest message of each that was measured."
    return [Figure("hidden behind computation", caption, _overlap_spec(rows))]


def _overlap_spec(rows: Sequence[Row]) -> Spec:
    labels = list(dict.fromkeys(map(_label, rows)))
    tests = sorted({int(row.params.get("tests", 0)) for row in rows})
    words = [_tests(count) for count in tests]
    values = [
        {
            "name": _label(row),
            "tests": _tests(int(row.params.get("tests", 0))),
            "y": round(100 * row.median, 2),
            "text": f"{row.median:.0%}",
            "flags": ", ".join(row.flag_codes),
        }
        for row in rows
    ]
    scale = {"domain": words, "range": ordered_colors(len(words))}
    color = ordinal("tests", words, "calls of MPI_Test", scale=scale, legend={"orient": "top", "title": None})
    encoding = {
        "y": bar_names(labels, 220),
        "x": quantity_axis("y", "hidden (%)", scale={"domain": [0, 100]}),
        "color": color,
        "yOffset": {"field": "tests", "type": "ordinal", "sort": words},
        "tooltip": _OVERLAP_TOOLTIP,
    }
    return plot(410, {"step": 12}, values, {"type": "bar"}, encoding)


def _label(row: Row) -> str:
    return f"{operation_of(row)} {format_bytes(size_of(row))}" if size_of(row) else operation_of(row)


def _tests(count: int) -> str:
    return plural(count, "call") + " of MPI_Test" if count else "none in between"


OVERLAP_CHART: Final = Chart(
    name="collective_overlap",
    title="Nonblocking operations",
    doc="100 % would be free: computation and operation together take no longer than the computation alone.",
    order=6,
    build=overlap_figures,
)
