# SPDX-License-Identifier: Apache-2.0
"""Times of release 2.1, the patience of the watchdog, and the room of datasets."""

import pytest

from ullage.suites.b_eff_io.cases import (
    access_s,
    dataset_bytes,
    most_bytes,
    needed_bytes,
    pattern_s,
    round_s,
    unit_s,
    watchdog_s,
)
from ullage.suites.b_eff_io.hints import HintSet
from ullage.suites.b_eff_io.options import BEffIoOptions, default_overtime
from ullage.suites.b_eff_io.patterns import ACCESSES, MIB, PATTERNS, TYPES, patterns_of

GIB = 1 << 30


def options(**members: object) -> BEffIoOptions:
    usual = {"ranks": 4, "partitions": [4], "time_s": 1800.0, "lmax": 2 * MIB}
    return BEffIoOptions.model_validate({**usual, **members})


@pytest.mark.parametrize(("rewrite", "unit"), [(True, 9.375), (False, 12.0)])
def test_a_unit_of_half_an_hour(rewrite: bool, unit: float) -> None:
    found = options(rewrite=rewrite)
    assert unit_s(found) == pytest.approx(unit)
    assert [pattern_s(pattern, found) for pattern in PATTERNS[:3]] == pytest.approx([0, 4 * unit, 4 * unit])
    assert sum(access_s(access, found) for access in ACCESSES) == pytest.approx(1800)


def test_partitions_share_the_time_in_whole_seconds() -> None:
    assert options(partitions=[1, 2, 4], time_s=100.0).partition_s == 33
    assert options(partitions=[1, 2, 4], time_s=2.0).partition_s == pytest.approx(2 / 3)
    assert options(partitions=[1, 2, 4]).partition_s == 600


def test_each_set_of_hints_has_the_whole_time() -> None:
    sets = [HintSet(name=name) for name in ("a", "b")]
    assert round_s(options(partitions=[1, 2, 4], hint_sets=sets)) == pytest.approx(3600)


def test_only_short_runs_are_cut() -> None:
    assert default_overtime(1799) == 1.1
    assert default_overtime(1800) == 0


def test_the_watchdog_waits_for_the_longest_pattern_and_the_longest_sync() -> None:
    assert watchdog_s(options(watchdog_s=7.0), None) == 7
    quick = options(time_s=6.0, overtime=1.1)
    assert watchdog_s(quick, 1 * GIB) == 30
    long = options(time_s=18000.0, overtime=1.1)
    assert watchdog_s(long, 1 * GIB) == pytest.approx(3 * 4 * 120)
    minute = options(time_s=60.0, overtime=1.1)
    assert watchdog_s(minute, 1024 * GIB) == pytest.approx(5e9 * 1.6 / 50e6)
    assert watchdog_s(options(overtime=0.0), 1 * GIB) == 1800


@pytest.mark.parametrize("partitions", [[4], [1, 2, 4], [8]])
@pytest.mark.parametrize("lmax", [16 << 10, 2 * MIB, 64 * MIB])
@pytest.mark.parametrize("sets", [1, 3])
def test_all_datasets_of_a_round_fit_into_the_room(partitions: list[int], lmax: int, sets: int) -> None:
    found = options(partitions=partitions, lmax=lmax, hint_sets=[HintSet(name=str(n)) for n in range(sets)])
    for room in (needed_bytes(found), 2 * needed_bytes(found), 1 << 50):
        used = sets * sum(dataset_bytes(found, room, ranks, kind) for ranks in partitions for kind in TYPES)
        assert used <= room + sets * len(partitions) * len(TYPES)


def test_datasets_share_the_room_by_units_beyond_what_each_needs() -> None:
    found = options()
    sizes = [most_bytes(found, 1 << 40, 4, kind) for kind in TYPES]
    assert [round(size / sizes[-1], 3) for size in sizes] == [2.2, 1.2, 1, 1, 1]
    assert all(most_bytes(found, 0, 4, kind) == 1 for kind in TYPES)
    once = 4 * sum(pattern.call(2 * MIB) or 0 for pattern in patterns_of("scatter"))
    assert dataset_bytes(found, 0, 4, "scatter") == 1 + once
