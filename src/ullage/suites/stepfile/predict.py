# SPDX-License-Identifier: Apache-2.0
"""A prediction that was checked against engine and machine: which rates it measures, and the run for comparison."""

from dataclasses import dataclass
from typing import Final

from ullage.engine import find_registered
from ullage.model.plan import Target
from ullage.model.request import Request
from ullage.model.summary import Finding
from ullage.runs.cells.planning import Cell, each_once
from ullage.runs.cells.prepared import PreparedCells
from ullage.runs.inputs import EngineContext
from ullage.runs.options.reading import read_options
from ullage.runs.room import Machine, check_places, this_machine
from ullage.runs.session import Note
from ullage.runs.suite import Explanation
from ullage.suites.stepfile.cells import backends_of, make_cells, with_sizes
from ullage.suites.stepfile.needs import check_known
from ullage.suites.stepfile.predict_options import PredictOptions
from ullage.suites.stepfile.predict_summary import findings_before
from ullage.suites.stepfile.predicted import cached_shares
from ullage.suites.stepfile.prepare import COLUMNS, costs_of, scale_notes
from ullage.units import format_bytes
from ullage.uri import target_path

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
    machine = this_machine(request.targets)
    check_places(machine.places)
    cells: list[Cell] = []
    for target in request.targets:
        for backend in backends_of(target, options, engine_context.description):
            cells += _cells(options.model_copy(update={"backends": [backend]}), target, engine_context, machine)
    text = f"{options.steps} steps, {format_bytes(options.state_bytes)} a rank and step"
    notes = [*scale_notes(options, machine.memory.total_bytes), *_notes(options)]
    unique, lines = each_once(cells), _lines(options)
    prepared = PreparedPrediction(
        request, options, machine, unique, with_sizes, text, lines, notes, COLUMNS, costing=costs_of
    )
    prepared.check(unique)
    return prepared


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
