# SPDX-License-Identifier: Apache-2.0
"""Sentences on a b_eff_io run: whether it counts, what it lost and where time went. Pure."""

from collections.abc import Sequence
from typing import Final

from ullage.analysis.findings.phrasing import capital, columns, finding
from ullage.analysis.settings import first, select
from ullage.model.summary import Finding
from ullage.quantity import listing, percent, processes, times
from ullage.suites.b_eff_io.measured import BEffIoRun
from ullage.suites.b_eff_io.overheads import MOST_OVER, PARTS, TimeSpent, by_round
from ullage.suites.b_eff_io.patterns import ACCESSES, Access
from ullage.suites.b_eff_io.rows import ACCESS, MEMORY_TIME, TYPE, VOLUME, WRITE_SIDE
from ullage.suites.b_eff_io.scores import SpotScores
from ullage.suites.b_eff_io.validity import PatternOutcome, conditions, cuts_of, losses_of
from ullage.suites.b_eff_io.values import memory_bytes
from ullage.units import format_rate, format_time, format_volume

# A balanced system writes its whole memory in that time.
BALANCED_S: Final = 600.0
_DOUBTFUL: Final = ("warm", "mixed", "cached", "partly synced")
_FROM_CACHE: Final = ("warm", "mixed")
_MINUTE_S: Final = 60.0
_REMEDIES: Final = {
    "overtime": "Give more --time, or --overtime 0, for all their calls.",
    "space": "Give more --space for all their time.",
}
# Parts below this share of all fixed time are not named.
_SMALL: Final = 0.02


def lead(one: SpotScores, *, several_sets: bool, several_targets: bool) -> str:
    """Return the words before a sentence that say which run it is about; empty where there is only one."""
    words = [one.spot.target if several_targets else "", f"hints {one.hint_set}" if several_sets else ""]
    said = ", ".join(filter(None, words))
    return f"{said}: " if said else ""


def place(one: SpotScores) -> dict[str, str | int]:
    """Return the numbers that say which target, set of hints and partition a finding is about."""
    return {"target": one.spot.target, "hint_set": one.hint_set, "ranks": one.spot.ranks}


def invalid(reasons: Sequence[str], target: str, hint_set: str, label: str) -> list[Finding]:
    """Warn that the value does not count, with every reason; return nothing where there is none."""
    if not reasons:
        return []
    text = f"{label}b_eff_io is NOT VALID: {'; '.join(reasons)}. The number is a look, not a result."
    title = f"{label}b_eff_io does not count as a result"
    return [
        finding("b_eff_io-invalid", title, text, "warning", target=target, hint_set=hint_set, reasons=list(reasons))
    ]


def headline(one: SpotScores, label: str, partitions: int) -> list[Finding]:
    """State the value and the means that it is made of. ``one``: the partition with the largest value.

    Return nothing where the value, W' or the mean of reads is missing.
    """
    row, side = one.value, first(one.rows, WRITE_SIDE)
    means = {access: first(one.rows, ACCESS, access=access) for access in ACCESSES}
    read = means["read"]
    if row is None or side is None or read is None:
        return []
    most = f", the highest of {partitions} partitions" if partitions > 1 else ""
    parts = ", ".join(f"{access} {format_rate(mean.median)}" for access, mean in means.items() if mean is not None)
    text = (
        f"{label}b_eff_io is {format_rate(row.median)} with {processes(one.spot.ranks)}{most}. It is the geometric "
        "mean "
        f"of W' = {format_rate(side.median)} and reads of {format_rate(read.median)}. The weighted means are {parts}."
    )
    return [
        finding(
            "b_eff_io",
            f"{label}b_eff_io is {format_rate(row.median)}",
            text,
            **place(one),
            b_eff_io=row.median,
            write_side=side.median,
            **{access: None if mean is None else mean.median for access, mean in means.items()},
        )
    ]


def losses(io_run: BEffIoRun, found: Sequence[SpotScores], label: str) -> list[Finding]:
    """Report patterns without a value, and patterns that ended early.

    ``found``: all partitions with one set of hints on one target.
    """
    spots = [one.spot for one in found]
    return [_fate(one, found[0], label) for one in [*losses_of(io_run, spots), *cuts_of(io_run, spots)]]


def _fate(fate: PatternOutcome, first: SpotScores, label: str) -> Finding:
    more = {"count": fate.count, "why": fate.why} if fate.is_cut else {"why": fate.why, "text": fate.said}
    said = f": {fate.said}." if fate.said else f". {_REMEDIES[fate.why]}" if fate.is_cut else "."
    return finding(
        "b_eff_io-cut" if fate.is_cut else "b_eff_io-lost",
        f"{label}{capital(fate.text)}",
        f"{label}{capital(fate.text)}{said}",
        "warning",
        target=first.spot.target,
        hint_set=first.hint_set,
        ranks=fate.ranks,
        access=fate.accesses,
        pattern_type=fate.types if fate.is_cut else fate.types[0],
        patterns=fate.patterns,
        **more,
    )


def cache(io_run: BEffIoRun, one: SpotScores, label: str) -> list[Finding]:
    """Judge whether the memory was measured, by the volume moved against the memory, and by what counters saw."""
    memory = memory_bytes(io_run)
    volumes: dict[Access, float] = {
        access: row.median for access in ACCESSES if (row := first(one.rows, VOLUME, access=access)) is not None
    }
    if not volumes:
        return []
    verdicts = {access: _verdicts(one, access) for access in volumes}
    shares: dict[Access, float] = {access: volume / memory for access, volume in volumes.items()} if memory else {}
    least = min(shares.values(), default=None)
    doubtful = [access for access, words in verdicts.items() if any(word.startswith(_DOUBTFUL) for word in words)]
    text = f"{label}{_volume_text(volumes, shares, one)}"
    if any(word.startswith(_FROM_CACHE) for word in verdicts.get("read", ())):
        text += " Reads came from memory of this machine: they measure the cache."
        title = "b_eff_io reads came from a cache"
    elif doubtful:
        text += f" It is not known whether all bytes of {listing(doubtful)} reached the storage."
        title = "b_eff_io may have measured a cache"
    elif least is not None and least < 1:
        text += " A cache of the size of the memory can hold all of it."
        title = "b_eff_io moved less than the memory holds"
    else:
        title = "b_eff_io moved more than the memory holds"
    is_doubtful = bool(doubtful) or (least is not None and least < 1)
    severity = "warning" if is_doubtful else "info"
    return [
        finding(
            "b_eff_io-cache",
            f"{label}{title}",
            text,
            severity,
            **place(one),
            access=list(volumes),
            volume=list(volumes.values()),
            memory=memory,
            share=list(shares.values()),
            verdict=[", ".join(words) for words in verdicts.values()],
        )
    ]


def _volume_text(volumes: dict[Access, float], shares: dict[Access, float], one: SpotScores) -> str:
    def said(access: Access) -> str:
        share = f" ({percent(shares[access], 1)} of the memory)" if access in shares else ""
        return f"{access} {format_volume(volumes[access])}{share}"

    return f"{processes(one.spot.ranks)} moved, by access, {listing([said(access) for access in volumes])}."


def _verdicts(one: SpotScores, access: Access) -> list[str]:
    return list(dict.fromkeys(row.verdict for row in select(one.rows, TYPE, access=access)))


def memory_time(io_run: BEffIoRun, one: SpotScores, label: str) -> list[Finding]:
    """Say how long it takes to move the whole memory at a valid b_eff_io; nothing where the memory is not known."""
    row, memory = first(one.rows, MEMORY_TIME), memory_bytes(io_run)
    if row is None or memory is None or one.own:
        return []
    balance = "no longer than" if row.median <= BALANCED_S else "longer than"
    text = (
        f"{label}At b_eff_io the whole memory ({format_volume(memory)}) is moved in {row.median / _MINUTE_S:.1f} min. "
        f"That is {balance} the {BALANCED_S / _MINUTE_S:.0f} min of a balanced system."
    )
    title = f"{label}Moving the whole memory at b_eff_io takes {row.median / _MINUTE_S:.1f} min"
    return [finding("b_eff_io-memory-time", title, text, **place(one), memory=memory, seconds=row.median)]


def time_kept(io_run: BEffIoRun, target: str, label: str) -> list[Finding]:
    """Say whether the loops kept to their schedule, and what else took time.

    The round with the longest loops is judged.
    """
    rounds = by_round(io_run, target)
    if not rounds:
        return []
    spent = max(rounds.values(), key=lambda one: one.loops)
    scheduled = io_run.options.time_s * len(io_run.options.hint_sets)
    is_over = spent.loops > MOST_OVER * scheduled
    text = (
        f"{label}Loops took {format_time(spent.loops)} of the scheduled {format_time(scheduled)} "
        f"({times(spent.loops / scheduled)}). In addition: {_beside(spent)}."
    )
    if is_over:
        text += " Patterns with a fixed count took longer than their part. Use --overtime to end them."
    title = f"{label}Loops took {times(spent.loops / scheduled)} the scheduled time"
    numbers = columns(round_s=scheduled, scheduled=spent.scheduled, total=spent.total, **spent.parts)
    return [
        Finding(
            kind="b_eff_io-time",
            title=title,
            text=text,
            severity="warning" if is_over else "info",
            numbers={"target": target, **numbers},
        )
    ]


_SAID: Final = {
    "sync": "sync",
    "open": "opening files",
    "view": "setting views",
    "close": "closing files",
    "payload": "payload and its verification",
    "between": "between patterns",
    "launch": "starting launches",
}


def _beside(spent: TimeSpent) -> str:
    named = [
        f"{_SAID[part]} {format_time(spent.parts[part])}"
        for part in PARTS
        if part in _SAID and spent.parts.get(part, 0.0) > _SMALL * spent.fixed
    ]
    return listing(named) if named else "nothing"


def set_apart(io_run: BEffIoRun) -> list[Finding]:
    """State the conditions that other runs must share to be compared with this one."""
    found = conditions(io_run.options)
    if not found:
        return []
    text = f"Compare b_eff_io only with runs of the same conditions: {'; '.join(found)}."
    return [
        finding(
            "b_eff_io-conditions", "b_eff_io was measured under special conditions", text, "advice", conditions=found
        )
    ]
