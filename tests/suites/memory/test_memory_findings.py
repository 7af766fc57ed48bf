# SPDX-License-Identifier: Apache-2.0
"""Sentences of a memory run, over rows."""

from collections.abc import Sequence

import pytest

from suites.memory.conftest import CACHES, KIB, MIB, chase, launch, loaded, repetition, stream
from ullage.model.record import CaseRecord
from ullage.model.summary import Finding, Row
from ullage.results.records import AnyRecord
from ullage.results.rows import RowContext
from ullage.suites.memory.bandwidth_findings import bandwidth_findings
from ullage.suites.memory.latency_findings import Plateau, latency_findings, plateaus
from ullage.suites.memory.rows import memory_rows, with_ceilings

BEYOND = 128 * MIB


def findings(*cases: list) -> dict[str, list[Finding]]:  # type: ignore[type-arg]
    rows = with_ceilings(memory_rows([launch(*cases)], RowContext(), CACHES), None)
    found: dict[str, list[Finding]] = {}
    for one in [*bandwidth_findings(rows, 0.95), *latency_findings(rows, CACHES, 0.95)]:
        found.setdefault(one.kind, []).append(one)
    return found


def writes(ordinary: float, streaming: float) -> list[list]:  # type: ignore[type-arg]
    return [
        stream("write", BEYOND, ordinary, bus=2 * ordinary, threads=2),
        stream("write", BEYOND, streaming, threads=2, stores="non-temporal"),
    ]


def test_without_rows_nothing_is_said() -> None:
    assert findings() == {}


@pytest.mark.parametrize(
    ("streaming", "holds"), [(20e9, True), (25e9, True), (27e9, False), (13e9, False), (15e9, True)]
)
def test_write_allocate_is_held_against_twice_the_ordinary_writes(streaming: float, holds: bool) -> None:
    (found,) = findings(*writes(10e9, streaming))["write-allocate"]
    assert found.numbers["ratio"] == pytest.approx(streaming / 20e9)
    assert found.severity == ("info" if holds else "warning")
    assert ("Write-allocate explains" in found.title) == holds


def noisy(rows: list[Row], params: dict[str, object], factors: Sequence[float]) -> list[Row]:
    """``rows``, of which those with ``params`` have a repetition for each of ``factors``."""
    return [
        row.model_copy(update={"repetitions": [row.median * one for one in factors]})
        if params.items() <= row.params.items()
        else row
        for row in rows
    ]


def test_write_allocate_is_no_explanation_where_the_interval_tells_neither() -> None:
    rows = with_ceilings(memory_rows([launch(*writes(10e9, 20e9))], RowContext(), CACHES), None)
    wide = noisy(rows, {"stores": "non-temporal"}, [0.5, 1.6, 0.7, 1.4, 0.6, 1.8])
    (found,) = [one for one in bandwidth_findings(wide, 0.95) if one.kind == "write-allocate"]
    assert found.title.startswith("Write-allocate may explain")
    assert found.severity == "info"


def test_what_non_temporal_stores_bring_is_advised_where_they_bring_something() -> None:
    (found,) = findings(*writes(10e9, 19e9))["non-temporal"]
    assert found.severity == "advice"
    assert "write 1.90 x (saving the fetch: 2.00 x)" in found.text
    assert "does not explain" not in found.text
    (found,) = findings(*writes(10e9, 10.1e9))["non-temporal"]
    assert found.severity == "info"


def test_more_than_the_fetch_of_a_line_can_cost_is_not_explained_by_it() -> None:
    scale = [
        stream("scale", BEYOND, 10e9, threads=2),
        stream("scale", BEYOND, 17.1e9, threads=2, stores="non-temporal"),
    ]
    (found,) = findings(*scale)["non-temporal"]
    assert "scale 1.71 x (saving the fetch: 1.50 x)" in found.text
    assert "Saving the fetch of each stored line does not explain all of it for scale." in found.text


@pytest.mark.parametrize("samples", [1, 2])
def test_few_samples_of_memory_tell_neither_a_highest_rate_nor_levels(samples: int) -> None:
    def cut(records: list) -> list:  # type: ignore[type-arg]
        return records[: 2 * samples]

    streams = [cut(stream("read", BEYOND, rate, threads=threads)) for threads, rate in ((1, 1e10), (2, 2e10))]
    chases = [cut(chase(size * KIB, time)) for size, time in ((4, 1e-9), (8, 1e-9), (64, 4e-9), (128, 4e-9))]
    told = findings(*streams, *map(cut, writes(10e9, 19e9)), *chases)
    assert "memory-bandwidth" not in told
    assert "memory-threads" not in told
    assert "write-allocate" not in told
    assert "non-temporal" not in told
    assert "cache-ends" not in told


@pytest.mark.parametrize(
    ("rates", "expected"),
    [
        ((10e9, 20e9, 40e9), "Reads from memory reach 40.0 GB/s with 4 threads, 4.00 x the rate of 1 thread."),
        (
            (30e9, 30e9, 30.5e9),
            "Reads from memory reach 30.0 GB/s with 1 thread. That is at least 90 % of the highest median, 30.5 GB/s",
        ),
        (
            (10e9, 20e9, 20.1e9),
            "Reads from memory reach 20.0 GB/s with 2 threads, 2.00 x the rate of 1 thread. That is at least",
        ),
    ],
)
def test_where_threads_stop_helping_is_said(rates: tuple[float, ...], expected: str) -> None:
    cases = [stream("read", BEYOND, rate, threads=threads) for threads, rate in zip((1, 2, 4), rates, strict=True)]
    (found,) = findings(*cases)["memory-threads"]
    assert found.text.startswith(expected)
    assert found.numbers["threads"] == [1, 2, 4]


def test_a_random_order_of_blocks_is_held_against_the_ordered_one() -> None:
    cases = [
        stream("copy", BEYOND, rate, block_bytes=block, order=order)
        for order, block, rate in (("sequential", KIB, 10e9), ("random", KIB, 4e9), ("sequential", MIB, 10e9))
    ]
    (found,) = findings(*cases)["block-order"]
    assert found.text == "Copies of blocks in random order reach, of the rate in order: 1K 40 % (1 thread)."


def test_the_latency_of_memory_names_its_conditions() -> None:
    found = findings(
        chase(256 * MIB, 140e-9),
        chase(256 * MIB, 180e-9, pages="small"),
        chase(256 * MIB, 60e-9, pages="small", locality_bytes=256 * KIB),
        chase(256 * MIB, 178e-9, pages="default"),
    )
    (told,) = found["memory-latency"]
    for word in (
        "140 ns in huge pages",
        "180 ns in small pages",
        "60.0 ns within a few small pages",
        "256M",
        "64 bytes",
    ):
        assert word in told.text
    (pages,) = found["huge-pages"]
    assert pages.severity == "advice"
    assert "1.29 x as fast" in pages.text
    assert "must ask for them" in pages.text


def test_programs_that_get_huge_pages_unasked_need_no_advice() -> None:
    found = findings(
        chase(256 * MIB, 140e-9), chase(256 * MIB, 180e-9, pages="small"), chase(256 * MIB, 142e-9, pages="default")
    )
    (pages,) = found["huge-pages"]
    assert pages.severity == "info"
    assert "without asking" in pages.text


def test_ends_of_caches_are_those_of_the_plateaus() -> None:
    curve = [(4, 1.0), (8, 1.0), (16, 1.0), (32, 1.0), (64, 4.0), (128, 4.1), (512, 4.2), (1024, 6.0), (2048, 12.0)]
    curve += [(8192, 13.0), (131072, 100.0), (262144, 105.0)]
    (found,) = findings(*(chase(size * KIB, time * 1e-9) for size, time in curve))["cache-ends"]
    assert found.numbers["ends_bytes"] == [32 * KIB, 512 * KIB, 8 * MIB]
    assert "The kernel states L1 32K, L2 1M and L3 32M." in found.text


def test_a_level_ends_where_its_sizes_end() -> None:
    curve = [(32, 1.0), (48, 1.0), (64, 3.9), (128, 3.8), (256, 9.0), (1024, 19.0), (262144, 101.0)]
    (found,) = findings(*(chase(size * KIB, time * 1e-9) for size, time in curve))["cache-ends"]
    assert found.text.startswith(
        "Access time has 2 levels: 1.00 ns up to 48K and 3.90 ns from 64K to 128K. Beyond 128K it has no level: it is "
        "101 ns at 256M."
    )


def test_plateaus_are_stretches_of_like_values_in_any_order() -> None:
    assert plateaus([]) == []
    assert plateaus([(1, 1.0), (2, 2.0), (4, 4.0)]) == []
    assert plateaus([(4, 1.05), (1, 1.0), (8, 9.0), (2, 1.0)]) == [Plateau(1, 4, 1.0)]
    drifting = [(size, 1.1**index) for index, size in enumerate((1, 2, 4, 8, 16, 32))]
    assert all(one.last / one.first <= 4 for one in plateaus(drifting)), "a slope of small steps is no plateau"


def test_loads_at_once_are_told_against_one_chain() -> None:
    (found,) = findings(*(chase(256 * MIB, time, chains=n) for n, time in ((1, 100e-9), (4, 26e-9), (16, 10e-9))))[
        "parallel-loads"
    ]
    assert "10.0 x as many loads" in found.text
    assert found.numbers["chains"] == [1, 4, 16]
    assert "parallel-loads" not in findings(chase(256 * MIB, 1e-7))


@pytest.mark.parametrize(("busy", "queues"), [(145e-9, False), (300e-9, True)])
def test_under_load_it_is_said_whether_loads_queue(busy: float, queues: bool) -> None:
    (found,) = findings(loaded("read", 20000, 1e6, 140e-9), loaded("read", 0, 9e9, busy))["loaded-latency"]
    assert "and 140 ns with the least of it" in found.text
    assert ("From 9.00 GB/s on" in found.text) == queues
    assert ("It stays below" in found.text) != queues


@pytest.mark.parametrize("factors", [[1.0], [0.6, 1.7, 0.8, 1.5, 0.5, 1.6]])
def test_load_by_noise_or_of_one_sample_neither_queues_nor_stays_below(factors: list[float]) -> None:
    cases = loaded("read", 20000, 1e6, 140e-9), loaded("read", 0, 9e9, 220e-9)
    rows = with_ceilings(memory_rows([launch(*cases)], RowContext(), CACHES), None)
    wide = noisy(rows, {"access": "loaded-latency"}, factors)
    (found,) = [one for one in latency_findings(wide, CACHES, 0.95) if one.kind == "loaded-latency"]
    assert "GB/s on it is" not in found.text
    assert "stays below" not in found.text


def test_near_and_far_cores_and_nodes_are_named() -> None:
    pairs = [
        repetition(f"p{b}", "core-to-core", {"cpu_a": 0, "cpu_b": b}, {"round_trips": 1e6, "kernel_s": s})
        for b, s in ((1, 0.05), (8, 0.2))
    ]
    (found,) = findings(*pairs)["core-to-core"]
    assert "50.0 ns (CPU 0 to CPU 1) to 200 ns (CPU 0 to CPU 8)" in found.text
    nodes = [chase(256 * MIB, t, cpu_node=0, memory_node=node) for node, t in ((0, 90e-9), (1, 150e-9))]
    (found,) = findings(*nodes)["numa"]
    assert "150 ns" in found.text
    assert "numa" not in findings(nodes[0])


def test_random_updates_are_told_in_gups() -> None:
    case = repetition("u", "updates", {"threads": 2, "table_bytes": 256 * MIB}, {"updates": 8e6, "kernel_s": 0.1})
    (found,) = findings(case)["random-updates"]
    assert (
        found.text
        == "Random updates of a table of 256M reach 0.08 GUPS with 2 threads. Each thread does one in 25.0 ns."
    )


def test_a_set_that_fits_the_last_cache_is_not_called_memory() -> None:
    """A chase beside other cores, and one from another NUMA node, over 16 MiB under a last cache of 32."""

    def shrunk(record: AnyRecord) -> AnyRecord:
        if not isinstance(record, CaseRecord):
            return record
        given = {**record.workload_parameters, "working_set_bytes": 16 * MIB}
        return record.model_copy(update={"workload_parameters": given})

    cases = [loaded("read", 0, 8e9, 80e-9), loaded("read", 200, 1e9, 20e-9)]
    small = [[shrunk(record) for record in case] for case in cases]
    far = [chase(16 * MIB, 50e-9, cpu_node=0, memory_node=node) for node in (0, 1)]
    assert not {"loaded-latency", "numa", "memory-latency", "memory-bandwidth"} & findings(*small, *far).keys()
    assert "loaded-latency" in findings(*cases)
