# SPDX-License-Identifier: Apache-2.0
"""From the plans and records of a b_eff_io run to rows, scores and sentences.

The sentences here say whether a value counts, what the run lost and where its time went; ``pattern_findings`` compares.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from ullage.analysis.findings.phrasing import capital, finding, level_of_part
from ullage.analysis.settings import first, select
from ullage.grouping import grouped
from ullage.model.request import Request
from ullage.model.summary import Finding, Row
from ullage.quantity import listing, percent, processes, times
from ullage.results.events import failures_of
from ullage.results.folder import ResultFolder
from ullage.results.rows import RowContext, TargetFacts
from ullage.runs.options.reading import read_options
from ullage.runs.suite import SuiteSummary
from ullage.suites.b_eff_io.measured import MOST_OVER, BEffIoRun, Part, by_round, read_run
from ullage.suites.b_eff_io.options import BEffIoOptions
from ullage.suites.b_eff_io.pattern_findings import COMPARING, ignored, pattern_findings, sets_compared
from ullage.suites.b_eff_io.patterns import ACCESSES, Access
from ullage.suites.b_eff_io.rows import (
    ACCESS,
    MEMORY_TIME,
    TYPE,
    VOLUME,
    WRITE_SIDE,
    SpotRows,
    SpotScores,
    b_eff_io_scores,
    best,
    time_rows,
)
from ullage.suites.b_eff_io.values import conditions, is_look, memory_bytes, outcomes_of, reasons_against, spots_of
from ullage.units import format_rate, format_time, format_volume


def summarise(result: ResultFolder, request: Request, context: RowContext) -> SuiteSummary:
    options = read_options(BEffIoOptions, request)
    io_run = read_run(result, options)
    by_target = digest(io_run, context)
    rows: list[Row] = []
    for target, found in by_target.items():
        rows += [row for one in found for row in one.rows]
        rows += time_rows(io_run, target, context.level)
    findings = list(_findings(io_run, by_target, context))
    findings += failures_of((file.records for file in result.read_records()), context.level)
    scores = b_eff_io_scores(by_target)
    looks = [one.model_copy(update={"look": is_look(one.reasons, options)}) for one in scores]
    return SuiteSummary(rows, findings, looks)


def digest(io_run: BEffIoRun, context: RowContext) -> dict[str, list[SpotScores]]:
    """Return by target each partition with each set of hints: its rows, and what voids its value."""
    spots = spots_of(io_run)
    found: dict[str, list[SpotScores]] = {}
    for spot in spots:
        holds_data = context.targets.get(spot.target, TargetFacts()).holds_data
        alike = [one for one in spots if (one.target, one.hints) == (spot.target, spot.hints)]
        own = reasons_against(io_run, [spot], holds_data=holds_data)
        whole = reasons_against(io_run, alike, holds_data=holds_data)
        rows = SpotRows(io_run, spot, own, context).all()
        found.setdefault(spot.target, []).append(SpotScores(spot, io_run.hint_set(spot.hints), rows, own, whole))
    return found


def _findings(
    io_run: BEffIoRun, by_target: Mapping[str, Sequence[SpotScores]], context: RowContext
) -> Iterator[Finding]:
    """Yield everything that is said, what voids the value first."""
    for target, spots in by_target.items():
        # Each kind of sentence that compares has its part of the level, for each target.
        level = level_of_part(context.level, COMPARING * len(by_target))
        holds_data = context.targets.get(target, TargetFacts()).holds_data
        place = target if len(by_target) > 1 else ""
        sets = grouped((one.hint_set, one) for one in spots)
        for name, alike in sets.items():
            words = ", ".join(filter(None, [place, f"hints {name}" if len(sets) > 1 else ""]))
            yield from _of_set(io_run, alike, f"{words}: " if words else "", level, holds_data=holds_data)
        label = f"{place}: " if place else ""
        yield from sets_compared([_sound(one) for one in spots], label, level)
        yield from ignored(io_run, target, label) if holds_data else []
        yield from _time_kept(io_run, target, label)
    if found := conditions(io_run.options):
        text = f"Compare b_eff_io only with runs of the same conditions: {'; '.join(found)}."
        title = "b_eff_io was measured under special conditions"
        yield finding("b_eff_io-conditions", title, text, "advice", conditions=found)


def _sound(one: SpotScores) -> SpotScores:
    """Leave out rows that others disturbed (grade C). What is not valid by the rules may still be compared."""
    return replace(one, rows=[row for row in one.rows if row.grade != "C"])


def _of_set(
    io_run: BEffIoRun, spots: Sequence[SpotScores], label: str, level: float, *, holds_data: bool
) -> Iterator[Finding]:
    one = spots[0]
    if one.whole:
        text = f"{label}b_eff_io is NOT VALID: {'; '.join(one.whole)}. Do not quote the number as a result."
        title, place = f"{label}b_eff_io does not count as a result", {"hint_set": one.hint_set, "reasons": one.whole}
        yield finding("b_eff_io-invalid", title, text, "warning", target=one.spot.target, **place)
    yield from _losses(io_run, spots, label)
    top = best(spots)
    if top is not None:
        yield from _headline(top, label, len(spots))
        yield from pattern_findings(_sound(top), label, level)
        if holds_data:
            yield from _cache(io_run, top, label)
            yield from _memory_time(io_run, top, label)


def _headline(one: SpotScores, label: str, partitions: int) -> Iterator[Finding]:
    """State the value and the means that it is made of. ``one``: the partition with the largest value.

    Say nothing where the value, W' or the mean of reads is missing.
    """
    row, side = one.value, first(one.rows, WRITE_SIDE)
    means = {access: first(one.rows, ACCESS, access=access) for access in ACCESSES}
    read = means["read"]
    if row is None or side is None or read is None:
        return
    most = f", the highest of {partitions} partitions" if partitions > 1 else ""
    parts = ", ".join(f"{access} {format_rate(mean.median)}" for access, mean in means.items() if mean is not None)
    text = (
        f"{label}b_eff_io is {format_rate(row.median)} with {processes(one.spot.ranks)}{most}. It is the geometric "
        f"mean of W' = {format_rate(side.median)} and reads of {format_rate(read.median)}. The weighted means are "
        f"{parts}."
    )
    medians = {access: None if mean is None else mean.median for access, mean in means.items()}
    title, values = f"{label}b_eff_io is {format_rate(row.median)}", {"b_eff_io": row.median, "write_side": side.median}
    yield finding("b_eff_io", title, text, **one.place, **values, **medians)


_REMEDIES: Final = {
    "overtime": "Give more --time, or --overtime 0, for all their calls.",
    "space": "Give more --space for all their time.",
}


def _losses(io_run: BEffIoRun, found: Sequence[SpotScores], label: str) -> Iterator[Finding]:
    """Report patterns without a value, and patterns that ended early.

    ``found``: all partitions with one set of hints on one target.
    """
    for fate in outcomes_of(io_run, [one.spot for one in found]):
        title = f"{label}{capital(fate.text)}"
        said = f": {fate.said}." if fate.said else f". {_REMEDIES[fate.why]}" if fate.is_cut else "."
        yield finding(
            "b_eff_io-cut" if fate.is_cut else "b_eff_io-lost",
            title,
            f"{title}{said}",
            "warning",
            target=found[0].spot.target,
            hint_set=found[0].hint_set,
            ranks=fate.ranks,
            access=fate.accesses,
            pattern_type=fate.types if fate.is_cut else fate.types[0],
            patterns=fate.patterns,
            **({"count": fate.count, "why": fate.why} if fate.is_cut else {"why": fate.why, "text": fate.said}),
        )


_DOUBTFUL: Final = ("warm", "mixed", "cached", "partly synced")


def _cache(io_run: BEffIoRun, one: SpotScores, label: str) -> Iterator[Finding]:
    """Judge whether the memory was measured, by the volume moved against the memory, and by what counters saw."""
    memory = memory_bytes(io_run.options)
    volumes: dict[Access, float] = {
        access: row.median for access in ACCESSES if (row := first(one.rows, VOLUME, access=access)) is not None
    }
    if not volumes:
        return
    verdicts = {
        access: list(dict.fromkeys(row.verdict for row in select(one.rows, TYPE, access=access))) for access in volumes
    }
    shares: dict[Access, float] = {access: volume / memory for access, volume in volumes.items()} if memory else {}
    least = min(shares.values(), default=1.0)
    doubtful = [access for access, words in verdicts.items() if any(word.startswith(_DOUBTFUL) for word in words)]
    said = [
        f"{access} {format_volume(volume)}" + (f" ({percent(shares[access], 1)} of the memory)" if shares else "")
        for access, volume in volumes.items()
    ]
    text = f"{label}{processes(one.spot.ranks)} moved, by access, {listing(said)}."
    if any(word.startswith(("warm", "mixed")) for word in verdicts.get("read", ())):
        text += " Reads came from memory of this machine: they measure the cache."
        title = "b_eff_io reads came from a cache"
    elif doubtful:
        text += f" It is not known whether all bytes of {listing(doubtful)} reached the storage."
        title = "b_eff_io may have measured a cache"
    elif least < 1:
        text += " A cache of the size of the memory can hold all of it."
        title = "b_eff_io moved less than the memory holds"
    else:
        title = "b_eff_io moved more than the memory holds"
    yield finding(
        "b_eff_io-cache",
        f"{label}{title}",
        text,
        "warning" if doubtful or least < 1 else "info",
        **one.place,
        access=list(volumes),
        volume=list(volumes.values()),
        memory=memory,
        share=list(shares.values()),
        verdict=[", ".join(words) for words in verdicts.values()],
    )


# A balanced system writes its whole memory in that time.
BALANCED_S: Final = 600.0
_MINUTE_S: Final = 60.0


def _memory_time(io_run: BEffIoRun, one: SpotScores, label: str) -> Iterator[Finding]:
    """Say how long it takes to move the whole memory at a valid b_eff_io; nothing where the memory is not known."""
    row, memory = first(one.rows, MEMORY_TIME), memory_bytes(io_run.options)
    if row is not None and memory is not None and not one.own:
        balance = "no longer than" if row.median <= BALANCED_S else "longer than"
        minutes = f"{row.median / _MINUTE_S:.1f} min"
        text = (
            f"{label}At b_eff_io the whole memory ({format_volume(memory)}) is moved in {minutes}. "
            f"That is {balance} the {BALANCED_S / _MINUTE_S:.0f} min of a balanced system."
        )
        title = f"{label}Moving the whole memory at b_eff_io takes {minutes}"
        yield finding("b_eff_io-memory-time", title, text, **one.place, memory=memory, seconds=row.median)


_BESIDE: Final[Mapping[Part, str]] = {
    "sync": "sync",
    "open": "opening files",
    "view": "setting views",
    "close": "closing files",
    "payload": "payload and its verification",
    "between": "between patterns",
    "launch": "starting launches",
}
# Parts below this share of all fixed time are not named.
_SMALL: Final = 0.02


def _time_kept(io_run: BEffIoRun, target: str, label: str) -> Iterator[Finding]:
    """Say whether the loops kept to their schedule, and what else took time, by the round with the longest loops."""
    spent = max(by_round(io_run, target).values(), key=lambda one: one.loops, default=None)
    if spent is None:
        return
    scheduled = io_run.options.time_s * len(io_run.options.hint_sets)
    ratio, is_over = times(spent.loops / scheduled), spent.loops > MOST_OVER * scheduled
    fixed = spent.total - spent.loops
    named = [
        f"{said} {format_time(spent.parts[part])}"
        for part, said in _BESIDE.items()
        if spent.parts.get(part, 0.0) > _SMALL * fixed
    ]
    text = (
        f"{label}Loops took {format_time(spent.loops)} of the scheduled {format_time(scheduled)} ({ratio}). "
        f"In addition: {listing(named) if named else 'nothing'}."
    )
    if is_over:
        text += " Patterns with a fixed count took longer than their part. Use --overtime to end them."
    title, severity = f"{label}Loops took {ratio} the scheduled time", "warning" if is_over else "info"
    whole = {"round_s": scheduled, "scheduled": spent.scheduled, "total": spent.total}
    yield finding("b_eff_io-time", title, text, severity, target=target, **whole, **spent.parts)
