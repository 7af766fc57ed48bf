# SPDX-License-Identifier: Apache-2.0
"""Sentences on a prediction: the time of both phases, what storage must reach, and what would help. Pure."""

from collections.abc import Sequence
from typing import Final

from ullage.analysis.findings.phrasing import finding
from ullage.analysis.stepmodel import Prediction, Scaling, least_depth
from ullage.analysis.verdicts.grades import is_sound
from ullage.model.summary import Finding
from ullage.quantity import format_quantity, percent, plural
from ullage.suites.stepfile.predict_options import PredictOptions
from ullage.suites.stepfile.predicted import ADJOINT, FORWARD, PHASES, Predicted, work_of
from ullage.suites.stepfile.suite import recomputations
from ullage.units import format_operations, format_rate, format_volume

_LOG: Final = "log"


def said_of(options: PredictOptions, found: Sequence[Predicted]) -> list[Finding]:
    """Return all findings of predictions."""
    return [
        *(_phase(options, one, phase) for one in found for phase in PHASES),
        *([_requirement(options, found)] if found else []),
        *(_depth(options, one) for one in found),
        *(_revolve(options, one) for one in found),
        *(_cache(options, one) for one in found if one.cached < 1 or one.measured_cached is not None),
        *(_scaling(options, one, phase) for one in found for phase in PHASES),
    ]


def _who(options: PredictOptions, one: Predicted) -> str:
    way = one.way
    return f"{way.target}, {way.layout}, {way.order}, {plural(options.ranks[0], 'rank')}"


# -- the time of a phase -----------------------------------------------------------------------------------------------


def _phase(options: PredictOptions, one: Predicted, phase: str) -> Finding:
    found, rate, row = one.phases[phase], one.rates[phase], one.runs.get(phase)
    exposed = max(0.0, found.seconds - work_of(options).slowest_s)
    ranks = plural(options.ranks[0], "rank")
    text = (
        f"With {ranks}, the {phase} phase ({one.way.target}, {one.way.layout}, {one.way.order}) takes {_span(found)} "
        f"by the measured rates. Of that, {format_quantity(exposed, 's')} is exposed I/O."
    )
    measured_s = None if row is None or not is_sound(row) else row.median
    waited_s = None if measured_s is None else max(0.0, measured_s - work_of(options).slowest_s)
    # The computation is known, and would dilute the error.
    error = exposed / waited_s - 1 if waited_s else None
    if measured_s is not None and waited_s is not None:
        took, waited = format_quantity(measured_s, "s"), format_quantity(waited_s, "s")
        text += f" The run took {took}. Of that, {waited} was exposed I/O."
    if error is not None:
        text += (
            f" The prediction of the exposed I/O is {percent(abs(error), 1)} too {'long' if error >= 0 else 'short'}."
        )
    doubts = _doubts(options, one, phase)
    title = (
        f"With {ranks}, the {phase} phase takes {format_quantity(found.seconds, 's')} on {one.way.target} by prediction"
    )
    return finding(
        "predicted-phase",
        title,
        " ".join([text, *doubts]),
        "warning" if doubts else "info",
        target=one.way.target,
        layout=one.way.layout,
        order=one.way.order,
        phase=phase,
        ranks=options.ranks[0],
        rate_steps=rate.steps,
        predicted_s=found.seconds,
        low_s=found.low,
        high_s=found.high,
        calls_s=found.calls_s,
        exposed_s=exposed,
        measured_s=measured_s,
        measured_exposed_s=waited_s,
        error=error,
    )


def _span(found: Prediction) -> str:
    seconds = format_quantity(found.seconds, "s")
    if found.low is None or found.high is None:
        return f"{seconds} (one repetition gives no interval)"
    return f"{seconds} (1 sigma: {format_quantity(found.low, 's')} to {format_quantity(found.high, 's')})"


def _doubts(options: PredictOptions, one: Predicted, phase: str) -> list[str]:
    """Return what the number does not rest on."""
    rate, row = one.rates[phase], one.runs.get(phase)
    found: list[str] = []
    if rate.steps < options.steps:
        found.append(
            f"The rates were measured with {rate.steps} of {options.steps} steps. More files may make them lower."
        )
    if not rate.sound:
        found.append("Other work disturbed the measurement of the rates. Measure them on an idle machine.")
    if row is not None and not is_sound(row):
        found.append("Other work disturbed the run, so it is not compared.")
    return found


# -- what storage must reach -------------------------------------------------------------------------------------------


def _requirement(options: PredictOptions, found: Sequence[Predicted]) -> Finding:
    """State the rates from which writes overlap with the computation, and what each place reaches."""
    ranks, step_s = options.ranks[0], work_of(options).slowest_step_s
    files, rate = ranks / step_s, ranks * options.state_bytes / step_s
    reached = [_reached(options, one) for one in found]
    text = (
        f"To overlap the writes with the computation, storage must write {format_rate(rate)} and "
        f"create files at {format_operations(files)}. It reaches: {'; '.join(reached)}."
    )
    if any(one.way.layout != _LOG for one in found):
        text += " With layout log, no file is created at a step."
    title = f"Writes overlap with the computation at {format_rate(rate)} or more"
    numbers = [ranks * options.steps / one.phases[FORWARD].calls_s for one in found]
    return finding(
        "predicted-requirement",
        title,
        text,
        needed_bytes_per_s=rate,
        needed_files_per_s=files,
        targets=[one.way.target for one in found],
        layouts=[one.way.layout for one in found],
        reached_files_per_s=numbers,
        reached_bytes_per_s=[number * options.state_bytes for number in numbers],
    )


def _reached(options: PredictOptions, one: Predicted) -> str:
    files = options.ranks[0] * options.steps / one.phases[FORWARD].calls_s
    creates = "" if one.way.layout == _LOG else f" and {format_operations(files)}"
    return f"{one.way.target} ({one.way.layout}) {format_rate(files * options.state_bytes)}{creates}"


# -- what would help ---------------------------------------------------------------------------------------------------


def _depth(options: PredictOptions, one: Predicted) -> Finding:
    """State how many states must be read ahead so that one is there at every step."""
    rate, step_s = one.rates[ADJOINT], options.compute_s
    depth = least_depth(rate.state_s, step_s)
    who, read = _who(options, one), format_quantity(rate.state_s, "s")
    text = f"A state is read in {read} ({who}), and a step computes for {format_quantity(step_s, 's')}. "
    alone = one.way.layout == _LOG and depth > 1
    if alone:
        text += "One thread reads the log. Its reads take longer than the computation, whatever --prefetch is."
        title = f"Reads of the log on {one.way.target} are slower than the computation"
    else:
        text += f"With --prefetch {depth}, the reads overlap with the computation"
        text += "." if depth == 1 else f" if {depth} reads at once take no longer each. Measure that depth."
        title = f"Reads on {one.way.target} overlap with the computation at --prefetch {depth} or more"
    kind = "predicted-depth"
    return finding(kind, title, text, target=one.way.target, depth=None if alone else depth, state_s=rate.state_s)


def _revolve(options: PredictOptions, one: Predicted) -> Finding:
    """State how few states revolve may keep before computing again takes longer than the exposed I/O."""
    work = work_of(options)
    exposed = sum(max(0.0, one.phases[phase].seconds - work.slowest_s) for phase in PHASES)
    kept = fewest_kept(options.steps, work.slowest_step_s, exposed)
    again = recomputations(options.steps, kept)
    title = f"{plural(kept, 'kept state')} of {options.steps} cost no more than the exposed I/O on {one.way.target}"
    text = (
        f"Both phases ({_who(options, one)}) expose {format_quantity(exposed, 's')} of I/O. With order revolve:{kept}, "
        f"a rank computes {plural(again, 'step')} again in {format_quantity(again * work.slowest_step_s, 's')}. "
        "With fewer states, computing again takes longer than the exposed I/O. "
        f"The kept states take {format_volume(kept * options.ranks[0] * options.state_bytes)} of "
        f"{format_volume(options.steps * options.ranks[0] * options.state_bytes)}."
    )
    numbers = {"exposed_s": exposed, "kept": kept, "recomputed": again, "target": one.way.target}
    return finding("predicted-revolve", title, text, "info", **numbers)


def fewest_kept(steps: int, step_s: float, budget_s: float) -> int:
    """Return the fewest states to keep so that computing the others again takes no longer than ``budget_s``."""
    low, high = 1, steps
    while low < high:
        middle = (low + high) // 2
        if recomputations(steps, middle) * step_s <= budget_s:
            high = middle
        else:
            low = middle + 1
    return low


def _cache(options: PredictOptions, one: Predicted) -> Finding:
    """State the share of the reads that a page cache serves, by its size and by counters."""
    held = options.page_cache or 0
    text = (
        f"By prediction, a page cache of {format_volume(held)} on a node serves {percent(one.cached)} of the reads "
        f"({_who(options, one)}). That assumes a cache that drops the oldest states first."
    )
    if one.measured_cached is not None:
        text += f" In the run, {percent(one.measured_cached)} did not come from the storage."
    title = f"By prediction, the page cache serves {percent(one.cached)} of the reads on {one.way.target}"
    numbers = {"predicted": one.cached, "measured": one.measured_cached, "page_cache_bytes": held}
    return finding("predicted-cache", title, text, "info", target=one.way.target, **numbers)


# -- contention --------------------------------------------------------------------------------------------------------


def _scaling(options: PredictOptions, one: Predicted, phase: str) -> Finding:
    scaling, noun = one.scalings[phase], "writes" if phase == FORWARD else "reads"
    if scaling is None:
        text = (
            f"The rates of {noun} were measured with {plural(options.ranks[0], 'rank')} ({one.way.target}, "
            f"{one.way.layout}) and with no other number of ranks. Do not use them for other numbers."
        )
        title = f"How {noun} on {one.way.target} change with the ranks is not known"
        return finding("predicted-scaling", title, text, "info", target=one.way.target, phase=phase, exponent=None)
    ranks = ", ".join(map(str, scaling.points))
    text = (
        f"With {ranks} ranks, the total rate of {noun} ({one.way.target}, {one.way.layout}) changes as "
        f"ranks^{_power(scaling)}. {_validity(scaling)}"
    )
    title = f"The total rate of {noun} on {one.way.target} changes as ranks^{_power(scaling)}"
    numbers = {"exponent": scaling.exponent, "ranks": list(scaling.points), "residual": scaling.residual}
    return finding("predicted-scaling", title, text, "info", target=one.way.target, phase=phase, **numbers)


def _power(scaling: Scaling) -> str:
    return f"{round(scaling.exponent, 2) + 0.0:.2f}"  # no minus before zero


def _validity(scaling: Scaling) -> str:
    if scaling.residual is None:
        return "Two points fit any power law, so they do not validate it. Measure at the number of ranks you need."
    return f"The measured rates differ from that by {percent(scaling.residual, 1)} at most."
