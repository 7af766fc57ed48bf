# SPDX-License-Identifier: Apache-2.0
"""From rates of calls to the time of both phases, for every way to keep the states that they tell enough of. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ullage.analysis.statistics import median
from ullage.analysis.stepmodel import (
    Calls,
    Computation,
    Prediction,
    Scaling,
    cached_share,
    predict,
    reading_order,
    scaling_of,
)
from ullage.model.summary import Row
from ullage.suites.stepfile.known import KnownRate
from ullage.suites.stepfile.needs import Need, needed, pick
from ullage.suites.stepfile.predict_options import PredictOptions

FORWARD, ADJOINT = "forward", "adjoint"
PHASES: Final = (FORWARD, ADJOINT)


@dataclass(frozen=True)
class Way:
    """Where and how states are kept."""

    target: str
    backend: str
    layout: str
    order: str


@dataclass(frozen=True)
class Predicted:
    """Both phases of one way to keep the states.

    ``phases``: by name; ``rates``: those it rests on; ``scalings``: how the total rate of the calls changes with ranks.
    ``cached``: share of the reads that the page cache serves, ``measured_cached``: the same of the run, None where no
    counter tells. ``runs``: the rows ``phase_time`` of the run for comparison, by phase.
    """

    way: Way
    phases: Mapping[str, Prediction]
    rates: Mapping[str, KnownRate]
    scalings: Mapping[str, Scaling | None]
    cached: float
    measured_cached: float | None
    runs: Mapping[str, Row]


def work_of(options: PredictOptions) -> Computation:
    """Return what the ranks compute in a phase."""
    return Computation(
        options.ranks[0], options.steps, options.compute_s, options.imbalance or 0.0, options.jitter or 0.0
    )


def cached_shares(options: PredictOptions, *, cached: bool) -> dict[str, float]:
    """Return the share of the reads that the page cache serves, by order; ``cached``: false without a page cache.

    Without one all reads are as fast as those that were measured, which counts as 1.
    """
    if not cached or options.cache == "drop" or options.page_cache is None:
        return dict.fromkeys(options.orders, 1.0)
    held = options.page_cache * (options.nodes or 1) // (options.ranks[0] * options.state_bytes)
    removes = options.delete
    return {order: cached_share(reading_order(order, options.steps), held, removes=removes) for order in options.orders}


def predictions(
    options: PredictOptions, rates: Sequence[KnownRate], cached: Mapping[str, bool], runs: Iterable[Row] = ()
) -> list[Predicted]:
    """Predict every way that ``rates`` tell enough of. ``cached``: whether a target has a page cache, by name.

    ``runs``: rows ``phase_time`` of runs with computation.
    """
    ways = dict.fromkeys(Way(one.target, one.backend, one.layout, one.order) for one in rates)
    asked = [way for way in ways if way.layout in options.layouts and way.order in options.orders]
    measured = {(_way(row), str(row.params["access"])): row for row in runs}
    found: list[Predicted] = []
    for way in asked:
        of_way = {phase: measured[way, phase] for phase in PHASES if (way, phase) in measured}
        share = cached_shares(options, cached=cached.get(way.target, False))[way.order]
        one = _predicted(options, rates, way, share, of_way)
        found += [] if one is None else [one]
    return found


def _way(row: Row) -> Way:
    return Way(row.target, *(str(row.params[name]) for name in ("backend", "layout", "order")))


def _predicted(
    options: PredictOptions, rates: Sequence[KnownRate], way: Way, cached: float, runs: Mapping[str, Row]
) -> Predicted | None:
    known = {
        (phase, cache): pick(options, rates, Need(phase, way.target, way.backend, way.layout, way.order, cache))
        for phase, cache in needed(options, cached)
    }
    complete = {place: rate for place, rate in known.items() if rate is not None}
    if len(complete) < len(known):
        return None
    shares = {(FORWARD, ""): 1.0, (ADJOINT, "none"): cached, (ADJOINT, "drop"): 1 - cached}
    if options.cache == "drop":
        shares[ADJOINT, "drop"] = 1.0
    calls: dict[str, list[Calls]] = {phase: [] for phase in PHASES}
    for place, rate in complete.items():
        scale = options.steps / rate.steps
        calls[place[0]].append(Calls(shares[place], [wall * scale for wall in rate.walls_s], rate.state_s))
    depths = {FORWARD: options.write_behind, ADJOINT: options.prefetch}
    work = work_of(options)
    return Predicted(
        way,
        {phase: predict(work, calls[phase], depths[phase]) for phase in PHASES},
        {phase: max((rate for (one, _), rate in complete.items() if one == phase), key=_weight) for phase in PHASES},
        {phase: _scaling(options, rates, way, phase) for phase in PHASES},
        cached,
        None,
        runs,
    )


def _weight(rate: KnownRate) -> tuple[int, bool]:
    return rate.steps, rate.cache == "drop"


def _scaling(options: PredictOptions, rates: Sequence[KnownRate], way: Way, phase: str) -> Scaling | None:
    """Return how the total rate of the calls changes with the ranks, of rates that were measured alike."""
    numbers = sorted({one.ranks for one in rates})
    own = pick(options, rates, Need(phase, way.target, way.backend, way.layout, way.order))
    if own is None:
        return None
    need = Need(phase, way.target, way.backend, way.layout, way.order, own.cache)
    found = [pick(options, [one for one in rates if one.steps == own.steps], need, ranks) for ranks in numbers]
    return scaling_of([(one.ranks, one.ranks * one.steps / median(one.walls_s)) for one in found if one is not None])
