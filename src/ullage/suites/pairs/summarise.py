# SPDX-License-Identifier: Apache-2.0
"""From the records of a pairs run to rows, also by switch, and to what is slow: ends, links, asymmetric pairs."""

import math
from collections.abc import Callable, Sequence
from statistics import median
from typing import Final

from ullage.analysis.ceilings.messages import COPY, LINE, WORST_LINE
from ullage.analysis.contests import compare_rows
from ullage.analysis.findings.phrasing import capital, finding
from ullage.analysis.statistics.dependence import Dependence, pooled_dependence
from ullage.analysis.statistics.intervals import median_interval
from ullage.analysis.verdicts.grades import sound_rows
from ullage.arrays import np
from ullage.grouping import grouped
from ullage.model.flags import DEPENDENT, NOT_CONVERGED
from ullage.model.plan import Scalar
from ullage.model.request import Request
from ullage.model.summary import Finding, Row
from ullage.parameters import count_of
from ullage.quantity import listing, percent, plural, show, times
from ullage.results.events import failures_of
from ullage.results.folder import ResultFolder
from ullage.results.row_checks import check_values
from ullage.results.rows import RowContext, RowFrame, join
from ullage.runs.kernels.bounds import bound_rows, is_of_bounds, not_available
from ullage.runs.kernels.message_pages import with_pages_of
from ullage.runs.kernels.options import MPI
from ullage.runs.suite import SuiteSummary
from ullage.runs.told import Source, launches_of, told_rows, usual
from ullage.suites.pairs import switches
from ullage.suites.pairs.effects import FEWEST_ENDS, PairMatrix, SlowEnd, SlowLink, read_matrices
from ullage.system.switches import nouns_of

_MOST_NAMED: Final = 8
# Below this ratio of the bisection by distant ranks to that by neighbours, the network has a bottleneck.
_UNEVEN: Final = 0.8
_TOO_NOISY: Final = 2.0
RANDOM_PATTERN: Final = "random-bisection"


def matrix_findings(matrix: PairMatrix, passages: Sequence[switches.SlowPassage] = ()) -> list[Finding]:
    """Return slow ends first, then links, then pairs whose directions differ; report also that nothing is slow.

    ``passages``: slow links between switches. What is slow at a switch as a whole comes before its ends and links.
    """
    fit = matrix.fit
    explained = {(link.sender, link.receiver) for link in fit.links}
    apart = [link for link in fit.asymmetric if (link.sender, link.receiver) not in explained]
    named = {slow.switch for slow in passages}
    together = {leaf: ends for leaf, ends in switches.slow_together(matrix).items() if leaf not in named}
    told = {
        end for leaf, ends in switches.all_slow(matrix).items() if leaf in named or leaf in together for end in ends
    }
    found = [
        *(switches.passage_finding(matrix, slow) for slow in passages),
        *(switches.together_finding(matrix, leaf, ends) for leaf, ends in together.items()),
        *(_slow_end_finding(matrix, end) for end in fit.ends if end.end not in told),
        *switches.links_by_switch(matrix),
        *_named(matrix, fit.links, _slow_link, "slow link"),
        *_named(matrix, () if matrix.is_latency else apart, _asymmetric, "asymmetric pair"),
    ]
    if len(matrix.names) < FEWEST_ENDS:
        return [*found, *_too_few(matrix)]
    return found or [_nothing_slow(matrix)]


def disturbed_findings(matrix: PairMatrix) -> list[Finding]:
    """Name what is slow although other programs disturbed the matrix, with that caveat; never say that nothing is."""
    caveat = "Other programs ran meanwhile (grade C), and may be the cause. Measure again on idle nodes."
    named = [one for one in matrix_findings(matrix) if one.kind != "pairs"]
    if named:
        return [one.model_copy(update={"text": f"{one.text} {caveat}"}) for one in named]
    title = f"Other programs disturbed the pairs with {matrix.message}"
    text = (
        f"{title} (grade C), so whether one is slow cannot be told.{_worst_pair(matrix)} Measure again on idle nodes."
    )
    return [finding("pairs", title, text, "advice", **matrix.place)]


def _worst_pair(matrix: PairMatrix) -> str:
    middle = matrix.median
    sender, receiver = divmod(int(np.nanargmax(middle)), len(matrix.names))
    ends = f"{matrix.placed(sender)} to {matrix.placed(receiver)}"
    return f" The slowest pair is {ends}, {matrix.shown(float(middle[sender, receiver]))}."


def _slow_end_finding(matrix: PairMatrix, end: SlowEnd) -> Finding:
    name, usual = matrix.names[end.end], math.exp(matrix.fit.polish.common)
    sends, receives = times_of_end(matrix, end.end)
    by = "in" if matrix.is_latency else "at"
    ways = [f"sends {by} {matrix.shown(sends)}"] if end.sends > 1 else []
    ways += [f"receives {by} {matrix.shown(receives)}"] if end.receives > 1 else []
    only = "" if len(ways) > 1 else " The other direction is as usual."
    look = "port, cable and switch, and what else runs on it" if matrix.of_nodes else "core, and what else runs there"
    text = (
        f"{matrix.placed(end.end)} is a slow {matrix.noun}: with {matrix.message} it {' and '.join(ways)}, where "
        f"{matrix.shown(usual)} is usual. {switches.cause_of(matrix, end.end)}{only} Check its {look}."
    )
    return matrix.warning(
        "slow-end",
        f"{name} is a slow {matrix.noun}",
        text,
        end=name,
        sends=matrix.value(sends),
        receives=matrix.value(receives),
        usual=matrix.value(usual),
        sends_factor=end.sends,
        receives_factor=end.receives,
    )


def times_of_end(matrix: PairMatrix, end: int) -> tuple[float, float]:
    """Return the median s of what an end sends to all others, and of what it receives."""
    middle = matrix.median
    others = [other for other in range(len(matrix.names)) if other != end]
    return median(float(middle[end, other]) for other in others), median(float(middle[other, end]) for other in others)


def _named(
    matrix: PairMatrix, links: Sequence[SlowLink], say: Callable[[PairMatrix, SlowLink], Finding], noun: str
) -> list[Finding]:
    found = [say(matrix, link) for link in links[:_MOST_NAMED]]
    if (count := len(links) - _MOST_NAMED) > 0:
        title = f"{count} more {noun}s are in the matrix"
        text = f"{count} more {noun}s with {matrix.message} are in the matrix."
        found.append(finding(f"{noun.replace(' ', '-')}s", title, text, "warning", count=len(links)))
    return found


def _slow_link(matrix: PairMatrix, link: SlowLink) -> Finding:
    sender, receiver = matrix.names[link.sender], matrix.names[link.receiver]
    seconds = float(matrix.median[link.sender, link.receiver])
    usual = seconds / link.factor
    text = (
        f"The link from {matrix.placed(link.sender)} to {matrix.placed(link.receiver)} is slow: {matrix.message} "
        f"{matrix.verb} {matrix.shown(seconds)}, where {matrix.shown(usual)} would be usual between these two "
        f"({times(link.factor)})."
    )
    numbers = {"value": matrix.value(seconds), "usual": matrix.value(usual), "factor": link.factor}
    title = f"The link from {sender} to {receiver} is slow"
    return matrix.warning("slow-link", title, text, sender=sender, receiver=receiver, **numbers)


def _asymmetric(matrix: PairMatrix, link: SlowLink) -> Finding:
    slow, fast = matrix.names[link.sender], matrix.names[link.receiver]
    out, back = (float(matrix.median[way]) for way in ((link.sender, link.receiver), (link.receiver, link.sender)))
    text = (
        f"{matrix.placed(link.sender)} and {matrix.placed(link.receiver)} are an asymmetric pair. "
        f"{capital(matrix.message)} go at {matrix.shown(out)} from {slow} to {fast} and at {matrix.shown(back)} back."
    )
    numbers = {"value": matrix.value(out), "back": matrix.value(back), "factor": link.factor}
    title = f"The link between {slow} and {fast} is asymmetric"
    return matrix.warning("asymmetric-pair", title, text, sender=slow, receiver=fast, **numbers)


def _too_few(matrix: PairMatrix) -> list[Finding]:
    """Report too few ends once, for the matrix with the largest messages."""
    if matrix.is_latency:
        return []
    ends = plural(len(matrix.names), matrix.noun)
    text = (
        f"With {ends} a slow {matrix.noun} cannot be told from a slow link. Use {FEWEST_ENDS} {matrix.noun}s or more."
    )
    return [finding("pairs", f"{capital(ends)} are too few to find a slow one", text, ends=len(matrix.names))]


def _nothing_slow(matrix: PairMatrix) -> Finding:
    spread, limit = math.exp(matrix.fit.sigma) - 1, matrix.fit.slow_link_from
    text = (
        f"No {matrix.noun} or link is slow with {matrix.message}. Equal links differ by {percent(spread)}, so a slow "
        f"link would be found from {times(limit)} on.{_worst_pair(matrix)}"
    )
    is_noisy = limit > _TOO_NOISY
    if is_noisy:
        text += " This noise hides all but very slow links. Measure on idle nodes, with fewer ranks than cores."
    names = {"the same": "within_switch", "another": "between_switches"}
    found = {names[one.receiver]: matrix.value(one.median) for one in switches.switch_pairs(matrix) if one.is_all}
    numbers = found if len(found) == len(names) else {}
    if numbers:
        own, other = (show(value, matrix.unit) for value in numbers.values())
        verb, noun = "takes" if matrix.is_latency else "reaches", matrix.leaf_noun
        text += f" The median pair {verb} {own} within a {noun} and {other} between {nouns_of(noun)}."
    severity, title = "advice" if is_noisy else "info", f"No {matrix.noun} or link is slow"
    return finding("pairs", title, text, severity, **matrix.place, spread=spread, limit=limit, **numbers)


def exchange_findings(rows: Sequence[Row], matrices: Sequence[PairMatrix], level: float) -> list[Finding]:
    """Compare bisections with each other, and with pairs that were alone."""
    found = {row.word("pattern"): row for row in rows if row.metric == "exchange_bandwidth"}
    randoms = [row.median for row in rows if row.params.get("pattern") == RANDOM_PATTERN]
    best, worst = found.get("best-bisection"), found.get("worst-bisection")
    if best is None:
        return []
    title = f"All {best.params['ranks']} ranks together reach {show(best.median, 'B/s')} between neighbours"
    parts = [title]
    numbers: dict[str, float] = {"best": best.median}
    if worst is not None:
        parts.append(f"{show(worst.median, 'B/s')} between those that are farthest apart")
        numbers["worst"] = worst.median
    if randoms:
        parts.append(f"{show(median(randoms), 'B/s')} between random pairs (effective bisection)")
        numbers["random"] = median(randoms)
    text = f"{listing(parts)}.{_share_of_alone(best, matrices, numbers)}"
    # One slow node or link lowers a bisection as distance does.
    slow_named = any(matrix.fit.ends or matrix.fit.links for matrix in matrices)
    compared = None if worst is None or slow_named else compare_rows(worst, best, level)
    uneven = compared is not None and compared.verdict == "slower" and compared.ratio < _UNEVEN
    if uneven and compared is not None:
        text += f" Distant ranks reach {percent(compared.ratio)} of that. Place ranks that communicate side by side."
    severity = "advice" if uneven else "info"
    return [finding("bisection", title, text, severity, **numbers)]


def _share_of_alone(best: Row, matrices: Sequence[PairMatrix], numbers: dict[str, float]) -> str:
    """State what share of the bandwidth of a pair alone is left; empty where it cannot be told.

    Pairs must have been alone with the same messages, and no end may be slow.
    """
    alike = [matrix for matrix in matrices if matrix.message_bytes == best.params["message_bytes"]]
    same = [matrix for matrix in alike if not (matrix.at_once or matrix.is_latency or matrix.fit.ends)]
    if not same:
        return ""
    alone = same[-1].value(math.exp(same[-1].fit.polish.common))
    each = best.median / (int(best.params["ranks"]) // 2)
    numbers["of_alone"] = each / alone
    return f" Each pair of neighbours has {percent(each / alone)} of what a pair alone reaches in one direction."


METRICS: Final = ("pair_latency", "worst_pair_latency", "pair_bandwidth", "worst_pair_bandwidth", "exchange_bandwidth")
PAIRS: Final = "pairs"
_KEPT: Final = ("between", "at_once")


def summarise(result: ResultFolder, _request: Request, context: RowContext) -> SuiteSummary:
    launches = launches_of(result)
    measured = join(launches)
    told = told_rows(launches, context.without_storage(MPI.name, METRICS), _params_of, with_pages_of)
    system = result.read_system()
    found = read_matrices(measured, () if system is None else system.switches)
    told += switch_rows(found, told, context.level)
    least = bound_rows(launches, context, (COPY, LINE, WORST_LINE))
    matrices = [matrix for matrix in found if not matrix.is_disturbed]
    passages = switches.slow_passages(matrices)
    # The largest messages come first, because they show the most important findings.
    each = reversed(list(zip(matrices, passages, strict=True)))
    said = [finding for matrix, slow in each for finding in matrix_findings(matrix, slow)]
    doubted = [finding for matrix in reversed(found) if matrix.is_disturbed for finding in disturbed_findings(matrix)]
    said += [*doubted, *exchange_findings(sound_rows(told), matrices, context.level)]
    said = [*failures_of(launches, context.level, told), *said, *not_available(launches)]
    return SuiteSummary([*told, *least], said, uses_disturbed=any(one.kind != PAIRS for one in doubted))


def _params_of(row: Row, source: Source) -> dict[str, Scalar] | None:
    if is_of_bounds(source):
        return None
    known = source.workload
    params: dict[str, Scalar] = {
        **usual(row, "access"),
        "pattern": str(known.get("pattern", PAIRS)),
        "message_bytes": count_of(known, "message_bytes", 8),
        **usual(row, "ranks", "nodes"),
        **{name: value for name in _KEPT if isinstance(value := known.get(name), (int, str))},
    }
    return {**params, "seed": count_of(known, "seed", 1)} if params["pattern"] == RANDOM_PATTERN else params


LATENCY: Final = "switch_pair_latency"
BANDWIDTH: Final = "switch_pair_bandwidth"
_OF_ALL: Final = {"pair_latency": LATENCY, "pair_bandwidth": BANDWIDTH}
MOST_SWITCHES: Final = 32
"""Beyond this a row for each two switches would be too many: rows are then of all pairs within and between switches."""


def switch_rows(matrices: Sequence[PairMatrix], rows: Sequence[Row], level: float) -> list[Row]:
    """Return a row for each two switches, by the order of ``switch_pairs``; none where less than two are known.

    ``rows``: of the suite, of which that of all pairs of a case has all in common with these but its pairs; ``level``:
    confidence of intervals.
    """
    bases = {row.case: row for row in rows if row.metric in _OF_ALL}
    found = [
        (bases[matrix.case], pair, [matrix.value(seconds) for seconds in pair.each])
        for matrix in matrices
        if matrix.case in bases
        for pair in switches.switch_pairs(matrix)
        if pair.is_all or len({*matrix.leaves}) <= MOST_SWITCHES
    ]
    of_metric = grouped((base.metric, samples) for base, _, samples in found)
    known = {metric: pooled_dependence(samples) for metric, samples in of_metric.items()}
    return [_row(base, pair, samples, level, known[base.metric]) for base, pair, samples in found]


def _row(base: Row, pair: switches.SwitchPair, samples: Sequence[float], level: float, dependence: Dependence) -> Row:
    checks = check_values(base.repetitions, median_interval(base.repetitions, level), None, None)
    of_values = {DEPENDENT, NOT_CONVERGED, *(flag.code for flag in checks)}
    frame = RowFrame(
        metric=_OF_ALL[base.metric],
        unit=base.unit,
        target=base.target,
        params={**base.params, "from_switch": pair.sender, "to_switch": pair.receiver, "pairs": pair.pairs},
        case=base.case,
        better=base.better,
        grade=base.grade,
        last_flags=[flag for flag in base.flags if flag.code not in of_values],
        notes=base.notes,
    )
    row = frame.row(samples, level, dependence=dependence)
    return row.model_copy(update={"verdict": base.verdict, "verdict_reasons": base.verdict_reasons})
