# SPDX-License-Identifier: Apache-2.0
"""How long everything is to take (release 2.1), and after how long without progress a pattern hangs. Pure."""

from typing import Final

from ullage.suites.b_eff_io.options import BEffIoOptions
from ullage.suites.b_eff_io.patterns import (
    ACCESSES,
    PATTERNS,
    Access,
    Pattern,
    PatternType,
    all_units,
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
