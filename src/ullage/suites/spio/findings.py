# SPDX-License-Identifier: Apache-2.0
"""Sentences of suite ``spio``: growth with ranks, the share of the peak, neighbours' files, caches, unequal ranks.

The error that all sentences together may make is shared out to three families: growth, neighbours, and unequal ranks.
Within a line of rank counts any two are compared at the level at which all pairs hold (Bonferroni), because the best is
chosen by what was measured.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from ullage.analysis.ceilings.rows import is_of_device
from ullage.analysis.contests import compare_pairs, compare_rows, spread_of
from ullage.analysis.findings.phrasing import capital, finding, gain_of, level_of_part, with_gain
from ullage.analysis.statistics.comparison import Comparison, level_of_each
from ullage.grouping import grouped, nested
from ullage.model.summary import Finding, Row
from ullage.quantity import listing, percent, plural, show_row, times
from ullage.units import format_rate, format_time, format_volume

RATE: Final = "bandwidth"
CACHED: Final = "cached_share"
FASTEST: Final = "fastest_rank_time"
SLOWEST: Final = "slowest_rank_time"
NOUNS: Final = {
    "write": "writes",
    "read": "reads of own files",
    "neighbour": "reads of neighbours' files",
    "reread": "rereads",
}
# Shares of the peak that the seed's slide 43 prints for SPIOBENCH (Rabenseifner, after Saini et al., IPDPS 2007).
SX8_SHARES: Final = (0.53, 0.96)
PUBLISHED: Final = (
    "The published numbers of Columbia are above its physical peak, because its memory held the data. The "
    f"published shares of NEC SX-8 are {percent(SX8_SHARES[0])} to {percent(SX8_SHARES[1])} of its peak on disk."
)
_FAMILIES: Final = 3
# Counters include a little of other work: verdicts take so much for nothing, too.
_NOTHING: Final = 0.05
_UNEQUAL: Final = 0.9
# Two repetitions of noisy rates leave an interval over many powers of ten, which says nothing.
_WIDEST: Final = 100.0


def who_of(row: Row) -> str:
    """Name what a row is of, as the subject of a sentence: ``Writes on scratch``."""
    return capital(f"{NOUNS[row.word('operation')]} on {row.target}")


@dataclass(frozen=True)
class Line:
    """Rates of one operation at one target, by rising ranks.

    ``base``: the rate of one rank that they are compared with. It is the rank's read of its own file where the line is
    of neighbours' files. None where one rank was not measured.
    """

    rows: Sequence[Row]
    base: Row | None

    @property
    def who(self) -> str:
        """The subject of a sentence: ``Writes on scratch``."""
        return who_of(self.rows[0])

    @property
    def is_of_neighbours(self) -> bool:
        """Whether ranks read files that are not theirs."""
        return self.rows[0].word("operation") == "neighbour"

    @cached_property
    def best(self) -> Row:
        """The row with the highest median."""
        return max(self.rows, key=lambda row: row.median)

    def share_of_best(self, row: Row) -> float:
        """Return the rate of ``row`` over the highest median of the line."""
        return row.median / self.best.median


def lines_of(rows: Iterable[Row]) -> list[Line]:
    """Return a line for each target, backend and operation of the rows of ``RATE``."""
    rates = [row for row in rows if row.metric == RATE]
    places = grouped(((row.target, row.params["backend"], row.word("operation")), row) for row in rates)
    alone = {place: row for place, some in places.items() for row in some if row.ranks == 1}
    return [
        Line(
            sorted(some, key=lambda row: row.ranks),
            alone.get((target, backend, "read" if name == "neighbour" else name)),
        )
        for (target, backend, name), some in places.items()
    ]


def findings_of(rows: Sequence[Row], level: float) -> list[Finding]:
    """Return all findings; ``rows`` are sound ones.

    No sentence on growth, peak and neighbours rests on rows that a cache answered.
    """
    of_device = [row for row in rows if row.metric == RATE and not row.is_invalid and is_of_device(row)]
    lines, own = lines_of(of_device), level_of_part(level, _FAMILIES)
    peaks = grouped((line.best.target, line.best) for line in lines if line.best.share is not None)
    shares = [row for row in rows if row.metric == CACHED and row.median > _NOTHING]
    served = grouped(((row.target, row.word("operation")), row) for row in shares)
    alike = nested(((row.target, row.params["backend"], row.ranks), row.word("operation"), row) for row in of_device)
    pairs = [(some["neighbour"], some["read"]) for some in alike.values() if {"neighbour", "read"} <= some.keys()]
    judged = zip(pairs, compare_pairs(pairs, own), strict=True)
    several = [line for line in lines if line.base is not None and line.rows[-1].ranks > 1]
    of_growth = level_of_each(own, (len(_with_base(line)) for line in several))
    return [
        *(_grown(line, of_growth) for line in several),
        *(_peak(target, some) for target, some in peaks.items()),
        *[_neighbour(*pair, one) for pair, one in judged if one.verdict != "cannot tell"],
        *(_served(target, operation, some) for (target, operation), some in served.items()),
        *_unequal(rows, own),
    ]


def _with_base(line: Line) -> list[Row]:
    return [*([line.base] if line.base is not None and line.base not in line.rows else []), *line.rows]


def _grown(line: Line, level: float) -> Finding:
    base, *others = rows = _with_base(line)
    best, spread = max(rows, key=lambda row: row.median), spread_of(rows)
    over = [(row, compare_rows(row, base, level, None, spread)) for row in others]
    of_best = next((found for row, found in over if row is best), None)
    title, verdict = _verdict(line, best, of_best, [row for row, found in over if found.verdict == "slower"])
    own = " with its own file" if line.is_of_neighbours else ""
    gain = None if of_best is None else gain_of(of_best)
    told = finding(
        "spio-growth",
        title,
        f"{line.who}: 1 rank reaches {format_rate(base.median)}{own}. {verdict} Ratios of geometric means to 1 rank: "
        f"{listing([_over(row, found) for row, found in over])}.",
        "advice" if of_best is not None and of_best.verdict == "faster" else "info",
        target=base.target,
        operation=line.rows[0].word("operation"),
        base=base.case,
        case=best.case,
        ranks=[row.ranks for row in rows],
        bytes_per_s=[row.median for row in rows],
        over_one_rank=[1.0, *(found.ratio for _, found in over)],
        share_of_best=[row.median / best.median for row in rows],
    )
    return with_gain(told, gain, f"--ranks {best.ranks}")


def _verdict(line: Line, best: Row, of_best: Comparison | None, slower: Sequence[Row]) -> tuple[str, str]:
    """Return a title, and a sentence on what more ranks bring."""
    if of_best is not None and of_best.verdict == "faster":
        many = plural(best.ranks, "rank")
        return (
            f"{line.who} are {times(of_best.ratio)} as fast with {many} as with 1",
            f"The highest median is that of {many}, {format_rate(best.median)}, and it is faster than that of 1 rank.",
        )
    if slower:
        many = listing([plural(row.ranks, "rank") for row in slower])
        return f"{line.who} are slower with more ranks", f"They are slower with {many}. Use fewer ranks."
    return (
        f"Whether {line.who[:1].lower()}{line.who[1:]} change with ranks cannot be told",
        "No other number of ranks can be told apart from 1 rank.",
    )


def _over(row: Row, found: Comparison) -> str:
    interval = "(its interval is not known)"
    if found.low is not None and found.high is not None and found.high <= _WIDEST * found.low:
        interval = f"[{times(found.low)}, {times(found.high)}]"
    return f"{times(found.ratio)} {interval} with {plural(row.ranks, 'rank')}"


def _peak(target: str, rows: Sequence[Row]) -> Finding:
    """State which share of a known peak the best rates at a target reached, beside published shares."""
    title = f"Streams on {target} reach up to {percent(max(row.share or 0.0 for row in rows))} of the peak"
    return finding(
        "spio-peak",
        title,
        " ".join([f"{title}.", *map(_of_peak, rows), PUBLISHED]),
        target=target,
        operation=[row.word("operation") for row in rows],
        case=[row.case for row in rows],
        share=[row.share or 0.0 for row in rows],
        published_low=SX8_SHARES[0],
        published_high=SX8_SHARES[1],
    )


def _of_peak(row: Row) -> str:
    ceiling, who = row.ceiling, capital(NOUNS[row.word("operation")])
    whole = "" if ceiling is None else f" of {format_rate(ceiling.value)} ({ceiling.kind}: {ceiling.source})"
    return f"{who} reach {percent(row.share or 0.0)}{whole} with {plural(row.ranks, 'rank')}."


def _neighbour(row: Row, own: Row, found: Comparison) -> Finding:
    where = "another rank" if row.params.get("data_of") == "other-rank" else "another node"
    title = f"Reads of files that {where} wrote are {found.verdict} on {row.target}"
    text = (
        f"With {plural(row.ranks, 'rank')} on {row.target}, reads of files that {where} wrote reach {show_row(row)}, "
        f"and reads of own files {show_row(own)}. The ratio is {_over(row, found)}."
    )
    return finding("spio-neighbour", title, text, case=row.case, own=own.case, ratio=found.ratio)


def _served(target: str, operation: str, rows: Sequence[Row]) -> Finding:
    rows = sorted(rows, key=lambda row: row.ranks)
    each = listing([f"{percent(row.median)} with {plural(row.ranks, 'rank')}" for row in rows])
    volume = format_volume(max(row.count("volume_bytes") for row in rows))
    what = "did not reach the storage in the time" if operation == "write" else "came from memory"
    advice = " Use --cache direct, or a --volume of 3 times the memory." if operation != "reread" else ""
    return finding(
        "spio-cached",
        f"Memory served a part of the {NOUNS[operation]} on {target}",
        f"A share of the bytes of {NOUNS[operation]} on {target} {what}: {each}. The volume is {volume}.{advice}",
        "warning" if advice else "info",
        target=target,
        operation=operation,
        ranks=[row.ranks for row in rows],
        cached_share=[row.median for row in rows],
    )


def _unequal(rows: Iterable[Row], level: float) -> list[Finding]:
    """State for each case with the most ranks how much sooner its fastest rank was done than its slowest."""
    times_of = grouped(
        ((row.target, row.params["backend"], row.word("operation")), row)
        for row in rows
        if row.metric in (FASTEST, SLOWEST) and row.word("operation") != "reread"
    )
    ends = [
        {row.metric: row for row in some if row.ranks == max(row.ranks for row in some)} for some in times_of.values()
    ]
    pairs = [(one[FASTEST], one[SLOWEST]) for one in ends if len(one) == 2]
    judged = zip(pairs, compare_pairs(pairs, level), strict=True)
    return [_ends(*pair) for pair, one in judged if one.verdict == "faster" and one.ratio < _UNEQUAL]


def _ends(first: Row, last: Row) -> Finding:
    title = f"{who_of(first)} end at different times"
    text = (
        f"{who_of(first)} by {plural(first.ranks, 'rank')}: the fastest rank needs {format_time(first.median)} for its "
        f"file, and the slowest {format_time(last.median)}."
    )
    return finding("spio-unequal", title, text, case=first.case, fastest_s=first.median, slowest_s=last.median)
