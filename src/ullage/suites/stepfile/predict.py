# SPDX-License-Identifier: Apache-2.0
"""A prediction of a stepfile that was checked against engine and machine, and its summary."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from ullage.analysis.verdicts.grades import is_sound, sound_rows
from ullage.engine import find_registered
from ullage.model.plan import Target
from ullage.model.request import Request
from ullage.model.summary import Finding, Row
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
from ullage.suites.stepfile.findings import findings_of
from ullage.suites.stepfile.predict_options import PredictOptions
from ullage.suites.stepfile.predict_texts import said_of
from ullage.suites.stepfile.predicted import ADJOINT, Predicted, cached_shares, check_known, predictions
from ullage.suites.stepfile.suite import COLUMNS, backends_of, costs_of, make_cells, scale_notes, with_sizes
from ullage.suites.stepfile.summarise import cases_of, computes, demands_of, measured_shares, rates_of, stepfile_rows
from ullage.units import format_bytes
from ullage.uri import target_path

# -- what a run does ---------------------------------------------------------------------------------------------------

# Capabilities of backends whose reads no page cache serves.
_UNCACHED: Final = frozenset({"direct", "memory"})


@dataclass(frozen=True)
class PreparedPrediction(PreparedCells):
    """See ``Prepared``. Without cells there is nothing to measure, and ``told`` has the answer."""

    @property
    def told(self) -> list[Finding]:
        """What known rates say without any measurement."""
        options = read_options(PredictOptions, self.request)
        cached = {target.name: is_cached(target, self.machine) for target in self.request.targets}
        return [] if self.cells else findings_before(options, cached)

    def explain(self) -> Explanation:
        """See ``Prepared``."""
        if self.cells:
            return super().explain()
        return Explanation(["Nothing is measured: the rates are known, and no run is asked for."], [], [])


def is_cached(target: Target, machine: Machine) -> bool:
    """Tell whether a page cache may serve the reads of ``target``."""
    places = {place.target: place for place in machine.places}
    place = places.get(target.name)
    return target_path(target) is not None and not (place is not None and place.is_memory)


def prepare_prediction(request: Request, engine_context: EngineContext) -> PreparedPrediction:
    """Check everything that can be checked without starting anything."""
    options = read_options(PredictOptions, request)
    machine = checked_machine(request.targets)
    cells: list[Cell] = []
    for target in request.targets:
        for backend in backends_of(target, options, engine_context.description):
            cells += _cells(options.model_copy(update={"backends": [backend]}), target, engine_context, machine)
    text = f"{options.steps} steps, {format_bytes(options.state_bytes)} a rank and step"
    notes = [*scale_notes(options, machine.memory.total_bytes), *_notes(options)]
    unique, lines = each_once(cells), _lines(options)
    return PreparedPrediction(
        request, options, machine, unique, with_sizes, text, lines, notes, COLUMNS, costing=costs_of
    ).checked()


def _cells(options: PredictOptions, target: Target, engine_context: EngineContext, machine: Machine) -> list[Cell]:
    """Return the cases that measure the rates of ``target``, and the run for comparison."""
    backend = options.backends[0]
    direct = _UNCACHED & set(find_registered(engine_context.description, "backend", backend).capabilities)
    shares = cached_shares(options, cached=is_cached(target, machine) and not direct)
    asked = [options] if options.run else []
    if options.rates:
        check_known(options, target.name, backend, shares)
    else:
        asked += [one for order in options.orders for one in _rates(options, order, shares[order])]
    return [cell for one in asked for cell in make_cells(one, [target], engine_context.description, machine.cores)]


def _rates(options: PredictOptions, order: str, cached: float) -> list[PredictOptions]:
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


def _lines(options: PredictOptions) -> list[str]:
    if options.rates:
        return [f"The rates are those of result {options.rates[0].run_id}."]
    ranks = ", ".join(map(str, options.scaling))
    return [
        f"Cases without computation measure the rates of the calls, with {ranks} ranks.",
        *(["A run with computation is compared with the prediction."] if options.run else []),
    ]


def _notes(options: PredictOptions) -> list[Note]:
    steps = options.rate_steps or options.steps
    if options.rates or steps >= options.steps:
        return []
    text = f"the rates are measured with {steps} of {options.steps} steps, so with fewer files"
    return [Note("fewer-steps", text, "leave --rate-steps out to measure them with all files")]


# -- rows --------------------------------------------------------------------------------------------------------------

_USES: Final = ("run", "rates", "scaling")


def findings_before(options: PredictOptions, cached: Mapping[str, bool]) -> list[Finding]:
    """Return what the known rates of ``options`` say, without any measurement."""
    return said_of(options, predictions(options, options.rates, cached))


def summarise_prediction(result: ResultFolder, request: Request, context: RowContext) -> SuiteSummary:
    """See ``Summarising``."""
    options = read_options(PredictOptions, request)
    launches = launches_of(result)
    rows = _told(stepfile_rows(launches, context), launches, options.ranks[0])
    known = options.rates or rates_of(launches, rows, request.run_id)
    runs = [row for row in rows if row.params["use"] == "run"]
    cached = {name: facts.holds_data and not facts.is_memory for name, facts in context.targets.items()}
    shares = measured_shares(launches, context)
    walls = [row for row in runs if row.metric == "phase_time"]
    found = [_with_share(one, shares) for one in predictions(options, known, cached, walls)]
    sound = sound_rows(runs)
    on_run = findings_of(sound, demands_of(launches), options.compute_s, context.level)
    findings = [*failures_of(launches, context.level, rows), *said_of(options, found), *on_run]
    doubted = any(not rate.sound for one in found for rate in one.rates.values())
    return SuiteSummary(rows, findings, uses_disturbed=doubted)


def _told(rows: Sequence[Row], launches: Launches, ranks: int) -> list[Row]:
    """Return rows that say what they are for, and what was done about the cache; those of the asked ``ranks`` first.

    They are of the run, measure rates, or tell how these change with the ranks.
    """
    cases = cases_of(launches)
    found: list[Row] = []
    for row in rows:
        case = cases[row.case]
        use = "run" if computes(case) else "rates" if row.ranks == ranks else "scaling"
        own = {"use": use, "cache": str(case.workload_parameters.get("cache", "none"))}
        found.append(row.model_copy(update={"params": {**row.params, **own}}))
    return sorted(found, key=lambda row: _USES.index(row.word("use")))


def _with_share(one: Predicted, shares: Mapping[str, float]) -> Predicted:
    row = one.runs.get(ADJOINT)
    return one if row is None or not is_sound(row) else replace(one, measured_cached=shares.get(row.case))
