# SPDX-License-Identifier: Apache-2.0
"""Rows and sentences of a disk run, from its records alone."""

import pytest

from suites.disk.conftest import World
from support.make_records import plain_row
from ullage.model.plan import Case, Plan
from ullage.model.summary import Row
from ullage.runs.summary import build_summary
from ullage.suites.disk.suite import in_flight, saturation

KIB, MIB = 1 << 10, 1 << 20


def small_row(depth: int, rate: float, *, access: str = "read", ranks: int = 1, spread: float = 0.01) -> Row:
    params = {"access": access, "ranks": ranks, "block_bytes": KIB, "queue_depth": depth}
    own = {"metric": "operation_rate", "unit": "op/s", "target": "here", "case": ""}
    launches = [10 * ranks + index for index in range(3)]
    return plain_row([rate * (1 + spread * step) for step in (-1, 0, 1)], params, launches=launches, **own)


def test_rows_carry_a_depth_where_requests_are_small_and_nowhere_else(world: World) -> None:
    world.run(world.prepare(volume="64M"))
    summary = build_summary(world.result)
    assert {row.metric for row in summary.rows} == {"bandwidth", "operation_rate"}
    bandwidths = [row for row in summary.rows if row.metric == "bandwidth"]
    assert len(bandwidths) == 20
    depths = {row.params["block_bytes"]: row.params.get("queue_depth") for row in bandwidths}
    assert depths[MIB] is None
    assert depths[4 * MIB] is None
    smalls = [row for row in bandwidths if row.params["block_bytes"] == 4 * KIB]
    assert sorted((str(row.params["access"]), int(row.params["queue_depth"])) for row in smalls) == [
        ("read", 1),
        ("read", 8),
        ("write", 1),
        ("write", 8),
    ]


def test_the_peer_stands_beside_every_row_it_has_a_number_for(world: World) -> None:
    world.run(world.prepare(volume="64M"))
    rows = [row for row in build_summary(world.result).rows if row.metric == "bandwidth"]
    assert all(row.peer is not None and (row.peer.tool, row.peer.version) == ("fio", "3.33") for row in rows)
    whole = next(row for row in rows if row.params["block_bytes"] == MIB)
    assert whole.peer is not None
    assert whole.peer.median == pytest.approx(64 * MIB / 0.3)


def test_a_ceiling_is_the_devices_whatever_the_threads(world: World) -> None:
    world.run(world.prepare(volume="64M", ceiling=["here:read=10GB/s"]))
    rows = [row for row in build_summary(world.result).rows if row.metric == "bandwidth"]
    declared = [row for row in rows if row.ceiling is not None and row.ceiling.kind == "declared"]
    assert {row.ceiling.value for row in declared if row.ceiling is not None} == {1e10}
    assert {row.params["access"] for row in declared} == {"read"}
    assert {row.params["ranks"] for row in declared} == {1, 2}


def test_where_nothing_is_known_the_best_transfer_of_the_run_is_the_ceiling(world: World) -> None:
    world.run(world.prepare(volume="64M", ceiling=["here:read=10GB/s"]))
    rows = [row for row in build_summary(world.result).rows if row.params["access"] == "write"]
    bandwidths = [row for row in rows if row.metric == "bandwidth"]
    best = max(value for row in bandwidths for value in row.repetitions)
    assert {(row.ceiling.value, row.ceiling.kind) for row in bandwidths if row.ceiling} == {(best, "measured")}
    assert all(row.share is not None and row.share <= 1 for row in bandwidths)
    smalls = [row for row in rows if row.metric == "operation_rate" and "queue_depth" in row.params]
    assert {row.ceiling.kind for row in smalls if row.ceiling} == {"measured"}


def test_nothing_is_advised_that_this_suite_cannot_do(world: World) -> None:
    def cost(case: Case, plan: Plan) -> float:
        del case
        return 0.4 / plan.layout.ranks

    world.engine.cost, world.engine.spread = cost, 0.002
    world.run(world.prepare(volume="64M"))
    findings = build_summary(world.result).findings
    assert any(finding.kind == "scaling" for finding in findings)
    assert not any("--extend" in finding.text for finding in findings)


def test_it_is_said_from_which_depth_on_nothing_is_gained() -> None:
    (found,) = saturation([small_row(d, r) for d, r in ((1, 1e4), (8, 6e4), (32, 1e5), (128, 1.001e5))], 0.95)
    assert found.kind == "queue-depth"
    assert found.text == (
        "here: random reads of 1K reach 100 kop/s with 32 requests in flight, 10.0 x the rate of 1 request in flight. "
        "That is at least 90 % of the highest median, 100 kop/s with 128 requests in flight."
    )
    assert found.numbers["enough"] == 32
    assert found.numbers["in_flight"] == [1, 8, 32, 128]


@pytest.mark.parametrize(
    ("rates", "expected"),
    [
        (
            (1e4, 2e4, 4e4),
            (
                "reach 40.0 kop/s with 64 requests in flight, 4.00 x the rate of 1 request in flight. Test more in "
                "flight (--depth)."
            ),
        ),
        (
            (1e4, 1.001e4, 1e4),
            (
                "reach 10.0 kop/s with 1 request in flight. That is at least 90 % of the highest median, 10.0 kop/s "
                "with 8 requests in flight."
            ),
        ),
        (
            (1e4, 4e4, 2e4),
            (
                "reach 40.0 kop/s with 8 requests in flight, 4.00 x the rate of 1 request in flight. 64 requests in "
                "flight are slower: 20.0 kop/s."
            ),
        ),
    ],
)
def test_how_it_goes_is_said_in_a_sentence(rates: tuple[float, ...], expected: str) -> None:
    rows = [small_row(depth, rate) for depth, rate in zip((1, 8, 64), rates, strict=True)]
    (found,) = saturation(rows, 0.95)
    assert found.text == f"here: random reads of 1K {expected}"


def test_threads_count_as_what_is_in_flight_where_there_is_no_depth() -> None:
    rows = [small_row(1, 1e4 * ranks, ranks=ranks) for ranks in (1, 4)]
    assert [in_flight(row) for row in rows] == [1, 4]
    (found,) = saturation(rows, 0.95)
    assert "still gain at 4 requests in flight" in found.title


def test_one_depth_or_blocks_alone_say_nothing() -> None:
    assert saturation([small_row(1, 1e4)], 0.95) == []
    block = small_row(1, 1e4)
    params = {name: value for name, value in block.params.items() if name != "queue_depth"}
    assert saturation([block.model_copy(update={"params": params})] * 2, 0.95) == []
