# SPDX-License-Identifier: Apache-2.0
"""The rows of a run over collective operations by the part they belong to. Pure; by their parameters alone."""

from collections.abc import Iterable, Sequence
from typing import Final

from ullage.model.flags import OVERSUBSCRIBED
from ullage.model.summary import Row
from ullage.report.data import ReportData

SUITE: Final = "collectives"
ONE_SIDED: Final = "one-sided"
# In the order of the tables; the two groups of the charts.
TREES: Final = ("barrier", "bcast", "reduce", "allreduce", "reduce_scatter")
EXCHANGES: Final = ("gather", "scatter", "allgather", "allgatherv", "alltoall", "alltoallv")
_PLACES: Final = {name: place for place, name in enumerate((*TREES, *EXCHANGES, "put", "get", "accumulate"))}


def own_rows(data: ReportData) -> list[Row]:
    """Those of suite ``collectives``."""
    return data.rows_of(SUITE)


def operation_of(row: Row) -> str:
    """``allreduce``."""
    return str(row.params["operation"])


def size_of(row: Row) -> int:
    """Bytes of a message; 0 of a barrier."""
    return int(row.params.get("message_bytes", 0))


def ranks_of(row: Row) -> int:
    """How many took part."""
    return int(row.params["ranks"])


def blocking(rows: Iterable[Row], metric: str) -> list[Row]:
    """Of the blocking forms, in the order of the tables."""
    return in_order(row for row in rows if row.metric == metric and row.params.get("mode") == "blocking")


def in_order(rows: Iterable[Row]) -> list[Row]:
    """By operation, then by what ends it, size and tests: rows come in the order in which their cases were met."""

    def key(row: Row) -> tuple[int, str, int, int]:
        place = _PLACES[operation_of(row)]
        return place, str(row.params.get("sync", "")), size_of(row), int(row.params.get("tests", 0))

    return sorted(rows, key=key)


def rank_counts(rows: Iterable[Row]) -> list[int]:
    """Rising."""
    return sorted({ranks_of(row) for row in rows})


def with_most_ranks(rows: Sequence[Row]) -> list[Row]:
    """Of those with a core for each rank, where there are any."""
    quiet = [row for row in rows if not row.has_flag(OVERSUBSCRIBED)]
    most = max(rank_counts(quiet or rows), default=0)
    return [row for row in rows if ranks_of(row) == most]
