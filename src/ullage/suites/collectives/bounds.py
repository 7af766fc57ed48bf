# SPDX-License-Identifier: Apache-2.0
"""What bounds collective and one-sided operations, and what lies between the bound and the time of a call."""

from collections.abc import Callable
from typing import Final

from ullage.analysis.ceilings.messages import Copiers, collectives, copies, doubling
from ullage.analysis.ladders import LadderRule, Step
from ullage.analysis.message_steps import BINDING, small_protocol
from ullage.model.summary import Row

# Successive roots may be served at the same time, each rank making a share of the copies.
_OVERLAPPING: Final = ("bcast", "reduce")
_ROOTED: Final = ("gather", "scatter")


def _blocking_in(*operations: str) -> Callable[[Row], bool]:
    return lambda row: row.word("operation") in operations


def _by_all(_row: Row) -> Copiers:
    return "all"


BOUNDS: Final = (
    *collectives("collective_latency", "collective_latency_slowest"),
    copies("link_bandwidth", _by_all, _blocking_in(*_OVERLAPPING), lambda ranks: ranks / (ranks - 1)),
    copies("link_bandwidth", _by_all, _blocking_in(*_ROOTED), float),
    copies(
        "link_bandwidth",
        _by_all,
        lambda row: row.word("operation") not in (*_OVERLAPPING, *_ROOTED),
    ),
    copies("one_sided_bandwidth", lambda _row: "one"),
)


def _small_pair(line: Row, row: Row) -> bool:
    same = (line.ranks, line.count("message_bytes")) == (row.ranks, row.count("message_bytes"))
    return row.metric in ("pair_latency", "ping_pong_latency") and same


LADDERS: Final = (
    LadderRule(
        "messages",
        (
            small_protocol(_small_pair),
            Step(
                "rounds",
                "Rounds of the operation, beyond one message after the other: ranks that wait for others, and what all "
                "of them do at once",
                _small_pair,
                advice="Bind each rank to a core of its own and keep other programs off these cores.",
                command=BINDING,
                may_rank=True,
                expects=lambda _above, below: doubling(below.ranks),
            ),
        ),
        lambda row: row.metric == "collective_latency" and row.word("operation") == "allreduce",
    ),
)
