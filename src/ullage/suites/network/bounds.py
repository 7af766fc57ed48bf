# SPDX-License-Identifier: Apache-2.0
"""What bounds TCP and UDP on one node, and what lies between a bound, or the link, and what they reach."""

from collections.abc import Callable
from typing import Final

from ullage.analysis.ceilings.measured import Bound
from ullage.analysis.ladders import LadderRule, Picks, Step, alike_but
from ullage.model.summary import Row
from ullage.quantity import plural
from ullage.suites.network.options import LOCAL
from ullage.units import format_bytes


def is_socket(row: Row) -> bool:
    """Tell whether a row is of TCP or UDP."""
    is_whole = {"block_bytes", "streams"} <= row.params.keys()  # a damaged plan may lack one
    return is_whole and row.access == "sockets" and row.word("protocol") in ("tcp", "udp")


def _is_local(row: Row) -> bool:
    return row.is_bound and row.word("protocol") in LOCAL


def _is_on_one_node(row: Row) -> bool:
    return is_socket(row) and row.count("nodes", 1) == 1


def _larger(name: str) -> Picks:
    """Pick the same work with more of what the parameter ``name`` counts."""
    return lambda row, other: alike_but(row, other, name) and other.count(name) > row.count(name)


def _at_largest_block(line: Row, row: Row) -> bool:
    same = row is line or alike_but(line, row, "block_bytes")
    return same and row.count("block_bytes") >= line.count("block_bytes")


def _block(applies: Callable[[Row], bool], *, may_rank: bool) -> Step:
    return Step(
        "block",
        lambda above, below: f"Blocks of {_block_of(below)} instead of {_block_of(above)}",
        lambda row, other: applies(row) and _larger("block_bytes")(row, other),
        advice="Hand more bytes to each call that sends.",
        command=lambda above, _below: f"send() with {_block_of(above)} a call",
        may_rank=may_rank,
    )


def _block_of(row: Row) -> str:
    return format_bytes(row.count("block_bytes"))


BOUNDS: Final = (
    Bound(
        "network_bandwidth",
        _is_on_one_node,
        lambda row: _is_local(row) and row.word("mode") == "stream",
        lambda row: (row.params.get("streams"), row.params.get("direction")),
        lambda row: (
            f"{plural(row.count('streams'), 'stream')} over AF_UNIX, blocks of {format_bytes(row.count('block_bytes'))}"
        ),
        "On one node TCP and UDP do all that AF_UNIX sockets do, which copy each byte twice, and a protocol besides.",
    ),
    Bound(
        "latency_p50",
        lambda row: _is_on_one_node(row) and row.word("mode") == "request" and row.count("streams") == 1,
        lambda row: _is_local(row) and row.word("mode") == "request",
        lambda row: row.count("nodes", 1),
        lambda row: f"{plural(row.count('block_bytes'), 'byte')} there and back through pipes",
        "A request and its answer wake a process twice, and a byte in a pipe is the cheapest way to wake one.",
    ),
)
LADDER: Final = LadderRule(
    "network",
    (
        Step(
            "protocol",
            "TCP or UDP itself, against the kernel's own sockets with the same streams",
            lambda row, other: _is_local(other) and other.params.get("streams") == row.params.get("streams"),
            _at_largest_block,
            advice="Let processes of one node talk through AF_UNIX sockets or shared memory, without a network.",
        ),
        Step(
            "streams",
            lambda above, below: f"{plural(below.count('streams'), 'stream')} instead of {above.count('streams')}",
            lambda row, other: row.count("nodes", 1) > 1 and _larger("streams")(row, other),
            advice="Use as many connections as the better row has.",
            command=lambda above, _below: f"--streams {above.count('streams')}",
        ),
        # What is sent over the loopback says nothing about a network, so its rungs never rank.
        _block(lambda row: row.count("nodes", 1) == 1, may_rank=False),
        _block(lambda row: row.count("nodes", 1) > 1, may_rank=True),
    ),
    lambda row: row.metric == "network_bandwidth",
)
