# SPDX-License-Identifier: Apache-2.0
"""Which message sizes moved b_eff from one run to another, by the rows of both. Pure."""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Final

from ullage.analysis.attribution import Attribution, Mover, moved_of_mean
from ullage.analysis.verdicts.grades import is_sound
from ullage.grouping import grouped, nested
from ullage.model.summary import Row
from ullage.quantity import format_param
from ullage.suites.b_eff.suite import B_EFF, MEGA, PATTERN, UNIT

_RINGS, _RANDOM = "ring-", "random-"
_SIZE: Final = "message_bytes"
_Table = Mapping[str, Mapping[str, float]]


def attributed(first: Sequence[Row], second: Sequence[Row], names: tuple[str, str]) -> list[Attribution]:
    """Divide the change of b_eff of the usual repetition among the message sizes.

    Runs with different sizes or patterns are compared by rings and random rings as wholes.
    """
    one, other = _table(first), _table(second)
    total, of_other = _total(first), _total(second)
    if not (one and other and total and of_other):
        return []
    if {name: [*sizes] for name, sizes in one.items()} != {name: [*sizes] for name, sizes in other.items()}:
        one, other = _groups(one), _groups(other)
    moved: defaultdict[str, float] = defaultdict(float)
    for pattern, values in one.items():
        rings = sum(name.startswith(_RINGS) == pattern.startswith(_RINGS) for name in one)
        for size, share in moved_of_mean(values, other[pattern]).items():
            moved[size] += share / (2 * rings)
    unsure = not all(is_sound(row) for row in (*first, *second) if row.metric == PATTERN)
    movers = [Mover(size, UNIT, _at(one, size), _at(other, size), share, unsure) for size, share in moved.items()]
    return [Attribution("b_eff of one repetition", UNIT, *names, total / MEGA, of_other / MEGA, tuple(movers))]


def _total(rows: Sequence[Row]) -> float:
    found = [row.median for row in rows if row.metric == B_EFF and "method" not in row.params]
    return found[0] if len(found) == 1 else 0.0


def _table(rows: Sequence[Row]) -> _Table:
    """Return the bandwidths of the patterns that count, each by message size."""
    return nested(
        (pattern, f"messages of {format_param(_SIZE, row.params[_SIZE])}", row.median)
        for row in rows
        if row.metric == PATTERN and (pattern := row.word("patterns")).startswith((_RINGS, _RANDOM))
    )


def _groups(table: _Table) -> _Table:
    """Return rings and random rings as two patterns of one size each."""
    found: dict[str, dict[str, float]] = {}
    for start, name in ((_RINGS, "rings"), (_RANDOM, "random rings")):
        means = [fmean(sizes.values()) for pattern, sizes in table.items() if pattern.startswith(start)]
        found[start] = {name: math.exp(fmean(map(math.log, means)))}
    return found


def _at(table: _Table, size: str) -> float:
    """Return b_eff of one size alone, in MB/s, or of one group where the other has none."""
    groups = grouped((name.startswith(_RINGS), math.log(sizes[size])) for name, sizes in table.items() if size in sizes)
    return math.exp(fmean(map(fmean, groups.values()))) / MEGA


ATTRIBUTION: Final = attributed
