# SPDX-License-Identifier: Apache-2.0
"""Results of the original b_eff_io program: the summary it prints, and the published sample as JSON.

The program's three averages do not determine its headline; the summary says so, and what W' it needs.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import product
from typing import Final, Literal

from ullage.analysis.findings.phrasing import finding
from ullage.importers.printed import Printed, Which, worked_out
from ullage.importers.rows import IMPORT_SUITE, Importer, imported_row
from ullage.model.flags import Flag, interval_below
from ullage.model.plan import Scalar
from ullage.model.summary import Finding, Row, Score, Summary
from ullage.quantity import plural, processes
from ullage.suites.b_eff_io import patterns
from ullage.suites.b_eff_io.printed import TOTAL, PrintedPartition, read_partitions, recognises
from ullage.suites.b_eff_io.rows import ACCESS, B_EFF_IO, MEGA, MEMORY_TIME, PATTERN, TYPE, UNIT, VOLUME, WRITE_SIDE
from ullage.suites.b_eff_io.values import NOT_VALID
from ullage.units import format_time, format_volume

_VALID_MIN: Final = 30.0
_LONGEST_TARGET: Final = 64


def _totals(partition: PrintedPartition, access: patterns.Access, which: Which) -> dict[patterns.PatternType, float]:
    cells = partition.cells
    return {kind: which(total) for kind in patterns.TYPES if (total := cells.get((access, kind, TOTAL))) is not None}


def _average(partition: PrintedPartition, access: patterns.Access, which: Which) -> float | None:
    """Compute B of an access from the totals of its types; None where they were not printed.

    Where only scatter was rewritten, its total is the average of the rewrite.
    """
    totals = _totals(partition, access, which)
    if access == "rewrite" and partition.rewrites is False:
        return totals.get(patterns.REWRITTEN_TYPE)
    return patterns.access_mean(totals)


def _write_side(partition: PrintedPartition, which: Which) -> float | None:
    """Compute W' from the totals; None where they were not printed."""
    again = _totals(partition, "rewrite", which).get(patterns.REWRITTEN_TYPE)
    return None if again is None else patterns.write_side(_totals(partition, "write", which), again)


def _headline(partition: PrintedPartition, which: Which) -> float | None:
    """Compute b_eff_io from the totals; None where they were not printed."""
    side, read = _write_side(partition, which), _average(partition, "read", which)
    return None if side is None or read is None else patterns.b_eff_io(side, read)


def _needed_write_side(partition: PrintedPartition) -> Printed | None:
    """Compute the W' that the printed headline and average of reads need; None where either is missing."""
    value, read = partition.value, partition.averages.get("read")
    if value is None or read is None or read.low <= 0:
        return None
    pairs = ((value.value, read.value), (value.low, read.high), (value.high, read.low))
    return Printed(*(patterns.implied_write_side(b, r) for b, r in pairs))


def _any_write_side(partition: PrintedPartition) -> Printed | None:
    return worked_out(partial(_write_side, partition)) or _needed_write_side(partition)


def _scatter_first_write(partition: PrintedPartition, side: Printed) -> float | None:
    """Compute the first write of scatter, if the printed rewrite is that of scatter alone. ``side``: the W' needed.

    That is so without -rewrite. None where a number is missing, where all types were rewritten, or where the result is
    not above 0.
    """
    write, rewrite = partition.averages["write"], partition.averages.get("rewrite")
    if rewrite is None or partition.rewrites is True:
        return None
    is_above_0 = rewrite.high - patterns.WEIGHTS * (side.low - write.high) > 0
    return rewrite.value - patterns.WEIGHTS * (side.value - write.value) if is_above_0 else None


def _memory_bytes(partition: PrintedPartition) -> float | None:
    """Return the bytes of all memory, printed or worked out from the volume and its percentage; None if not known."""
    if partition.memory_mib is not None:
        return float(partition.memory_mib * patterns.MIB)
    volume, percent = partition.volume_mib, partition.percent
    return (
        None
        if volume is None or percent is None or percent.value <= 0
        else volume.value / percent.value * 100 * patterns.MIB
    )


def _memory_time_s(partition: PrintedPartition) -> float | None:
    """Return the seconds to move all of the memory at b_eff_io, both in bytes; None if either is not known."""
    memory, value = _memory_bytes(partition), partition.value
    return (
        None if memory is None or value is None or value.value <= 0 else patterns.memory_s(memory, value.value * MEGA)
    )


def _findings(partition: PrintedPartition) -> Iterator[Finding]:
    yield from _wrong(partition)
    if partition.value is not None:
        again = worked_out(partial(_headline, partition))
        # Without the tables it is said what the averages leave open.
        yield _needed(partition, partition.value) if again is None else _from_totals(partition, partition.value, again)
    yield from _volume(partition)
    yield from _minutes(partition)


def _wrong(partition: PrintedPartition) -> Iterator[Finding]:
    """Yield a warning for patterns whose data came back wrong; the original prints -999.999 for them."""
    for access, kind in product(patterns.ACCESSES, patterns.TYPES):
        found = [
            one.number for one in patterns.patterns_of(kind) if (access, kind, one.position or -1) in partition.wrong
        ]
        if found:
            what = f"Data came back wrong in {plural(len(found), 'pattern')} of {access}, {kind}"
            yield finding(
                "b_eff_io-lost",
                what,
                f"{what} ({processes(partition.processes)}).",
                "warning",
                target=_target(partition),
                hint_set="",
                ranks=partition.processes,
                access=access,
                pattern_type=kind,
                patterns=found,
                why="failed",
            )


def _target(partition: PrintedPartition) -> str:
    """Return the machine, or ``b_eff_io`` where no machine was printed."""
    return partition.machine[:_LONGEST_TARGET] or "b_eff_io"


def _from_totals(partition: PrintedPartition, value: Printed, again: Printed) -> Finding:
    found = {"b_eff_io": (value, again)}
    for access in patterns.ACCESSES:
        shown, mean = partition.averages.get(access), worked_out(partial(_average, partition, access))
        if shown is not None and mean is not None:
            found[f"B_{access}"] = (shown, mean)
    fits = all(again.fits(shown) for shown, again in found.values())
    said = "; ".join(
        f"{name} {shown.value:.8g} printed, {again.value:.8g} from the totals"
        + ("" if again.fits(shown) else f" (rounding allows {again.low:.8g} to {again.high:.8g})")
        for name, (shown, again) in found.items()
    )
    side = worked_out(partial(_write_side, partition))
    tail = "" if side is None else f" W', which is not printed, is {side.value:.3f} MB/s."
    what = "do NOT follow from the totals of the types"
    if fits:
        what = "follow from the totals of the types within rounding"
    return finding(
        "b_eff_io-recomputed",
        f"The printed numbers {what}",
        f"{_subject(partition)}the printed numbers {what}. In MB/s: {said}.{tail}",
        "info" if fits else "warning",
        ranks=partition.processes,
        name=list(found),
        printed=[shown.value for shown, _ in found.values()],
        recomputed=[again.value for _, again in found.values()],
        consistent=fits,
        write_side=None if side is None else side.value * MEGA,
    )


def _needed(partition: PrintedPartition, value: Printed) -> Finding:
    side, read = _needed_write_side(partition), partition.averages["read"]
    if side is None:
        title = "W' cannot be computed from what was printed"
        return finding("b_eff_io-recomputed", title, f"{_subject(partition)}{title}.", "warning")
    scatter = _scatter_first_write(partition, side)
    text = (
        f"{_subject(partition)}the printed b_eff_io of {value.value:.3f} MB/s is sqrt(W' x B_read) with W' = "
        f"{side.value:.3f} MB/s (b_eff_io^2 / B_read; rounding allows {side.low:.4f} to {side.high:.4f} MB/s). The "
        "three printed averages alone do not determine W'. It contains the rewrite of scatter, and no bandwidth of "
        "scatter is printed. B_write instead of W' would give "
        f"{patterns.b_eff_io(partition.averages['write'].value, read.value):.3f} MB/s."
    )
    if scatter is not None:
        text += (
            f" Without -rewrite the printed rewrite is that of scatter alone. Then the first write of scatter reached "
            f"{scatter:.1f} MB/s."
        )
    return finding(
        "b_eff_io-recomputed",
        "The printed averages do not determine b_eff_io",
        text,
        ranks=partition.processes,
        b_eff_io=value.value * MEGA,
        write_side=side.value * MEGA,
        low=side.low * MEGA,
        high=side.high * MEGA,
        scatter_first_write=None if scatter is None else scatter * MEGA,
        determined=False,
    )


def _volume(partition: PrintedPartition) -> Iterator[Finding]:
    """Yield a warning only where the printed percentage contradicts the printed volume and memory."""
    volume, shown, memory = partition.volume_mib, partition.percent, partition.memory_mib
    if volume is None or shown is None or not memory:
        return
    share = Printed(*(mib / memory * 100 for mib in (volume.value, volume.low, volume.high)))
    if not share.fits(shown):
        text = (
            f"{_subject(partition)}{volume.value:.3f} MiB are {share.value:.1f} % of {memory} MiB. "
            f"{shown.value:.1f} % was printed."
        )
        numbers = {"ranks": partition.processes, "printed": shown.value, "recomputed": share.value}
        yield finding("b_eff_io-units", "The printed share of the memory is wrong", text, "warning", **numbers)


def _minutes(partition: PrintedPartition) -> Iterator[Finding]:
    """Yield the time to move all of the memory in one unit; the original divides MiB by MB/s."""
    memory, seconds, value = _memory_bytes(partition), _memory_time_s(partition), partition.value
    if memory is None or seconds is None or value is None:
        return
    about = "" if partition.memory_mib is not None else "about "
    minutes = f"{seconds / 60:.1f} min"
    text = (
        f"{_subject(partition)}moving all of the memory, {about}{format_volume(memory)}, at b_eff_io takes {minutes}."
    )
    shown = partition.minutes
    if shown is not None and not shown.low <= seconds / 60 <= shown.high:
        is_mixed = shown.low <= memory / patterns.MIB / value.value / 60 <= shown.high
        text += f" {shown.value:.1f} min was printed"
        text += ": that is MiB divided by MB/s." if is_mixed else "."
    printed = None if shown is None else shown.value
    numbers = {"ranks": partition.processes, "memory": memory, "seconds": seconds, "printed_minutes": printed}
    yield finding("b_eff_io-units", f"Moving all of the memory at b_eff_io takes {minutes}", text, **numbers)


def _subject(partition: PrintedPartition) -> str:
    return f"{processes(partition.processes)}: "


def _reasons_against(partition: PrintedPartition) -> list[str]:
    """Return why the value does not count, as far as the printed form says; empty where nothing is against it."""
    found: list[str] = []
    scheduled = partition.scheduled_min
    if scheduled is not None and scheduled.high < _VALID_MIN:
        found.append(f"scheduled for {format_time(scheduled.value * 60)}, below 30 min for a partition")
    if partition.shared is False:
        found.append("shared file pointers were not used for pattern type shared (-noshared)")
    if partition.errors or partition.wrong:
        found.append(f"{partition.errors or len(partition.wrong)} errors: data that came back wrong")
    if partition.verdict == "NOT VALID" and not found:
        found.append("the program that wrote it says NOT VALID")
    return found


def _rows(partition: PrintedPartition, name: str) -> Iterator[Row]:
    """Yield all rows of one partition, in the order of the rows of our own runs. ``name``: the file."""
    row = partial(_row, partition, name)
    if partition.value is not None and partition.value.value > 0:
        # Our own runs have these in their request.
        schedule: dict[str, Scalar] = {}
        if partition.scheduled_min is not None:
            schedule["scheduled_s"] = partition.scheduled_min.value * 60
        if partition.shared is False:
            schedule["no_shared_pointer"] = True
        whole, against = row(B_EFF_IO, schedule, partition.value.value * MEGA), _reasons_against(partition)
        voids = [Flag(code=NOT_VALID, reason="; ".join(against))] if against else []
        yield whole.model_copy(update={"flags": [*voids, *whole.flags]})
    if (side := _any_write_side(partition)) is not None:
        yield row(WRITE_SIDE, {}, side.value * MEGA)
    for access, mean in partition.averages.items():
        yield row(ACCESS, {"access": access}, mean.value * MEGA)
    yield from _cell_rows(partition, name)
    volume, seconds, memory = partition.volume_mib, _memory_time_s(partition), _memory_bytes(partition)
    if volume is not None and volume.value > 0:
        for access in partition.averages:
            yield row(VOLUME, {"access": access}, volume.value * patterns.MIB, "B")
    if seconds is not None and memory is not None:
        found = row(MEMORY_TIME, {}, seconds, "s")
        yield found.model_copy(update={"params": {**found.params, "memory_bytes": round(memory)}})


def _cell_rows(partition: PrintedPartition, name: str) -> Iterator[Row]:
    """Yield the rows of the table: the types, then the patterns."""
    row, lmax = partial(_row, partition, name), round((partition.lmax_mib or 0) * patterns.MIB)
    for (access, kind, position), shown in partition.cells.items():
        if position == TOTAL:
            yield row(TYPE, {"access": access, "pattern_type": kind}, shown.value * MEGA)
    for access, pattern in product(patterns.ACCESSES, patterns.PATTERNS):
        shown = partition.cells.get((access, pattern.type, pattern.position or -1))
        if shown is not None:
            own = {"access": access, "pattern_type": pattern.type, "pattern": pattern.number, "size": pattern.size}
            sizes = {"chunk_bytes": pattern.chunk(lmax), "call_bytes": pattern.call(lmax)}
            yield row(PATTERN, {**own, **{key: size for key, size in sizes.items() if size}}, shown.value * MEGA)


def _row(
    partition: PrintedPartition,
    name: str,
    metric: str,
    own: dict[str, Scalar],
    value: float,
    unit: Literal["B/s", "s", "B"] = "B/s",
) -> Row:
    place: dict[str, Scalar] = {"ranks": partition.processes}
    if partition.lmax_mib is not None:
        place["lmax_bytes"] = round(partition.lmax_mib * patterns.MIB)
    found = imported_row(name, metric, unit, _target(partition), {**own, **place}, [value])
    flags = [Flag(code=interval_below(), reason="one sample")]
    verdict = found.verdict if unit == "B/s" else "none"
    return found.model_copy(update={"verdict": verdict, "flags": flags, "suite": "b_eff_io"})


def _scores(partitions: Sequence[PrintedPartition]) -> Iterator[Score]:
    """Yield the maximum over the partitions, then the value of each partition with its parts."""

    def score(name: str, value: float, partition: PrintedPartition) -> Score:
        reasons = _reasons_against(partition)
        return Score(name=name, unit=UNIT, value=value, valid=not reasons, reasons=reasons)

    known = [(partition, partition.value.value) for partition in partitions if partition.value is not None]
    if known:
        best, value = max(known, key=lambda pair: pair[1])
        yield score("b_eff_io", value, best)
    for partition, value in known:
        side = _any_write_side(partition)
        values = {"b_eff_io": value, **({"W'": side.value} if side else {})}
        values |= {f"B_{access}": mean.value for access, mean in partition.averages.items()}
        for name, part in values.items():
            yield score(f"{name} of {processes(partition.processes)}", part, partition)


def read(text: str, name: str) -> Summary:
    """Read a file in either form; raise ``UserError`` for what is missing or wrong, with its place."""
    partitions, release = read_partitions(text, name)
    return Summary(
        suite=IMPORT_SUITE,
        run_id="imported",
        created="",
        versions={"b_eff_io": release} if release else {},
        rows=[row for partition in partitions for row in _rows(partition, name)],
        findings=[found for partition in partitions for found in _findings(partition)],
        scores=list(_scores(partitions)),
    )


IMPORTER: Final = Importer(
    "b_eff_io", "what the original b_eff_io prints (.sum), or its sample as JSON", recognises, read, kind="storage"
)
