# SPDX-License-Identifier: Apache-2.0
"""The tables of a disk run: our number, the peer's, the ceiling, and whether rate and latency agree."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from support import sample_result
from support.make_records import plain_row
from ullage.model.record import Done, Latency, PhaseRecord, Stage
from ullage.model.summary import Ceiling, Peer, Row, Summary
from ullage.quantity import DASH
from ullage.report.contents import Content, Grid
from ullage.report.data import PhaseKey, ReportData, load
from ullage.suites.disk.report import tables

MIB = 1 << 20
CEILING = Ceiling(value=540e6, kind="declared", source="--ceiling")


def row(
    metric: str, median: float, *, peer: float | None = None, ceiling: Ceiling | None = None, **params: object
) -> Row:
    unit = {"bandwidth": "B/s", "operation_rate": "op/s"}.get(metric, "s")
    place = {"access": "read", "ranks": 1, "block_bytes": MIB, "order": "sequential", **params}
    case = "-".join(str(value) for key, value in place.items() if key != "access")
    other = None if peer is None else Peer(tool="fio", version="3.33", median=peer)
    return plain_row(median, place, metric=metric, unit=unit, target="here", case=case, ceiling=ceiling, peer=other)


def small(depth: int, rate: float, *, access: str = "read", peer: float | None = None) -> list[Row]:
    place = {"access": access, "block_bytes": 1024, "order": "random", "queue_depth": depth}
    return [
        row("operation_rate", rate, peer=peer, **place),
        row("latency_p50", depth / rate, peer=None if peer is None else depth / peer, **place),
        row("latency_p99", 3 * depth / rate, **place),
    ]


def phase(of: Row, in_flight: float) -> PhaseRecord:
    """A second of transfers, in which so many were under way on average."""
    second = 10**9
    return PhaseRecord(
        case=of.case,
        repetition=0,
        phase=str(of.params["access"]),
        access="read",
        status="ok",
        grade="A",
        ranks=1,
        start_ns=0,
        elapsed_ns=2 * second,
        bytes=1,
        operations=100,
        stages={"transfer": Stage(first_start_ns=second, last_stop_ns=2 * second, longest_ns=second)},
        first_done=Done(elapsed_ns=1, bytes=1, operations=1),
        last_done=Done(elapsed_ns=1, bytes=1, operations=1),
        latency=Latency(
            operations=100, sum_ns=int(in_flight * second), min_ns=1, max_ns=1, p50_ns=1, p95_ns=1, p99_ns=1, p999_ns=1
        ),
    )


def content(
    rows: Sequence[Row], phases: dict[PhaseKey, list[PhaseRecord]] | None = None, suite: str = "disk"
) -> Content:
    summary = Summary(suite=suite, run_id="r", created="now", rows=list(rows))
    found = tables(ReportData(summary, phases or {}))
    assert found is not None
    return found


def column(grid: Grid, heading: str) -> list[str]:
    assert all(len(cells) == len(grid.columns) for cells in grid.rows)
    return [cells[[head.heading for head in grid.columns].index(heading)].text for cells in grid.rows]


def test_other_suites_have_no_such_tables(tmp_path: Path) -> None:
    assert tables(load(sample_result.write_result(tmp_path / "sweep"))) is None
    assert tables(ReportData(Summary(suite="disk", run_id="r", created="now", rows=[]))) is None


def test_columns_nobody_fills_are_left_out_and_it_is_said_why() -> None:
    found = content([row("bandwidth", 1e8)])
    assert [head.heading for head in found.grids[0].columns] == ["workload", "threads", "block", "ours", "verdict"]
    assert found.notes == [
        "No other tool was run for comparison.",
        "No ceiling is known, so there is no efficiency. State one with --ceiling.",
    ]


def test_small_requests_stand_by_depth_with_latencies_and_the_peers() -> None:
    rows = [*small(32, 2e5, peer=1e5), *small(1, 1e4), *small(1, 5e3, access="write")]
    found = content(rows)
    (grid,) = found.grids
    assert grid.title == "small random requests"
    assert column(grid, "workload") == ["random reads", "random reads", "random writes"]
    assert column(grid, "depth") == ["1", "32", "1"]
    assert column(grid, "IOPS") == ["10.0 kop/s", "200 kop/s", "5.00 kop/s"]
    assert column(grid, "p50") == ["100 us", "160 us", "200 us"]
    assert column(grid, "p99") == ["300 us", "480 us", "600 us"]
    assert column(grid, "peer IOPS") == [DASH, "100 kop/s", DASH]
    assert found.notes[0].startswith("fio 3.33 did the same work in turn. Its buffers are in ordinary pages")


@pytest.mark.parametrize(
    ("in_flight", "said"), [(32.0, "holds"), (29.0, "holds"), (35.1, "holds"), (28.0, "broken"), (36.0, "broken")]
)
def test_rate_times_latency_has_to_be_what_is_kept_in_flight(in_flight: float, said: str) -> None:
    rows = small(32, 2e5)
    (grid,) = content(rows, {(rows[0].case, "read"): [phase(rows[0], in_flight)]}).grids
    assert column(grid, "Little's law") == [said]
    assert column(grid, "in flight") == [f"{in_flight:.2f}"]


def test_each_target_has_tables_of_its_own() -> None:
    rows = [row("bandwidth", 1e8), row("bandwidth", 2e8).model_copy(update={"target": "there"}), *small(1, 1e4)]
    rows[1] = rows[1].model_copy(update={"case": "other"})
    titles = [grid.title for grid in content(rows).grids]
    assert titles == ["here: blocks by threads", "here: small random requests", "there: blocks by threads"]
