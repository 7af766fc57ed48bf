# SPDX-License-Identifier: Apache-2.0
"""How long everything is to take (release 2.1), after how long a pattern hangs, how large datasets may become. Pure.

All partitions are written before anything is read again, so the datasets of a round lie side by side. Each has room for
every pattern once, and of what is left its part by units, so segments are no longer than what type separated writes.
"""

from typing import Final

from ullage.suites.b_eff_io.options import BEffIoOptions
from ullage.suites.b_eff_io.patterns import (
    ACCESSES,
    MIB,
    PATTERNS,
    SEGMENTED_TYPES,
    SMALLEST_LMAX,
    TYPES,
    Access,
    Pattern,
    PatternType,
    all_units,
    patterns_of,
    types_of,
    units_of,
)

_SHORTEST_PATIENCE_S: Final = 30.0
_LONGEST_PATIENCE_S: Final = 1800.0
# A pattern's share of the time after which it is not slow any more, but hangs.
_MOST_SURPRISE: Final = 3.0
# What a pattern writes into the caches at most, and what a slow target takes of it afterwards.
_FASTEST: Final = 5e9
_SLOWEST: Final = 50e6
# The kernel lets no more than such a part of the memory be dirty, by its usual settings.
_DIRTY_SHARE: Final = 0.2


def unit_s(options: BEffIoOptions) -> float:
    """T_u: what one unit is worth."""
    return options.partition_s / all_units(rewrite=options.rewrite)


def pattern_s(pattern: Pattern, options: BEffIoOptions) -> float:
    """What a pattern is to take in each access; 0 where it is done once."""
    return pattern.units * unit_s(options)


def type_s(kind: PatternType, options: BEffIoOptions) -> float:
    """What a type is to take in each access."""
    return units_of(kind) * unit_s(options)


def access_s(access: Access, options: BEffIoOptions) -> float:
    """What an access is to take in one partition; together they take T_part."""
    return sum(type_s(kind, options) for kind in types_of(access, rewrite=options.rewrite))


def round_s(options: BEffIoOptions) -> float:
    """What a round on one target is to take, with all hint sets: T each."""
    each = sum(access_s(access, options) for access in ACCESSES)
    return each * len(options.partitions) * len(options.hint_sets)


def watchdog_s(options: BEffIoOptions, memory: int | None) -> float:
    """How long a rank may make no progress: as long as the longest sync may take, and the wait for slower ranks.

    ``memory``: of the nodes; None: not known.
    """
    if options.watchdog_s is not None:
        return options.watchdog_s
    longest_s = max(pattern_s(pattern, options) for pattern in PATTERNS)
    written = _FASTEST * longest_s
    dirty = written if memory is None else min(written, _DIRTY_SHARE * memory)
    # Where counts are kept whatever they take, a rank that is through with what it had cached waits for all others.
    waiting_s = 0.0 if options.overtime else written / _SLOWEST
    patience_s = min(_LONGEST_PATIENCE_S, max(dirty / _SLOWEST, waiting_s))
    return max(_SHORTEST_PATIENCE_S, _MOST_SURPRISE * longest_s, patience_s)


# A segment begins at a whole MiB, and its fill-up is at most another.
_SEGMENT_SLACK: Final = 2 * MIB
_ALL_UNITS: Final = sum(units_of(kind) for kind in TYPES)


def most_bytes(options: BEffIoOptions, room: int, ranks: int, kind: PatternType) -> int:
    """The most bytes of one dataset: patterns whose time is not over end at their part of it."""
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
