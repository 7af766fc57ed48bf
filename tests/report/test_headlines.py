# SPDX-License-Identifier: Apache-2.0
"""The rows that stand for a part of the machine, and the ceilings that parts have in common."""

from support.flags import flags_of
from support.make_records import plain_row
from ullage.model.summary import Ceiling, Peer, Row
from ullage.report.headlines import headlines, storage_rule
from ullage.runs.ceilings import with_common_ceilings

MIB = 1 << 20


def row(metric: str, median: float, *, verdict: str = "cold", target: str = "here", **params: str | int) -> Row:
    unit = {"bandwidth": "B/s", "access_time": "s"}.get(metric, "op/s")
    own = {"metric": metric, "unit": unit, "target": target, "verdict": verdict, "suite": "disk", "case": ""}
    return plain_row([median] * 3, params, low=None, high=None, **own)


def told(rows: list[Row]) -> list[tuple[str, str, int]]:
    return [(found.part, found.what, found.row) for found in headlines(rows)]


def test_of_each_type_the_best_kernel_stands_for_the_cores() -> None:
    rows = [
        row("compute_rate", 1e9, access="compute", isa="scalar", type="fp64", operation="fma", threads=1),
        row("compute_rate", 9e9, access="compute", isa="avx512", type="fp64", operation="fma", threads=2),
        row("compute_rate", 5e9, access="compute", isa="avx2", type="int8", operation="dot", threads=1),
        row("compute_rate", 5e9, access="compute", isa="avx2", type="int16", operation="dot", threads=1),
        row("compute_rate", 8e9, operation="solve", type="fp64", n=5792, threads=2),
    ]
    assert told(rows) == [
        ("cores", "fp64 by avx512 fma, 2 threads", 1),
        ("cores", "int8 by avx2 dot, 1 thread", 2),
        ("cores", "linear solve (HPL), n=5792, 2 threads", 4),
    ]


def test_memory_is_what_no_cache_holds() -> None:
    rows = [
        row("memory_bandwidth", 9e11, kernel="read", level="L1", threads=1),
        row("memory_bandwidth", 2e10, kernel="read", level="DRAM", threads=2),
        row("memory_bandwidth", 3e10, kernel="triad", level="DRAM", threads=2, stores="non-temporal"),
        row("access_time", 9e-8, level="DRAM", working_set_bytes=1 << 30, pages="huge", locality="whole set"),
        row("access_time", 2e-7, level="DRAM", working_set_bytes=1 << 30, pages="small", locality="whole set"),
        row("access_time", 1e-8, level="DRAM", working_set_bytes=1 << 30, pages="small", chains=16),
    ]
    assert told(rows) == [
        ("memory", "read, 2 threads", 1),
        ("memory", "triad, non-temporal stores, 2 threads", 2),
        ("memory", "one load of 1G, huge pages", 3),
    ]


def test_disk_and_metadata() -> None:
    block = {"ranks": 2, "block_bytes": MIB, "order": "sequential"}
    rows = [
        row("bandwidth", 1e9, access="read", **block),
        row("bandwidth", 2e9, access="read", verdict="memory", target="shm", **block),
        row("operation_rate", 1e5, access="read", ranks=1, block_bytes=4096, order="random", queue_depth=64),
        row("operation_rate", 1e3, access="metadata", phase="mdtest-easy-write"),
        row("operation_rate", 1e3, access="write", phase="ior-easy-write"),
        row("operation_rate", 1e3, access="read", **block),
    ]
    assert told(rows) == [
        ("disk", "here: sequential reads of 1M, 2 ranks", 0),
        ("file system in memory", "shm: sequential reads of 1M, 2 ranks", 1),
        ("disk", "here: random reads of 4K, 1 rank, depth 64", 2),
        ("metadata", "mdtest-easy-write", 3),
    ]


def test_rows_of_a_kernel_are_named_by_what_it_does_and_not_by_the_rule_of_disks() -> None:
    of_pio = {"pattern": "segmented", "base_bytes": 0, "block_bytes": 4096, "calls": "collective", "ranks": 2}
    of_tile = {"tile": "256x192", "tiles": "2x1", "block_bytes": 196608, "ranks": 2}
    of_loader = {"threads_each": 4, "block_bytes": MIB, "preset": "unet3d", "ranks": 2}
    rows = [
        row("bandwidth", 1e9, access="write", **of_pio),
        row("bandwidth", 2e9, access="read", **of_tile),
        row("bandwidth", 3e9, access="write", accelerators=0, **of_loader),
        row("bandwidth", 4e9, access="epoch-1", accelerators=4, **of_loader),
        row("exposed_io", 1e-3, access="forward", layout="log", order="reverse", steps=20, ranks=2),
    ]
    assert {what for _, what, _ in told(rows)} == {
        "here: segmented writes of 4K, 2 ranks",
        "here: tiles of 256x192 read, 2 ranks",
        "here: samples of unet3d made, 2 ranks",
        "here: samples of unet3d read, 4 accelerators",
        "here: wait for writes of states (forward phase), layout log",
    }


def test_a_row_that_breaks_physics_stands_for_nothing_while_there_is_another() -> None:
    wrong = row("bandwidth", 9e9, access="read").model_copy(update={"flags": flags_of("INVALID:above-ceiling")})
    good = row("bandwidth", 1e9, access="read")
    assert [found.row for found in headlines([wrong, good])] == [1]
    assert [found.row for found in headlines([wrong])] == [0]


def test_the_best_of_any_part_stands_beside_a_target_that_nothing_bounds() -> None:
    ours = row("bandwidth", 1e9, access="read", ranks=1, block_bytes=MIB)
    peers = row("bandwidth", 5e8, access="read", ranks=1, block_bytes=MIB).model_copy(
        update={"suite": "sweep", "peer": Peer(tool="fio", version="3", median=2e9, samples=3)}
    )
    write = row("bandwidth", 1e8, access="write")
    first, second, third = with_common_ceilings([ours, peers, write])
    assert first.ceiling == second.ceiling
    assert first.ceiling is not None
    assert (first.ceiling.value, first.ceiling.kind, first.share, second.share) == (2e9, "empirical", None, None)
    assert "sweep" in first.ceiling.source
    assert third.share is None


def test_what_is_declared_or_came_from_a_cache_is_left_alone() -> None:
    declared = row("bandwidth", 1e9, access="read").model_copy(
        update={"ceiling": Ceiling(value=4e9, kind="declared", source="x"), "share": 0.25}
    )
    cached = row("bandwidth", 9e10, access="read", verdict="warm")
    other = row("bandwidth", 5e8, access="read")
    assert with_common_ceilings([declared, cached, other]) == [declared, cached, other]
    in_memory = row("bandwidth", 1e9, access="read", verdict="memory")
    assert with_common_ceilings([in_memory]) == [in_memory]
    cold, warm = with_common_ceilings([row("bandwidth", 1e9, access="read"), cached])
    assert cold.ceiling is not None
    assert (cold.ceiling.value, warm.ceiling) == (1e9, None)


def test_the_best_that_counts_is_no_ceiling_where_another_row_was_faster() -> None:
    """All rows of large blocks were disturbed and no row of small ones: their best was not the best reached."""
    block = {"ranks": 1, "order": "random", "access": "read"}
    small = row("bandwidth", 1e8, block_bytes=1024, **block)
    large = row("bandwidth", 3e9, block_bytes=MIB, **block).model_copy(update={"grade": "C"})
    assert [one.ceiling for one in with_common_ceilings([small, large])] == [None, None]
    lucky = row("bandwidth", 1.05e8, block_bytes=2048, **block).model_copy(update={"grade": "C"})
    ceilings = [one.ceiling for one in with_common_ceilings([small, lucky])]
    assert [one.value for one in ceilings if one is not None] == [1e8, 1e8]


def test_a_rule_of_a_storage_suite_takes_its_rows_alone_and_of_each_phase_the_best() -> None:
    rule = storage_rule("{target}: {done}, {form}, {ranks}", "form", of_device=True)
    mine = [row("bandwidth", value, access="write", form="raw", ranks=2) for value in (1e9, 3e9)]
    of_another = row("bandwidth", 9e9, access="write", ranks=2)
    of_memory = row("bandwidth", 9e9, access="read", form="raw", ranks=1, verdict="warm")
    other_phase = row("bandwidth", 9e9, access="open", form="raw", ranks=1)
    assert [rule.applies(one) for one in (*mine, of_another, of_memory, other_phase)] == [
        True,
        True,
        False,
        False,
        False,
    ]
    assert rule.what(mine[0]) == "here: written, raw, 2 ranks"
