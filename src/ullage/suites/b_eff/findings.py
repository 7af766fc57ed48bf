# SPDX-License-Identifier: Apache-2.0
"""Whether a b_eff value counts, and sentences: which call is best at which size, what order and distance cost. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import geometric_mean
from typing import Final

from ullage.analysis.findings.phrasing import crowded, finding
from ullage.analysis.statistics import median
from ullage.model.flags import INVALID
from ullage.model.summary import Finding
from ullage.quantity import listing, percent, plural, processes, times
from ullage.report.answers import AnswerRule
from ullage.suites.b_eff.formula import Values, latency_s, median_b_eff, per_process, ping_pongs, self_check
from ullage.suites.b_eff.measured import METHODS, RING_COUNT, BEffRun
from ullage.suites.b_eff.options import COUNT, USUAL_BUDGET_S, USUAL_RANDOM_RINGS, USUAL_REPETITIONS, BEffOptions
from ullage.units import format_bytes, format_rate, format_time

ANSWER: Final = AnswerRule(
    "b_eff",
    "How much data do all ranks exchange a second?",
    ("b_eff", "b_eff-methods", "b_eff-latency", "b_eff-order", "b_eff-bisection"),
    remarks=("b_eff-invalid", "b_eff-self-check", "b_eff-conditions", "b_eff-degenerate"),
)
NOT_VALID: Final = f"{INVALID}:b_eff"


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
# Methods whose ratio is below this count as equally good.
_ANY: Final = "any"
_ALIKE: Final = 1.05
_NOTABLE: Final = 1.2
_ONE_RING: Final = 3
_RANGES: Final = 3


def findings_of(run: BEffRun, options: BEffOptions, reasons: Sequence[str], level: float) -> list[Finding]:
    """Collect all findings; what voids the value comes first.

    No finding rests on repetitions that other programs disturbed.
    """
    disturbed = any(one.grade == "C" for one in run.repetitions)
    concluded = [] if disturbed else [*_methods(run), *_order(run), *_bisection(run), *_latency(run)]
    return [
        *_invalid(reasons),
        *_self_check(run),
        *_headline(run, options, level),
        *_conditions(options),
        *concluded,
        *_degenerate(run),
    ]


def _invalid(reasons: Sequence[str]) -> list[Finding]:
    if not reasons:
        return []
    text = f"b_eff is NOT VALID: {'; '.join(reasons)}. The number is a look, not a result."
    return [finding("b_eff-invalid", "b_eff does not count as a result", text, "warning", reasons=list(reasons))]


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
    return [
        finding(
            "b_eff-self-check",
            "The timing of b_eff was disturbed: use its medians",
            text,
            "warning",
            elapsed_s=check.elapsed,
            accounted_s=check.accounted,
            fastest_s=check.fastest,
        )
    ]


def _headline(run: BEffRun, options: BEffOptions, level: float) -> list[Finding]:
    value, known, last = Values(run).b_eff, median_b_eff(run, level), len(run.sizes) - 1
    at_last = Values(run).b_eff_at(last)
    if value is None or at_last is None:
        return []
    middle = "" if known is None else f", and {format_rate(known.median)} by medians"
    text = (
        f"b_eff of {processes(run.ranks)} is {format_rate(value)}, {format_rate(per_process(run, value))} "
        f"each{middle}. With messages of Lmax = {_size(run, last)} it is {format_rate(at_last)}.{_rounded(options)}"
    )
    unrounded = {} if options.rounded_from is None else {"lmax_unrounded": options.rounded_from}
    middle_value = None if known is None else known.median
    numbers = {"b_eff": value, "median": middle_value, "at_lmax": at_last, "ranks": run.ranks, **unrounded}
    return [finding("b_eff", f"b_eff is {format_rate(value)}", text, **numbers)]


def _rounded(options: BEffOptions) -> str:
    """Say from which share of the memory Lmax was rounded down; empty where it was not.

    The original takes 1/128 of a memory that is a constant of its user's.
    """
    share = options.rounded_from
    return (
        "" if share is None else f" Lmax is the power of two below 1/128 of a process's memory ({format_bytes(share)})."
    )


def _size(run: BEffRun, number: int) -> str:
    return format_bytes(run.sizes[number])


def _conditions(options: BEffOptions) -> list[Finding]:
    found = conditions(options)
    if not found:
        return []
    text = f"Compare b_eff only with runs of the same conditions: {'; '.join(found)}."
    return [
        finding(
            "b_eff-conditions", "b_eff was measured under special conditions", text, "advice", conditions=list(found)
        )
    ]


def best_methods(run: BEffRun) -> list[tuple[str, float]]:
    """Find for each size the best method over rings and random rings, and how many times the worst one it is.

    Methods as good as the first of their order are that one. A size that lacks a method gives ("", 1.0).
    """
    by_method = {method: Values(run, median, [method]) for method in METHODS}
    found: list[tuple[str, float]] = []
    for size in range(len(run.sizes)):
        rates = {method: rate for method, values in by_method.items() if (rate := values.b_eff_at(size)) is not None}
        if len(rates) == len(METHODS):
            best = max(rates.values())
            name = next(method for method, rate in rates.items() if rate * _ALIKE >= best)
            found.append((name, best / min(rates.values())))
        else:
            found.append(("", 1.0))
    return found


@dataclass(frozen=True, slots=True)
class _Stretch:
    """Sizes from index ``first`` to ``last`` with the same best method; ``gain``: how many times the worst it is."""

    method: str
    first: int
    last: int
    gain: float


def _methods(run: BEffRun) -> list[Finding]:
    """Find the best method in each third of the sizes: which method is best at a single size is often chance."""
    by_method = {method: Values(run, median, [method]) for method in METHODS}
    third = -(-len(run.sizes) // _RANGES)
    starts = range(0, len(run.sizes), third)
    thirds = [_best(by_method, first, min(first + third, len(run.sizes)) - 1) for first in starts]
    known = [one for one in thirds if one is not None]
    if not known:
        return []
    merged = _merged(by_method, known)
    names, most = [one.method for one in known], max(one.gain for one in known)
    title, text = _told_methods(run, merged, most)
    if most > _NOTABLE:
        text += " A program can use any of them."
    severity = "advice" if most > _NOTABLE else "info"
    return [finding("b_eff-methods", title, text, severity, methods=names, gain=most)]


def _best(by_method: Mapping[str, Values], first: int, last: int) -> _Stretch | None:
    """Return the best method over these sizes; None where a method was not tried with all of them."""
    rates = {method: rate for method, values in by_method.items() if (rate := _mean_rate(values, first, last))}
    if len(rates) < len(METHODS):
        return None
    gain = max(rates.values()) / min(rates.values())
    name = max(rates, key=lambda method: rates[method]) if gain > _ALIKE else _ANY
    return _Stretch(name, first, last, gain)


def _merged(by_method: Mapping[str, Values], stretches: Sequence[_Stretch]) -> list[_Stretch]:
    """Merge neighbours with the same best method, so that each change between two stretches is one of methods."""
    found: list[_Stretch] = []
    for one in stretches:
        before = found[-1] if found else None
        if before is None or (before.method, before.last + 1) != (one.method, one.first):
            found.append(one)
            continue
        both = _best(by_method, before.first, one.last)
        gain = one.gain if both is None else both.gain
        found[-1] = _Stretch(one.method, before.first, one.last, gain)
    return found


def _told_methods(run: BEffRun, stretches: Sequence[_Stretch], most: float) -> tuple[str, str]:
    """Return title and sentence."""
    names = {one.method for one in stretches}
    is_whole = len(stretches) == 1 and (stretches[0].first, stretches[0].last) == (0, len(run.sizes) - 1)
    where = "at all sizes" if is_whole else listing([_sizes(run, one) for one in stretches])
    if names == {_ANY}:
        at = "at any size" if is_whole else f"with messages {where}"
        text = f"No MPI call differs from another by more than {percent(_ALIKE - 1)} in rings and random rings, {at}."
        return "All MPI calls are alike in rings", text
    begin = "These MPI calls have the highest medians in rings"
    if len(names) == 1:
        name = stretches[0].method
        text = f"{begin}: {name} {where} (up to {times(most)} the worst call)."
        return f"{name} has the highest medians {where}", text
    told = [_told_method(one, _sizes(run, one)) for one in stretches]
    return "Which MPI call has the highest median depends on the size", f"{begin}: {listing(told)}."


def _told_method(one: _Stretch, sizes: str) -> str:
    if one.method == _ANY:
        return f"any call {sizes}"
    return f"{one.method} {sizes} ({times(one.gain)} the worst call)"


def _mean_rate(values: Values, first: int, last: int) -> float | None:
    """Return the geometric mean over the sizes; None where the method was not tried with all of them."""
    rates = [values.b_eff_at(size) for size in range(first, last + 1)]
    known = [rate for rate in rates if rate]
    return geometric_mean(known) if len(known) == len(rates) else None


def _sizes(run: BEffRun, one: _Stretch) -> str:
    smallest, largest = _unit(_size(run, one.first)), _unit(_size(run, one.last))
    if one.first == 0:
        return f"up to {largest}"
    return f"from {smallest}" if one.last == len(run.sizes) - 1 else f"from {smallest} to {largest}"


def _unit(size: str) -> str:
    """Add the unit to a size below 1K, which has no letter of its own."""
    return f"{size} B" if size.isdigit() else size


def _order(run: BEffRun) -> list[Finding]:
    """Compare random rings with rings of neighbours at Lmax: what it costs that neighbours are anywhere.

    Nothing is said up to 3 processes, where all rings are the same.
    """
    values, last = Values(run, median), len(run.sizes) - 1
    rings, random = values.rings_at(last), values.random_at(last)
    if rings is None or random is None or run.ranks <= _ONE_RING:
        return []
    ratio = random / rings
    text = (
        f"With messages of {_size(run, last)} random rings reach {times(ratio)} the bandwidth of rings of neighbours."
    )
    is_notable = ratio < 1 / _NOTABLE
    if is_notable:
        text += " Place processes that communicate on one node, or side by side in rank order."
    title = f"Random rings reach {times(ratio)} the bandwidth of neighbours"
    severity = "advice" if is_notable else "info"
    return [finding("b_eff-order", title, text, severity, rings=rings, random=random, ratio=ratio)]


def _bisection(run: BEffRun) -> list[Finding]:
    """Compare pairs from one half to the other with pairs of neighbours at Lmax; nothing below 4 processes."""
    values, last = Values(run, median), len(run.sizes) - 1
    best, worst = values.at("best-bisection", last), values.at("worst-bisection", last)
    if best is None or worst is None or run.ranks < 4:
        return []
    text = (
        f"All pairs together reach {format_rate(best)} between neighbours with messages of {_size(run, last)}. From "
        f"one half to the other they reach {format_rate(worst)} ({times(worst / best)})."
    )
    title = f"Messages between the two halves reach {times(worst / best)} the bandwidth of neighbours"
    return [finding("b_eff-bisection", title, text, best=best, worst=worst, ratio=worst / best)]


def _latency(run: BEffRun) -> list[Finding]:
    one_byte, pair = Values(run).b_eff_at(0), ping_pongs(run, 0)
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
