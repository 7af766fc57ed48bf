# SPDX-License-Identifier: Apache-2.0
"""Sentences on access time: where caches end, what memory takes and under which conditions, load, cores. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Final

from ullage.analysis.contests import carries, compare_rows
from ullage.analysis.findings.phrasing import finding, gain_of, level_of_part, with_gain
from ullage.analysis.settings import select
from ullage.grouping import grouped
from ullage.model.flags import NO_HUGE_PAGES
from ullage.model.summary import Finding, Row
from ullage.quantity import listing, times
from ullage.suites.memory.options import MEMORY_LEVEL, Cache
from ullage.units import format_bytes, format_rate, format_time

# Neighbours on a plateau differ by less than this; a cache's end makes a larger step.
_STEP: Final = 1.2
_FEWEST: Final = 2


@dataclass(frozen=True, slots=True)
class Plateau:
    """Sizes of nearly the same access time: the first and last size in bytes, and the middle time."""

    first: int
    last: int
    value: float


def plateaus(points: Sequence[tuple[int, float]]) -> list[Plateau]:
    """Return the stretches of at least two sizes with nearly the same value; ``points`` may be in any order.

    ``points`` are size and value. What lies between two stretches is a slope: a part of the set in each of two levels.
    """
    ordered = sorted(points)
    stretches: list[list[tuple[int, float]]] = []
    for point in ordered:
        if stretches and _near(stretches[-1][0][1], point[1]) and _near(stretches[-1][-1][1], point[1]):
            stretches[-1].append(point)
        else:
            stretches.append([point])
    return [
        Plateau(stretch[0][0], stretch[-1][0], sorted(value for _, value in stretch)[len(stretch) // 2])
        for stretch in stretches
        if len(stretch) >= _FEWEST
    ]


def _near(first: float, second: float) -> bool:
    return max(first, second) <= _STEP * min(first, second)


# A load whose time has risen by so much under load waits in a queue.
_QUEUED: Final = 1.5
# Huge pages must bring this factor to be worth advice.
_WORTH: Final = 1.1
_ASKING: Final = "GLIBC_TUNABLES=glibc.malloc.hugetlb=1, `madvise(MADV_HUGEPAGE)` or transparent_hugepage=always"
_NO_GAIN: Final = {"slower": "Huge pages are slower here.", "cannot tell": "No gain can be told."}


def latency_findings(rows: Sequence[Row], caches: Sequence[Cache], level: float) -> list[Finding]:
    """Return all findings on latency in the rows of one run; ``level`` is that of each kind of comparison."""
    loads = [row for row in rows if row.params.get("access") == "loaded-latency" and _is_in_memory(row)]
    rates = {row.case: row.median for row in loads if row.metric == "injected_bandwidth"}
    lines = grouped((row.word("injection"), row) for row in loads if row.metric == "access_time")
    own = level_of_part(level, max(1, sum(map(len, lines.values()))))
    return [
        *_ends(rows, caches),
        *_memory(rows),
        *_huge_pages(rows, level),
        *_parallel(rows, level),
        *[
            _load(injection, sorted(((rates.get(row.case, 0.0), row) for row in line), key=lambda one: one[0]), own)
            for injection, line in lines.items()
            if len(line) > 1
        ],
        *_cores(rows),
        *_nodes(rows),
    ]


def chases(rows: Iterable[Row], pages: str, *, local: bool = False, chains: int = 1) -> list[Row]:
    """Return valid times of chases by one thread, by rising set, without those between NUMA nodes and under load."""
    alone = select(rows, "access_time", access="chase", pages=pages, chains=chains, threads=1, cpu_node=None)
    found = (row for row in alone if (row.params.get("locality") == "local") == local and not row.is_invalid)
    return sorted(found, key=lambda row: row.count("working_set_bytes"))


def _size(row: Row) -> int:
    return row.count("working_set_bytes")


def _ends(rows: Sequence[Row], caches: Sequence[Cache]) -> list[Finding]:
    """Tell the levels of access time, in huge pages if measured: there the ends of TLBs do not blur those of caches."""
    known = [row for row in rows if carries(row)]
    line = chases(known, "huge") or chases(known, "small") or chases(known, "default")
    found = plateaus([(_size(row), row.median) for row in line])
    if len(found) < 2:
        return []
    title = f"Access time has {len(found)} levels"
    text = f"{title}: {listing([_level(one, line) for one in found])}."
    last = line[-1]
    if found[-1].last < _size(last):
        text += (
            f" Beyond {format_bytes(found[-1].last)} it has no level: it is {format_time(last.median)} at "
            f"{format_bytes(_size(last))}."
        )
    if caches:
        stated = listing([f"{cache.name} {format_bytes(cache.bytes)}" for cache in caches])
        text += f" The kernel states {stated}."
    ends = [one.last for one in found[:-1]]
    return [finding("cache-ends", title, text, ends_bytes=ends, seconds=[one.value for one in found])]


def _level(one: Plateau, line: Sequence[Row]) -> str:
    """Name the sizes that have a level, and no others."""
    first, last = format_bytes(one.first), format_bytes(one.last)
    if one.first == _size(line[0]):
        where = f"up to {last}"
    else:
        where = f"from {first} on" if one.last == _size(line[-1]) else f"from {first} to {last}"
    return f"{format_time(one.value)} {where}"


def _is_in_memory(row: Row) -> bool:
    """Tell whether no cache holds the row's set; it must be valid, too."""
    return row.params.get("level") == MEMORY_LEVEL and not row.is_invalid


def _in_memory(line: Sequence[Row]) -> Row | None:
    return line[-1] if line and line[-1].params.get("level") == MEMORY_LEVEL else None


def _memory(rows: Sequence[Row]) -> list[Finding]:
    """Tell the latency of memory, with pages, locality and stride, without which it means nothing."""
    ways = (
        ("huge", False, "in huge pages"),
        ("small", False, "in small pages"),
        ("small", True, "within a few small pages at a time"),
    )
    lines = [(words, _in_memory(chases(rows, pages, local=local))) for pages, local, words in ways]
    told = [(words, row) for words, row in lines if row is not None]
    if not told:
        return []
    first = told[0][1]
    said = [f"{format_time(row.median)} {words}" for words, row in told]
    text = (
        f"A load from memory takes {listing(said)}. The loads depend on each other, in random order over "
        f"{format_bytes(_size(first))}, {first.params['stride_bytes']} bytes apart, on an otherwise idle machine."
    )
    if first.ceiling is not None:
        text += f" The declared time is {format_time(first.ceiling.value)}."
    title = f"A load from memory takes {format_time(first.median)} {told[0][0]}"
    seconds, pages = [row.median for _, row in told], [row.word("pages") for _, row in told]
    return [finding("memory-latency", title, text, seconds=seconds, pages=pages, set_bytes=_size(first))]


def _huge_pages(rows: Sequence[Row], level: float) -> list[Finding]:
    small, huge = _in_memory(chases(rows, "small")), _in_memory(chases(rows, "huge"))
    if small is None or huge is None or _size(small) != _size(huge):
        return []
    ratio = small.median / huge.median
    if huge.has_flag(NO_HUGE_PAGES):
        text = "Huge pages were asked for and the kernel gave none. What they would bring is not known."
        title = "The kernel gave no huge pages"
        return [finding("huge-pages", title, text, "warning", ratio=ratio)]
    usual, own = _in_memory(chases(rows, "default")), level_of_part(level, 3)
    compared = compare_rows(huge, small, own)
    gain = gain_of(compared)
    known, middle = usual if gain is not None and ratio >= _WORTH else None, (small.median + huge.median) / 2
    has_them = known and known.median < middle and compare_rows(known, small, own).verdict == "faster"
    lacks_them = known and known.median >= middle and compare_rows(known, huge, own).verdict == "slower"
    size = format_bytes(_size(huge))
    text = (
        f"A random load from {size} takes {format_time(huge.median)} in huge pages and {format_time(small.median)} in "
    )
    text += f"small ones: {times(ratio)} as fast." if gain else f"small ones. {_NO_GAIN[compared.verdict]}"
    text += " A program gets them without asking." if has_them else ""
    text += f" A program must ask for them ({_ASKING})." if lacks_them else ""
    severity = "advice" if lacks_them else "info"
    title = "Reads gain from huge pages" if gain else "No gain of huge pages can be told for reads"
    found = finding("huge-pages", title, text, severity, ratio=ratio)
    # Who has them already gains nothing.
    return [with_gain(found, gain if lacks_them else None, _ASKING)]


def _parallel(rows: Sequence[Row], level: float) -> list[Finding]:
    """Tell how many loads a core keeps under way, by how much faster many chains are than one."""
    whole = {"pages": "huge", "locality": "whole set", "level": MEMORY_LEVEL, "cpu_node": None}
    line = select(rows, "access_time", access="chase", **whole)
    largest = max((_size(row) for row in line), default=0)
    by_chains = {row.count("chains"): row for row in line if _size(row) == largest}
    if len(by_chains) < 2 or 1 not in by_chains:
        return []
    most = max(by_chains)
    if compare_rows(by_chains[most], by_chains[1], level, None).verdict != "faster":
        return []
    gain = by_chains[1].median / by_chains[most].median
    text = (
        f"{most} chases at once in one thread do {times(gain)} as many loads from memory as one. A load completes "
        f"every {format_time(by_chains[most].median)}."
    )
    title = f"{most} chases in one thread do {times(gain)} as many loads as one"
    counts = sorted(by_chains)
    seconds = [by_chains[count].median for count in counts]
    return [finding("parallel-loads", title, text, chains=counts, seconds=seconds)]


def _load(injection: str, line: Sequence[tuple[float, Row]], level: float) -> Finding:
    """Tell how load raises the access time; ``line`` gives injected bytes/s and time of a load, by rising rate."""
    idle, (rate, last) = line[0][1], line[-1]
    busy = last.median
    text = (
        f"While other cores do {format_rate(rate)} of {injection.replace('-', ' ')}s, a load takes "
        f"{format_time(busy)}, and {format_time(idle.median)} with the least of it."
    )
    found = [(at, compare_rows(row, idle, level)) for at, row in line[1:]]
    queued = list(takewhile(lambda one: (one[1].low or 0.0) >= _QUEUED, reversed(found)))
    if queued:
        text += f" From {format_rate(queued[-1][0])} on it is {times(_QUEUED)} or more: loads wait in a queue."
    elif all(one.high is not None and one.high < _QUEUED for _, one in found):
        text += f" It stays below {times(_QUEUED)} at every rate tried."
    title = f"A load takes {format_time(busy)} beside {format_rate(rate)} of {injection.replace('-', ' ')}s"
    rates, seconds = [at for at, _ in line], [row.median for _, row in line]
    return finding("loaded-latency", title, text, injection=injection, bytes_per_s=rates, seconds=seconds)


def _cores(rows: Sequence[Row]) -> list[Finding]:
    pairs = sorted((row for row in rows if row.metric == "core_round_trip"), key=lambda row: row.median)
    if not pairs:
        return []
    near, far = pairs[0], pairs[-1]
    if near is far:
        text = f"A cache line goes from {_pair(near)} and back in {format_time(near.median)}."
    else:
        text = (
            f"The medians of a cache line to another core and back go from {format_time(near.median)} ({_pair(near)}) "
            f"to {format_time(far.median)} ({_pair(far)})."
        )
    title = f"A cache line goes to another core and back in {format_time(near.median)}"
    return [finding("core-to-core", title, text, least_s=near.median, most_s=far.median)]


def _pair(row: Row) -> str:
    return f"CPU {row.params['cpu_a']} to CPU {row.params['cpu_b']}"


def _nodes(rows: Sequence[Row]) -> list[Finding]:
    """Tell what memory of another NUMA node costs; return nothing where there is only one node."""
    found = [row for row in rows if row.metric == "access_time" and "cpu_node" in row.params and _is_in_memory(row)]
    places = grouped((row.params["cpu_node"] == row.params.get("memory_node"), row.median) for row in found)
    near, far = places.get(True, []), places.get(False, [])
    if not near or not far:
        return []
    text = (
        f"A load from another NUMA node's memory takes {format_time(min(far))} to {format_time(max(far))}. A load from "
        f"the own node takes {format_time(min(near))}."
    )
    title = f"A load from another NUMA node takes {format_time(max(far))}"
    return [finding("numa", title, text, near_s=min(near), far_s=max(far))]
