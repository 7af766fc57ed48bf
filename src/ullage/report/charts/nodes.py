# SPDX-License-Identifier: Apache-2.0
"""Nodes by numbers, as a map: how many times worse each node is than the others."""

import math
from collections.abc import Sequence
from typing import Final

from ullage.analysis.findings.nodes import name_of
from ullage.model.nodes import NodeCell, NodeNumber, Nodes
from ullage.model.summary import Row
from ullage.quantity import format_quantity, times
from ullage.report.contents import Chart, Figure
from ullage.report.data import ReportData
from ullage.report.plots import HeatMap
from ullage.report.points import omitted
from ullage.report.vega import Spec, tooltip

_MOST_NODES: Final = 64
_MOST_NUMBERS: Final = 30
_WIDTH: Final = 700
_MOST_WITH_TEXT: Final = 16
_MOST_UPRIGHT: Final = 8
# The darkest shade stands for this factor, and for all beyond.
_DARKEST: Final = 2.0
_CAPTION: Final = (
    "Each cell says how many times worse the node is than the middle of the other nodes. "
    "Framed cells are those for which the test names the node."
)
_TOOLTIP: Final = tooltip(
    ("node", "node"), ("line", "number"), ("value", "this node"), ("usual", "median"), ("label", "worse")
)


def build(data: ReportData) -> list[Figure]:
    """Return the map; nothing for results of one node, and without numbers that nodes can be compared in."""
    nodes = data.summary.nodes
    if nodes is None:
        return []
    tested = [number for number in nodes.numbers if number.tested]
    worst_numbers = sorted(tested, key=lambda number: max(map(_factor, number.cells)), reverse=True)[:_MOST_NUMBERS]
    numbers = sorted(worst_numbers, key=lambda number: number.row)
    worst_nodes = sorted(
        range(len(nodes.nodes)),
        key=lambda node: max([0.0, *(_factor(one.cells[node]) for one in tested)]),
        reverse=True,
    )
    lines = sorted(worst_nodes[:_MOST_NODES])
    if not numbers or not lines:
        return []
    left_out = [
        omitted(len(lines), len(nodes.nodes), "node", "those with the largest differences"),
        omitted(len(numbers), len(tested), "number", "those with the largest differences"),
    ]
    caption = " ".join([_CAPTION, *filter(None, left_out)])
    return [Figure(f"{len(nodes.nodes)} nodes", caption, _spec(nodes, lines, numbers, data.summary.rows), wide=True)]


def _factor(cell: NodeCell | None) -> float:
    return 0.0 if cell is None or cell.worse is None else cell.worse


def _spec(nodes: Nodes, shown: Sequence[int], numbers: Sequence[NodeNumber], rows: Sequence[Row]) -> Spec:
    # Its place keeps lines apart that are named alike.
    lines = [f"{place}  {name_of(rows[number.row])}" for place, number in enumerate(numbers, start=1)]
    found = HeatMap(
        [nodes.nodes[node].name for node in shown],
        lines,
        "node",
        "",
        width=_WIDTH,
        most_with_text=_MOST_WITH_TEXT,
        least_step=10,
        text_height=22,
        column_axis={"labelAngle": -45} if len(shown) > _MOST_UPRIGHT else None,
        line_axis={"labelLimit": 420},
    )
    cells = [
        _cell(nodes.nodes[node].name, line, cell, rows[number.row])
        for line, number in zip(lines, numbers, strict=True)
        for node in shown
        if (cell := number.cells[node]) is not None and cell.worse is not None
    ]
    return found.spec(cells, _TOOLTIP)


def _cell(node: str, line: str, cell: NodeCell, row: Row) -> Spec:
    worse = max(_factor(cell), 1e-6)
    return {
        "line": line,
        "column": node,
        "value": format_quantity(cell.median, row.unit),
        "usual": format_quantity(row.median, row.unit),
        "label": times(worse),
        "position": round(min(1.0, max(0.0, math.log(worse) / math.log(_DARKEST))), 4),
        "best": cell.named,
    }


CHARTS: Final = (
    Chart(
        name="nodes",
        title="Nodes by numbers",
        doc="Darker is worse. A dark column is a node that is worse in everything, a dark line a number in which "
        "the nodes differ.",
        order=5,
        build=build,
    ),
)
