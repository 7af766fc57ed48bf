# SPDX-License-Identifier: Apache-2.0
"""Sentences of suite ``pio``: slow patterns, what collective calls bring, and what 8 bytes off cost.

The error that all sentences together may make is shared out: a part to each of the three families. Which pattern is the
fastest is found by what was measured, so any two patterns of a group are compared at the level at which all pairs hold
(Bonferroni). Pairs that are fixed beforehand are judged together by Holm's procedure.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from ullage.analysis.contests import carries, compare_pairs, compare_rows, spread_of
from ullage.analysis.findings.doubts import verdict_word
from ullage.analysis.findings.hints import not_used, refused_hints
from ullage.analysis.findings.phrasing import finding, gain_of, least_gain, level_of_part, noun, with_gain
from ullage.analysis.statistics.comparison import Comparison, level_of_each
from ullage.analysis.statistics.spread import Spread
from ullage.grouping import grouped
from ullage.model.plan import Scalar
from ullage.model.summary import Finding, Row
from ullage.quantity import between, listing, plural, times
from ullage.results.records import AnyRecord
from ullage.results.rows import join
from ullage.units import format_bytes, format_rate

METRIC: Final = "bandwidth"
_FAMILIES: Final = 3
_MOST_NAMED: Final = 4
_ACCESS_NOUNS: Final = {"read-modify-write": "read-modify-writes"}


@dataclass(frozen=True)
class Pair:
    """Two rows that differ in one thing only, and what the comparison of the first with the second found."""

    first: Row
    second: Row
    found: Comparison

    @property
    def where(self) -> str:
        """Name the pattern and the request."""
        return f"{self.first.params['pattern']} {format_bytes(self.first.count('block_bytes'))}"

    @property
    def text(self) -> str:
        """Name it with its ratio and interval."""
        low, high = self.found.low or self.found.ratio, self.found.high or self.found.ratio
        return f"{self.where} {times(self.found.ratio)} {between(times(low), times(high))}"


def findings_of(rows: Sequence[Row], level: float) -> list[Finding]:
    """Return all findings; ``rows`` are sound ones."""
    known = [row for row in rows if row.metric == METRIC and not row.is_invalid]
    base = min((row.count("base_bytes") for row in known), default=0)
    at_base = [row for row in known if row.params["base_bytes"] == base]
    own, spread = level_of_part(level, _FAMILIES), spread_of(row for row in known if carries(row))
    return [*_slow_patterns(at_base, spread, own), *_collective(at_base, own), *_shifted(known, base, own)]


def _nouns(access: str) -> str:
    return _ACCESS_NOUNS.get(access, noun(access))


def _place(row: Row, *names: str) -> tuple[Scalar, ...]:
    """Return what rows that are compared share: also what was really measured."""
    return (row.target, verdict_word(row), *(row.params[name] for name in names))


def _at(row: Row) -> str:
    return f"on {row.target} ({row.params['backend']}, {plural(row.ranks, 'rank')})"


def _slow_patterns(rows: Sequence[Row], spread: Spread, level: float) -> list[Finding]:
    """Compare every pattern with the fastest of the same calls, operation and request, where nothing is off."""
    names = ("backend", "ranks", "calls", "access", "block_bytes")
    groups = grouped((_place(row, *names), row) for row in rows)
    several = [some for some in groups.values() if len(some) > 1]
    own = level_of_each(level, map(len, several))
    pairs: list[Pair] = []
    for some in several:
        best = max(some, key=lambda row: row.median)
        pairs += [Pair(row, best, compare_rows(row, best, own, None, spread)) for row in some if row is not best]
    slower = [pair for pair in pairs if pair.found.verdict == "slower"]
    by_place = grouped((_place(pair.first, *names[:-1]), pair) for pair in slower)
    return [_slow(found) for found in by_place.values()]


def _slow(pairs: Sequence[Pair]) -> Finding:
    worst: dict[str, Pair] = {}
    for pair in sorted(pairs, key=lambda pair: pair.found.ratio):
        worst.setdefault(pair.first.word("pattern"), pair)
    named = list(worst.values())[:_MOST_NAMED]
    first = named[0]
    row, best = first.first, first.second
    who = f"{row.params['calls']} {_nouns(row.access)}"
    size = format_bytes(row.count("block_bytes"))
    text = (
        f"The slowest {who} {_at(row)} are those of {row.params['pattern']} with {size}: {format_rate(row.median)}. "
        f"{best.params['pattern']} reaches {format_rate(best.median)}. Shares of the fastest pattern: "
        f"{listing([pair.text for pair in named])}."
    )
    title = f"{row.params['pattern']} is the slowest pattern of {who} on {row.target}"
    return finding(
        "pio-slow-pattern",
        title,
        text,
        case=row.case,
        best=best.case,
        access=row.access,
        calls=row.word("calls"),
        patterns=[pair.first.word("pattern") for pair in worst.values()],
        ratios=[pair.found.ratio for pair in worst.values()],
    )


def _pairs(
    rows: Sequence[Row], level: float, names: Sequence[str], is_first: Callable[[Row], bool]
) -> dict[tuple[Scalar, ...], list[Pair]]:
    """Compare the rows that are ``is_first`` with those that are not and are the same in all ``names``.

    They come by target, backend, ranks and operation, and what stands behind those in ``names`` before the pattern.
    """
    places = grouped((_place(row, *names), row) for row in rows)
    found = [
        (first, second)
        for some in places.values()
        for first in some
        if is_first(first)
        for second in some
        if not is_first(second)
    ]
    judged = compare_pairs(found, level)
    pairs = (Pair(a, b, one) for (a, b), one in zip(found, judged, strict=True))
    return grouped((_place(pair.first, *names[:-2]), pair) for pair in pairs)


def _collective(rows: Sequence[Row], level: float) -> list[Finding]:
    """Say where collective calls are faster, and where slower, than independent ones of the same bytes."""
    names = ("backend", "ranks", "access", "pattern", "block_bytes")
    groups = _pairs(rows, level, names, lambda row: row.params["calls"] == "collective")
    return [
        one for pairs in groups.values() for one in _pair_findings(pairs, "pio-collective", "Collective", "independent")
    ]


def _shifted(rows: Sequence[Row], base: int, level: float) -> list[Finding]:
    """Say which rows of the least ``base`` differ from the same ones further behind."""
    others = sorted({row.count("base_bytes") for row in rows} - {base})
    names = ("backend", "ranks", "access", "calls", "pattern", "block_bytes")
    found: list[Finding] = []
    for other in others:
        known = [row for row in rows if row.params["base_bytes"] in (base, other)]
        own = level_of_part(level, len(others))
        groups = _pairs(known, own, names, lambda row, at=other: row.params["base_bytes"] == at)
        for pairs in groups.values():
            found += _pair_findings(
                pairs, "pio-shift", f"{other} bytes off, {pairs[0].first.params['calls']}", "well-formed"
            )
    return found


def _pair_findings(pairs: Sequence[Pair], kind: str, what: str, other: str) -> list[Finding]:
    """Return a finding that says in how many of all pairs which is faster; none where that is told of none.

    A command that changes all of them is named only where all of them gain.
    """
    by_word = grouped((pair.found.verdict, pair) for pair in sorted(pairs, key=lambda pair: pair.found.ratio))
    faster, slower = by_word.get("faster", [])[::-1], by_word.get("slower", [])
    if not faster and not slower:
        return []
    row = pairs[0].first
    nouns = _nouns(row.access)
    ahead = f"{what} {nouns}" if kind == "pio-collective" else f"{nouns.capitalize()} ({what})"
    words = [(word, told) for word, told in (("faster", faster), ("slower", slower)) if told]
    counts = " and ".join(f"{word} in {len(told)}" for word, told in words)
    each = "; ".join(f"{word}: {listing([pair.text for pair in told[:_MOST_NAMED]])}" for word, told in words)
    than = f"than {other} ones (of {plural(len(pairs), 'case')})"
    found = finding(
        kind,
        f"{ahead} on {row.target} are {counts} {than}",
        f"{ahead} {_at(row)} are {counts} {than}. Their share of the rate where they are {each}.",
        "advice" if faster and kind == "pio-collective" else "info",
        case=row.case,
        access=row.access,
        cases=len(pairs),
        faster=[pair.where for pair in faster],
        slower=[pair.where for pair in slower],
        ratios=[pair.found.ratio for pair in (*faster, *slower)],
    )
    if kind == "pio-collective" and len(faster) == len(pairs):
        return [with_gain(found, least_gain(gain_of(pair.found) for pair in pairs), "--calls collective")]
    return [found]


def ignored_hints(launches: Iterable[Iterable[AnyRecord]]) -> list[Finding]:
    """Return one finding for each hint that was not taken, or was taken with another value."""
    phases = [item.phase for item in join(launches)]
    uses = (
        (key, value, phase.hints_granted.get(key, "")) for phase in phases for key, value in phase.hints_given.items()
    )
    refused = refused_hints(("", *use) for use in uses)
    return [not_used("pio-hints-ignored", (key, value), used, "phase") for (_, key, value), used in refused.items()]
