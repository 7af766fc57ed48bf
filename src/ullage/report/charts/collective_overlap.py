# SPDX-License-Identifier: Apache-2.0
"""How much of a nonblocking operation hides behind computation, with and without calls of MPI_Test."""

from collections.abc import Sequence
from typing import Final

from ullage.model.summary import Row
from ullage.report.collectives.rows import in_order, operation_of, own_rows, ranks_of, size_of, with_most_ranks
from ullage.report.contents import Chart, Figure
from ullage.report.data import ReportData
from ullage.report.quantity import plural
from ullage.report.vega import Spec, ordered_colors, ordinal, tooltip
from ullage.units import format_bytes

_TOOLTIP: Final = tooltip(("name", "operation"), ("tests", "MPI_Test"), ("text", "hidden"), ("flags", "flags"))


def build(data: ReportData) -> list[Figure]:
    """One figure: the largest message of each operation, with the most ranks."""
    found = with_most_ranks(in_order(row for row in own_rows(data) if row.metric == "overlap"))
    largest: dict[str, int] = {}
    for row in found:
        largest[operation_of(row)] = max(largest.get(operation_of(row), 0), size_of(row))
    rows = [row for row in found if size_of(row) == largest[operation_of(row)]]
    if not rows:
        return []
    caption = f"{plural(ranks_of(rows[0]), 'rank')}, the largest message of each that was measured."
    return [Figure("hidden behind computation", caption, _spec(rows))]


def _spec(rows: Sequence[Row]) -> Spec:
    labels = list(dict.fromkeys(map(_label, rows)))
    tests = sorted({int(row.params.get("tests", 0)) for row in rows})
    words = [_tests(count) for count in tests]
    values = [
        {
            "name": _label(row),
            "tests": _tests(int(row.params.get("tests", 0))),
            "y": round(100 * row.median, 2),
            "text": f"{row.median:.0%}",
            "flags": ", ".join(row.flags),
        }
        for row in rows
    ]
    y = ordinal("name", labels, "", axis={"grid": False, "ticks": False, "labelLimit": 220})
    x = {"field": "y", "type": "quantitative", "title": "hidden (%)", "scale": {"domain": [0, 100]}}
    scale = {"domain": words, "range": ordered_colors(len(words))}
    color = ordinal("tests", words, "calls of MPI_Test", scale=scale, legend={"orient": "top", "title": None})
    encoding = {
        "y": y,
        "x": x,
        "color": color,
        "yOffset": {"field": "tests", "type": "ordinal", "sort": words},
        "tooltip": _TOOLTIP,
    }
    return {
        "width": 410,
        "height": {"step": 12},
        "data": {"values": values},
        "mark": {"type": "bar"},
        "encoding": encoding,
    }


def _label(row: Row) -> str:
    return f"{operation_of(row)} {format_bytes(size_of(row))}" if size_of(row) else operation_of(row)


def _tests(count: int) -> str:
    return plural(count, "call") + " of MPI_Test" if count else "none in between"


CHART: Final = Chart(
    name="collective_overlap",
    title="Nonblocking operations",
    doc="100 % would be free: computation and operation together take no longer than the computation alone.",
    order=6,
    build=build,
)
