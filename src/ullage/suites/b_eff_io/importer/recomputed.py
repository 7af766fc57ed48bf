# SPDX-License-Identifier: Apache-2.0
"""What was printed, worked out again: the averages and the headline from the totals of the types, or W' from both.

Every formula rises with each of its numbers, so the least and largest printed alike bound what rounding allows.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from ullage.importers.printed import Printed
from ullage.suites.b_eff_io.formula import access_mean, b_eff_io, implied_write_side, memory_s, write_side
from ullage.suites.b_eff_io.importer.reading import PrintedPartition
from ullage.suites.b_eff_io.patterns import MIB, REWRITTEN_TYPE, TYPES, Access, PatternType

MEGA: Final = 1e6
Which = Callable[[Printed], float]
_WEIGHTS: Final = len(TYPES) + 1


@dataclass(frozen=True, slots=True)
class Bounded:
    """A number worked out from printed ones, and what their rounding allows; MB/s."""

    value: float
    low: float
    high: float

    def fits(self, shown: Printed) -> bool:
        """Whether ``shown`` may be it."""
        return self.low <= shown.high and shown.low <= self.high


def _value(shown: Printed) -> float:
    return shown.value


def _low(shown: Printed) -> float:
    return shown.low


def _high(shown: Printed) -> float:
    return shown.high


def _bounded(of: Callable[[Which], float | None]) -> Bounded | None:
    value, low, high = of(_value), of(_low), of(_high)
    return None if value is None or low is None or high is None else Bounded(value, low, high)


def average(partition: PrintedPartition, access: Access) -> Bounded | None:
    """B of an access from the totals of its types; where only scatter was rewritten, that is the average."""

    def of(which: Which) -> float | None:
        totals = _totals(partition, access, which)
        if access == "rewrite" and partition.rewrites is False:
            return totals.get(REWRITTEN_TYPE)
        return access_mean(totals)

    return _bounded(of)


def printed_write_side(partition: PrintedPartition) -> Bounded | None:
    """W' from the totals; None where they were not printed."""

    def of(which: Which) -> float | None:
        again = _totals(partition, "rewrite", which).get(REWRITTEN_TYPE)
        return None if again is None else write_side(_totals(partition, "write", which), again)

    return _bounded(of)


def headline(partition: PrintedPartition) -> Bounded | None:
    """b_eff_io from the totals; None where they were not printed."""
    side, read = printed_write_side(partition), average(partition, "read")
    if side is None or read is None:
        return None
    pairs = ((side.value, read.value), (side.low, read.low), (side.high, read.high))
    return Bounded(*(b_eff_io(w, r) for w, r in pairs))


def needed_write_side(partition: PrintedPartition) -> Bounded | None:
    """W' that the printed headline and average of reads need."""
    value, read = partition.value, partition.averages.get("read")
    if value is None or read is None or read.low <= 0:
        return None
    pairs = ((value.value, read.value), (value.low, read.high), (value.high, read.low))
    return Bounded(*(implied_write_side(b, r) for b, r in pairs))


def scatter_first_write(partition: PrintedPartition) -> Bounded | None:
    """What scatter had in the first write, if the printed rewrite is scatter's alone, as without -rewrite."""
    side, write, rewrite = needed_write_side(partition), partition.averages["write"], partition.averages.get("rewrite")
    if side is None or rewrite is None or partition.rewrites is True:
        return None
    found = Bounded(
        rewrite.value - _WEIGHTS * (side.value - write.value),
        rewrite.low - _WEIGHTS * (side.high - write.low),
        rewrite.high - _WEIGHTS * (side.low - write.high),
    )
    return found if found.high > 0 else None


def memory_bytes(partition: PrintedPartition) -> float | None:
    """Of the whole machine as it was given, or about, by the volume and its percentage."""
    if partition.memory_mib is not None:
        return float(partition.memory_mib * MIB)
    volume, percent = partition.volume_mib, partition.percent
    return None if volume is None or percent is None or percent.value <= 0 else volume.value / percent.value * 100 * MIB


def memory_time_s(partition: PrintedPartition) -> float | None:
    """The time for all of the memory at b_eff_io, in one unit for both."""
    memory, value = memory_bytes(partition), partition.value
    return None if memory is None or value is None or value.value <= 0 else memory_s(memory, value.value * MEGA)


def _totals(partition: PrintedPartition, access: Access, which: Which) -> dict[PatternType, float]:
    found: dict[PatternType, float] = {}
    for kind in TYPES:
        total = partition.total(access, kind)
        if total is not None:
            found[kind] = which(total)
    return found
