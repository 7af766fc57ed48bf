# SPDX-License-Identifier: Apache-2.0
"""Judge rows by floors: pass, fail, or cannot tell, each with the confidence that the floor asks for.

The bound of a median is that of its distribution-free interval, on one side: at confidence c the interval at 2c - 1.
Nothing passes that is not shown: few repetitions, a disturbed row or a ceiling that nobody states are "cannot tell".
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from ullage.analysis.settings import sort_key
from ullage.analysis.statistics import fewest_samples, median_interval
from ullage.analysis.verdicts.grades import is_sound
from ullage.model.acceptance import MOST_OF, Floor, Judged, Judgement
from ullage.model.summary import Row

_NOT_MEASURED: Final = "no row of that kind was measured"


@dataclass(frozen=True, slots=True)
class NodeRows:
    """The rows of a node that was measured by itself; ``name`` is empty where there is only one."""

    name: str
    rows: Sequence[Row]


def judge(floors: Sequence[Floor], nodes: Sequence[NodeRows], suite: str) -> list[Judged]:
    """Judge all ``nodes`` by all ``floors``. ``suite``: of rows that name none."""
    return [
        judged
        for number, floor in enumerate(floors)
        for node in nodes
        for judged in _judge_node(number, floor, node, suite)
    ]


def _judge_node(number: int, floor: Floor, node: NodeRows, suite: str) -> list[Judged]:
    rows = _matching(floor, node.rows, suite)
    if not rows:
        none = _of_floor(number, floor, node.name)
        return [none.model_copy(update={"reason": _NOT_MEASURED})]
    return [_judge_row(number, floor, node.name, row, suite) for row in rows]


def _matching(floor: Floor, rows: Iterable[Row], suite: str) -> list[Row]:
    """Return the rows that a floor is for; ``most`` is the largest value among those that fit the rest of it."""
    fixed = {key: value for key, value in floor.where.items() if value != MOST_OF}
    found = [row for row in rows if row.metric == floor.metric and _fits(floor, fixed, row, suite)]
    for key in floor.where.keys() - fixed.keys():
        known = [row.params[key] for row in found if key in row.params]
        largest = max(known, key=sort_key, default=None)
        found = [row for row in found if key in row.params and row.params[key] == largest]
    return found


def _fits(floor: Floor, fixed: dict[str, bool | int | float | str], row: Row, suite: str) -> bool:
    is_place = floor.target in ("", row.target) and floor.suite in ("", row.suite or suite)
    return is_place and all(key in row.params and row.params[key] == value for key, value in fixed.items())


def _of_floor(number: int, floor: Floor, node: str) -> Judged:
    return Judged(
        floor=number,
        metric=floor.metric,
        suite=floor.suite,
        node=node,
        target=floor.target,
        params=floor.where,
        needed=floor.bound,
        confidence=floor.confidence,
        verdict="cannot tell",
    )


def _judge_row(number: int, floor: Floor, node: str, row: Row, suite: str) -> Judged:
    needed = _needed(floor, row)
    shown, verdict, reason = _verdict(floor, row, needed)
    return Judged(
        floor=number,
        metric=row.metric,
        unit=row.unit,
        better=row.better,
        suite=row.suite or suite,
        node=node,
        target=row.target,
        params=row.params,
        median=row.median,
        shown=shown,
        needed=needed,
        share=row.share,
        confidence=floor.confidence,
        verdict=verdict,
        reason=reason,
    )


def _needed(floor: Floor, row: Row) -> float | None:
    """Return what the row has to reach; None where it has no ceiling of which a share could be asked."""
    if floor.share is None:
        return floor.bound
    if row.ceiling is None or row.is_beside_best:
        return None
    return row.ceiling.value * floor.share if row.better == "more" else row.ceiling.value / floor.share


def _verdict(floor: Floor, row: Row, needed: float | None) -> tuple[float | None, Judgement, str]:
    """Return what the row shows, the verdict, and why it cannot be told where it cannot."""
    if needed is None:
        return None, "cannot tell", "the row has no ceiling; declare one with --machine or --ceiling"
    if not is_sound(row):
        why = "the row breaks a limit of physics" if row.is_invalid else "other work disturbed the row (grade C)"
        return None, "cannot tell", f"{why}; measure again on an idle node"
    level = 2 * floor.confidence - 1
    interval = median_interval(row.repetitions, level)
    least, most = (interval.low, interval.high) if row.better == "more" else (-interval.high, -interval.low)
    aim = needed if row.better == "more" else -needed
    if interval.below_level:
        count = len(row.repetitions)
        return None, "cannot tell", f"{count} repetitions show too little; {fewest_samples(level)} are needed"
    if least >= aim:
        return abs(least), "pass", ""
    if most < aim:
        return abs(most), "fail", ""
    return abs(least), "cannot tell", "the interval holds the bound; repeat more often"
