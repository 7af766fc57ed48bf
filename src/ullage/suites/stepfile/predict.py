# SPDX-License-Identifier: Apache-2.0
"""A prediction of a stepfile that was checked against engine and machine, its summary and its sentences."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from ullage.analysis.findings.phrasing import finding
from ullage.analysis.stepmodel import Prediction, least_depth
from ullage.analysis.verdicts.grades import is_sound, sound_rows
from ullage.engine import find_registered
from ullage.model.plan import Target
from ullage.model.request import Request
from ullage.model.summary import Finding, Row
from ullage.quantity import format_quantity, percent, plural
from ullage.results.events import failures_of
from ullage.results.folder import ResultFolder
from ullage.results.rows import RowContext
from ullage.runs.cells.planning import Cell, each_once
from ullage.runs.cells.prepared import PreparedCells
from ullage.runs.inputs import EngineContext
from ullage.runs.options.reading import read_options
from ullage.runs.room import Machine, checked_machine
from ullage.runs.session import Note
from ullage.runs.suite import Explanation, SuiteSummary
from ullage.runs.told import Launches, launches_of
from ullage.suites.stepfile import predicted, summarise
from ullage.suites.stepfile.suite import (
    COLUMNS,
    SIZING,
    backends_of,
    costs_of,
    fewest_kept,
    make_cells,
    recomputations,
    scale_notes,
)
from ullage.units import format_bytes, format_operations, format_rate, format_volume
from ullage.uri import target_path

# Capabilities of backends whose reads no page cache serves.
_UNCACHED: Final = frozenset({"direct", "memory"})


@dataclass(frozen=True)
class PreparedPrediction(PreparedCells):
    """See ``Prepared``. Without cells there is nothing to measure, and ``told`` has the answer."""

    @property
    def told(self) -> list[Finding]:
        """What known rates say without any measurement."""
        if self.cells:
            return []
        options = read_options(predicted.PredictOptions, self.request)
        cached = {target.name: is_cached(target, self.machine) for target in self.request.targets}
        return said_of(options, predicted.predictions(options, options.rates, cached))

    def explain(self) -> Explanation:
        if self.cells:
            return super().explain()
        return Explanation(["Nothing is measured: the rates are known, and no run is asked for."], [], [])


def is_cached(target: Target, machine: Machine) -> bool:
    """Tell whether a page cache may serve the reads of ``target``."""
    in_memory = {place.target for place in machine.places if place.is_memory}
    return target_path(target) is not None and target.name not in in_memory


def prepare_prediction(request: Request, engine_context: EngineContext) -> PreparedPrediction:
    """Check everything that can be checked without starting anything."""
    options = read_options(predicted.PredictOptions, request)
    machine = checked_machine(request.targets)
    cells: list[Cell] = []
    for target in request.targets:
        for backend in backends_of(target, options, engine_context.description):
            cells += _cells(options.model_copy(update={"backends": [backend]}), target, engine_context, machine)
    text = f"{options.steps} steps, {format_bytes(options.state_bytes)} a rank and step"
    notes = [*scale_notes(options, machine.memory.total_bytes), *_notes(options)]
    kinds, lines = SIZING.by(engine_context.engine), _lines(options)
    return PreparedPrediction(
        request, options, machine, kinds(each_once(cells)), kinds, text, lines, notes, COLUMNS, costing=costs_of
    ).checked()


def _cells(
    options: predicted.PredictOptions, target: Target, engine_context: EngineContext, machine: Machine
) -> list[Cell]:
    backend = options.backends[0]
    direct = _UNCACHED & set(find_registered(engine_context.description, "backend", backend).capabilities)
    shares = predicted.cached_shares(options, cached=is_cached(target, machine) and not direct)
    asked = [options] if options.run else []
    if options.rates:
        predicted.check_known(options, target.name, backend, shares)
    else:
        asked += [one for order in options.orders for one in _rates(options, order, shares[order])]
    return [cell for one in asked for cell in make_cells(one, [target], engine_context.description, machine.cores)]


def _rates(options: predicted.PredictOptions, order: str, cached: float) -> list[predicted.PredictOptions]:
    """Return what is measured without computation.

    Where the page cache serves a part of the reads, its rate and that of the storage are measured apart.
    """
    alone = {"compute_s": 0.0, "jitter": None, "imbalance": None, "orders": [order]}
    steps = options.rate_steps or options.steps
    all_ranks = options.model_copy(update={**alone, "steps": steps, "ranks": options.scaling})
    if cached >= 1 or options.cache == "drop":
        return [all_ranks]
    stored = all_ranks.model_copy(update={"cache": "drop"})
    # So few states all stay in the cache.
    few = max(1, int(cached * options.steps / 2))
    held = all_ranks.model_copy(update={"ranks": options.ranks, "steps": few})
    return [stored, *([held] if cached > 0 else [])]


def _lines(options: predicted.PredictOptions) -> list[str]:
    if options.rates:
        return [f"The rates are those of result {options.rates[0].run_id}."]
    ranks = ", ".join(map(str, options.scaling))
    return [
        f"Cases without computation measure the rates of the calls, with {ranks} ranks.",
        *(["A run with computation is compared with the prediction."] if options.run else []),
    ]


def _notes(options: predicted.PredictOptions) -> list[Note]:
    steps = options.rate_steps or options.steps
    if options.rates or steps >= options.steps:
        return []
    text = f"the rates are measured with {steps} of {options.steps} steps, so with fewer files"
    return [Note("fewer-steps", text, "leave --rate-steps out to measure them with all files")]


def summarise_prediction(result: ResultFolder, request: Request, context: RowContext) -> SuiteSummary:
    """See ``Summarising``."""
    options = read_options(predicted.PredictOptions, request)
    launches = launches_of(result)
    rows = _with_uses(summarise.stepfile_rows(launches, context), launches, options.ranks[0])
    known = options.rates or summarise.rates_of(launches, rows, request.run_id)
    runs = [row for row in rows if row.params["use"] == "run"]
    cached = {name: facts.holds_data and not facts.is_memory for name, facts in context.targets.items()}
    shares = summarise.measured_shares(launches, context)
    walls = [row for row in runs if row.metric == "phase_time"]
    found = [_with_share(one, shares) for one in predicted.predictions(options, known, cached, walls)]
    sound = sound_rows(runs)
    on_run = summarise.findings_of(sound, summarise.demands_of(launches), options.compute_s, context.level)
    findings = [*failures_of(launches, context.level, rows), *said_of(options, found), *on_run]
    doubted = any(not rate.sound for one in found for rate in one.rates.values())
    return SuiteSummary(rows, findings, uses_disturbed=doubted)


def _with_uses(rows: Sequence[Row], launches: Launches, ranks: int) -> list[Row]:
    """Return rows that say what they are for, and what was done about the cache; those of the asked ``ranks`` first.

    They are of the run, measure rates, or tell how these change with the ranks.
    """
    cases = summarise.cases_of(launches)

    def told(row: Row) -> Row:
        case = cases[row.case]
        use = "run" if summarise.computes(case) else "rates" if row.ranks == ranks else "scaling"
        own = {"use": use, "cache": str(case.workload_parameters.get("cache", "none"))}
        return row.model_copy(update={"params": {**row.params, **own}})

    return sorted(map(told, rows), key=lambda row: ("run", "rates", "scaling").index(row.word("use")))


def _with_share(one: predicted.Predicted, shares: Mapping[str, float]) -> predicted.Predicted:
    row = one.runs.get(predicted.ADJOINT)
    return one if row is None or not is_sound(row) else replace(one, measured_cached=shares.get(row.case))


_LOG: Final = "log"


def said_of(options: predicted.PredictOptions, found: Sequence[predicted.Predicted]) -> list[Finding]:
    """Return all findings of predictions."""
    return [
        *(_phase(options, one, phase) for one in found for phase in predicted.PHASES),
        *([_requirement(options, found)] if found else []),
        *(_depth(options, one) for one in found),
        *(_revolve(options, one) for one in found),
        *(_cache(options, one) for one in found if one.cached < 1 or one.measured_cached is not None),
        *(_scaling(options, one, phase) for one in found for phase in predicted.PHASES),
    ]


def _who(options: predicted.PredictOptions, one: predicted.Predicted) -> str:
    way = one.way
    return f"{way.target}, {way.layout}, {way.order}, {plural(options.ranks[0], 'rank')}"


def _phase(options: predicted.PredictOptions, one: predicted.Predicted, phase: str) -> Finding:
    found, row, computed_s = one.phases[phase], one.runs.get(phase), predicted.work_of(options).slowest_s
    exposed = max(0.0, found.seconds - computed_s)
    ranks = plural(options.ranks[0], "rank")
    text = (
        f"With {ranks}, the {phase} phase ({one.way.target}, {one.way.layout}, {one.way.order}) takes {_span(found)} "
        f"by the measured rates. Of that, {format_quantity(exposed, 's')} is exposed I/O."
    )
    measured_s = None if row is None or not is_sound(row) else row.median
    waited_s = None if measured_s is None else max(0.0, measured_s - computed_s)
    # The computation is known, and would dilute the error.
    error = exposed / waited_s - 1 if waited_s else None
    if measured_s is not None and waited_s is not None:
        took, waited = format_quantity(measured_s, "s"), format_quantity(waited_s, "s")
        text += f" The run took {took}. Of that, {waited} was exposed I/O."
    if error is not None:
        side = "long" if error >= 0 else "short"
        text += f" The prediction of the exposed I/O is {percent(abs(error), 1)} too {side}."
    doubts = _doubts(options, one, phase)
    took = format_quantity(found.seconds, "s")
    title = f"With {ranks}, the {phase} phase takes {took} on {one.way.target} by prediction"
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
        rate_steps=one.rates[phase].steps,
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


def _doubts(options: predicted.PredictOptions, one: predicted.Predicted, phase: str) -> list[str]:
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


def _requirement(options: predicted.PredictOptions, found: Sequence[predicted.Predicted]) -> Finding:
    """State the rates from which writes overlap with the computation, and what each place reaches."""
    ranks, step_s = options.ranks[0], predicted.work_of(options).slowest_step_s
    files, rate = ranks / step_s, ranks * options.state_bytes / step_s
    reached = [_reached(options, one) for one in found]
    text = (
        f"To overlap the writes with the computation, storage must write {format_rate(rate)} and "
        f"create files at {format_operations(files)}. It reaches: {'; '.join(reached)}."
    )
    if any(one.way.layout != _LOG for one in found):
        text += " With layout log, no file is created at a step."
    title = f"Writes overlap with the computation at {format_rate(rate)} or more"
    numbers = [ranks * options.steps / one.phases[predicted.FORWARD].calls_s for one in found]
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


def _reached(options: predicted.PredictOptions, one: predicted.Predicted) -> str:
    files = options.ranks[0] * options.steps / one.phases[predicted.FORWARD].calls_s
    creates = "" if one.way.layout == _LOG else f" and {format_operations(files)}"
    return f"{one.way.target} ({one.way.layout}) {format_rate(files * options.state_bytes)}{creates}"


def _depth(options: predicted.PredictOptions, one: predicted.Predicted) -> Finding:
    """State how many states must be read ahead so that one is there at every step."""
    rate, step_s = one.rates[predicted.ADJOINT], options.compute_s
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


def _revolve(options: predicted.PredictOptions, one: predicted.Predicted) -> Finding:
    work = predicted.work_of(options)
    exposed = sum(max(0.0, one.phases[phase].seconds - work.slowest_s) for phase in predicted.PHASES)
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


def _cache(options: predicted.PredictOptions, one: predicted.Predicted) -> Finding:
    """State the share of the reads that a page cache serves, by its size and by counters."""
    held, who = options.page_cache or 0, _who(options, one)
    text = (
        f"By prediction, a page cache of {format_volume(held)} on a node serves {percent(one.cached)} of the reads "
        f"({who}). That assumes a cache that drops the oldest states first."
    )
    if one.measured_cached is not None:
        text += f" In the run, {percent(one.measured_cached)} did not come from the storage."
    title = f"By prediction, the page cache serves {percent(one.cached)} of the reads on {one.way.target}"
    numbers = {"predicted": one.cached, "measured": one.measured_cached, "page_cache_bytes": held}
    return finding("predicted-cache", title, text, "info", target=one.way.target, **numbers)


def _scaling(options: predicted.PredictOptions, one: predicted.Predicted, phase: str) -> Finding:
    scaling, noun = one.scalings[phase], "writes" if phase == predicted.FORWARD else "reads"
    if scaling is None:
        text = (
            f"The rates of {noun} were measured with {plural(options.ranks[0], 'rank')} ({one.way.target}, "
            f"{one.way.layout}) and with no other number of ranks. Do not use them for other numbers."
        )
        title = f"How {noun} on {one.way.target} change with the ranks is not known"
        return finding("predicted-scaling", title, text, "info", target=one.way.target, phase=phase, exponent=None)
    ranks = ", ".join(map(str, scaling.points))
    power = f"{round(scaling.exponent, 2) + 0.0:.2f}"  # no minus before zero
    where = f"{noun} ({one.way.target}, {one.way.layout})"
    text = f"With {ranks} ranks, the total rate of {where} changes as ranks^{power}. "
    if scaling.residual is None:
        text += "Two points fit any power law, so they do not validate it. Measure at the number of ranks you need."
    else:
        text += f"The measured rates differ from that by {percent(scaling.residual, 1)} at most."
    title = f"The total rate of {noun} on {one.way.target} changes as ranks^{power}"
    numbers = {"exponent": scaling.exponent, "ranks": list(scaling.points), "residual": scaling.residual}
    return finding("predicted-scaling", title, text, "info", target=one.way.target, phase=phase, **numbers)
