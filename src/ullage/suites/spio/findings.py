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
from ullage.analysis.statistics import Comparison, level_of_each
from ullage.grouping import grouped
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


def operation_of(row: Row) -> str:
    """Return what a row is of, as it is typed: ``write``, ``read``, ``neighbour`` or ``reread``."""
    return row.word("operation")


def who_of(row: Row) -> str:
    """Name what a row is of, as the subject of a sentence: ``Writes on scratch``."""
    return capital(f"{NOUNS[operation_of(row)]} on {row.target}")


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
        return operation_of(self.rows[0]) == "neighbour"

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
    places = grouped(((row.target, row.params["backend"], operation_of(row)), row) for row in rates)
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
    own = level_of_part(level, _FAMILIES)
    return [
        *_growth(lines_of(of_device), own),
        *_peaks(lines_of(of_device)),
        *_neighbours(of_device, own),
        *_cached(rows),
        *_unequal(rows, own),
    ]


# -- growth with ranks -------------------------------------------------------------------------------------------------


def _growth(lines: Sequence[Line], level: float) -> list[Finding]:
    """Compare the best of each line with one rank, and one rank with the worst where it is the best."""
    several = [line for line in lines if line.base is not None and line.rows[-1].ranks > 1]
    own = level_of_each(level, (len(_with_base(line)) for line in several))
    return [_grown(line, own) for line in several]


def _with_base(line: Line) -> list[Row]:
    return [*([line.base] if line.base is not None and line.base not in line.rows else []), *line.rows]


def _grown(line: Line, level: float) -> Finding:
    rows = _with_base(line)
    base, best = rows[0], max(rows, key=lambda row: row.median)
    others = [row for row in rows if row is not base]
    spread = spread_of(rows)
    found = [compare_rows(row, base, level, None, spread) for row in others]
    compared = next((one for row, one in zip(others, found, strict=True) if row is best), None)
    slower = [row for row, one in zip(others, found, strict=True) if one.verdict == "slower"]
    title, verdict = _verdict(line, best, compared, slower)
    own = " with its own file" if line.is_of_neighbours else ""
    text = (
        f"{line.who}: 1 rank reaches {format_rate(base.median)}{own}. {verdict} Ratios of geometric means to 1 rank: "
        f"{listing([_over(row, one) for row, one in zip(others, found, strict=True)])}."
    )
    told = finding(
        "spio-growth",
        title,
        text,
        "advice" if compared is not None and compared.verdict == "faster" else "info",
        target=base.target,
        operation=operation_of(line.rows[0]),
        base=base.case,
        case=best.case,
        ranks=[row.ranks for row in rows],
        bytes_per_s=[row.median for row in rows],
        over_one_rank=[1.0, *(one.ratio for one in found)],
        share_of_best=[row.median / best.median for row in rows],
    )
    gain = None if compared is None else gain_of(compared)
    return told if gain is None else with_gain(told, gain, f"--ranks {best.ranks}")


def _verdict(line: Line, best: Row, compared: Comparison | None, slower: Sequence[Row]) -> tuple[str, str]:
    """Return a title, and a sentence on what more ranks bring."""
    if compared is not None and compared.verdict == "faster":
        many = plural(best.ranks, "rank")
        return (
            f"{line.who} are {times(compared.ratio)} as fast with {many} as with 1",
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


# -- the share of the peak ---------------------------------------------------------------------------------------------


def _peaks(lines: Iterable[Line]) -> list[Finding]:
    """State for each target which share of a known peak its best rates reached, beside published shares."""
    known = [line.best for line in lines if line.best.share is not None]
    by_target = grouped((row.target, row) for row in known)
    return [_peak(target, some) for target, some in by_target.items()]


def _peak(target: str, rows: Sequence[Row]) -> Finding:
    most = max(rows, key=_share)
    title = f"Streams on {target} reach up to {percent(_share(most))} of the peak"
    text = " ".join([f"{title}.", *map(_of_peak, rows), PUBLISHED])
    return finding(
        "spio-peak",
        title,
        text,
        target=target,
        operation=[operation_of(row) for row in rows],
        case=[row.case for row in rows],
        share=[_share(row) for row in rows],
        published_low=SX8_SHARES[0],
        published_high=SX8_SHARES[1],
    )


def _share(row: Row) -> float:
    return row.share or 0.0


def _of_peak(row: Row) -> str:
    ceiling = row.ceiling
    whole = "" if ceiling is None else f" of {format_rate(ceiling.value)} ({ceiling.kind}: {ceiling.source})"
    return f"{capital(NOUNS[operation_of(row)])} reach {percent(_share(row))}{whole} with {plural(row.ranks, 'rank')}."


# -- neighbours' files -------------------------------------------------------------------------------------------------


def _neighbours(rows: Sequence[Row], level: float) -> list[Finding]:
    """Compare reads of neighbours' files with reads of own files of the same ranks."""
    alike = grouped(((row.target, row.params["backend"], row.ranks), row) for row in rows)
    pairs: list[tuple[Row, Row]] = []
    for some in alike.values():
        by_name = {operation_of(row): row for row in some}
        if "read" in by_name and "neighbour" in by_name:
            pairs.append((by_name["neighbour"], by_name["read"]))
    judged = compare_pairs(pairs, level)
    return [_other(a, b, one) for (a, b), one in zip(pairs, judged, strict=True) if one.verdict != "cannot tell"]


def _other(row: Row, own: Row, found: Comparison) -> Finding:
    where = "another rank" if row.params.get("data_of") == "other-rank" else "another node"
    many = plural(row.ranks, "rank")
    title = f"Reads of files that {where} wrote are {found.verdict} on {row.target}"
    text = (
        f"With {many} on {row.target}, reads of files that {where} wrote reach {show_row(row)}, and reads of own files "
        f"{show_row(own)}. The ratio is {_over(row, found)}."
    )
    return finding("spio-neighbour", title, text, case=row.case, own=own.case, ratio=found.ratio)


# -- what the numbers are not ------------------------------------------------------------------------------------------


def _cached(rows: Iterable[Row]) -> list[Finding]:
    """State where memory answered a part of the bytes, once for each target and operation."""
    shares = [row for row in rows if row.metric == CACHED and row.median > _NOTHING]
    by_line = grouped(((row.target, operation_of(row)), row) for row in shares)
    return [_answered(target, name, some) for (target, name), some in by_line.items()]


def _answered(target: str, name: str, rows: Sequence[Row]) -> Finding:
    each = [
        f"{percent(row.median)} with {plural(row.ranks, 'rank')}" for row in sorted(rows, key=lambda row: row.ranks)
    ]
    volume = format_volume(max(row.count("volume_bytes") for row in rows))
    what = "did not reach the storage in the time" if name == "write" else "came from memory"
    title = f"Memory served a part of the {NOUNS[name]} on {target}"
    text = f"A share of the bytes of {NOUNS[name]} on {target} {what}: {listing(each)}. The volume is {volume}."
    if name != "reread":
        text += " Use --cache direct, or a --volume of 3 times the memory."
    return finding(
        "spio-cached",
        title,
        text,
        "info" if name == "reread" else "warning",
        target=target,
        operation=name,
        ranks=[row.ranks for row in rows],
        cached_share=[row.median for row in rows],
    )


def _unequal(rows: Iterable[Row], level: float) -> list[Finding]:
    """State for each case with the most ranks how much sooner its fastest rank was done than its slowest."""
    times_of = grouped(
        ((row.target, row.params["backend"], operation_of(row)), row)
        for row in rows
        if row.metric in (FASTEST, SLOWEST) and operation_of(row) != "reread"
    )
    most = [[row for row in some if row.ranks == max(row.ranks for row in some)] for some in times_of.values()]
    ends = [{row.metric: row for row in some} for some in most]
    pairs = [(one[FASTEST], one[SLOWEST]) for one in ends if len(one) == 2]
    judged = zip(pairs, compare_pairs(pairs, level), strict=True)
    return [_apart(*pair) for pair, one in judged if one.verdict == "faster" and one.ratio < _UNEQUAL]


def _apart(first: Row, last: Row) -> Finding:
    who, many = who_of(first), plural(first.ranks, "rank")
    title = f"{who} end at different times"
    text = (
        f"{who} by {many}: the fastest rank needs {format_time(first.median)} for its file, and the slowest "
        f"{format_time(last.median)}."
    )
    return finding("spio-unequal", title, text, case=first.case, fastest_s=first.median, slowest_s=last.median)
