# SPDX-License-Identifier: Apache-2.0
"""The table of patterns, Lmax, and the partitions of release 2.1."""

import pytest

from support.data import some
from ullage.suites.b_eff_io.patterns import (
    BY_PHASE,
    MIB,
    MISALIGNED,
    PATTERNS,
    POSITIONS,
    ROWS,
    TYPES,
    X_LABELS,
    X_POSITIONS,
    all_units,
    default_partitions,
    lmax_of,
    patterns_of,
    types_of,
    units_of,
)

LMAX = 16 * MIB


def test_units_are_22_12_10_10_10_and_64_together() -> None:
    assert [units_of(kind) for kind in TYPES] == [22, 12, 10, 10, 10]
    assert sum(pattern.units for pattern in some(PATTERNS)) == 64
    assert all_units(rewrite=True) == 192
    assert all_units(rewrite=False) == 150


def test_there_are_43_patterns_numbered_in_their_order() -> None:
    assert [pattern.number for pattern in PATTERNS] == list(range(43))
    assert [len(patterns_of(kind)) for kind in TYPES] == [9, 8, 8, 9, 9]
    assert [patterns_of(kind)[0].number for kind in TYPES] == [0, 9, 17, 25, 34]
    assert BY_PHASE["pattern-07"] is PATTERNS[7]


def test_scatter_moves_many_chunks_with_one_call() -> None:
    found = [(p.chunk(LMAX), p.call(LMAX), p.units) for p in patterns_of("scatter")]
    k = 1024
    assert found == [
        (MIB, MIB, 0),
        (LMAX, LMAX, 4),
        (MIB, 2 * MIB, 4),
        (MIB, MIB, 4),
        (32 * k, MIB, 2),
        (k, MIB, 2),
        (32 * k + 8, MIB + 256, 2),
        (k + 8, MIB + 8 * k, 2),
        (MIB + 8, MIB + 8, 2),
    ]


@pytest.mark.parametrize(("kind", "largest"), [("shared", 4), ("separated", 2), ("segmented", 2), ("seg_coll", 2)])
def test_the_other_types_move_one_chunk_with_one_call(kind: str, largest: int) -> None:
    found = [pattern for pattern in PATTERNS if pattern.type == kind and pattern.size != "fill-up"]
    assert [pattern.units for pattern in found] == [0, largest, 2, 1, 1, 1, 1, 2]
    assert all(pattern.chunk(LMAX) == pattern.call(LMAX) for pattern in found)


def test_the_fill_up_has_the_length_that_segments_leave() -> None:
    filled = [pattern for pattern in PATTERNS if pattern.size == "fill-up"]
    assert [(pattern.number, pattern.type) for pattern in filled] == [(33, "segmented"), (42, "seg_coll")]
    assert all(pattern.call(LMAX) is None and not pattern.units for pattern in filled)


def test_every_call_is_made_of_doubles() -> None:
    assert all((pattern.call(LMAX) or 0) % 8 == 0 for pattern in some(PATTERNS))


def test_positions_are_those_of_the_originals_table_and_plots() -> None:
    by_number = {pattern.number: pattern.position for pattern in PATTERNS}
    assert [by_number[number] for number in range(9)] == [None, 7, 8, 5, 3, 1, 4, 2, 6]
    assert [by_number[number] for number in range(25, 34)] == [None, 7, 5, 3, 1, 4, 2, 6, None]
    assert [X_POSITIONS[size] for size in ROWS] == [1, 2, 4, 5, 7, 8, 10]
    assert [X_LABELS[size] for size in ROWS] == ["1k", "+8", "32k", "+8", "1M", "+8", "Lmax"]
    assert len(POSITIONS) == 8
    assert all(POSITIONS[odd] == POSITIONS[size] + 1 for size, odd in MISALIGNED.items())


def test_hint_files_name_chunks_by_bytes() -> None:
    names = {pattern.size: pattern.hint_chunk for pattern in PATTERNS}
    assert names["Lmax"] == "Lmax"
    assert {names[size] for size in ("first", "2M calls", "1M", "fill-up")} == {"1048576"}
    assert [names[size] for size in ("1k", "1k+8", "32k", "32k+8", "1M+8")] == [
        "1024", "1032", "32768", "32776", "1048584"
    ]  # fmt: skip


def test_without_rewrite_only_scatter_is_rewritten() -> None:
    assert types_of("rewrite", rewrite=False) == ("scatter",)
    assert types_of("rewrite", rewrite=True) == TYPES
    assert types_of("read", rewrite=False) == TYPES


@pytest.mark.parametrize(
    ("memory", "lmax"),
    [
        (1, 2 * MIB),
        (256 * MIB, 2 * MIB),
        (2048 * MIB, 16 * MIB),
        (1000 * MIB, 8_192_000),
        (1000 * MIB + 500_000, 8_192_000),
        (1 << 40, 1024 * MIB),
    ],
)
def test_lmax_is_a_128th_of_the_memory_within_limits(memory: int, lmax: int) -> None:
    assert lmax_of(memory) == lmax
    assert lmax % 8 == 0


@pytest.mark.parametrize(
    ("first", "last", "small", "medium"),
    [
        (3, 3, 1, 2),
        (4, 4, 2, 3),
        (5, 11, 2, 4),
        (12, 19, 2, 8),
        (20, 31, 4, 8),
        (32, 86, 4, 16),
        (87, 141, 4, 32),
        (142, 231, 8, 32),
        (232, 624, 8, 64),
        (625, 1023, 8, 128),
        (1024, 1680, 16, 128),
    ],
)
def test_partitions_are_those_of_the_definitions_table(first: int, last: int, small: int, medium: int) -> None:
    for ranks in range(first, last + 1):
        assert default_partitions(ranks) == [small, medium, ranks]


def test_few_processes_have_few_partitions() -> None:
    assert default_partitions(1) == [1]
    assert default_partitions(2) == [1, 2]
