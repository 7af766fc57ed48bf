# SPDX-License-Identifier: Apache-2.0
"""Whether a b_eff value counts, and sentences: which call is best at which size, what order and distance cost. Pure."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import geometric_mean, median
from typing import Final

from ullage.analysis.ceilings.rows import FEWEST_SAMPLES
from ullage.analysis.findings.phrasing import crowded, finding, level_of_part
from ullage.analysis.statistics.comparison import Comparison, Contest, compare_two, level_of_each
from ullage.analysis.statistics.spread import pooled_spread
from ullage.model.flags import INVALID
from ullage.model.summary import Finding
from ullage.quantity import listing, percent, plural, processes, times
from ullage.suites.b_eff.formula import METHODS, RING_COUNT, BEffRun, Values, latency_s, median_b_eff, self_check
from ullage.suites.b_eff.options import COUNT, USUAL_BUDGET_S, USUAL_RANDOM_RINGS, USUAL_REPETITIONS, BEffOptions
from ullage.units import format_bytes, format_rate, format_time

NOT_VALID: Final = f"{INVALID}:b_eff"
Of = Callable[[Values], float | None]


def reasons_against(run: BEffRun) -> list[str]:
    """Return everything that the definition asks for and that is missing; empty: the value is VALID."""
    pinning, values = run.run.pinning, Values(run)
    found: list[str] = []
    if pinning.oversubscribed:
        found.append(crowded(pinning.most_ranks_on_a_node, pinning.cores_available))
    if len(run.sizes) < COUNT:
        found.append(f"{len(run.sizes)} of {COUNT} message sizes were measured")
    for what, names, wanted in (("rings", run.rings, RING_COUNT), ("random rings", run.random, USUAL_RANDOM_RINGS)):
        whole = values.patterns(names)
        if len(whole) < wanted:
            found.append(f"{len(whole)} of {wanted} patterns of {what} have all sizes")
    if len(run.repetitions) < USUAL_REPETITIONS:
        count = len(run.repetitions)
        found.append(f"{count} of {USUAL_REPETITIONS} repetitions {'was' if count == 1 else 'were'} made")
    return found


def conditions(options: BEffOptions) -> Sequence[str]:
    """Return the choices that the definition leaves open or makes otherwise: few other values compare with these."""
    found: list[str] = []
    if options.is_lmax_given and options.lmax is not None:
        found.append(f"the largest message, {format_bytes(options.lmax)}, was chosen and is not 1/128 of the memory")
    if options.pages != "default":
        found.append(f"messages lie in {options.pages} pages, which the original does not ask for")
    if options.budget_s < USUAL_BUDGET_S:
        found.append(
            f"loops are short: {format_time(options.budget_s)} for all patterns of a size and method, not "
            f"{format_time(USUAL_BUDGET_S)}"
        )
    if options.random_rings > USUAL_RANDOM_RINGS:
        found.append(f"{options.random_rings} random rings, not {USUAL_RANDOM_RINGS}")
    if options.repetitions > USUAL_REPETITIONS:
        found.append(f"the best of {options.repetitions} repetitions, not of {USUAL_REPETITIONS}")
    return found


# The original says that above this share other programs used the machine, or its MPI has a problem.
MOST_UNACCOUNTED: Final = 0.05
# Sentences that compare: methods, the order of ranks, and bisections.
_FAMILIES: Final = 3
_NOTABLE: Final = 1.2
_ONE_RING: Final = 3
_RANGES: Final = 3


def findings_of(run: BEffRun, options: BEffOptions, reasons: Sequence[str], level: float) -> list[Finding]:
    """Collect all findings, what voids the value first; none rests on repetitions that other programs disturbed."""
    found: list[Finding] = []
    if reasons:
        text = f"b_eff is NOT VALID: {'; '.join(reasons)}. Do not quote the number as a result."
        found.append(finding("b_eff-invalid", "b_eff does not count as a result", text, "warning", reasons=reasons))
    found += [*_self_check(run), *_headline(run, options, level)]
    if special := conditions(options):
        text = f"Compare b_eff only with runs of the same conditions: {'; '.join(special)}."
        title = "b_eff was measured under special conditions"
        found.append(finding("b_eff-conditions", title, text, "advice", conditions=special))
    if all(one.grade != "C" for one in run.repetitions):
        own = level_of_part(level, _FAMILIES)
        found += [*_methods(run, own), *_order(run, own), *_bisection(run, own), *_latency(run)]
    return [*found, *_degenerate(run)]


def _self_check(run: BEffRun) -> list[Finding]:
    check = self_check(run)
    if max(check.unaccounted, check.slower) <= MOST_UNACCOUNTED:
        return []
    text = (
        f"The loops took {times(1 + check.slower)} the time of their fastest repetitions. They account for "
        f"{format_time(check.accounted)} of {format_time(check.elapsed)} ({percent(check.unaccounted)} is missing). "
        f"Above {percent(MOST_UNACCOUNTED)} of either, other load or MPI disturbs the run and the best repetition "
        "is an exception. Use the value by medians."
    )
    title = "The timing of b_eff was disturbed: use its medians"
    seconds = {"elapsed_s": check.elapsed, "accounted_s": check.accounted, "fastest_s": check.fastest}
    return [finding("b_eff-self-check", title, text, "warning", **seconds)]


def _headline(run: BEffRun, options: BEffOptions, level: float) -> list[Finding]:
    value, known, last = Values(run).b_eff, median_b_eff(run, level), len(run.sizes) - 1
    at_last = Values(run).b_eff_at(last)
    if value is None or at_last is None:
        return []
    middle = "" if known is None else f", and {format_rate(known.median)} by medians"
    # The original takes 1/128 of a memory that is a constant of its user's.
    share, rounded = options.rounded_from, ""
    if share is not None:
        rounded = f" Lmax is the power of two below 1/128 of a process's memory ({format_bytes(share)})."
    text = (
        f"b_eff of {processes(run.ranks)} is {format_rate(value)}, {format_rate(value / run.ranks)} "
        f"each{middle}. With messages of Lmax = {_size(run, last)} it is {format_rate(at_last)}.{rounded}"
    )
    unrounded = {} if share is None else {"lmax_unrounded": share}
    middle_value = None if known is None else known.median
    numbers = {"b_eff": value, "median": middle_value, "at_lmax": at_last, "ranks": run.ranks, **unrounded}
    return [finding("b_eff", f"b_eff is {format_rate(value)}", text, **numbers)]


def _size(run: BEffRun, number: int) -> str:
    return format_bytes(run.sizes[number])


@dataclass(frozen=True, slots=True)
class _Stretch:
    """Sizes from index ``first`` to ``last`` with the same fastest method, empty where none is proved the fastest.

    ``gain``: how many times the rate of the slowest it has, at most.
    """

    method: str
    first: int
    last: int
    gain: float


def _methods(run: BEffRun, level: float) -> list[Finding]:
    """Name the method that is proved faster than each other one in each third of the sizes."""
    each = {method: _alone(run, [method]) for method in METHODS}
    count, third = len(run.sizes), -(-len(run.sizes) // _RANGES)
    ranges = [(first, min(first + third, count) - 1) for first in range(0, count, third)]
    own = level_of_each(level, [len(METHODS)] * len(ranges))
    known = [_fastest(each, *sizes, own) for sizes in ranges]
    most = max(one.gain for one in known)
    severity = "advice" if most > _NOTABLE else "info"
    names = [one.method for one in known]
    # Neighbours with the same fastest method are one, so that each change between two stretches is one of methods.
    alike = [list(some) for _, some in groupby(known, key=lambda one: one.method)]
    merged = [_Stretch(some[0].method, some[0].first, some[-1].last, max(one.gain for one in some)) for some in alike]
    return [finding("b_eff-methods", *_told_methods(run, merged), severity, methods=names, gain=most)]


def _alone(run: BEffRun, methods: Sequence[str] = METHODS) -> list[Values]:
    return [Values(run, methods=methods, repetitions=[repetition]) for repetition in run.repetitions]


def _fastest(each: Mapping[str, Sequence[Values]], first: int, last: int, level: float) -> _Stretch:
    """Return the fastest method over these sizes; none where less than 3 repetitions tried all methods with them."""
    rates = {
        method: [rate for one in values if (rate := _mean_rate(one, first, last))] for method, values in each.items()
    }
    if min(map(len, rates.values())) < FEWEST_SAMPLES:
        return _Stretch("", first, last, 1.0)
    spread = pooled_spread(rates.values())
    best = max(rates, key=lambda method: geometric_mean(rates[method]))
    others = [Contest(rates[best], rates[name], spread=spread) for name in rates if name != best]
    found = [compare_two(one, level) for one in others]
    is_told = all(one.verdict == "faster" for one in found)
    return _Stretch(best if is_told else "", first, last, max(one.ratio for one in found) if is_told else 1.0)


def _told_methods(run: BEffRun, stretches: Sequence[_Stretch]) -> tuple[str, str]:
    told = [one for one in stretches if one.method]
    untold = [_sizes(run, one) for one in stretches if not one.method]
    said = [f"{one.method} {_sizes(run, one)} ({times(one.gain)} the slowest call)" for one in told]
    text = f"The fastest MPI calls in rings are {listing(said)}. " if said else ""
    text += f"Which MPI call is fastest in rings {listing(untold)} cannot be told. " if untold else ""
    if any(one.gain > _NOTABLE for one in told):
        text += "A program can use any of them."
    if not told:
        return "Which MPI call is fastest in rings cannot be told", text.rstrip()
    if len({one.method for one in told}) > 1:
        return "Which MPI call is fastest in rings depends on the size", text.rstrip()
    where = listing([_sizes(run, one) for one in told])
    return f"{told[0].method} is the fastest MPI call in rings {where}", text.rstrip()


def _mean_rate(values: Values, first: int, last: int) -> float | None:
    """Return the geometric mean over the sizes; None where the method was not tried with all of them."""
    rates = [values.b_eff_at(size) for size in range(first, last + 1)]
    known = [rate for rate in rates if rate]
    return geometric_mean(known) if len(known) == len(rates) else None


def _sizes(run: BEffRun, one: _Stretch) -> str:
    smallest, largest = _unit(_size(run, one.first)), _unit(_size(run, one.last))
    if one.first == 0:
        return "at all sizes" if one.last == len(run.sizes) - 1 else f"up to {largest}"
    return f"from {smallest}" if one.last == len(run.sizes) - 1 else f"from {smallest} to {largest}"


def _unit(size: str) -> str:
    """Add the unit to a size below 1K, which has no letter of its own."""
    return f"{size} B" if size.isdigit() else size


def _judged(run: BEffRun, first: Of, second: Of, level: float) -> Comparison | None:
    """Compare two numbers of the repetitions that have both; None where they are too few to tell anything."""
    pairs = [(a, b) for one in _alone(run) if (a := first(one)) and (b := second(one))]
    if len(pairs) < FEWEST_SAMPLES:
        return None
    sides = [a for a, _ in pairs], [b for _, b in pairs]
    return compare_two(Contest(*sides, spread=pooled_spread(sides)), level)


def _order(run: BEffRun, level: float) -> list[Finding]:
    """Compare random rings with rings of neighbours at Lmax: what it costs that neighbours are anywhere.

    Nothing is said where they are not proved to differ, and up to 3 processes, where all rings are the same.
    """
    last = len(run.sizes) - 1
    found = _judged(run, lambda one: one.random_at(last), lambda one: one.rings_at(last), level)
    if found is None or found.verdict == "cannot tell" or run.ranks <= _ONE_RING:
        return []
    text = (
        f"With messages of {_size(run, last)} random rings reach {times(found.ratio)} the bandwidth of rings of "
        "neighbours."
    )
    is_notable = found.ratio < 1 / _NOTABLE
    if is_notable:
        text += " Place processes that communicate on one node, or side by side in rank order."
    title = f"Random rings reach {times(found.ratio)} the bandwidth of neighbours"
    severity = "advice" if is_notable else "info"
    return [finding("b_eff-order", title, text, severity, ratio=found.ratio, low=found.low, high=found.high)]


def _bisection(run: BEffRun, level: float) -> list[Finding]:
    """State what pairs reach from one half to the other, and between neighbours; nothing below 4 processes.

    Their ratio is said where they are proved to differ.
    """
    values, last = Values(run, median), len(run.sizes) - 1
    best, worst = values.at("best-bisection", last), values.at("worst-bisection", last)
    if best is None or worst is None or run.ranks < 4:
        return []
    found = _judged(run, lambda one: one.at("worst-bisection", last), lambda one: one.at("best-bisection", last), level)
    ratio = None if found is None or found.verdict == "cannot tell" else found.ratio
    title = f"All pairs together reach {format_rate(best)} between neighbours"
    text = (
        f"{title} with messages of {_size(run, last)}. From one half to the other they reach {format_rate(worst)}"
        f"{'.' if ratio is None else f' ({times(ratio)}).'}"
    )
    if ratio is not None:
        title = f"Messages between the two halves reach {times(ratio)} the bandwidth of neighbours"
    return [finding("b_eff-bisection", title, text, best=best, worst=worst, ratio=ratio)]


def _latency(run: BEffRun) -> list[Finding]:
    one_byte, pair = Values(run).b_eff_at(0), run.ping_pongs(0)
    if one_byte is None:
        return []
    latency = latency_s(run.ranks, one_byte)
    text = f"A message of 1 byte takes {format_time(latency)} while all processes send"
    pair_s = min((loop.one_way_s for loop in pair), default=None)
    if pair_s is not None:
        text += f", and {format_time(pair_s)} between two while the others wait"
    title = f"A message of 1 byte takes {format_time(latency)}"
    return [finding("b_eff-latency", title, f"{text}.", latency_s=latency, pair_s=pair_s)]


def _degenerate(run: BEffRun) -> list[Finding]:
    names = [name for name, facts in run.patterns.items() if facts.degenerate]
    if not names:
        return []
    text = (
        f"With {processes(run.ranks)}, {len(names)} of {plural(len(run.patterns), 'pattern')} are the same as others "
        f"({listing(names, 4)}). The definition counts each of them, so equal patterns weigh several times. All rings "
        "differ from 33 processes on."
    )
    title = f"Many patterns are the same with {processes(run.ranks)}"
    return [finding("b_eff-degenerate", title, text, patterns=names)]
