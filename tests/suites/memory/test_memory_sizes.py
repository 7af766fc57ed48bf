# SPDX-License-Identifier: Apache-2.0
"""How large sets are, on machines of many kinds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suites.memory.conftest import CACHES, KIB, MIB
from ullage.model.system import Limits, Memory
from ullage.suites.memory.options import between, choose_sizes, doubling, most_bytes

GIB = 1 << 30


@pytest.mark.parametrize(
    ("memory", "limits", "expected"),
    [
        (Memory(total_bytes=64 * GIB, available_bytes=60 * GIB), Limits(), 16 * GIB),
        (Memory(total_bytes=64 * GIB, available_bytes=60 * GIB), Limits(memory_bytes=512 * MIB), 128 * MIB),
        (Memory(total_bytes=64 * GIB, available_bytes=2 * GIB), Limits(), GIB),
        (Memory(), Limits(), 128 * MIB),
    ],
)
def test_no_more_is_taken_than_a_quarter_and_half_of_what_is_free(
    memory: Memory, limits: Limits, expected: int
) -> None:
    assert most_bytes(memory, limits) == expected


def test_sets_are_four_times_the_last_caches() -> None:
    sizes = choose_sizes(CACHES, 2, 16 * GIB)
    assert (sizes.beyond, sizes.chased, sizes.table) == (128 * MIB, 256 * MIB, 256 * MIB)
    assert sizes.is_beyond
    wide = choose_sizes(CACHES, 64, 16 * GIB)
    assert wide.beyond == 1024 * MIB
    assert wide.chased == 256 * MIB


def test_a_first_look_takes_no_larger_sets_than_needed() -> None:
    sizes = choose_sizes(CACHES, 2, 16 * GIB, quick=True)
    assert (sizes.chased, sizes.table) == (128 * MIB, 128 * MIB)


def test_under_a_tight_limit_sets_are_smaller_and_said_to_be() -> None:
    sizes = choose_sizes(CACHES, 2, 100 * MIB)
    assert (sizes.beyond, sizes.chased, sizes.table) == (100 * MIB, 100 * MIB, 64 * MIB)
    assert not sizes.is_beyond


@given(st.integers(1, 512), st.integers(MIB, 1 << 40), st.booleans())
def test_nothing_is_larger_than_it_may_be(threads: int, most: int, quick: bool) -> None:
    sizes = choose_sizes(CACHES, threads, most, quick=quick)
    assert 0 < sizes.beyond <= most
    assert 0 < sizes.chased <= most
    assert 0 < sizes.table <= most
    assert sizes.table & (sizes.table - 1) == 0


def test_curves_go_from_4_kib_to_the_last() -> None:
    assert doubling(16 * KIB) == [4 * KIB, 8 * KIB, 16 * KIB]
    assert doubling(40 * KIB) == [4 * KIB, 8 * KIB, 16 * KIB, 32 * KIB, 40 * KIB]
    assert doubling(64 * KIB, 4) == [4 * KIB, 16 * KIB, 64 * KIB]
    assert between([4 * KIB, 8 * KIB, 10 * KIB]) == [6 * KIB]
