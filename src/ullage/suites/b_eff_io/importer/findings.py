# SPDX-License-Identifier: Apache-2.0
"""What a printed b_eff_io run says when its numbers are worked out again.

Every formula rises with each of its numbers, so the least and largest printed alike bound what rounding allows.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from ullage.analysis.findings.phrasing import finding
from ullage.importers.printed import Printed
from ullage.model.summary import Finding
from ullage.quantity import plural, processes
from ullage.suites.b_eff_io.importer.reading import PrintedPartition
from ullage.suites.b_eff_io.patterns import (
    ACCESSES,
    MIB,
    REWRITTEN_TYPE,
    TYPES,
    Access,
    PatternType,
    access_mean,
    b_eff_io,
    implied_write_side,
    memory_s,
    patterns_of,
    write_side,
)
from ullage.units import format_volume

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
        """Tell whether ``shown`` agrees with this number within the rounding of both."""
        return self.low <= shown.high and shown.low <= self.high


def _bounded(of: Callable[[Which], float | None]) -> Bounded | None:
    value, low, high = of(lambda shown: shown.value), of(lambda shown: shown.low), of(lambda shown: shown.high)
    return None if value is None or low is None or high is None else Bounded(value, low, high)


def average(partition: PrintedPartition, access: Access) -> Bounded | None:
    """Compute B of an access from the totals of its types; None where they were not printed.

    Where only scatter was rewritten, its total is the average of the rewrite.
    """

    def of(which: Which) -> float | None:
        totals = _totals(partition, access, which)
        if access == "rewrite" and partition.rewrites is False:
            return totals.get(REWRITTEN_TYPE)
        return access_mean(totals)

    return _bounded(of)


def printed_write_side(partition: PrintedPartition) -> Bounded | None:
    """Compute W' from the totals; None where they were not printed."""

    def of(which: Which) -> float | None:
        again = _totals(partition, "rewrite", which).get(REWRITTEN_TYPE)
        return None if again is None else write_side(_totals(partition, "write", which), again)

    return _bounded(of)


def headline(partition: PrintedPartition) -> Bounded | None:
    """Compute b_eff_io from the totals; None where they were not printed."""
    side, read = printed_write_side(partition), average(partition, "read")
    if side is None or read is None:
        return None
    pairs = ((side.value, read.value), (side.low, read.low), (side.high, read.high))
    return Bounded(*(b_eff_io(w, r) for w, r in pairs))


def needed_write_side(partition: PrintedPartition) -> Bounded | None:
    """Compute the W' that the printed headline and average of reads need; None where either is missing."""
    value, read = partition.value, partition.averages.get("read")
    if value is None or read is None or read.low <= 0:
        return None
    pairs = ((value.value, read.value), (value.low, read.high), (value.high, read.low))
    return Bounded(*(implied_write_side(b, r) for b, r in pairs))


def scatter_first_write(partition: PrintedPartition) -> Bounded | None:
    """Compute the first write of scatter in MB/s, if the printed rewrite is that of scatter alone.

    That is so without -rewrite. None where a number is missing, where all types were rewritten, or where the result is
    not above 0.
    """
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
    """Return the bytes of all memory, printed or worked out from the volume and its percentage; None if not known."""
    if partition.memory_mib is not None:
        return float(partition.memory_mib * MIB)
    volume, percent = partition.volume_mib, partition.percent
    return None if volume is None or percent is None or percent.value <= 0 else volume.value / percent.value * 100 * MIB


def memory_time_s(partition: PrintedPartition) -> float | None:
    """Return the seconds to move all of the memory at b_eff_io, both in bytes; None if either is not known."""
    memory, value = memory_bytes(partition), partition.value
    return None if memory is None or value is None or value.value <= 0 else memory_s(memory, value.value * MEGA)


def _totals(partition: PrintedPartition, access: Access, which: Which) -> dict[PatternType, float]:
    found: dict[PatternType, float] = {}
    for kind in TYPES:
        total = partition.total(access, kind)
        if total is not None:
            found[kind] = which(total)
    return found


# -- findings ----------------------------------------------------------------------------------------------------------


RECOMPUTED: Final = "b_eff_io-recomputed"
UNITS: Final = "b_eff_io-units"
LOST: Final = "b_eff_io-lost"
_LONGEST_TARGET: Final = 64


def findings_of(partition: PrintedPartition) -> list[Finding]:
    """Report data errors, whether the headline follows from what was printed, and mixed units."""
    return [*_wrong(partition), *_recomputed(partition), *_volume(partition), *_minutes(partition)]


def _wrong(partition: PrintedPartition) -> Iterator[Finding]:
    """Yield a warning for patterns whose data came back wrong; the original prints -999.999 for them."""
    for access in ACCESSES:
        for kind in TYPES:
            found = [one.number for one in patterns_of(kind) if (access, kind, one.position or -1) in partition.wrong]
            if found:
                what = f"Data came back wrong in {plural(len(found), 'pattern')} of {access}, {kind}"
                yield finding(
                    LOST,
                    what,
                    f"{what} ({processes(partition.processes)}).",
                    "warning",
                    target=target_of(partition),
                    hint_set="",
                    ranks=partition.processes,
                    access=access,
                    pattern_type=kind,
                    patterns=found,
                    why="failed",
                )


def target_of(partition: PrintedPartition) -> str:
    """Return the machine, or ``b_eff_io`` where no machine was printed."""
    return partition.machine[:_LONGEST_TARGET] or "b_eff_io"


def _recomputed(partition: PrintedPartition) -> Iterator[Finding]:
    """Yield the headline worked out from the totals; without the tables, say what the averages leave open."""
    value = partition.value
    if value is None:
        return
    again = headline(partition)
    yield _needed(partition, value) if again is None else _from_totals(partition, value, again)


def _from_totals(partition: PrintedPartition, value: Printed, again: Bounded) -> Finding:
    found = {"b_eff_io": (value, again)}
    for access in ACCESSES:
        shown, mean = partition.averages.get(access), average(partition, access)
        if shown is not None and mean is not None:
            found[f"B_{access}"] = (shown, mean)
    fits = all(worked_out.fits(shown) for shown, worked_out in found.values())
    said = "; ".join(
        f"{name} {shown.value:.8g} printed, {worked_out.value:.8g} from the totals"
        + ("" if worked_out.fits(shown) else f" (rounding allows {worked_out.low:.8g} to {worked_out.high:.8g})")
        for name, (shown, worked_out) in found.items()
    )
    side = printed_write_side(partition)
    tail = "" if side is None else f" W', which is not printed, is {side.value:.3f} MB/s."
    what = (
        "follow from the totals of the types within rounding" if fits else "do NOT follow from the totals of the types"
    )
    return finding(
        RECOMPUTED,
        f"The printed numbers {what}",
        f"{_subject(partition)}the printed numbers {what}. In MB/s: {said}.{tail}",
        "info" if fits else "warning",
        ranks=partition.processes,
        name=list(found),
        printed=[shown.value for shown, _ in found.values()],
        recomputed=[worked_out.value for _, worked_out in found.values()],
        consistent=fits,
        write_side=None if side is None else side.value * MEGA,
    )


def _needed(partition: PrintedPartition, value: Printed) -> Finding:
    side, read = needed_write_side(partition), partition.averages["read"]
    if side is None:
        title = "W' cannot be computed from what was printed"
        return finding(RECOMPUTED, title, f"{_subject(partition)}{title}.", "warning")
    write, scatter = partition.averages["write"], scatter_first_write(partition)
    text = (
        f"{_subject(partition)}the printed b_eff_io of {value.value:.3f} MB/s is sqrt(W' x B_read) with W' = "
        f"{side.value:.3f} MB/s (b_eff_io^2 / B_read; rounding allows {side.low:.4f} to {side.high:.4f} MB/s). The "
        "three "
        "printed averages alone do not determine W'. It contains the rewrite of scatter, and no bandwidth of "
        "scatter is "
        f"printed. B_write instead of W' would give {b_eff_io(write.value, read.value):.3f} MB/s."
    )
    if scatter is not None:
        text += (
            f" Without -rewrite the printed rewrite is that of scatter alone. Then the first write of scatter reached "
            f"{scatter.value:.1f} MB/s."
        )
    return finding(
        RECOMPUTED,
        "The printed averages do not determine b_eff_io",
        text,
        ranks=partition.processes,
        b_eff_io=value.value * MEGA,
        write_side=side.value * MEGA,
        low=side.low * MEGA,
        high=side.high * MEGA,
        scatter_first_write=None if scatter is None else scatter.value * MEGA,
        determined=False,
    )


def _volume(partition: PrintedPartition) -> Iterator[Finding]:
    """Yield a warning only where the printed percentage contradicts the printed volume and memory."""
    volume, shown, memory = partition.volume_mib, partition.percent, partition.memory_mib
    if volume is None or shown is None or not memory:
        return
    low, high = volume.low / memory * 100, volume.high / memory * 100
    if low > shown.high or high < shown.low:
        text = (
            f"{_subject(partition)}{volume.value:.3f} MiB are {volume.value / memory * 100:.1f} % of {memory} MiB. "
            f"{shown.value:.1f} % was printed."
        )
        yield finding(
            UNITS,
            "The printed share of the memory is wrong",
            text,
            "warning",
            ranks=partition.processes,
            printed=shown.value,
            recomputed=volume.value / memory * 100,
        )


def _minutes(partition: PrintedPartition) -> Iterator[Finding]:
    """Yield the time to move all of the memory in one unit; the original divides MiB by MB/s."""
    memory, seconds, value = memory_bytes(partition), memory_time_s(partition), partition.value
    if memory is None or seconds is None or value is None:
        return
    about = "" if partition.memory_mib is not None else "about "
    text = (
        f"{_subject(partition)}moving all of the memory, {about}{format_volume(memory)}, at b_eff_io takes "
        f"{seconds / 60:.1f} min."
    )
    shown = partition.minutes
    mixed = memory / MIB / value.value / 60
    if shown is not None and abs(shown.value - seconds / 60) > shown.off:
        text += f" {shown.value:.1f} min was printed"
        text += ": that is MiB divided by MB/s." if abs(shown.value - mixed) <= shown.off else "."
    yield finding(
        UNITS,
        f"Moving all of the memory at b_eff_io takes {seconds / 60:.1f} min",
        text,
        ranks=partition.processes,
        memory=memory,
        seconds=seconds,
        printed_minutes=None if shown is None else shown.value,
    )


def _subject(partition: PrintedPartition) -> str:
    return f"{processes(partition.processes)}: "
