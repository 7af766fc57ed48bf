# SPDX-License-Identifier: Apache-2.0
"""What messages between ranks of a node cost at least, and which rows that bounds. Pure.

Workload ``shared-memory`` measures it on the same ranks: one copy of a message out of another core's memory, and a
cache line one way. For collective operations the known lower bounds count in these (Chan, Heimlich, Purkayastha and van
de Geijn, "Collective communication: theory, practice, and experience", 2007).
"""

import math
from collections.abc import Callable, Hashable, Sequence
from typing import Final, Literal, TypeAlias

from ullage.analysis.ceilings.measured import Bound, best_clean
from ullage.model.flags import OVERSUBSCRIBED
from ullage.model.summary import Row
from ullage.quantity import plural
from ullage.units import format_bytes

ACCESS: Final = "shared-memory"
COPY: Final = "one_copy_bandwidth"
LINE: Final = "line_latency"
WORST_LINE: Final = "worst_line_latency"
Copiers: TypeAlias = Literal["one", "half", "all"]
"""Who copies at once: the last rank, those of the second half, or each rank from the one before it."""

Rows: TypeAlias = Callable[[Row], bool]
COPY_WHY: Final = (
    "Each byte of a message has to be copied at least once out of memory that another core has written; these cores "
    "copied no faster."
)
LINE_WHY: Final = (
    "A message brings at least one cache line from one core to the other, and no line came sooner between these cores."
)
COLLECTIVE_WHY: Final = (
    "In any algorithm so many messages follow each other and so many bytes reach each rank (Chan and others 2007)."
)

MEASURED_BOUND: Final = (
    "Ceilings are what the same cores did in the same minutes without MPI: one copy of the bytes, and a cache line one "
    "way."
)


def any_row(_row: Row) -> bool:
    """Take all rows."""
    return True


def _copying(row: Row) -> str:
    count, ranks = row.count("message_bytes"), row.ranks
    size = format_bytes(count) if count % 1024 == 0 else f"{count:,} bytes"
    word = row.word("copiers")
    who = {"one": "one rank alone", "half": f"{plural(ranks // 2, 'rank')} at once"}.get(word, f"all {ranks} ranks")
    return f"one copy of {size} out of another core's memory, {who}"


def _line(row: Row) -> str:
    return f"a cache line one way between {row.ranks} ranks"


def copies(
    metric: str,
    copiers: Callable[[Row], Copiers],
    bounds: Rows = any_row,
    times: Callable[[int], float] = lambda _ranks: 1.0,
) -> Bound:
    """Bound a rate of bytes by one copy of the same bytes by the same ranks.

    ``copiers``: who copies while such a row is measured. ``times``: by how much the rate of so many ranks may be above
    that of each copy.
    """

    def key(row: Row) -> Hashable:
        return row.ranks, row.count("message_bytes"), row.params.get("copiers") or copiers(row)

    def value(given: Sequence[Row]) -> float | None:
        return (best_clean(given) or 0.0) * times(given[0].ranks)

    return Bound(metric, bounds, lambda row: row.metric == COPY, key, _copying, COPY_WHY, value)


def lines(metric: str, bounds: Rows = any_row, given: str = LINE, share: float = 1.0) -> Bound:
    """Bound a time by that of a cache line one way. ``share``: of it that one message needs.

    On a core that ranks share, a line has to wait for its reader, and a message does not.
    """

    def own(row: Row) -> bool:
        return bounds(row) and not row.has_flag(OVERSUBSCRIBED)

    def value(rows: Sequence[Row]) -> float | None:
        return (best_clean(rows) or 0.0) * share

    return Bound(metric, own, lambda row: row.metric == given, lambda row: row.ranks, _line, LINE_WHY, value)


Count: TypeAlias = Callable[[int], float]


def doubling(ranks: int) -> float:
    """Return in how many rounds everybody can hear of everybody."""
    return math.ceil(math.log2(ranks))


def _share_of_others(ranks: int) -> float:
    return (ranks - 1) / ranks


# Of so many ranks: lines one after the other, and copies of the message that each rank makes, where all share the work.
# The roots of successive calls rotate, so that work for different roots overlaps: one line a call is left, and a p-th
# of what reaches all of them.
_LEAST: Final[dict[str, tuple[Count, Count]]] = {
    **dict.fromkeys(("bcast", "reduce", "gather", "scatter"), (lambda _ranks: 1.0, _share_of_others)),
    "allreduce": (doubling, lambda ranks: 2 * _share_of_others(ranks)),
    "reduce_scatter": (doubling, _share_of_others),
    **dict.fromkeys(("allgather", "allgatherv", "alltoall", "alltoallv"), (doubling, lambda ranks: ranks - 1.0)),
}


def least_seconds(operation: str, ranks: int, line_s: float, copy_s: float) -> float:
    """Return the least time of a call of ``operation``, by the seconds of a line and of one copy of the message."""
    rounds, moved = _LEAST[operation]
    return max(rounds(ranks) * line_s, moved(ranks) * copy_s)


def _collective(metric: str, operation: str) -> Bound:
    def value(given: Sequence[Row]) -> float | None:
        line_s, rate = (best_clean([row for row in given if row.metric == metric]) for metric in (LINE, COPY))
        if line_s is None or rate is None:
            return None
        return least_seconds(operation, given[0].ranks, line_s, given[0].count("message_bytes") / rate)

    return Bound(
        metric,
        lambda row: row.word("operation") == operation and row.word("mode") == "blocking",
        lambda row: row.metric in (COPY, LINE) and row.word("copiers") == "all",
        lambda row: (row.ranks, row.count("message_bytes")),
        lambda row: f"{_copying(row)}, and {_line(row)}",
        COLLECTIVE_WHY,
        value,
    )


def _barrier(metric: str) -> Bound:
    def value(given: Sequence[Row]) -> float | None:
        return doubling(given[0].ranks) * (best_clean(given) or 0.0)

    return Bound(
        metric,
        lambda row: row.word("operation") == "barrier" and row.word("mode") == "blocking",
        lambda row: row.metric == LINE,
        lambda row: row.ranks,
        _line,
        COLLECTIVE_WHY,
        value,
    )


def collectives(*metrics: str) -> tuple[Bound, ...]:
    """Bound the times of blocking collective operations."""
    return tuple(
        bound
        for metric in metrics
        for bound in (*(_collective(metric, operation) for operation in _LEAST), _barrier(metric))
    )
