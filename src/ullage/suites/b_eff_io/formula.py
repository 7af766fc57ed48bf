# SPDX-License-Identifier: Apache-2.0
"""The formulas of b_eff_io 2.1 over bandwidths in bytes/s. Pure.

b_eff_io of a partition is sqrt(W' x B_read). B of an access is the mean over the five pattern types, scatter double; W'
is that of the first write, in which the rewrite of scatter takes the place of its second weight.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from ullage.suites.b_eff_io.patterns import REWRITTEN_TYPE, TYPES, PatternType

_WEIGHTS: Final = len(TYPES) + 1


def pattern_bandwidth(bytes_: int, seconds: float) -> float | None:
    """Return the bandwidth of one pattern, or of a type if ``seconds`` include opening and closing its file.

    Return None where no bytes were moved or no time passed.
    """
    return bytes_ / seconds if bytes_ > 0 and seconds > 0 else None


def access_mean(types: Mapping[PatternType, float]) -> float | None:
    """Return B of an access, in which scatter counts twice, or None where a type is missing."""
    if any(kind not in types for kind in TYPES):
        return None
    return (sum(types[kind] for kind in TYPES) + types[REWRITTEN_TYPE]) / _WEIGHTS


def write_side(write: Mapping[PatternType, float], rewrite_scatter: float) -> float | None:
    """Return W': the mean of all types of the first write and the rewrite of scatter; None where a type is missing."""
    if any(kind not in write for kind in TYPES):
        return None
    return (sum(write[kind] for kind in TYPES) + rewrite_scatter) / _WEIGHTS


def b_eff_io(write_side_bandwidth: float, read: float) -> float:
    """Return the geometric mean of W' and of B of the reads."""
    return math.sqrt(write_side_bandwidth * read)


def implied_write_side(value: float, read: float) -> float:
    """Return the W' that a printed b_eff_io and mean of reads imply; the printed means of writes do not give it."""
    return value * value / read


def memory_s(memory_bytes: float, bandwidth: float) -> float:
    """Return the seconds to move all of the memory, in bytes over bytes/s; the original divides MiB by MB/s."""
    return memory_bytes / bandwidth


def unit_weighted_mean(values: Iterable[tuple[float, int]]) -> float | None:
    """Return the mean of (bandwidth, units) pairs weighted by units, or None where no pair has units.

    The original prints it for information only.
    """
    known = [(value, units) for value, units in values if units > 0]
    return sum(value * units for value, units in known) / sum(units for _, units in known) if known else None


@dataclass(frozen=True, slots=True)
class TypeTotal:
    """What one type moved in one access, and the seconds that count."""

    bytes: int
    open_s: float
    patterns_s: float
    close_s: float

    @property
    def bandwidth(self) -> float:
        """Weighted by time, so units act through the schedule alone; 0 where nothing was moved."""
        return pattern_bandwidth(self.bytes, self.open_s + self.patterns_s + self.close_s) or 0.0
