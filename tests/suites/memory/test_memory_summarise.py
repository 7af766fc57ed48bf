# SPDX-License-Identifier: Apache-2.0
"""Rows, ceilings and what a row says of itself, from records alone."""

import pytest

from suites.memory.conftest import CACHES, KIB, MIB, chase, launch, loaded, repetition, stream
from ullage.model.machine import DeclaredMemory, MachineFile
from ullage.model.record import PeerRecord
from ullage.model.summary import Row
from ullage.results.rows import RowContext, with_peers
from ullage.suites.memory.rows import memory_rows, with_ceilings


def rows_of(*cases: list, machine: MachineFile | None = None) -> list[Row]:  # type: ignore[type-arg]
    return with_ceilings(memory_rows([launch(*cases)], RowContext(), CACHES), machine)


def one(rows: list[Row], metric: str, **params: object) -> Row:
    (found,) = [
        row
        for row in rows
        if row.metric == metric and all(row.params.get(name) == value for name, value in params.items())
    ]
    return found


def test_a_row_says_all_that_decides_its_number() -> None:
    rows = rows_of(stream("copy", 128 * MIB, 20e9, bus=30e9, threads=2, stores="ordinary"))
    row = one(rows, "memory_bandwidth")
    assert row.params == {
        "access": "stream",
        "kernel": "copy",
        "stores": "ordinary",
        "threads": 2,
        "working_set_bytes": 128 * MIB,
        "level": "DRAM",
    }
    assert row.median == pytest.approx(20e9)
    assert one(rows, "bus_bandwidth").median == pytest.approx(30e9)
    assert row.verdict == "none"
    assert row.reasons == ["the range of 3 repetitions covers the median with a probability of 75 %"]


def test_blocks_have_an_order_and_reads_no_stores() -> None:
    rows = rows_of(stream("copy", 128 * MIB, 9e9, order="random", block_bytes=KIB), stream("read", 4 * KIB, 2e11))
    blocks = one(rows, "memory_bandwidth", kernel="copy")
    assert (blocks.params["order"], blocks.params["block_bytes"]) == ("random", KIB)
    read = one(rows, "memory_bandwidth", kernel="read")
    assert "stores" not in read.params
    assert read.params["level"] == "L1"


def test_bytes_on_the_bus_are_told_of_sets_that_no_cache_holds() -> None:
    rows = rows_of(stream("copy", MIB, 9e10, bus=13e10), stream("copy", 64 * MIB, 4e10, bus=6e10))
    assert {row.metric for row in rows} == {"memory_bandwidth"}


def test_a_chase_tells_pages_locality_chains_and_stride() -> None:
    rows = rows_of(
        chase(256 * MIB, 140e-9), chase(256 * MIB, 65e-9, pages="small", locality_bytes=256 * KIB), chase(8 * KIB, 1e-9)
    )
    whole = one(rows, "access_time", locality="whole set", level="DRAM")
    assert whole.median == pytest.approx(140e-9)
    assert (whole.params["pages"], whole.params["chains"], whole.params["stride_bytes"]) == ("huge", 1, 64)
    assert whole.notes == ["100 % of the set lay in huge pages"]
    local = one(rows, "access_time", locality="local")
    assert local.params["locality_bytes"] == 256 * KIB
    assert one(rows, "access_time", level="L1").flag_codes == ["interval-below-95"], "a small set needs no huge pages"


def test_huge_pages_that_were_not_given_are_flagged() -> None:
    records = chase(256 * MIB, 200e-9)
    for record in records:
        if record.kind == "phase":
            record.gauges["huge_bytes"] = record.gauges["huge_bytes"].model_copy(update={"sum": 2.0 * MIB})
    (row,) = rows_of(records)
    assert "no-huge-pages" in row.flag_codes
    assert row.reason_of("no-huge-pages").startswith("1 % of the set lay in huge pages")


def test_the_best_bus_rate_of_any_kernel_bounds_all_with_as_many_threads() -> None:
    rows = rows_of(
        stream("read", 128 * MIB, 20e9),
        stream("read", 128 * MIB, 32e9, threads=2),
        stream("write", 128 * MIB, 18e9, bus=36e9, threads=2),
        stream("read-write", 128 * MIB, 40e9, threads=2),
        stream("copy", 128 * MIB, 30e9, bus=30e9, threads=2, stores="non-temporal"),
    )
    read = one(rows, "memory_bandwidth", kernel="read", threads=2)
    assert read.share == pytest.approx(32 / 40)
    assert one(rows, "memory_bandwidth", kernel="read", threads=1).share == pytest.approx(1), "not by other cores"
    written = one(rows, "bus_bandwidth", kernel="write")
    assert written.ceiling is not None
    assert written.ceiling.value == pytest.approx(40e9)
    assert (written.ceiling.kind, bool(written.ceiling.why)) == ("measured", True)
    assert "bus bytes of read-write, 2 threads, 128M" in written.ceiling.source
    assert one(rows, "memory_bandwidth", kernel="copy").share == pytest.approx(30 / 40)


def test_application_bytes_have_the_share_that_their_bytes_on_the_bus_have() -> None:
    """Today's fault: 54 % of a ceiling in bus bytes where the same page says 92 % of the bus."""
    rows = rows_of(
        stream("write", 128 * MIB, 18e9, bus=36e9),
        stream("copy", 128 * MIB, 20e9, bus=30e9),
        machine=MachineFile(memory=DeclaredMemory(bandwidth=40e9)),
    )
    for kernel, share in (("write", 0.9), ("copy", 0.75)):
        named, on_bus = (one(rows, metric, kernel=kernel) for metric in ("memory_bandwidth", "bus_bandwidth"))
        assert on_bus.ceiling is not None
        assert on_bus.ceiling.value == 40e9
        assert (named.share, on_bus.share) == (pytest.approx(share), pytest.approx(share))
    written = one(rows, "memory_bandwidth", kernel="write")
    assert written.ceiling is not None
    assert written.ceiling.value == pytest.approx(20e9)
    assert "2 bytes cross the bus for each that the kernel names" in written.ceiling.source


def test_two_samples_or_a_disturbed_row_make_no_ceiling() -> None:
    case = stream("read", 128 * MIB, 20e9)
    assert one(rows_of(case[:4]), "memory_bandwidth").ceiling is None
    assert one(rows_of(case), "memory_bandwidth").ceiling is not None
    dirty = [record.model_copy(update={"grade": "C"}) if record.kind == "phase" else record for record in case]
    assert one(rows_of(dirty), "memory_bandwidth").ceiling is None


def test_a_declared_ceiling_takes_its_place_and_is_never_multiplied() -> None:
    machine = MachineFile(memory=DeclaredMemory(channels=2, transfers_per_s=3200e6, latency_s=80e-9))
    rows = rows_of(
        stream("read", 128 * MIB, 20e9),
        stream("read", 128 * MIB, 60e9, threads=2),
        stream("read", 4 * KIB, 3e11),
        chase(256 * MIB, 100e-9),
        chase(256 * MIB, 20e-9, chains=8),
        machine=machine,
    )
    reads = [row for row in rows if row.params.get("kernel") == "read" and row.params.get("level") == "DRAM"]
    assert {row.ceiling.value for row in reads if row.ceiling is not None} == {51.2e9}
    assert "INVALID:above-ceiling" in one(rows, "memory_bandwidth", threads=2).flag_codes
    time = one(rows, "access_time", chains=1)
    assert time.share == pytest.approx(0.8), "of a time: what it could be over what it is"
    assert one(rows, "access_time", chains=8).ceiling is None
    cached = one(rows, "memory_bandwidth", level="L1")
    assert cached.ceiling is not None
    assert cached.ceiling.kind == "empirical"


def test_a_cache_is_bounded_by_the_same_mix_and_threads() -> None:
    rows = rows_of(
        stream("read", 16 * KIB, 1e11),
        stream("read", 24 * KIB, 2e11),
        stream("copy", 16 * KIB, 3e11),
        stream("read", 32 * KIB, 4e11, threads=2),
        stream("read", 16 * MIB, 5e10),
        stream("read", 16 * MIB, 8e10, threads=2),
    )
    first = one(rows, "memory_bandwidth", level="L1", working_set_bytes=16 * KIB, kernel="read", threads=1)
    assert first.share == pytest.approx(0.5), "of the best read with one thread"
    assert one(rows, "memory_bandwidth", level="L3", threads=1).share == pytest.approx(1)


def test_between_levels_and_between_nodes_there_is_no_ceiling() -> None:
    rows = rows_of(
        stream("read", 64 * MIB, 4e10),
        stream("read", 128 * MIB, 2e10, threads=2, cpu_node=0, memory_node=1),
        stream("read", 128 * MIB, 3e10, threads=2, cpu_node=0, memory_node=0),
    )
    assert one(rows, "memory_bandwidth", working_set_bytes=64 * MIB).ceiling is None
    assert one(rows, "memory_bandwidth", memory_node=1).ceiling is None
    assert one(rows, "memory_bandwidth", memory_node=0).share == pytest.approx(1)


def test_a_peer_that_reaches_more_raises_the_measured_ceiling() -> None:
    records = launch(stream("read", 128 * MIB, 20e9))
    rows = memory_rows([records], RowContext(), CACHES)
    peers = [
        PeerRecord(
            case=rows[0].case,
            phase="stream",
            tool="sysbench",
            version="1",
            repetition=repetition,
            values={"memory_bandwidth": 25e9},
            command=["sysbench"],
        )
        for repetition in range(3)
    ]
    # A single run of the tool bounds nothing.
    few = one(with_ceilings(with_peers(rows, peers[:2]), None), "memory_bandwidth").ceiling
    assert few is None or few.value < 25e9
    row = one(with_ceilings(with_peers(rows, peers), None), "memory_bandwidth")
    assert row.peer is not None
    assert row.ceiling is not None
    assert row.ceiling.value == 25e9
    assert row.ceiling.source.startswith("the best bus rate of any kernel: sysbench")


def test_other_suites_cases_are_left_out() -> None:
    other = repetition("c9", "compute", {"threads": 1}, {"operations": 1e9, "kernel_s": 1.0}, target="cpu")
    assert rows_of(other) == []


def test_load_updates_and_cores_have_rows() -> None:
    rows = rows_of(
        loaded("read", 0, 8e9, 150e-9),
        repetition("u", "updates", {"threads": 2, "table_bytes": 256 * MIB}, {"updates": 5e6, "kernel_s": 0.1}),
        repetition("p", "core-to-core", {"cpu_a": 0, "cpu_b": 1}, {"round_trips": 1e6, "kernel_s": 0.2}),
    )
    assert one(rows, "access_time").params["injectors"] == 1
    assert one(rows, "injected_bandwidth").median == pytest.approx(8e9)
    assert one(rows, "update_rate").median == pytest.approx(5e7)
    assert one(rows, "update_rate").params["table_bytes"] == 256 * MIB
    assert one(rows, "core_round_trip").median == pytest.approx(2e-7)
    assert one(rows, "core_round_trip").params == {"access": "core-to-core", "cpu_a": 0, "cpu_b": 1}
