# SPDX-License-Identifier: Apache-2.0
"""What is asked of a prediction, which rates it needs, and which of those that are known it takes."""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Annotated, Final, Self, cast

from pydantic import Field, model_validator

from ullage.analysis import stepmodel
from ullage.errors import UserError
from ullage.model.summary import Row
from ullage.runs.options.declared import Change, Option
from ullage.runs.options.groups import Positive, cores_of_nodes
from ullage.runs.options.kinds import FilePath, Size
from ullage.runs.options.model import OptionError
from ullage.suites.stepfile.options import KnownRate, StepfileOptions

_MULTIPLES: Final = (1, 2, 4)


def _read_rates(path: Path) -> list[KnownRate]:
    from ullage.suites.stepfile.summarise import read_rates

    return read_rates(path)


class PredictOptions(StepfileOptions):
    """``scaling``: the numbers of ranks whose rates are measured; the first of ``ranks`` is the one predicted for."""

    changes = {
        "ranks": Change("Predict for this number of ranks."),
        "orders": Change("Read the states in these orders: reverse, forward or stride:K."),
        "quick": Change("Take a first look in 30 s: 20 steps."),
    }

    rates: Annotated[
        list[KnownRate],
        FilePath(_read_rates, metavar="RESULT"),
        Option("Take the rates from this result instead of measuring them.", unsaid="measured here"),
    ] = []
    rate_steps: Annotated[
        int | None, Field(ge=1), Option("Measure the rates with this many steps.", unsaid="all steps")
    ] = None
    page_cache: Annotated[
        int | None,
        Field(ge=0),
        Size(),
        Option("Assume that a node caches this many bytes of states.", unsaid="the available memory"),
    ] = None
    run: Annotated[bool, Option("Predict only, without a run for comparison.")] = True
    scaling: list[Positive] = []

    @classmethod
    def settle(cls, said: Mapping[str, object]) -> dict[str, object]:
        """Fill in the numbers of ranks that are measured, and the memory that can hold states."""
        values = super().settle(said)
        ranks = cast("list[int]", values["ranks"])
        values.setdefault("scaling", ranks_to_measure(ranks[-1], cores_of_nodes(values)))
        if values.get("page_cache") is None:
            from ullage.system.hardware import read_memory

            values["page_cache"] = read_memory().available_bytes
        return values

    @model_validator(mode="after")
    def _can_be_predicted(self) -> Self:
        if len(self.ranks) > 1:
            raise OptionError("ranks", "a prediction is for one number of ranks", f"--ranks {self.ranks[-1]}")
        if self.spill:
            raise OptionError("spill", "each target is predicted by itself", "leave --spill out")
        if self.revolves:
            what = "what revolve costs is computed from its formula"
            raise OptionError("orders", what, "choose reverse, forward or stride:K")
        if self.compute_s == 0:
            raise OptionError("compute_s", "a prediction needs the computation of a step", "--compute 100ms, or --like")
        return self


def ranks_to_measure(ranks: int, cores: int) -> list[int]:
    """Return ``ranks`` and its multiples by 2 and 4 that have a core each; where there is none, its halves."""
    above = [ranks * factor for factor in _MULTIPLES if factor == 1 or ranks * factor <= cores]
    below = [ranks // factor for factor in _MULTIPLES if ranks % factor == 0]
    return above if len(above) > 1 else sorted(below)


FORWARD, ADJOINT = "forward", "adjoint"
PHASES: Final = (FORWARD, ADJOINT)


@dataclass(frozen=True)
class Way:
    """Where and how states are kept."""

    target: str
    backend: str
    layout: str
    order: str

    @staticmethod
    def of(row: Row) -> "Way":
        """Return that of a row of a run."""
        return Way(row.target, *(row.word(name) for name in ("backend", "layout", "order")))

    @staticmethod
    def of_rate(one: KnownRate) -> "Way":
        """Return that of a known rate."""
        return Way(one.target, one.backend, one.layout, one.order)


def check_known(options: PredictOptions, target: str, backend: str, shares: Mapping[str, float]) -> None:
    """Raise ``UserError`` where the rates that people name do not tell what a prediction for ``target`` needs.

    ``shares``: of the reads that the page cache serves, by order.
    """
    for layout, order in itertools.product(options.layouts, options.orders):
        for phase, cache in needed(options, shares[order]):
            if pick(options, options.rates, Way(target, backend, layout, order), phase, cache) is None:
                what = f"has no {phase} rates of {target}, {layout}, {order}, cache {cache or 'none or drop'}"
                raise UserError(what, "--rates", _right(options))


def _right(options: PredictOptions) -> str:
    ranks = ", ".join(str(count) for count in sorted({one.ranks for one in options.rates}))
    return (
        f"it has {ranks} ranks, and needs {options.ranks[0]}, states of {options.state_bytes} bytes and the same "
        "helper threads; leave --rates out to measure here"
    )


def needed(options: PredictOptions, cached: float) -> list[tuple[str, str]]:
    """Return which phases with which cache control a prediction needs, where ``cached`` is the share of the cache."""
    if options.cache == "drop":
        return [(FORWARD, ""), (ADJOINT, "drop")]
    reads = [(ADJOINT, "none")] if cached > 0 else []
    return [(FORWARD, ""), *reads, *([(ADJOINT, "drop")] if cached < 1 else [])]


def pick(
    options: PredictOptions, rates: Iterable[KnownRate], way: Way, phase: str, cache: str = "", ranks: int | None = None
) -> KnownRate | None:
    """Return the rate with most steps, of the asked ranks, states and depth; None where there is none.

    An empty ``cache``: any.
    """
    depth = options.write_behind if phase == FORWARD else options.prefetch
    asked = (phase, way, ranks or options.ranks[0], options.state_bytes, depth)
    found = [
        one
        for one in rates
        if (one.phase, Way.of_rate(one), one.ranks, one.state_bytes, one.depth) == asked and cache in ("", one.cache)
    ]
    # Among rates of the same steps, the one that was measured as the run will be comes last.
    found.sort(key=lambda one: (min(one.steps, options.steps), one.cache == options.cache))
    return found[-1] if found else None


@dataclass(frozen=True)
class Predicted:
    """Both phases of one way to keep the states.

    ``phases``: by name; ``rates``: those it rests on; ``scalings``: how the total rate of the calls changes with ranks.
    ``cached``: share of the reads that the page cache serves, ``measured_cached``: the same of the run, None where no
    counter tells. ``runs``: the rows ``phase_time`` of the run for comparison, by phase.
    """

    way: Way
    phases: Mapping[str, stepmodel.Prediction]
    rates: Mapping[str, KnownRate]
    scalings: Mapping[str, stepmodel.Scaling | None]
    cached: float
    measured_cached: float | None
    runs: Mapping[str, Row]


def work_of(options: PredictOptions) -> stepmodel.Computation:
    """Return what the ranks compute in a phase."""
    return stepmodel.Computation(
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
    return {
        order: stepmodel.cached_share(stepmodel.reading_order(order, options.steps), held, removes=removes)
        for order in options.orders
    }


def predictions(
    options: PredictOptions, rates: Sequence[KnownRate], cached: Mapping[str, bool], runs: Iterable[Row] = ()
) -> list[Predicted]:
    """Predict every way that ``rates`` tell enough of. ``cached``: whether a target has a page cache, by name.

    ``runs``: rows ``phase_time`` of runs with computation.
    """
    asked = [
        way
        for way in dict.fromkeys(map(Way.of_rate, rates))
        if way.layout in options.layouts and way.order in options.orders
    ]
    measured = {(Way.of(row), row.access): row for row in runs}
    found: list[Predicted] = []
    for way in asked:
        of_way = {phase: measured[way, phase] for phase in PHASES if (way, phase) in measured}
        share = cached_shares(options, cached=cached.get(way.target, False))[way.order]
        one = _predicted(options, rates, way, share, of_way)
        found += [] if one is None else [one]
    return found


def _predicted(
    options: PredictOptions, rates: Sequence[KnownRate], way: Way, cached: float, runs: Mapping[str, Row]
) -> Predicted | None:
    known = {(phase, cache): pick(options, rates, way, phase, cache) for phase, cache in needed(options, cached)}
    complete = {place: rate for place, rate in known.items() if rate is not None}
    if len(complete) < len(known):
        return None
    shares = {(FORWARD, ""): 1.0, (ADJOINT, "none"): cached, (ADJOINT, "drop"): 1 - cached}
    if options.cache == "drop":
        shares[ADJOINT, "drop"] = 1.0
    calls: dict[str, list[stepmodel.Calls]] = {phase: [] for phase in PHASES}
    for place, rate in complete.items():
        scale = options.steps / rate.steps
        calls[place[0]].append(stepmodel.Calls(shares[place], [wall * scale for wall in rate.walls_s], rate.state_s))
    depths = {FORWARD: options.write_behind, ADJOINT: options.prefetch}
    work = work_of(options)
    return Predicted(
        way,
        {phase: stepmodel.predict(work, calls[phase], depths[phase]) for phase in PHASES},
        {
            phase: max(
                (rate for (one, _), rate in complete.items() if one == phase),
                key=lambda rate: (rate.steps, rate.cache == "drop"),
            )
            for phase in PHASES
        },
        {phase: _scaling(options, rates, way, phase) for phase in PHASES},
        cached,
        None,
        runs,
    )


def _scaling(options: PredictOptions, rates: Sequence[KnownRate], way: Way, phase: str) -> stepmodel.Scaling | None:
    """Return how the total rate of the calls changes with the ranks, of rates that were measured alike."""
    numbers = sorted({one.ranks for one in rates})
    own = pick(options, rates, way, phase)
    if own is None:
        return None
    alike = [one for one in rates if one.steps == own.steps]
    found = [pick(options, alike, way, phase, own.cache, ranks) for ranks in numbers]
    return stepmodel.scaling_of(
        [(one.ranks, one.ranks * one.steps / median(one.walls_s)) for one in found if one is not None]
    )
