# SPDX-License-Identifier: Apache-2.0
"""What bounds numbers of storage, where nothing is declared or detected: what the same target gave in the same run.

The rows are of any suite, so these rules stand for all. Pure.
"""

from collections.abc import Hashable, Sequence
from typing import Final, Literal

from ullage.analysis.ceilings.measured import Bound
from ullage.analysis.ceilings.rows import is_of_device
from ullage.model.summary import Row
from ullage.quantity import plural
from ullage.units import format_bytes

_DEPTH: Final = "queue_depth"


def direction_of(row: Row) -> Literal["read", "write", ""]:
    """Return the way that a row moves bytes; nothing for one that moves none, or both ways."""
    access = row.access or row.word("operation")
    if "write" in access:
        return "write"
    return "read" if "read" in access else ""


def is_transfer(row: Row) -> bool:
    """Tell whether a row moves bytes in one direction, and no cache is known to have answered."""
    return bool(direction_of(row)) and is_of_device(row)


# Parameters of rows that are work of an application, and no plain transfers.
_OF_KERNELS: Final = frozenset(
    {"interface", "operation", "accelerators", "tile", "cells", "layout", "image_bytes", "pattern", "phase"}
)


def is_plain(row: Row) -> bool:
    """Tell whether a row is of transfers with nothing around them: the least that moving its bytes needs."""
    if row.metric != "bandwidth" or not is_transfer(row):
        return False
    named = row.word("pattern") or row.word("phase")
    return named.startswith(("sequential", "ior-easy")) if named else _OF_KERNELS.isdisjoint(row.params)


def in_flight(row: Row) -> float:
    """Return how many requests all threads of a row keep under way together."""
    return row.ranks * row.count("threads", 1) * row.count(_DEPTH, 1)


def describe_transfer(row: Row) -> str:
    """Say which work a row did: ``sequential reads of 1M, 2 ranks, depth 8``."""
    size, order = row.params.get("block_bytes"), row.word("order") or row.word("pattern")
    words = [f"{order} " if order else "", f"{direction_of(row)}s"]
    words.append(f" of {format_bytes(size)}" if isinstance(size, int) else "")
    by = [row.word("phase"), row.word("backend"), plural(row.ranks or 1, "rank")]
    by += [plural(row.count("threads"), "thread")] if "threads" in row.params else []
    by += [f"depth {row.params[_DEPTH]}"] if _DEPTH in row.params else []
    return ", ".join(["".join(words), *filter(None, by)])


def _way(row: Row) -> tuple[Hashable, ...]:
    return row.target, direction_of(row), row.verdict.startswith("memory")


def _requests(row: Row) -> Hashable:
    return *_way(row), row.params.get("block_bytes"), row.params.get("order")


def _is_small(row: Row) -> bool:
    return _DEPTH in row.params and is_transfer(row)


def _one_by_one(rows: Sequence[Row]) -> float | None:
    """Return the requests/s of one that is always under way, by the least of the medians of its time."""
    return 1 / min(row.median for row in rows)


_TRANSFER: Final = (
    "The target moved bytes in this direction at this rate in this run. A program that reaches less loses it by its "
    "block, depth, order, layout, calls or library. The drive itself may reach more."
)
_SATURATED: Final = (
    "More of the same requests in flight gave no more than this in this run, so the drive and its path are busy there."
)
_LATENCY: Final = (
    "By Little's law, the requests in flight over the time of one bound their rate. A request takes no less time "
    "beside others than alone."
)

BOUNDS: Final[Sequence[Bound]] = (
    *(
        Bound(
            metric,
            is_transfer,
            is_plain,
            _way,
            lambda row: f"the best transfer of this run: {describe_transfer(row)}",
            _TRANSFER,
            is_own_best=True,
        )
        for metric in ("bandwidth", "observed_bandwidth", "flash_bandwidth")
    ),
    Bound(
        "operation_rate",
        _is_small,
        lambda row: row.metric == "operation_rate" and _is_small(row),
        _requests,
        lambda row: f"the rate at saturation: {describe_transfer(row)}",
        _SATURATED,
        is_own_best=True,
    ),
    Bound(
        "operation_rate",
        _is_small,
        lambda row: row.metric == "latency_p50" and _is_small(row) and in_flight(row) == 1,
        _requests,
        lambda row: f"requests in flight over the time of one alone: {describe_transfer(row)}",
        _LATENCY,
        _one_by_one,
        in_flight,
        is_own_best=True,
    ),
)
"""Rules for rows of any suite. ``best_clean`` takes the best repetition of rows with which nothing is wrong."""
