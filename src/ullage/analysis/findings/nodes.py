# SPDX-License-Identifier: Apache-2.0
"""Nodes that are worse than the others or were not measured, and ranks that are the last so often that it is a sign."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from ullage.analysis.findings.phrasing import finding, noun
from ullage.analysis.statistics.intervals import binomial_tail
from ullage.analysis.statistics.outlying import FEWEST_NODES, MANY_NODES
from ullage.model.acceptance import Judged
from ullage.model.nodes import NodeCell, NodeNumber, Nodes, OneNode
from ullage.model.record import PhaseRecord
from ullage.model.summary import Finding, Row
from ullage.quantity import format_param, listing, param_label, plural, show, times

_MOST_NAMED: Final = 8
SLOW_NODE: Final = "slow-node"
LOST_NODE: Final = "lost-node"
EQUAL_NODES: Final = "equal-nodes"
OTHER_WORK: Final = "other work ran"


def findings_on_nodes(nodes: Nodes, rows: Sequence[Row]) -> list[Finding]:
    """Return a finding for each node that is worse, the clearest first, then those on nodes without numbers."""
    named = [(index, found) for index in range(len(nodes.nodes)) if (found := _named_for(nodes, index))]
    named.sort(key=lambda one: -max(_worse(cell) for _, cell in one[1]))
    told = [_slow(nodes, nodes.nodes[index], found, rows) for index, found in named[:_MOST_NAMED]]
    if len(named) > _MOST_NAMED:
        told.append(_more([nodes.nodes[index].name for index, _ in named[_MOST_NAMED:]]))
    return [*told, *([] if named else _none_named(nodes)), *_busy(nodes), *_unknown(nodes), *_lost(nodes)]


def name_of(row: Row) -> str:
    """Name a number of a node: its suite, metric and setting, as in ``memory bandwidth, threads 2``."""
    access = row.access
    target = "" if row.target in ("cpu", "memory", "mpi") else row.target
    what = " ".join(word for word in (target, noun(access) if access else "", param_label(row.metric)) if word)
    told = [
        f"{param_label(key)} {format_param(key, value)}"
        for key, value in row.params.items()
        if key not in ("access", "backend", "nodes", "ranks_per_node") and not (key == "ranks" and value == 1)
    ]
    return ", ".join([what, *told])


def _worse(cell: NodeCell) -> float:
    return cell.worse or 1.0


def _named_for(nodes: Nodes, index: int) -> list[tuple[NodeNumber, NodeCell]]:
    """Return the numbers for which a node is named, the worst first."""
    found = [(number, cell) for number in nodes.numbers if (cell := number.cells[index]) is not None and cell.named]
    return sorted(found, key=lambda one: -_worse(one[1]))


def _slow(nodes: Nodes, node: OneNode, found: Sequence[tuple[NodeNumber, NodeCell]], rows: Sequence[Row]) -> Finding:
    number, cell = found[0]
    row = rows[number.row]
    tested = sum(one.tested for one in nodes.numbers)
    factor = times(_worse(cell))
    text = (
        f"{node.name} is worse than the other nodes in {len(found)} of {plural(tested, 'number')}. "
        f"The largest difference is {factor}, in {name_of(row)}: {show(cell.median, row.unit)}. "
        f"The median of all nodes is {show(row.median, row.unit)}. "
    )
    if cell.grade == "C":
        text += f"Other programs ran on {node.name} at that time (grade C). "
    text += f"Measure {node.name} again, and keep jobs off it until it is repaired."
    return finding(
        SLOW_NODE,
        f"{node.name} is up to {factor} worse than the other nodes",
        text,
        "warning",
        node=node.name,
        numbers=len(found),
        tested=tested,
        worse=[_worse(one) for _, one in found],
        metric=[rows[one.row].metric for one, _ in found],
    )


def _more(names: Sequence[str]) -> Finding:
    title = f"{plural(len(names), 'more node')} are worse than the others"
    text = f"{plural(len(names), 'more node')} are worse than the others: {listing(names)}. The table of nodes has all."
    return finding(SLOW_NODE, title, text, "warning", nodes=names)


def _none_named(nodes: Nodes) -> list[Finding]:
    measured = len(nodes.nodes) - len(nodes.named("not measured"))
    if measured == 0:
        return []
    if measured < FEWEST_NODES:
        title = (
            f"{plural(measured, 'node')} are too few to name one" if measured != 1 else "1 node is too few to name one"
        )
        text = f"{title}. Measure at least {FEWEST_NODES} nodes to have them compared."
        return [finding(EQUAL_NODES, title, text, measured=measured)]
    if _all_disturbed(nodes):
        title = f"Whether one of {measured} nodes is worse than the others cannot be told"
        text = f"{title}: other programs disturbed all their numbers (grade C). Measure again when the nodes are idle."
        return [finding(EQUAL_NODES, title, text, "warning", measured=measured)]
    title = f"None of {measured} nodes is worse than the others"
    text = f"{title} by more than {times(nodes.margin)} and by more than the noise."
    if measured < MANY_NODES:
        text += f" With {MANY_NODES} nodes or more, smaller differences can be told."
    return [finding(EQUAL_NODES, title, text, measured=measured, margin=nodes.margin)]


def _all_disturbed(nodes: Nodes) -> bool:
    cells = [cell for number in nodes.numbers if number.tested for cell in number.cells if cell is not None]
    return bool(cells) and all(cell.grade == "C" for cell in cells)


def _busy(nodes: Nodes) -> list[Finding]:
    """Return a finding for each of the first nodes on which others worked, which may be all that is wrong with them."""
    busy = [node for node in nodes.nodes if OTHER_WORK in node.reason][:_MOST_NAMED]
    return [
        finding(
            "busy-node",
            f"{OTHER_WORK} on {node.name}".capitalize().replace(node.name.capitalize(), node.name),
            f"{node.name} is suspect: {node.reason}. Look for processes that a job has left, and measure it again.",
            "warning",
            node=node.name,
        )
        for node in busy
    ]


def _unknown(nodes: Nodes) -> list[Finding]:
    unknown = [node for node in nodes.nodes if node.state == "unknown"]
    if not unknown:
        return []
    names = [node.name for node in unknown]
    title = f"{plural(len(names), 'node')} {'has' if len(names) == 1 else 'have'} not shown to be good"
    text = f"{title}: {listing(names)}. {unknown[0].name}: {unknown[0].reason}."
    return [finding("unknown-nodes", title, text, "advice", nodes=names)]


def _lost(nodes: Nodes) -> list[Finding]:
    lost = [node for node in nodes.nodes if node.state == "not measured"]
    if not lost:
        return []
    names = [node.name for node in lost]
    was = "was" if len(lost) == 1 else "were"
    title = f"{plural(len(lost), 'node')} {was} not measured"
    said = [f"{node.name}: {node.reason.rstrip('.')}" for node in lost[:_MOST_NAMED]]
    text = (
        f"{plural(len(lost), 'node')} {was} not measured ({'; '.join(said)}). `ullage resume` measures what is missing."
    )
    return [finding(LOST_NODE, title, text, "warning", nodes=names)]


NOTABLE_SPREAD: Final = 1.1
"""Below this ratio of the slowest to the fastest rank, the slowest is chance."""
_FEWEST_PHASES: Final = 3
# The chance that a rank is named although all are equal. It is low, as a report's other sentences may be wrong too.
_CHANCE: Final = 0.01


@dataclass(frozen=True)
class LastRank:
    """A rank that was the slowest in ``phases`` of ``unequal`` phases."""

    rank: int
    node: str
    phases: int
    unequal: int


def spread_of(phase: PhaseRecord) -> float:
    """Return the time of the slowest rank over that of the fastest; 1 where it is not known."""
    if phase.by_rank is None or not phase.by_rank.slowest or phase.by_rank.fastest.elapsed_ns <= 0:
        return 1.0
    return phase.by_rank.slowest[0].elapsed_ns / phase.by_rank.fastest.elapsed_ns


def often_last(phases: Iterable[PhaseRecord]) -> list[LastRank]:
    """Return the ranks that are named; ``phases`` are those that nobody disturbed.

    One of equal ranks is the last of a phase with the chance 1 / ranks. The chance that any of them is so often the
    last (binomial, times the ranks: Bonferroni) is at most ``_CHANCE``.
    """
    unequal = [phase for phase in phases if phase.ranks > 1 and spread_of(phase) >= NOTABLE_SPREAD]
    slowest = [phase.by_rank.slowest[0] for phase in unequal if phase.by_rank is not None]
    # The fewest ranks of a phase make it most likely that one of them is the last.
    ranks, count = min((phase.ranks for phase in unequal), default=1), len(unequal)
    most = max((phase.ranks for phase in unequal), default=1)
    return [
        LastRank(rank, node, times, count)
        for (rank, node), times in Counter((one.rank, one.node) for one in slowest).most_common()
        if times >= _FEWEST_PHASES and most * binomial_tail(count, times, 1 / ranks) <= _CHANCE
    ]


_MOST_NODES: Final = 8


def findings_on_floors(judged: Sequence[Judged]) -> list[Finding]:
    """Return one finding on all floors; none where nothing was required."""
    if not judged:
        return []
    counts = Counter(one.verdict for one in judged)
    failed, unknown = counts["fail"], counts["cannot tell"]
    nodes = listing(sorted({one.node for one in judged if one.verdict == "fail" and one.node}), _MOST_NODES)
    where = f" on {nodes}" if nodes else ""
    if failed:
        title = f"{failed} of {plural(len(judged), 'required number')} fail{'s' if failed == 1 else ''}{where}"
    elif unknown:
        title = f"{unknown} of {plural(len(judged), 'required number')} cannot be told"
    else:
        title = f"All {plural(len(judged), 'required number')} pass"
    also = f" {unknown} cannot be told." if failed and unknown else ""
    advice = " Repeat more often, on idle nodes." if unknown else ""
    severity = "warning" if failed else "advice" if unknown else "info"
    text = f"{title}.{also}{advice}"
    passed = counts["pass"]
    return [finding("required", title, text, severity, passed=passed, failed=failed, cannot_tell=unknown)]
