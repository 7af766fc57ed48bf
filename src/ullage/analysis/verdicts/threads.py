# SPDX-License-Identifier: Apache-2.0
"""Rates that are more than their threads can explain. Pure."""

from collections.abc import Hashable, Sequence
from typing import Final

from ullage.model.flags import ABOVE_THREADS, Flag
from ullage.model.summary import Row
from ullage.quantity import times

MOST_OF_EACH: Final = 1.1
"""A thread among others may do so many times what one does alone before the two numbers are held to contradict."""
_THREADS: Final = frozenset({"threads", "ranks"})
# Follow from the number of ranks.
_FOLLOWING: Final = frozenset({"nodes"})


def with_thread_flags(rows: Sequence[Row]) -> list[Row]:
    """``rows`` in their order; a rate above 1.1 x threads x one thread's says so, and no sentence is built on it.

    Caches may explain it, since more cores have more of them; usually the one thread was disturbed.
    """
    alone = {_work(row): row.median for row in rows if _is_rate(row) and _threads(row) == 1 and not row.is_invalid}
    return [_flagged(row, alone.get(_work(row))) for row in rows]


def _flagged(row: Row, alone: float | None) -> Row:
    threads = _threads(row)
    if alone is None or alone <= 0 or threads < 2 or not _is_rate(row):
        return row
    gain = row.median / alone
    if gain <= MOST_OF_EACH * threads:
        return row
    reason = f"{times(gain)} the rate of one thread, with {threads}: noise is the usual cause, caches can be"
    return row.model_copy(update={"flags": [*row.flags, Flag(code=ABOVE_THREADS, reason=reason)]})


def _is_rate(row: Row) -> bool:
    return row.better == "more" and row.unit.endswith("/s")


def _threads(row: Row) -> int:
    return int(row.params.get("ranks", 1)) * int(row.params.get("threads", 1))


def _work(row: Row) -> Hashable:
    params = frozenset((name, value) for name, value in row.params.items() if name not in _THREADS | _FOLLOWING)
    return row.suite, row.target, row.metric, params
