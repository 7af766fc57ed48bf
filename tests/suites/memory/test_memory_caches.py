# SPDX-License-Identifier: Apache-2.0
"""Caches as the kernel states them, and where a set lies."""

from pathlib import Path

import pytest

from suites.memory.conftest import CACHES, KIB, MIB
from ullage.suites.memory.options import Cache, last_bytes, level_of, read_caches


def put_cache(root: Path, index: int, level: int, kind: str, size: str, shared: str) -> None:
    folder = root / f"sys/devices/system/cpu/cpu0/cache/index{index}"
    folder.mkdir(parents=True)
    for name, text in (("level", str(level)), ("type", kind), ("size", size), ("shared_cpu_list", shared)):
        (folder / name).write_text(text + "\n")


def put_core(root: Path, cpu: int, core: int) -> None:
    folder = root / f"sys/devices/system/cpu/cpu{cpu}/topology"
    folder.mkdir(parents=True)
    (folder / "physical_package_id").write_text("0\n")
    (folder / "core_id").write_text(f"{core}\n")


def test_data_caches_are_read_with_the_cores_that_share_them(tmp_path: Path) -> None:
    put_cache(tmp_path, 0, 1, "Data", "32K", "0,2")
    put_cache(tmp_path, 1, 1, "Instruction", "64K", "0,2")
    put_cache(tmp_path, 2, 2, "Unified", "1024K", "0,2")
    put_cache(tmp_path, 3, 3, "Unified", "32M", "0-3")
    for cpu, core in ((0, 0), (1, 1), (2, 0), (3, 1)):
        put_core(tmp_path, cpu, core)
    assert read_caches(tmp_path, [0]) == [
        Cache(level=1, bytes=32 * KIB, cores=1),
        Cache(level=2, bytes=MIB, cores=1),
        Cache(level=3, bytes=32 * MIB, cores=2),
    ]


def test_what_the_kernel_does_not_say_is_not_there(tmp_path: Path) -> None:
    assert read_caches(tmp_path, [0]) == []
    put_cache(tmp_path, 0, 1, "Data", "much", "0")
    assert read_caches(tmp_path, [0]) == []
    assert last_bytes([], 4) == 0
    assert level_of([], 1 << 40, 1) == ""


@pytest.mark.parametrize(
    ("size", "threads", "level"),
    [
        (4 * KIB, 1, "L1"),
        (32 * KIB, 1, "L1"),
        (48 * KIB, 1, ""),
        (64 * KIB, 1, "L2"),
        (64 * KIB, 2, "L1"),
        (MIB, 1, "L2"),
        (2 * MIB, 2, "L2"),
        (2 * MIB, 1, "L3"),
        (32 * MIB, 1, "L3"),
        (64 * MIB, 1, ""),
        (128 * MIB, 1, "DRAM"),
        (128 * MIB, 8, "DRAM"),
        (128 * MIB, 9, ""),
        (256 * MIB, 9, "DRAM"),
    ],
)
def test_a_set_lies_in_the_smallest_cache_that_holds_it(size: int, threads: int, level: str) -> None:
    assert level_of(CACHES, size, threads) == level


def test_threads_have_as_many_last_caches_as_their_cores() -> None:
    assert [last_bytes(CACHES, threads) // MIB for threads in (1, 8, 9, 16, 17)] == [32, 32, 64, 64, 96]
