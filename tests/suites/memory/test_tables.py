# SPDX-License-Identifier: Apache-2.0
"""The tables of a memory run: the seed's with peer and ceiling, kernels counted both ways, times of each level."""

from collections.abc import Sequence

from support.make_records import plain_row
from ullage.model.summary import Ceiling, Peer, Row, Summary
from ullage.quantity import DASH
from ullage.report.contents import Content, Grid
from ullage.report.data import ReportData
from ullage.suites.memory.report import SECTION, tables

KIB, MIB = 1 << 10, 1 << 20
CEILING = Ceiling(value=40e9, kind="empirical", source="the best of this run: read")


def row(
    metric: str, median: float, *, peer: float | None = None, ceiling: Ceiling | None = None, **params: object
) -> Row:
    unit = {"access_time": "s", "core_round_trip": "s", "update_rate": "update/s"}.get(metric, "B/s")
    other = None if peer is None else Peer(tool="mbw", version="1.2", median=peer)
    own = {"metric": metric, "unit": unit, "target": "memory", "verdict": "none"}
    return plain_row(median, params, ceiling=ceiling, peer=other, **own)


def block(order: str, threads: int, size: int, rate: float, **more: object) -> Row:
    place = {"access": "stream", "kernel": "copy", "stores": "ordinary", "threads": threads}
    place |= {"working_set_bytes": 128 * MIB, "order": order, "block_bytes": size, "level": "DRAM"}
    return row("memory_bandwidth", rate, **place, **more)  # type: ignore[arg-type]


def kernel(name: str, rate: float, *, bus: float | None = None, size: int = 128 * MIB, **more: object) -> list[Row]:
    usual: dict[str, object] = {"access": "stream", "kernel": name, "threads": 1, "working_set_bytes": size}
    place: dict[str, object] = {**usual, "level": "DRAM", **more}
    of_application = CEILING.model_copy(update={"value": CEILING.value * rate / (bus or rate)})
    rows = [row("memory_bandwidth", rate, ceiling=of_application, **place)]  # type: ignore[arg-type]
    return rows if bus is None else [*rows, row("bus_bandwidth", bus, ceiling=CEILING, **place)]  # type: ignore[arg-type]


def chase(size: int, seconds: float, pages: str = "huge", **more: object) -> Row:
    place: dict[str, object] = {"access": "chase", "threads": 1, "working_set_bytes": size, "pages": pages}
    return row("access_time", seconds, **{**place, "locality": "whole set", "chains": 1, **more})  # type: ignore[arg-type]


def content(rows: Sequence[Row]) -> Content:
    found = tables(ReportData(Summary(suite="memory", run_id="r", created="now", rows=list(rows))))
    assert found is not None
    return found


def grid(rows: Sequence[Row], title: str) -> Grid:
    (found,) = [one for one in content(rows).grids if one.title.startswith(title)]
    return found


def column(of: Grid, heading: str) -> list[str]:
    assert all(len(cells) == len(of.columns) for cells in of.rows)
    return [cells[[head.heading for head in of.columns].index(heading)].text for cells in of.rows]


def test_other_suites_have_no_such_tables() -> None:
    assert tables(ReportData(Summary(suite="disk", run_id="r", created="now", rows=kernel("read", 1e9)))) is None
    assert tables(ReportData(Summary(suite="memory", run_id="r", created="now", rows=[]))) is None
    assert SECTION.suite == "memory"


def test_rows_of_a_run_of_several_suites_are_found_by_their_suite() -> None:
    own = [one.model_copy(update={"suite": "memory"}) for one in kernel("read", 1e9)]
    assert tables(ReportData(Summary(suite="node", run_id="r", created="now", rows=own))) is not None


def test_the_seeds_table_has_peer_ceiling_and_both_efficiencies() -> None:
    found = grid(
        [
            block("random", 1, KIB, 4e9, ceiling=CEILING),
            block("sequential", 2, KIB, 20e9, ceiling=CEILING),
            block("sequential", 1, MIB, 12e9, ceiling=CEILING),
            block("sequential", 1, KIB, 10e9, peer=8e9, ceiling=CEILING),
        ],
        "copies of blocks",
    )
    assert column(found, "workload") == ["RWS", "RWS", "RWS", "RWR"]
    assert column(found, "threads") == ["1", "1", "2", "1"]
    assert column(found, "block") == ["1K", "1M", "1K", "1K"]
    assert column(found, "ours") == ["10.0 GB/s", "12.0 GB/s", "20.0 GB/s", "4.00 GB/s"]
    assert column(found, "peer") == ["8.00 GB/s", DASH, DASH, DASH]
    assert column(found, "ceiling") == ["40.0 GB/s"] * 4, "never multiplied by threads"
    assert column(found, "our efficiency") == ["25 %", "30 %", "50 %", "10 %"]
    assert column(found, "peer's efficiency") == ["20 %", DASH, DASH, DASH]


def test_without_peers_and_ceilings_their_columns_are_gone_and_a_note_says_so() -> None:
    rows = [block("sequential", 1, KIB, 10e9)]
    heads = [head.heading for head in grid(rows, "copies of blocks").columns]
    assert not {"peer", "peer's efficiency", "ceiling", "our efficiency"} & set(heads)
    notes = " ".join(content(rows).notes)
    assert "No other tool was run for comparison" in notes
    assert "memory has no ceiling here" in notes


def test_kernels_are_told_by_both_ways_of_counting() -> None:
    rows = [
        *kernel("copy", 20e9, bus=20e9, stores="non-temporal"),
        *kernel("copy", 16e9, bus=24e9, stores="ordinary"),
        *kernel("read", 18e9, bus=18e9),
        *kernel("read", 90e9, size=MIB, level="L2"),
    ]
    found = grid(rows, "kernels over 128M")
    assert column(found, "kernel") == ["read", "copy", "copy"]
    assert column(found, "stores") == [DASH, "ordinary", "non-temporal"]
    assert column(found, "application") == ["18.0 GB/s", "16.0 GB/s", "20.0 GB/s"]
    assert column(found, "on the bus") == ["18.0 GB/s", "24.0 GB/s", "20.0 GB/s"]
    assert column(found, "ceiling of bus") == ["40.0 GB/s"] * 3, "of the same bytes as the share"
    assert column(found, "share of bus") == ["45 %", "60 %", "50 %"]


def test_each_level_tells_the_best_of_its_sets() -> None:
    rows = [
        *kernel("read", 20e9),
        *kernel("read", 200e9, size=8 * KIB, level="L1"),
        *kernel("read", 220e9, size=16 * KIB, level="L1"),
        *kernel("triad", 210e9, size=16 * KIB, level="L1", stores="ordinary"),
    ]
    found = grid(rows, "the best of each level")
    assert column(found, "level") == ["L1", "DRAM"]
    assert column(found, "read") == ["220 GB/s", "20.0 GB/s"]
    assert column(found, "triad") == ["210 GB/s", DASH]


def test_times_of_each_level_are_of_one_set_by_kind_of_pages() -> None:
    rows = [
        chase(4 * KIB, 1.3e-9, level="L1"),
        chase(16 * KIB, 1.4e-9, level="L1"),
        chase(32 * KIB, 2e-9, level="L1"),
        chase(256 * MIB, 140e-9, level="DRAM"),
        chase(256 * MIB, 180e-9, "small", level="DRAM"),
        chase(256 * MIB, 60e-9, "small", level="DRAM", locality="local", locality_bytes=256 * KIB),
    ]
    found = grid(rows, "access time of each level")
    assert column(found, "level") == ["L1", "DRAM"]
    assert column(found, "working set") == ["16K", "256M"], "the largest of a cache leaves no room for anything else"
    assert column(found, "huge pages") == ["1.40 ns", "140 ns"]
    assert column(found, "small pages") == [DASH, "180 ns"]
    assert column(found, "small pages, 256K at a time") == [DASH, "60.0 ns"]


def test_loads_at_once_and_under_load_have_tables() -> None:
    rows = [
        chase(256 * MIB, 140e-9, level="DRAM"),
        chase(256 * MIB, 14e-9, level="DRAM", chains=16),
        row("access_time", 200e-9, access="loaded-latency", injection="read", injectors=1, delay=0),
        row("injected_bandwidth", 9e9, access="loaded-latency", injection="read", injectors=1, delay=0),
        row("access_time", 150e-9, access="loaded-latency", injection="read", injectors=1, delay=100),
    ]
    at_once = grid(rows, "chases at once")
    assert column(at_once, "chains") == ["1", "16"]
    assert column(at_once, "loads to one chain's") == ["1.00", "10.0"]
    loaded = grid(rows, "access time under load")
    assert column(loaded, "bandwidth") == ["0.00 B/s", "9.00 GB/s"]
    assert column(loaded, "access time") == ["150 ns", "200 ns"]


def test_pairs_of_cores_are_a_matrix() -> None:
    found = grid(
        [row("core_round_trip", 50e-9, cpu_a=0, cpu_b=3), row("core_round_trip", 90e-9, cpu_a=0, cpu_b=7)], "a line"
    )
    assert [head.heading for head in found.columns] == ["CPU", "0", "3", "7"]
    assert [[cell.text for cell in line] for line in found.rows] == [
        ["0", "", "50.0 ns", "90.0 ns"],
        ["3", "50.0 ns", "", ""],
        ["7", "90.0 ns", "", ""],
    ]


def test_numa_nodes_and_random_updates_have_tables() -> None:
    rows = [
        *kernel("read", 20e9, cpu_node=0, memory_node=1, threads=4),
        chase(256 * MIB, 150e-9, cpu_node=0, memory_node=1),
        row("update_rate", 77.5e6, threads=2, table_bytes=256 * MIB),
    ]
    nodes = grid(rows, "NUMA")
    assert [column(nodes, head) for head in ("cores of node", "memory of node", "threads", "read", "access time")] == [
        ["0"],
        ["1"],
        ["4"],
        ["20.0 GB/s"],
        ["150 ns"],
    ]
    assert column(grid(rows, "random updates"), "GUPS") == ["0.0775"]
