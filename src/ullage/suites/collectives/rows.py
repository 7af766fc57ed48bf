# SPDX-License-Identifier: Apache-2.0
"""Rows of a run over collective and one-sided operations: each says by its parameters all that decides its number."""

from collections.abc import Iterable
from typing import Final

from ullage.model.flags import OVERSUBSCRIBED
from ullage.model.plan import Scalar
from ullage.model.summary import Row
from ullage.results.rows import RowContext
from ullage.runs.kernels.options import MPI
from ullage.runs.told import Launches, Source, told_rows, usual
from ullage.suites.collectives.prepare import ONE_SIDED

METRICS: Final = (
    "collective_latency",
    "collective_latency_slowest",
    "link_bandwidth",
    "overlap",
    "one_sided_latency",
    "one_sided_bandwidth",
)


def collective_rows(launches: Launches, context: RowContext) -> list[Row]:
    """Return all rows of this suite's cases, in the order in which their cases were first met."""
    return told_rows(launches, context.without_storage(MPI.name, METRICS, is_place=False), _told)


def is_crowded(row: Row) -> bool:
    """Tell whether the ranks of ``row`` shared cores."""
    return row.has_flag(OVERSUBSCRIBED)


# These are the engine's defaults: a plan states a parameter only where it differs.
_COLLECTIVE: Final[dict[str, Scalar]] = {"operation": "allreduce", "mode": "blocking", "tests": 0, "message_bytes": 8}
_ONE_SIDED: Final[dict[str, Scalar]] = {"operation": "put", "sync": "flush", "outstanding": 1, "message_bytes": 8}


def _told(row: Row, source: Source) -> dict[str, Scalar] | None:
    """Tell a row's parameters.

    A single operation tells a latency, many under way together a bandwidth, and neither the other.
    """
    workload = source.case.workload
    own = _ONE_SIDED if workload == ONE_SIDED else _COLLECTIVE
    params: dict[str, Scalar] = {"access": workload}
    for name, default in own.items():
        value = source.workload.get(name, default)
        params[name] = value if isinstance(value, (bool, int, float, str)) else str(value)
    if params.get("mode") == "blocking":
        del params["tests"]
    if params.get("operation") == "barrier":
        del params["message_bytes"]
    if workload == ONE_SIDED:
        tells = (int(params["outstanding"]) > 1) == (row.metric == "one_sided_bandwidth")
    else:
        tells = row.metric != "link_bandwidth" or params["mode"] == "blocking"
    return {**params, **usual(row, "ranks", "nodes")} if tells else None


def blocking(rows: Iterable[Row], metric: str = "collective_latency") -> list[Row]:
    """Return the rows of the blocking forms that have ``metric``."""
    return [row for row in rows if row.metric == metric and row.params.get("mode") == "blocking"]


def operation_of(row: Row) -> str:
    """Return the name of the operation, such as ``allreduce``."""
    return row.word("operation")


def size_of(row: Row) -> int:
    """Return the bytes of a message; 0 for a barrier."""
    return row.count("message_bytes")


def ranks_of(row: Row) -> int:
    """Return how many ranks took part."""
    return row.count("ranks")
