# SPDX-License-Identifier: Apache-2.0
"""Rows of a rings run: of each ring and of the pairs what its message is for, latency or bandwidth. Pure."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from ullage.model.flags import TOO_SHORT
from ullage.model.record import CaseRecord
from ullage.model.summary import Row
from ullage.parameters import count_of
from ullage.results.records import AnyRecord
from ullage.results.rows import RowContext, build_rows, join
from ullage.runs.kernels.message_pages import MessagePages, pages_of, with_pages
from ullage.runs.kernels.options import MPI
from ullage.suites.rings.prepare import LARGE_BYTES, PING_PONG, RING, SMALL_BYTES

if TYPE_CHECKING:
    from ullage.model.plan import Scalar

LATENCIES: Final = ("ring_latency", "ping_pong_least_latency", "ping_pong_latency", "ping_pong_most_latency")
BANDWIDTHS: Final = (
    *("ring_bandwidth", "ping_pong_least_bandwidth", "ping_pong_bandwidth", "ping_pong_most_bandwidth"),
)
_MESSAGES: Final = {**dict.fromkeys(LATENCIES, SMALL_BYTES), **dict.fromkeys(BANDWIDTHS, LARGE_BYTES)}


def rings_rows(launches: Iterable[Sequence[AnyRecord]], context: RowContext) -> list[Row]:
    """Return the rows in the order of the cases: natural and random ring, pairs; for each message."""
    records = list(launches)
    measured = [item for item in join(records) if item.case.workload in (RING, PING_PONG)]
    cases = {item.case.case: item.case for item in measured}
    pages = {case: pages_of(item.phase for item in measured if item.case.case == case) for case in cases}
    own = context.without_storage(MPI.name, (*LATENCIES, *BANDWIDTHS))
    rows = [row for row in build_rows(records, own) if row.case in cases]
    told = [
        _labelled(row, cases[row.case], pages[row.case])
        for row in rows
        if _MESSAGES[row.metric] == count_of(cases[row.case].workload_parameters, "message_bytes")
    ]
    order = ("natural", "random", PING_PONG)
    known = (row for row in told if row.params["order"] in order)  # a damaged record may have another word
    return sorted(known, key=lambda row: (int(row.params["message_bytes"]), order.index(str(row.params["order"]))))


def _labelled(row: Row, case: CaseRecord, pages: MessagePages | None) -> Row:
    given = case.workload_parameters
    what = str(given.get("order", "natural")) if case.workload == RING else PING_PONG
    params: dict[str, Scalar] = {
        "access": row.params["access"],
        "order": what,
        "message_bytes": count_of(given, "message_bytes"),
        "ranks": row.params["ranks"],
        "nodes": row.params["nodes"],
    }
    if given.get("permutation") == "slot-probe" and what == "random":
        params["permutation"] = "slot-probe"
    # A phase is not too short: its loops are timed by themselves, and are as long as the clock requires.
    flags = [flag for flag in row.flags if flag.code != TOO_SHORT]
    return with_pages(row.model_copy(update={"params": params, "flags": flags}), pages)


def find_row(rows: Iterable[Row], metric: str, order: str) -> Row | None:
    """Return the row of that metric and order with the most ranks, or None without one."""
    found = [row for row in rows if row.metric == metric and row.params.get("order") == order]
    return max(found, key=lambda row: int(row.params["ranks"]), default=None)
