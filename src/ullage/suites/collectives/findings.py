# SPDX-License-Identifier: Apache-2.0
"""From rows over collective operations to findings: guidelines, growth over ranks, overlap, one-sided operations.

Self-consistent performance guidelines (Traeff, Gropp, Thakur, IEEE TPDS 21, 2010; tested by Hunold and Carpen-Amarie in
PGMPI): nobody should be able to write a faster allreduce out of the library's own reduce and bcast. Sides are taken
where they were measured; a side whose size was not is represented by the next larger one, which can only excuse.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from ullage.analysis.contests import carries, compare_pairs, compare_ratios, compare_rows, spread_of
from ullage.analysis.findings.phrasing import finding, level_of_part
from ullage.analysis.verdicts.grades import sound_rows
from ullage.grouping import grouped, nested
from ullage.model.request import Request
from ullage.model.summary import Finding, Row
from ullage.quantity import listing, percent, plural, times
from ullage.report.view import best_of
from ullage.results.events import failures_of
from ullage.results.folder import ResultFolder
from ullage.results.rows import RowContext
from ullage.runs.kernels.bounds import bound_rows, not_available
from ullage.runs.suite import SuiteSummary
from ullage.runs.told import launches_of
from ullage.suites.collectives.suite import ONE_SIDED, blocking, collective_rows, is_crowded, operation_of, size_of
from ullage.units import format_bytes, format_rate, format_time

SizeRule: TypeAlias = Callable[[int, int], int]
# A smaller factor is the noise of a timer, or nothing anybody would change a program for.
_MATTERS: Final = 1.1


def _same(size: int, _ranks: int) -> int:
    return size


def _all(size: int, ranks: int) -> int:
    return size * ranks


def _share(size: int, ranks: int) -> int:
    return -(-size // ranks)


@dataclass(frozen=True)
class Guideline:
    """``operation`` shall not take longer than ``parts`` one after the other, each with the size its rule makes."""

    operation: str
    parts: tuple[tuple[str, SizeRule], ...]

    @property
    def other(self) -> str:
        """``reduce + bcast``."""
        return " + ".join(name for name, _ in self.parts)

    @property
    def text(self) -> str:
        """``allreduce <= reduce + bcast``."""
        return f"{self.operation} <= {self.other}"


GUIDELINES: Final = (
    Guideline("allreduce", (("reduce", _same), ("bcast", _same))),
    Guideline("allreduce", (("reduce_scatter", _same), ("allgather", _share))),
    Guideline("allgather", (("gather", _same), ("bcast", _all))),
    Guideline("allgather", (("alltoall", _same),)),
    Guideline("allgather", (("allgatherv", _same),)),
    Guideline("alltoall", (("alltoallv", _same),)),
    Guideline("bcast", (("scatter", _share), ("allgather", _share))),
    Guideline("reduce", (("allreduce", _same),)),
    Guideline("gather", (("allgather", _same),)),
    Guideline("scatter", (("bcast", _all),)),
    Guideline("reduce_scatter", (("reduce", _same), ("scatter", _share))),
    Guideline("reduce_scatter", (("allreduce", _same),)),
)


@dataclass(frozen=True)
class Verdict:
    """One guideline at one place. ``others_s``: the sum of its parts."""

    guideline: Guideline
    own: Row
    others_s: float
    broken: bool

    @property
    def factor(self) -> float:
        """The ratio of the operation's time to that of its parts; above 1 is too slow."""
        return self.own.median / self.others_s


Curves: TypeAlias = Mapping[tuple[str, int], Mapping[int, Row]]


def verdicts(rows: Iterable[Row], level: float) -> list[Verdict]:
    """Judge every guideline wherever both its sides were measured; ranks that shared cores are left out."""
    known = [row for row in blocking(rows) if not is_crowded(row) and operation_of(row) != "barrier"]
    curves = nested(((operation_of(row), row.ranks), size_of(row), row) for row in known)
    found = [
        (guideline, own, parts)
        for guideline in GUIDELINES
        for (operation, ranks), curve in sorted(curves.items())
        if operation == guideline.operation
        for size, own in sorted(curve.items())
        if (parts := _parts(guideline, ranks, size, curves))
    ]
    pairs = [(own, _sum_of(parts)) for _, own, parts in found]
    return [
        Verdict(guideline, own, others.median, one.verdict == "slower" and own.median > _MATTERS * others.median)
        for (guideline, _, _), (own, others), one in zip(found, pairs, compare_pairs(pairs, level), strict=True)
    ]


def _parts(guideline: Guideline, ranks: int, size: int, curves: Curves) -> list[Row]:
    needs = [(curves.get((name, ranks), {}), rule(size, ranks)) for name, rule in guideline.parts]
    if not all(any(have >= needed for have in curve) for curve, needed in needs):
        return []
    return [curve[min(have for have in curve if have >= needed)] for curve, needed in needs]


def _sum_of(parts: Sequence[Row]) -> Row:
    """Return the first part with the sums of all: the times of a repetition of each are a sample of their sum."""
    sums = [sum(each) for each in zip(*(row.repetitions for row in parts), strict=False)]
    return parts[0].model_copy(
        update={
            "median": sum(row.median for row in parts),
            "repetitions": sums,
            "launches": parts[0].launches[: len(sums)],
            "grade": "C" if any(row.grade == "C" for row in parts) else parts[0].grade,
        }
    )


def guideline_findings(rows: Sequence[Row], level: float) -> list[Finding]:
    """Return a finding for each guideline that is broken, at its worst place, and one for all that hold."""
    by_guideline = grouped((verdict.guideline, verdict) for verdict in verdicts(rows, level))
    broken = {guideline: [one for one in all_ if one.broken] for guideline, all_ in by_guideline.items()}
    findings = [_broken(guideline, bad, by_guideline[guideline]) for guideline, bad in broken.items() if bad]
    held = [guideline.text for guideline, bad in broken.items() if not bad]
    if held:
        title = f"No violation of {plural(len(held), 'performance guideline')} was found"
        text = f"{title} where both sides were measured: {listing(held, 12)}."
        compared = sum(len(by_guideline[guideline]) for guideline, bad in broken.items() if not bad)
        findings.append(finding("guidelines-held", title, text, guidelines=held, comparisons=compared))
    return findings


def _broken(guideline: Guideline, bad: Sequence[Verdict], all_: Sequence[Verdict]) -> Finding:
    worst = max(bad, key=lambda one: one.factor)
    where = f"This holds in {len(bad)} of {len(all_)} cases. " if len(all_) > 1 else ""
    text = (
        f"{guideline.operation} of {format_bytes(size_of(worst.own))} with {worst.own.ranks} ranks takes "
        f"{format_time(worst.own.median)}, {times(worst.factor)} the time of {guideline.other} of the same library "
        f"({format_time(worst.others_s)}). {where}Select another algorithm in the settings of the library."
    )
    return finding(
        "guideline",
        f"{guideline.operation} is slower than {guideline.other}",
        text,
        "advice",
        guideline=guideline.text,
        ranks=worst.own.ranks,
        message_bytes=size_of(worst.own),
        operation_s=worst.own.median,
        parts_s=worst.others_s,
        factor=worst.factor,
        broken=len(bad),
        compared=len(all_),
    )


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
    ranks = sorted({row.ranks for row in rows if is_crowded(row)})
    if not ranks:
        return []
    text = (
        f"With {listing([str(count) for count in ranks])} ranks there were fewer cores than ranks. These times "
        "measure how the kernel switches between ranks. No other finding uses them."
    )
    return [finding("oversubscribed", "More ranks than cores", text, "warning", ranks=ranks)]


def _scaling(rows: Sequence[Row], level: float) -> list[Finding]:
    """Find for each operation the size whose time is proved to grow most beyond a limit above what is expected."""
    known = [row for row in blocking(rows) if not is_crowded(row) and carries(row)]
    lines = [
        sorted(some, key=lambda row: row.ranks)
        for some in grouped(((operation_of(row), size_of(row)), row) for row in known).values()
    ]
    ends = [(line[0], line[-1]) for line in lines if line[0].ranks < line[-1].ranks]
    own, spread = level_of_part(level, max(1, len(ends))), spread_of(known)
    worst: dict[str, tuple[float, Row, Row]] = {}
    for few, many in ends:
        operation = operation_of(few)
        expected = expected_growth(operation, few.ranks, many.ranks)
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
    excess = growth / expected_growth(operation, few.ranks, many.ranks)
    law = "their number" if operation in _LINEAR else "the logarithm of their number"
    text = (
        f"The time of {operation}{size} grows by {times(growth)} from {few.ranks} to {many.ranks} ranks "
        f"({format_time(few.median)} to {format_time(many.median)}). That is {times(excess)} the growth with {law}."
    )
    title = f"{operation}{size} does not scale with ranks"
    numbers = {"few": few.ranks, "many": many.ranks, "growth": growth, "excess": excess}
    return finding("scaling", title, text, "advice", operation=operation, message_bytes=size_of(many), **numbers)


def _overlap(rows: Sequence[Row], level: float) -> list[Finding]:
    """Return the findings at the largest sizes with the most ranks, since small ones have little time to overlap."""
    found = [row for row in rows if row.metric == "overlap" and not is_crowded(row) and size_of(row)]
    if not found:
        return []
    most = max(row.ranks for row in found)
    groups = grouped((operation_of(row), row) for row in found if row.ranks == most).items()
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
    severity, shares = "advice" if poor else "info", [row.median for row in plain.values()]
    return [finding("overlap", title, text, severity, ranks=ranks, operation=list(plain), overlap=shares)]


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
    words = [f"{name} from {percent(before)} to {percent(after)}" for name, (before, after, _) in helped.items()]
    tests, raised = max(count for _, _, count in helped.values()), [after for _, after, _ in helped.values()]
    text = (
        f"{plural(tests, 'call')} of MPI_Test during the computation raise the overlap: {listing(words, 12)} ({ranks} "
        "ranks). The library makes progress only when it is called. A progress thread or core has the same effect."
    )
    numbers = {"ranks": ranks, "tests": tests, "operation": list(helped), "overlap": raised}
    return [finding("progress", "Calls of MPI_Test raise the overlap", text, "advice", **numbers)]


def _above_1(row: Row) -> Row:
    """Return ``row`` with 1 more in each repetition: a share of 0 has no logarithm."""
    return row.model_copy(update={"repetitions": [1 + share for share in row.repetitions]})


def _one_sided(rows: Sequence[Row]) -> list[Finding]:
    own = [row for row in rows if row.access == ONE_SIDED and not is_crowded(row)]
    latencies, rates = _of(own, "one_sided_latency"), _of(own, "one_sided_bandwidth")
    findings: list[Finding] = []
    if latencies:
        smallest = min(map(size_of, latencies))
        best = _best_by_operation(row for row in latencies if size_of(row) == smallest)
        seconds = [row.median for row in best.values()]
        words = [f"{name} {format_time(row.median)} ({row.params['sync']})" for name, row in best.items()]
        size = f"{smallest} bytes" if smallest < _KILO else format_bytes(smallest)
        text = f"One-sided operations of {size} take, by the way with the lowest median, {listing(words)}."
        title = f"The lowest median of one-sided operations of {size} is {format_time(min(seconds))}"
        findings.append(finding("one-sided", title, text, operation=list(best), seconds=seconds))
    if rates:
        best = _best_by_operation(rates)
        highest = [row.median for row in best.values()]
        words = [f"{name} {format_rate(row.median)} with {format_bytes(size_of(row))}" for name, row in best.items()]
        text = f"The highest medians of one-sided operations are {listing(words)}."
        title = f"One-sided operations reach {format_rate(max(highest))}"
        findings.append(finding("one-sided-bandwidth", title, text, operation=list(best), bytes_per_s=highest))
    return findings


def _of(rows: Iterable[Row], metric: str) -> list[Row]:
    found = [row for row in rows if row.metric == metric]
    most = max((row.ranks for row in found), default=0)
    return [row for row in found if row.ranks == most]


def _best_by_operation(rows: Iterable[Row]) -> dict[str, Row]:
    groups = grouped((operation_of(row), row) for row in rows)
    return {name: best for name, some in groups.items() if (best := best_of(some)) is not None}


def summarise(result: ResultFolder, _request: Request, context: RowContext) -> SuiteSummary:
    launches = launches_of(result)
    rows = collective_rows(launches, context)
    least = bound_rows(launches, context)
    return SuiteSummary(
        [*rows, *least],
        [*failures_of(launches, context.level, rows), *findings_of(rows, context.level), *not_available(launches)],
    )
