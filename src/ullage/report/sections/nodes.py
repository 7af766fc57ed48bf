# SPDX-License-Identifier: Apache-2.0
"""Every node by itself: which are worse than the others, in what, and the words that keep jobs off them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ullage.analysis.findings.nodes import name_of
from ullage.model.nodes import NodeCell, Nodes, OneNode
from ullage.model.summary import Row
from ullage.quantity import DASH, format_quantity, listing, percent, times
from ullage.report.contents import LEAD, Content, Section
from ullage.report.data import ReportData
from ullage.report.grids import Column, grid_of, time_text
from ullage.system.node_lists import words_against, words_for

_MOST_OUTLIERS: Final = 200


@dataclass(frozen=True)
class _Standing:
    """A node and what stands out of it: the number in which it is worst, of those that the test looks at."""

    node: OneNode
    worst: NodeCell | None
    what: str
    named: int


@dataclass(frozen=True)
class _Outlier:
    node: OneNode
    cell: NodeCell
    row: Row


def build(data: ReportData) -> Content | None:
    """Return the tables of nodes and of outliers; None for results of one node."""
    nodes = data.summary.nodes
    if nodes is None:
        return None
    rows = data.summary.rows
    grids = [
        *grid_of("Nodes", _NODES, [_standing(nodes, index, rows) for index in range(len(nodes.nodes))]),
        *grid_of("Numbers in which a node is worse than the others", _OUTLIERS, _outliers(nodes, rows)),
    ]
    good = nodes.named("good")
    suspect = nodes.named("suspect")
    rule = (
        f"A node is named if it is at least {times(nodes.margin)} worse, outside of what the other nodes are like, and "
        f"by more than its repetitions scatter. In {percent(nodes.level)} of reports on equal nodes none is named."
    )
    found = [rule]
    if words := words_for(nodes.batch_system, good):
        found.append(f"Run on the good nodes alone: {words}")
    if words := words_against(nodes.batch_system, suspect):
        found.append(f"Keep jobs off the suspect nodes: {words}")
    if unknown := nodes.not_told:
        found.append(f"Not known to be good: {listing(unknown)}.")
    starts = sorted(node.began for node in nodes.nodes if node.began)
    if len(starts) > 1:
        found.append(f"The first launches of the nodes began between {starts[0]} and {starts[-1]}.")
    return Content(notes=found, grids=grids)


def _standing(nodes: Nodes, index: int, rows: Sequence[Row]) -> _Standing:
    own = [(number, cell) for number in nodes.numbers if (cell := number.cells[index]) is not None and cell.worse]
    named = sum(cell.named for _, cell in own)
    number, worst = max(own, key=lambda one: (one[1].named, one[1].worse or 0), default=(None, None))
    return _Standing(nodes.nodes[index], worst, "" if number is None else name_of(rows[number.row]), named)


def _outliers(nodes: Nodes, rows: Sequence[Row]) -> list[_Outlier]:
    found = [
        _Outlier(node, cell, rows[number.row])
        for number in nodes.numbers
        for node, cell in zip(nodes.nodes, number.cells, strict=True)
        if cell is not None and cell.named
    ]
    return sorted(found, key=lambda one: -(one.cell.worse or 0))[:_MOST_OUTLIERS]


def _worse_text(cell: NodeCell | None) -> str:
    return DASH if cell is None or cell.worse is None else times(cell.worse)


_NODES: Final[Sequence[Column[_Standing]]] = (
    Column("node", lambda one: one.node.name, is_number=False),
    Column("state", lambda one: one.node.state, is_number=False),
    Column("named for", lambda one: str(one.named) if one.named else DASH),
    Column("worst against the others", lambda one: _worse_text(one.worst)),
    Column("in", lambda one: one.what, is_number=False),
    Column("took", lambda one: time_text(one.node.seconds)),
    Column("why", lambda one: one.node.reason, is_number=False),
)
_OUTLIERS: Final[Sequence[Column[_Outlier]]] = (
    Column("node", lambda one: one.node.name, is_number=False),
    Column("number", lambda one: name_of(one.row), is_number=False),
    Column("this node", lambda one: format_quantity(one.cell.median, one.row.unit)),
    Column("median of all nodes", lambda one: format_quantity(one.row.median, one.row.unit)),
    Column("worse than the others", lambda one: _worse_text(one.cell)),
    Column("grade", lambda one: one.cell.grade or DASH, is_number=False),
)
SECTION: Final = Section(
    name="nodes",
    title="Every node by itself",
    doc="All nodes were measured at the same time. Each row of this report is of the median node, and its range is "
    "over the nodes. The result of each node is in the folder parts.",
    order=LEAD,
    build=build,
)
