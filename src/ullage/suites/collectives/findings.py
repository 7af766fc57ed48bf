# SPDX-License-Identifier: Apache-2.0
"""From the records of a run over collective operations to rows and findings: scaling, overlap, one-sided operations."""

import math
from collections.abc import Iterable, Sequence
from typing import Final

from ullage.analysis.contests import carries, compare_pairs, compare_ratios, compare_rows, spread_of
from ullage.analysis.findings.phrasing import finding, level_of_part
from ullage.analysis.verdicts.grades import sound_rows
from ullage.grouping import grouped
from ullage.model.request import Request
from ullage.model.summary import Finding, Row
from ullage.quantity import listing, percent, plural, times
from ullage.report.view import best_of
from ullage.results.events import failures_of
from ullage.results.folder import ResultFolder
from ullage.results.rows import RowContext
from ullage.runs.suite import SuiteSummary
from ullage.runs.told import launches_of
from ullage.suites.collectives.guidelines import guideline_findings
from ullage.suites.collectives.prepare import (
    ONE_SIDED,
    blocking,
    collective_rows,
    is_crowded,
    operation_of,
    ranks_of,
    size_of,
)
from ullage.units import format_bytes, format_rate, format_time

# The amount that a rank sends or gets grows with the ranks; with the others only the number of steps does.
_LINEAR: Final = frozenset({"gather", "scatter", "allgather", "allgatherv", "alltoall", "alltoallv"})
# Steps over another kind of link may cost more than those before; by more than this it is the algorithm.
_MUCH_WORSE: Final = 2.0
_HALF: Final = 0.5
_OVERLAPS: Final = {
    "faster": "At least half of the time overlaps with computation",
    "slower": "Less than half of the time overlaps with computation",
    "cannot tell": "Whether half of the time overlaps with computation cannot be told",
}
_NOTABLE_GAIN: Final = 0.1
_KILO: Final = 1024
# Kinds of sentences that compare: guidelines, growth with ranks, overlap.
_FAMILIES: Final = 3


def findings_of(rows: Sequence[Row], level: float) -> list[Finding]:
    """Return all findings; those on the launch (ranks that share cores) also from rows that were disturbed."""
    sound, own = sound_rows(rows), level_of_part(level, _FAMILIES)
    return [
        *_crowded(rows),
        *guideline_findings(sound, own),
        *_scaling(sound, own),
        *_overlap(sound, own),
        *_one_sided(sound),
    ]


def _crowded(rows: Sequence[Row]) -> list[Finding]:
    ranks = sorted({ranks_of(row) for row in rows if is_crowded(row)})
    if not ranks:
        return []
    text = (
        f"With {listing([str(count) for count in ranks])} ranks there were fewer cores than ranks. These times "
        "measure how the kernel switches between ranks. No other finding uses them."
    )
    return [finding("oversubscribed", "More ranks than cores", text, "warning", ranks=ranks)]


# -- over ranks --------------------------------------------------------------------------------------------------------


def _scaling(rows: Sequence[Row], level: float) -> list[Finding]:
    """Find for each operation the size whose time is proved to grow most beyond a limit above what is expected."""
    known = [row for row in blocking(rows) if not is_crowded(row) and carries(row)]
    lines = [
        sorted(some, key=ranks_of)
        for some in grouped(((operation_of(row), size_of(row)), row) for row in known).values()
    ]
    ends = [(line[0], line[-1]) for line in lines if ranks_of(line[0]) < ranks_of(line[-1])]
    own, spread = level_of_part(level, max(1, len(ends))), spread_of(known)
    worst: dict[str, tuple[float, Row, Row]] = {}
    for few, many in ends:
        operation = operation_of(few)
        expected = expected_growth(operation, ranks_of(few), ranks_of(many))
        least = (compare_rows(many, few, own, None, spread).low or 0.0) / expected
        if least > worst.get(operation, (_MUCH_WORSE, few, many))[0]:
            worst[operation] = least, few, many
    return [_grows(operation, few, many) for operation, (_, few, many) in worst.items()]


def expected_growth(operation: str, few: int, many: int) -> float:
    """Return the factor by which the time grows at constant size.

    It follows the data where that grows with the ranks, else the steps of a tree.
    """
    if operation in _LINEAR:
        return (many - 1) / (few - 1)
    return math.ceil(math.log2(many)) / math.ceil(math.log2(few))


def _grows(operation: str, few: Row, many: Row) -> Finding:
    size = f" of {format_bytes(size_of(many))}" if size_of(many) else ""
    growth = many.median / few.median
    excess = growth / expected_growth(operation, ranks_of(few), ranks_of(many))
    law = "their number" if operation in _LINEAR else "the logarithm of their number"
    text = (
        f"The time of {operation}{size} grows by {times(growth)} from {ranks_of(few)} to {ranks_of(many)} ranks "
        f"({format_time(few.median)} to {format_time(many.median)}). That is {times(excess)} the growth with {law}."
    )
    return finding(
        "scaling",
        f"{operation}{size} does not scale with ranks",
        text,
        "advice",
        operation=operation,
        message_bytes=size_of(many),
        few=ranks_of(few),
        many=ranks_of(many),
        growth=growth,
        excess=excess,
    )


# -- nonblocking -------------------------------------------------------------------------------------------------------


def _overlap(rows: Sequence[Row], level: float) -> list[Finding]:
    """Return the findings at the largest sizes with the most ranks, since small ones have little time to overlap."""
    found = [row for row in rows if row.metric == "overlap" and not is_crowded(row) and size_of(row)]
    if not found:
        return []
    most = max(map(ranks_of, found))
    groups = grouped((operation_of(row), row) for row in found if ranks_of(row) == most).items()
    lines = {
        name: {row.count("tests"): row for row in some if size_of(row) == max(map(size_of, some))}
        for name, some in groups
    }
    own = level_of_part(level, 2)
    return [*_hidden(lines, most, own), *_tests_help(lines, most, own)]


def _hidden(lines: dict[str, dict[int, Row]], ranks: int, level: float) -> list[Finding]:
    """State the shares, and which of them are proved to be more or less than one half."""
    plain = {operation: by_tests[0] for operation, by_tests in lines.items() if 0 in by_tests}
    if not plain:
        return []
    found = compare_ratios(
        [[value / (1 + _HALF) for value in _above_1(row).repetitions] for row in plain.values()], level
    )
    said = grouped(
        (one.verdict, f"{operation} {percent(row.median)}")
        for (operation, row), one in zip(plain.items(), found, strict=True)
    )
    size = format_bytes(max(map(size_of, plain.values())))
    words = [f"{text}: {listing(said[verdict], 12)}." for verdict, text in _OVERLAPS.items() if verdict in said]
    text = f"{' '.join(words)} (Nonblocking messages of up to {size}, {ranks} ranks, no call of MPI_Test in between.)"
    poor = "slower" in said
    title = "Nonblocking collectives overlap well with computation"
    if poor:
        title = f"{'Some nonblocking' if len(said) > 1 else 'Nonblocking'} collectives overlap little with computation"
    elif "cannot tell" in said:
        title = "Whether nonblocking collectives overlap with computation cannot be told"
    severity = "advice" if poor else "info"
    return [
        finding(
            "overlap",
            title,
            text,
            severity,
            ranks=ranks,
            operation=list(plain),
            overlap=[row.median for row in plain.values()],
        )
    ]


def _tests_help(lines: dict[str, dict[int, Row]], ranks: int, level: float) -> list[Finding]:
    pairs = {
        operation: (by_tests[max(by_tests)], by_tests[0])
        for operation, by_tests in lines.items()
        if 0 in by_tests and max(by_tests) > 0
    }
    judged = compare_pairs([(_above_1(tested), _above_1(plain)) for tested, plain in pairs.values()], level)
    helped = {
        operation: (plain.median, tested.median, int(tested.params["tests"]))
        for (operation, (tested, plain)), found in zip(pairs.items(), judged, strict=True)
        if found.verdict == "faster" and tested.median > plain.median + _NOTABLE_GAIN
    }
    if not helped:
        return []
    words = [
        f"{operation} from {percent(before)} to {percent(after)}" for operation, (before, after, _) in helped.items()
    ]
    tests = max(count for _, _, count in helped.values())
    text = (
        f"{plural(tests, 'call')} of MPI_Test during the computation raise the overlap: {listing(words, 12)} ({ranks} "
        "ranks). The library makes progress only when it is called. A progress thread or core has the same effect."
    )
    return [
        finding(
            "progress",
            "Calls of MPI_Test raise the overlap",
            text,
            "advice",
            ranks=ranks,
            tests=tests,
            operation=list(helped),
            overlap=[after for _, after, _ in helped.values()],
        )
    ]


def _above_1(row: Row) -> Row:
    """Return ``row`` with 1 more in each repetition: a share of 0 has no logarithm."""
    return row.model_copy(update={"repetitions": [1 + share for share in row.repetitions]})


# -- one-sided ---------------------------------------------------------------------------------------------------------


def _one_sided(rows: Sequence[Row]) -> list[Finding]:
    own = [row for row in rows if row.params["access"] == ONE_SIDED and not is_crowded(row)]
    times_, rates = _of(own, "one_sided_latency"), _of(own, "one_sided_bandwidth")
    findings: list[Finding] = []
    if times_:
        smallest = min(map(size_of, times_))
        best = _best_by_operation([row for row in times_ if size_of(row) == smallest])
        words = [f"{name} {format_time(row.median)} ({row.params['sync']})" for name, row in best.items()]
        size = f"{smallest} bytes" if smallest < _KILO else format_bytes(smallest)
        text = f"One-sided operations of {size} take, by the way with the lowest median, {listing(words)}."
        least = format_time(min(row.median for row in best.values()))
        title = f"The lowest median of one-sided operations of {size} is {least}"
        findings.append(
            finding("one-sided", title, text, operation=list(best), seconds=[row.median for row in best.values()])
        )
    if rates:
        best = _best_by_operation(rates)
        words = [f"{name} {format_rate(row.median)} with {format_bytes(size_of(row))}" for name, row in best.items()]
        text = f"The highest medians of one-sided operations are {listing(words)}."
        title = f"One-sided operations reach {format_rate(max(row.median for row in best.values()))}"
        numbers = {"operation": list(best), "bytes_per_s": [row.median for row in best.values()]}
        findings.append(finding("one-sided-bandwidth", title, text, **numbers))
    return findings


def _of(rows: Iterable[Row], metric: str) -> list[Row]:
    found = [row for row in rows if row.metric == metric]
    most = max(map(ranks_of, found), default=0)
    return [row for row in found if ranks_of(row) == most]


def _best_by_operation(rows: Iterable[Row]) -> dict[str, Row]:
    groups = grouped((operation_of(row), row) for row in rows)
    return {name: best for name, some in groups.items() if (best := best_of(some)) is not None}


def summarise(result: ResultFolder, _request: Request, context: RowContext) -> SuiteSummary:
    """See ``Summarising``."""
    launches = launches_of(result)
    rows = collective_rows(launches, context)
    return SuiteSummary(rows, [*failures_of(launches, context.level, rows), *findings_of(rows, context.level)])
