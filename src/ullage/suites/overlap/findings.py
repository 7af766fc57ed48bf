# SPDX-License-Identifier: Apache-2.0
"""Sentences of suite ``overlap``: how much overlaps from which size on, what it costs, and what it gains.

Shares and costs are stated as medians with their intervals. A gain is a comparison of the same batches with blocking
calls, at the level at which all such comparisons of a run hold together (Bonferroni).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from ullage.analysis.ceilings.rows import is_of_device
from ullage.analysis.contests import compare_ratios, compare_rows
from ullage.analysis.findings.phrasing import capital, finding, gain_of, level_of_part, noun, with_gain
from ullage.grouping import grouped
from ullage.model.plan import Scalar
from ullage.model.summary import Finding, Row
from ullage.quantity import listing, percent, plural, times
from ullage.units import format_bytes

SHARE: Final = "overlap_share"
COST: Final = "compute_slowdown"
START: Final = "start_share"
BOTH: Final = "batch_both_time"
BLOCKING: Final = "batch_blocking_time"
_WORDS: Final[Mapping[str, str]] = {"threads": "helper threads", "nonblocking": "nonblocking calls"}
_HALF: Final = 0.5
# Sentences that compare: from which size on half overlaps, gains, costs, who moves the data.
_FAMILIES: Final = 4
# What the computation takes longer is stated from here on.
_NOTABLE_COST: Final = 1.02

Place = tuple[str, str, int]


def way_of(row: Row) -> str:
    """Name who moves the data: ``posix helper threads``; with calls of the library in between, also these."""
    tests = row.count("tests", 0)
    asked = f" and {plural(tests, 'question')}" if tests else ""
    return f"{row.params['backend']} {_WORDS[row.word('method')]}{asked}"


def size_of(row: Row) -> int:
    """Return the bytes of a transfer."""
    return row.count("block_bytes")


def depth_of(row: Row) -> int:
    """Return the transfers of a batch."""
    return row.count("depth")


def order_of(row: Row) -> tuple[str, str, int, str, int, int]:
    """Return by what rows are ordered: target, access (writes first), ranks, way, size and depth."""
    access = row.access.replace("write", "")
    return row.target, access, row.ranks, way_of(row), size_of(row), depth_of(row)


def findings_of(rows: Sequence[Row], level: float) -> list[Finding]:
    """Return all findings; ``rows`` are sound ones."""
    known = sorted((row for row in rows if not row.is_invalid), key=order_of)
    own = level_of_part(level, _FAMILIES)
    shares = [row for row in known if row.metric == SHARE]
    large = _above(shares, _HALF, own)
    costly = _above([row for row in known if row.metric == COST], _NOTABLE_COST, own)
    starts = {_key(row): row for row in _above([row for row in known if row.metric == START], _HALF, own)}
    places = _by_place(shares).values()
    return [
        *(_overlapping(some, large) for some in places),
        *_gains(known, own),
        *map(_cost, _by_place(costly).values()),
        *(found for some in places for found in _begun(some, starts)),
    ]


def _above(rows: Sequence[Row], limit: float, level: float) -> list[Row]:
    """Return the rows that are proved to lie above ``limit``."""
    found = compare_ratios([[value / limit for value in row.repetitions] for row in rows], level)
    return [row for row, one in zip(rows, found, strict=True) if one.verdict == "faster"]


def _by_place(rows: Iterable[Row]) -> dict[Place, list[Row]]:
    return grouped((_place(row), row) for row in rows)


def _place(row: Row) -> Place:
    return row.target, row.access, row.ranks


def _key(row: Row) -> tuple[str, str]:
    return row.case, row.access


def _where(row: Row) -> str:
    return f"{plural(row.ranks, 'rank')} on {row.target}"


def _of_place(
    kind: str, title: str, text: str, rows: Iterable[Row], *, is_advice: bool, **numbers: Sequence[Scalar]
) -> Finding:
    some = list(rows)
    target, access, ranks = _place(some[0])
    cases, severity = [row.case for row in some], "advice" if is_advice else "info"
    return finding(kind, title, text, severity, target=target, access=access, ranks=ranks, case=cases, **numbers)


def _share_text(row: Row) -> str:
    if row.low is None or row.high is None:
        return percent(row.median)
    return f"{percent(row.median)} [{percent(row.low)}, {percent(row.high)}]"


def _overlapping(rows: Sequence[Row], large: Sequence[Row]) -> Finding:
    """State for each way the share at its largest size and best depth, and from which size on the half overlaps."""
    ways = grouped((way_of(row), row) for row in rows)
    best = {way: _best_of_largest(some) for way, some in ways.items()}
    each = [
        f"With {way}, {_share_text(row)} overlaps ({format_bytes(size_of(row))}, depth {depth_of(row)}{_cached(row)})."
        for way, row in best.items()
    ]
    operations = noun(rows[0].access)
    text = (
        f"The shares of {operations} are those of the shorter of I/O and computation, at the largest size and the "
        f"best depth. {' '.join(each)} This is with {_where(rows[0])}."
    )
    starts = {way: found for way, some in ways.items() if (found := _from_size(some, large)) is not None}
    from_size = [f"{way} from {format_bytes(size)} (depth {depth})" for way, (size, depth) in starts.items()]
    if from_size:
        text += f" More than 50 % is proved from a size on: {listing(from_size)}."
    highest = max(row.median for row in best.values())
    return _of_place(
        "overlap-share",
        f"Up to {percent(highest)} of {operations} on {rows[0].target} overlaps with computation",
        text,
        best.values(),
        is_advice=False,
        way=list(best),
        overlap_share=[row.median for row in best.values()],
        from_bytes=[starts[way][0] if way in starts else 0 for way in best],
    )


def _cached(row: Row) -> str:
    return "" if is_of_device(row) else ", page cache"


def _best_of_largest(rows: Sequence[Row]) -> Row:
    largest = max(map(size_of, rows))
    return max((row for row in rows if size_of(row) == largest), key=lambda row: row.median)


def _from_size(rows: Sequence[Row], large: Sequence[Row]) -> tuple[int, int] | None:
    """Return the least size, with its depth, from which on all sizes are among the ``large`` ones."""
    found: list[tuple[int, int]] = []
    for depth, some in grouped((depth_of(row), row) for row in rows).items():
        start: int | None = None
        for row in sorted(some, key=size_of, reverse=True):
            if not any(row is one for one in large):
                break
            start = size_of(row)
        if start is not None:
            found.append((start, depth))
    return min(found, default=None)


def _gains(rows: Sequence[Row], level: float) -> list[Finding]:
    """Compare the case with the highest ratio at each place with its own blocking calls."""
    times_of = {(row.metric, *_key(row)): row for row in rows if row.metric in (BOTH, BLOCKING)}
    pairs = [
        (row, times_of[BLOCKING, *_key(row)])
        for row in rows
        if row.metric == BOTH and (BLOCKING, *_key(row)) in times_of
    ]
    own = level_of_part(level, max(1, len(pairs)))
    places = grouped((_place(both), (both, blocking)) for both, blocking in pairs)
    return [found for some in places.values() for found in _gain(some, own)]


def _gain(pairs: Sequence[tuple[Row, Row]], level: float) -> list[Finding]:
    row, blocking = max(pairs, key=lambda pair: pair[1].median / pair[0].median)
    gain = gain_of(compare_rows(row, blocking, level))
    if gain is None:
        return []
    text = (
        f"With {way_of(row)}, a batch ({depth_of(row)} x {format_bytes(size_of(row))}) and its computation are "
        f"{times(gain.factor)} as fast as with blocking calls ({_where(row)}). Begin the transfers before the "
        "computation."
    )
    told = finding(
        "overlap-gain",
        f"{capital(noun(row.access))} on {row.target} are faster beside the computation than with blocking calls",
        text,
        "advice",
        target=row.target,
        access=row.access,
        ranks=row.ranks,
        case=row.case,
        ratio=gain.factor,
    )
    change = f"--backend {row.params['backend']} --method {row.params['method']} --depth {depth_of(row)}"
    return [with_gain(told, gain, change)]


def _cost(costly: Sequence[Row]) -> Finding:
    """State where the computation takes longer while I/O goes on: for each way the case with the largest cost."""
    worst = [max(some, key=lambda row: row.median) for some in grouped((way_of(row), row) for row in costly).values()]
    each = [
        f"Beside {noun(row.access)} by {way_of(row)} the computation takes {times(row.median)} "
        f"[{times(row.low or 0)}, {times(row.high or 0)}] as long "
        f"({format_bytes(size_of(row))}, depth {depth_of(row)})."
        for row in worst
    ]
    first, cores = worst[0], worst[0].count("cores_of_rank")
    highest = max(row.median for row in worst)
    advice = "Leave each rank a second core." if cores == 1 else "Compare it with another --method or --depth."
    return _of_place(
        "overlap-cost",
        f"{noun(first.access).capitalize()} on {first.target} lengthen the computation up to {times(highest)}",
        f"{' '.join(each)} This is with {_where(first)}, and {plural(cores, 'core')} a rank. {advice}",
        worst,
        is_advice=cores == 1,
        slowdown=[row.median for row in worst],
    )


def _begun(shares: Sequence[Row], starts: Mapping[tuple[str, str], Row]) -> list[Finding]:
    """Name the ways whose calls that begin a transfer take most of its time: they move the data themselves."""
    ways = grouped((way_of(row), row) for row in shares if row.params["method"] == "nonblocking")
    largest = {way: _key(_best_of_largest(some)) for way, some in ways.items()}
    own = {way: starts[key] for way, key in largest.items() if key in starts}
    if not own:
        return []
    each = [f"{way} {percent(row.median)} ({format_bytes(size_of(row))})" for way, row in own.items()]
    found = _of_place(
        "overlap-start",
        f"Calls that begin {noun(shares[0].access)} on {shares[0].target} move the data themselves",
        f"The calls that only begin transfers take most of the time of the I/O alone: {listing(each)} "
        f"({_where(shares[0])}). Use helper threads, or O_DIRECT where the backend has it.",
        own.values(),
        is_advice=True,
        start_share=[row.median for row in own.values()],
    )
    return [found]
