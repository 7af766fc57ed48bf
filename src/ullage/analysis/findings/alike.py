# SPDX-License-Identifier: Apache-2.0
"""Rows that differ in one thing alone, so that what is faster is faster because of it."""

from collections.abc import Iterable

from ullage.analysis.contests import carries, compare_rows, spread_of
from ullage.analysis.findings.doubts import verdict_word
from ullage.analysis.findings.phrasing import gain_of
from ullage.analysis.statistics import level_of_each
from ullage.grouping import grouped
from ullage.model.summary import Gain, Row


def differing_in(rows: Iterable[Row], *names: str) -> list[list[Row]]:
    """Return groups of two rows or more that differ in the parameters ``names`` alone, the best first.

    All of a group have the same target, and the same verdict: a cache and the storage are not compared.
    """
    groups = grouped(
        ((row.target, verdict_word(row), *sorted((k, str(v)) for k, v in row.params.items() if k not in names)), row)
        for row in rows
    )
    return [sorted(some, key=_from_best) for some in groups.values() if len(some) > 1]


def best_of_alike(rows: Iterable[Row], level: float, *names: str) -> list[tuple[list[Row], Gain | None]]:
    """Return the groups of ``differing_in``, each with the gain of its best over the second; ``level``: of them all."""
    groups = differing_in(rows, *names)
    own, spread = (
        level_of_each(level, map(len, groups)),
        spread_of(row for some in groups for row in some if carries(row)),
    )
    return [(some, gain_of(compare_rows(some[0], some[1], own, None, spread))) for some in groups]


def _from_best(row: Row) -> float:
    return -row.median if row.better == "more" else row.median
