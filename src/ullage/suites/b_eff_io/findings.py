# SPDX-License-Identifier: Apache-2.0
"""Sentences on a b_eff_io run: whether it counts, what it lost, whether a cache was measured, where time went. Pure."""

from collections.abc import Sequence
from typing import Final

from ullage.analysis.findings.words import columns
from ullage.model.summary import Finding, Row
from ullage.quantity import listing, processes, times
from ullage.suites.b_eff_io.measured import Course
from ullage.suites.b_eff_io.overheads import MOST_OVER, PARTS, Spent, by_round
from ullage.suites.b_eff_io.patterns import ACCESSES, Access
from ullage.suites.b_eff_io.rows import ACCESS, MEMORY_TIME, TYPE, VOLUME, WRITE_SIDE, select
from ullage.suites.b_eff_io.scores import SpotScores
from ullage.suites.b_eff_io.validity import (
    Cut,
    Told,
    conditions,
    cuts_of,
    losses_of,
)
from ullage.suites.b_eff_io.values import memory_bytes
from ullage.units import format_rate, format_time, format_volume

# By balance a system writes its memory in that time.
BALANCED_S: Final = 600.0
_DOUBTFUL: Final = ("warm", "mixed", "cached", "partly synced")
_FROM_CACHE: Final = ("warm", "mixed")
_MINUTE_S: Final = 60.0
_REMEDIES: Final = {
    "overtime": "A longer --time, or --overtime 0, lets them do all their calls.",
    "space": "More --space lets them use all their time.",
}
# Parts below this share of all fixed time are not named.
_SMALL: Final = 0.02


def lead(one: SpotScores, *, several_sets: bool, several_targets: bool) -> str:
    """What goes before a sentence to say which run it is about: nothing where there is only one."""
    words = [one.spot.target if several_targets else "", f"hints {one.hint_set}" if several_sets else ""]
    said = ", ".join(filter(None, words))
    return f"{said}: " if said else ""


def place(one: SpotScores) -> dict[str, str | int]:
    """The numbers that say where a finding is from."""
    return {"target": one.spot.target, "hint_set": one.hint_set, "ranks": one.spot.ranks}


def invalid(reasons: Sequence[str], target: str, hint_set: str, label: str) -> list[Finding]:
    """Loud, and with every reason."""
    if not reasons:
        return []
    text = f"{label}b_eff_io is NOT VALID: {'; '.join(reasons)}. The number is a look, not a result."
    numbers = columns(target=target, hint_set=hint_set, reasons=list(reasons))
    return [Finding(kind="b_eff_io-invalid", text=text, severity="warning", numbers=numbers)]


def headline(one: SpotScores, label: str, partitions: int) -> list[Finding]:
    """The value, and what it is made of. ``one``: the partition with the largest."""
    row, side = one.value, next(iter(select(one.rows, WRITE_SIDE)), None)
    means = {access: _first(one, ACCESS, access) for access in ACCESSES}
    read = means["read"]
    if row is None or side is None or read is None:
        return []
    most = f", the most of {partitions} partitions" if partitions > 1 else ""
    parts = ", ".join(f"{access} {format_rate(mean.median)}" for access, mean in means.items() if mean is not None)
    text = (
        f"{label}b_eff_io is {format_rate(row.median)} with {processes(one.spot.ranks)}{most}: the geometric mean of "
        f"W' = {format_rate(side.median)} and reads of {format_rate(read.median)}. Weighted means: {parts}."
    )
    numbers = columns(
        **place(one),
        b_eff_io=row.median,
        write_side=side.median,
        **{access: None if mean is None else mean.median for access, mean in means.items()},
    )
    return [Finding(kind="b_eff_io", text=text, numbers=numbers)]


def _first(one: SpotScores, metric: str, access: Access) -> Row | None:
    return next(iter(select(one.rows, metric, access=access)), None)


def losses(course: Course, found: Sequence[SpotScores], label: str) -> list[Finding]:
    """Patterns without a value, and those that ended early. ``found``: partitions with one set of hints."""
    spots = [one.spot for one in found]
    return [
        *(_lost(one, found[0], label) for one in losses_of(course, spots)),
        *(_cut(one, found[0], label) for one in cuts_of(course, spots)),
    ]


def _lost(told: Told, first: SpotScores, label: str) -> Finding:
    numbers = columns(
        target=first.spot.target,
        hint_set=first.hint_set,
        ranks=list(told.ranks),
        access=list(told.accesses),
        pattern_type=told.type,
        patterns=list(told.patterns),
        why=told.why,
        text=told.said,
    )
    said = f": {told.said}" if told.said else ""
    text = f"{label}{_capital(told.text)}{said}."
    return Finding(kind="b_eff_io-lost", text=text, severity="warning", numbers=numbers)


def _cut(cut: Cut, first: SpotScores, label: str) -> Finding:
    numbers = columns(
        target=first.spot.target,
        hint_set=first.hint_set,
        ranks=list(cut.ranks),
        access=list(cut.accesses),
        pattern_type=list(cut.types),
        patterns=list(cut.patterns),
        count=cut.count,
        why=cut.why,
    )
    text = f"{label}{_capital(cut.text)}. {_REMEDIES[cut.why]}"
    return Finding(kind="b_eff_io-cut", text=text, severity="warning", numbers=numbers)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def cache(course: Course, one: SpotScores, label: str) -> list[Finding]:
    """Was it the memory that was measured? By what moved against what fits, and by what counters saw."""
    memory = memory_bytes(course)
    volumes: dict[Access, float] = {
        access: row.median for access in ACCESSES if (row := _first(one, VOLUME, access)) is not None
    }
    if not volumes:
        return []
    verdicts = {access: _verdicts(one, access) for access in volumes}
    shares: dict[Access, float] = {access: volume / memory for access, volume in volumes.items()} if memory else {}
    least = min(shares.values(), default=None)
    doubtful = [access for access, words in verdicts.items() if any(word.startswith(_DOUBTFUL) for word in words)]
    text = f"{label}{_volume_text(volumes, shares, one)}"
    if any(word.startswith(_FROM_CACHE) for word in verdicts.get("read", ())):
        text += " The cache was measured: memory of this machine answered reads."
    elif doubtful:
        text += f" Of {listing(doubtful)} not all bytes are known to have reached the storage."
    elif least is not None and least < 1:
        text += " A cache of the size of the memory may hold all of it."
    numbers = columns(
        **place(one),
        access=list(volumes),
        volume=list(volumes.values()),
        memory=memory,
        share=list(shares.values()),
        verdict=[", ".join(words) for words in verdicts.values()],
    )
    is_doubtful = bool(doubtful) or (least is not None and least < 1)
    severity = "warning" if is_doubtful else "info"
    return [Finding(kind="b_eff_io-cache", text=text, severity=severity, numbers=numbers)]


def _volume_text(volumes: dict[Access, float], shares: dict[Access, float], one: SpotScores) -> str:
    def said(access: Access) -> str:
        share = f" ({shares[access]:.1%} of the memory)" if access in shares else ""
        return f"{access} {format_volume(volumes[access])}{share}"

    return f"{processes(one.spot.ranks)} moved with each access: {listing([said(access) for access in volumes])}."


def _verdicts(one: SpotScores, access: Access) -> list[str]:
    return list(dict.fromkeys(row.verdict for row in select(one.rows, TYPE, access=access)))


def memory_time(course: Course, one: SpotScores, label: str) -> list[Finding]:
    """How long the whole memory takes at that rate, in units that fit."""
    row, memory = next(iter(select(one.rows, MEMORY_TIME)), None), memory_bytes(course)
    if row is None or memory is None:
        return []
    balance = "no longer than" if row.median <= BALANCED_S else "longer than"
    text = (
        f"{label}The total memory ({format_volume(memory)}) over b_eff_io is {row.median / _MINUTE_S:.1f} "
        f"min, {balance} the {BALANCED_S / _MINUTE_S:.0f} min in which a balanced system writes its memory."
    )
    numbers = columns(**place(one), memory=memory, seconds=row.median)
    return [Finding(kind="b_eff_io-memory-time", text=text, numbers=numbers)]


def time_kept(course: Course, target: str, label: str) -> list[Finding]:
    """Whether loops took what was scheduled, and what was spent beside them; of the round that took longest."""
    rounds = by_round(course, target)
    if not rounds:
        return []
    spent = max(rounds.values(), key=lambda one: one.loops)
    scheduled = course.options.time_s * len(course.options.hint_sets)
    is_over = spent.loops > MOST_OVER * scheduled
    text = (
        f"{label}Of {format_time(scheduled)} scheduled, loops took {format_time(spent.loops)} "
        f"({times(spent.loops / scheduled)}). Beside them: {_beside(spent)}."
    )
    if is_over:
        text += " Patterns with a fixed count took longer than their part; --overtime ends them."
    numbers = columns(round_s=scheduled, scheduled=spent.scheduled, total=spent.total, **spent.parts)
    return [
        Finding(
            kind="b_eff_io-time",
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


def _beside(spent: Spent) -> str:
    named = [
        f"{_SAID[part]} {format_time(spent.parts[part])}"
        for part in PARTS
        if part in _SAID and spent.parts.get(part, 0.0) > _SMALL * spent.fixed
    ]
    return listing(named) if named else "nothing"


def set_apart(course: Course) -> list[Finding]:
    """What others must have too whose numbers are held against these."""
    found = conditions(course.options)
    if not found:
        return []
    text = f"Compare only with runs that have the same: {'; '.join(found)}."
    return [Finding(kind="b_eff_io-conditions", text=text, severity="advice", numbers=columns(conditions=found))]
