# SPDX-License-Identifier: Apache-2.0
"""What bounds messages, collective operations and sockets, by rows as the suites have them."""

from collections.abc import Sequence

import pytest
from tests.support.make_records import make_row

from ullage.analysis.ceilings.measured import with_measured
from ullage.analysis.ceilings.messages import COPY, LINE, WORST_LINE, least_seconds
from ullage.analysis.ladders import ladders_of
from ullage.analysis.message_steps import THROUGH_LOOPBACK
from ullage.analysis.verdicts.grades import sound_rows
from ullage.discovery import gathered, suite_modules
from ullage.model.flags import OVERSUBSCRIBED, Flag
from ullage.model.plan import Scalar
from ullage.model.summary import BOUND, Row
from ullage.report.headlines import headlines

TIMES = {"unit": "s", "better": "less"}


def row(metric: str, value: float, **params: Scalar) -> Row:
    """A row of ``metric`` with three samples near ``value``."""
    kind = TIMES if metric.endswith(("latency", "_slowest", "p50")) else {"unit": "B/s", "better": "more"}
    made = make_row([value, value * 1.001, value * 0.999], metric=metric, verdict="none", **kind)  # type: ignore[arg-type]
    return made.model_copy(update={"params": {"ranks": 4, "nodes": 1, **params}})


def shown(metric: str, value: float, copiers: str = "all", size: int = 1 << 20) -> Row:
    """A row that was measured as a bound."""
    return row(metric, value, access="shared-memory", bound=True, copiers=copiers, message_bytes=size)


def bounded(suite: str, given: Row, *shows: Row) -> Row:
    return with_measured([given, *shows], gathered(suite_modules("report", [suite]), "BOUNDS"))[0]


def bound_of(suite: str, given: Row, *shows: Row) -> float:
    """The value of the measured ceiling."""
    ceiling = bounded(suite, given, *shows).ceiling
    assert ceiling is not None
    assert ceiling.kind == "measured"
    assert ceiling.why
    return ceiling.value


COPIES = [shown(COPY, 40e9, "one"), shown(COPY, 30e9, "half"), shown(COPY, 20e9), shown(COPY, 99e9, size=8)]
LINES = [shown(LINE, 40e-9), shown(WORST_LINE, 90e-9)]
MEGABYTE = {"message_bytes": 1 << 20}


@pytest.mark.parametrize(
    ("suite", "given", "value"),
    [
        ("pairs", row("pair_bandwidth", 5e9, at_once=True, **MEGABYTE), 30e9),
        ("pairs", row("worst_pair_bandwidth", 5e9, at_once=False, **MEGABYTE), 40e9),
        ("pairs", row("exchange_bandwidth", 5e9, pattern="best-bisection", **MEGABYTE), 80e9),
        ("rings", row("ring_bandwidth", 5e9, order="random", **MEGABYTE), 20e9),
        ("rings", row("ping_pong_bandwidth", 5e9, order="ping-pong", **MEGABYTE), 40e9),
        ("collectives", row("one_sided_bandwidth", 5e9, operation="get", **MEGABYTE), 40e9),
        ("collectives", row("link_bandwidth", 5e9, operation="alltoall", mode="blocking", **MEGABYTE), 20e9),
        ("collectives", row("link_bandwidth", 5e9, operation="bcast", mode="blocking", **MEGABYTE), 20e9 * 4 / 3),
    ],
)
def test_bytes_are_bounded_by_one_copy_of_as_many_by_the_same_ranks(suite: str, given: Row, value: float) -> None:
    assert bound_of(suite, given, *COPIES, *LINES) == pytest.approx(value, rel=2e-3)


@pytest.mark.parametrize(
    ("suite", "given", "value"),
    [
        ("pairs", row("pair_latency", 300e-9, message_bytes=8), 40e-9),
        ("pairs", row("worst_pair_latency", 300e-9, message_bytes=8), 90e-9),
        ("rings", row("ring_latency", 300e-9, order="random", message_bytes=8), 20e-9),
        ("rings", row("ping_pong_latency", 300e-9, order="ping-pong", message_bytes=8), 40e-9),
        ("collectives", row("collective_latency", 900e-9, operation="barrier", mode="blocking"), 80e-9),
    ],
)
def test_small_messages_are_bounded_by_a_cache_line_one_way(suite: str, given: Row, value: float) -> None:
    assert bound_of(suite, given, *COPIES, *LINES) == pytest.approx(value, rel=2e-3)


@pytest.mark.parametrize(
    ("operation", "ranks", "lines", "copies"),
    [
        ("bcast", 4, 1, 3 / 4),
        ("gather", 2, 1, 1 / 2),
        ("allreduce", 8, 3, 2 * 7 / 8),
        ("reduce_scatter", 5, 3, 4 / 5),
        ("allgather", 4, 2, 3),
        ("alltoallv", 3, 2, 2),
    ],
)
def test_collectives_have_the_bounds_of_the_literature(operation: str, ranks: int, lines: int, copies: float) -> None:
    assert least_seconds(operation, ranks, 1.0, 0.0) == lines
    assert least_seconds(operation, ranks, 0.0, 1.0) == pytest.approx(copies)


def test_a_collective_call_is_bounded_by_lines_or_bytes_of_its_own_size() -> None:
    call = {"operation": "allreduce", "mode": "blocking"}
    small, large = (row("collective_latency", 1e-3, message_bytes=size, **call) for size in (8, 1 << 20))
    shows = [*COPIES, shown(LINE, 40e-9), shown(LINE, 40e-9, size=8)]
    assert bound_of("collectives", small, *shows) == pytest.approx(80e-9, rel=2e-3)
    assert bound_of("collectives", large, *shows) == pytest.approx(1.5 * (1 << 20) / 20e9, rel=2e-3)
    other = large.model_copy(update={"params": {**large.params, "mode": "overlap"}})
    assert bounded("collectives", other, *shows).ceiling is None


def test_other_ranks_sizes_or_copiers_bound_nothing() -> None:
    given = row("ring_bandwidth", 5e9, order="natural", **MEGABYTE)
    for params in ({"ranks": 2}, {"message_bytes": 8}, {"copiers": "one"}):
        other = COPIES[2].model_copy(update={"params": {**COPIES[2].params, **params}})
        assert bounded("rings", given, other).ceiling is None


def sockets(metric: str, value: float, protocol: str, mode: str, **params: Scalar) -> Row:
    own: dict[str, Scalar] = {"protocol": protocol, "mode": mode, "block_bytes": 32768, "streams": 1}
    local = protocol in ("unix", "pipe")
    more: dict[str, Scalar] = {"access": "local", BOUND: True} if local else {"access": "sockets"}
    return row(metric, value, direction="forward", **own | more | params)


def test_streams_are_bounded_by_as_many_without_a_network_and_requests_by_a_pipe() -> None:
    local = [
        *(sockets("network_bandwidth", 6e9 * count, "unix", "stream", streams=count) for count in (1, 2)),
        sockets("latency_p50", 5e-6, "pipe", "request", block_bytes=1),
    ]
    for protocol in ("tcp", "udp"):
        stream = sockets("network_bandwidth", 2e9, protocol, "stream", streams=2, block_bytes=1024)
        assert bound_of("network", stream, *local) == pytest.approx(12e9, rel=2e-3)
        request = sockets("latency_p50", 13e-6, protocol, "request", block_bytes=14)
        assert bound_of("network", request, *local) == pytest.approx(5e-6, rel=2e-3)
    echo = sockets("latency_p50", 3e-6, "icmp", "request", block_bytes=56)
    assert bounded("network", echo, *local).ceiling is None, "the kernel answers it without waking anybody"
    apart = sockets("network_bandwidth", 2e9, "tcp", "stream", nodes=2)
    assert bounded("network", apart, *local).ceiling is None, "between nodes the link is the bound"


def test_what_was_measured_as_a_bound_is_no_headline_and_carries_no_sentence() -> None:
    rows = [*COPIES, *LINES, sockets("network_bandwidth", 6e9, "unix", "stream")]
    assert headlines(rows) == []
    assert sound_rows(rows) == []


def ladder(suite: str, part: str, rows: Sequence[Row]) -> dict[str, float]:
    """The rungs of the first row, by kind."""
    modules = suite_modules("report", [suite])
    known = with_measured(rows, gathered(modules, "BOUNDS"))
    (found,) = ladders_of(known, [(part, 0)], gathered(modules, "LADDERS"))
    kinds = {rung.kind: rung.factor for rung in found.rungs}
    # To leave the network is a change of the program, for which there is no command.
    assert all(rung.advice and (rung.command or rung.kind == "protocol") for rung in found.rungs)
    return {**kinds, "unexplained": found.unexplained.factor}


def test_the_gap_of_a_ring_is_the_mpi_and_the_order_of_ranks() -> None:
    rings = [
        row("ring_bandwidth", value, order=order, **MEGABYTE) for value, order in ((5e9, "random"), (8e9, "natural"))
    ]
    found = ladder("rings", "messages", [*rings, *COPIES])
    assert found == pytest.approx({"mpi-protocol": 8 / 20, "rank-order": 5 / 8, "unexplained": 1.0}, rel=5e-3)


def test_an_mpi_that_sends_by_tcp_within_a_node_is_told_so() -> None:
    ring = row("ring_bandwidth", 1e9, order="natural", **MEGABYTE)
    modules = suite_modules("report", ["rings"])
    told: list[tuple[str, str]] = []
    for notes in ([], [THROUGH_LOOPBACK]):
        known = with_measured([ring.model_copy(update={"notes": notes}), *COPIES], gathered(modules, "BOUNDS"))
        (found,) = ladders_of(known, [("messages", 0)], gathered(modules, "LADDERS"))
        told.append((found.rungs[0].what, found.rungs[0].command))
    assert "in pieces" in told[0][0]
    assert "vader_single_copy" in told[0][1]
    assert "by TCP" in told[1][0]
    assert "btl=self,vader" in told[1][1]


def crowded(metric: str, value: float, **params: Scalar) -> Row:
    """A row of ranks that shared cores."""
    made = row(metric, value, **params)
    return made.model_copy(update={"flags": [Flag(code=OVERSUBSCRIBED, reason="")]})


def test_ranks_that_share_a_core_lose_by_that_first() -> None:
    rings = [
        crowded("ring_bandwidth", value, order=order, **MEGABYTE)
        for value, order in ((5e9, "random"), (6e9, "natural"))
    ]
    found = ladder("rings", "messages", [*rings, shown(COPY, 20e9, "one"), shown(COPY, 10e9)])
    steps = {"oversubscribed": 10 / 20, "mpi-protocol": 6 / 10, "rank-order": 5 / 6, "unexplained": 1.0}
    assert found == pytest.approx(steps, rel=5e-3)
    small = crowded("ring_latency", 1e-6, order="random", message_bytes=8)
    assert bounded("rings", small, shown(LINE, 4e-3)).ceiling is None, "a line waits for a reader that has no core"


def test_the_gap_of_an_allreduce_is_the_mpi_and_its_rounds() -> None:
    call = row("collective_latency", 1.2e-6, operation="allreduce", mode="blocking", message_bytes=8)
    pair = row("pair_latency", 400e-9, message_bytes=8)
    shows = [shown(LINE, 40e-9, size=8), shown(COPY, 99e9, size=8)]
    found = ladder("collectives", "messages", [call, pair, *shows])
    assert found == pytest.approx({"mpi-protocol": 0.1, "rounds": 2 * 400 / 1200, "unexplained": 1.0}, rel=5e-3)


def test_the_gap_of_a_stream_is_the_protocol_and_its_block() -> None:
    rows = [
        sockets("network_bandwidth", 1e9, "tcp", "stream", block_bytes=1024),
        sockets("network_bandwidth", 2e9, "tcp", "stream"),
        sockets("network_bandwidth", 8e9, "unix", "stream"),
    ]
    found = ladder("network", "network", rows)
    assert found == pytest.approx({"protocol": 0.25, "block": 0.5, "unexplained": 1.0}, rel=5e-3)


def test_the_gap_of_a_pair_is_the_mpi_against_the_copies_of_as_many_ranks() -> None:
    for at_once, left in ((True, 5 / 30), (False, 5 / 40)):
        pair = row("pair_bandwidth", 5e9, at_once=at_once, **MEGABYTE)
        assert ladder("pairs", "messages", [pair, *COPIES]) == pytest.approx(
            {"mpi-protocol": left, "unexplained": 1.0}, rel=5e-3
        )
