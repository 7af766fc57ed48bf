# SPDX-License-Identifier: Apache-2.0
"""How large the datasets may become: a target's room, divided among all that lie there at the same time. Pure.

All partitions are written before anything is read again, so the datasets of a round lie side by side. Each has room for
every pattern once, and of what is left its part by units, so segments are no longer than what type separated writes.
"""

from typing import Final

from ullage.suites.b_eff_io.options import BEffIoOptions
from ullage.suites.b_eff_io.patterns import (
    MIB,
    SEGMENTED_TYPES,
    SMALLEST_LMAX,
    TYPES,
    PatternType,
    patterns_of,
    units_of,
)

# A segment begins at a whole MiB, and its fill-up is at most another.
_SEGMENT_SLACK: Final = 2 * MIB
_ALL_UNITS: Final = sum(units_of(kind) for kind in TYPES)


def most_bytes(options: BEffIoOptions, room: int, ranks: int, kind: PatternType) -> int:
    """Of one dataset: patterns whose time is not over end at their part of it."""
    left = room // _sides(options) - _once_bytes(options, ranks)
    return max(1, left * units_of(kind) // _ALL_UNITS)


def needed_bytes(options: BEffIoOptions) -> int:
    """The least room: every pattern once."""
    return _sides(options) * max(_once_bytes(options, ranks) for ranks in options.partitions)


def dataset_bytes(options: BEffIoOptions, room: int, ranks: int, kind: PatternType) -> int:
    """The most that a dataset takes."""
    return most_bytes(options, room, ranks, kind) + _once(options, ranks, kind)


def _sides(options: BEffIoOptions) -> int:
    """How many partitions lie side by side."""
    return len(options.partitions) * len(options.hint_sets)


def _once_bytes(options: BEffIoOptions, ranks: int) -> int:
    return sum(_once(options, ranks, kind) for kind in TYPES)


def _once(options: BEffIoOptions, ranks: int, kind: PatternType) -> int:
    """Every pattern of a type, and what rounds segments up."""
    lmax = options.lmax or SMALLEST_LMAX
    slack = _SEGMENT_SLACK if kind in SEGMENTED_TYPES else 0
    return ranks * (slack + sum(pattern.call(lmax) or 0 for pattern in patterns_of(kind)))
