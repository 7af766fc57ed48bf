# SPDX-License-Identifier: Apache-2.0
"""A model of a program that keeps its state at every step: from measured rates to the time of both phases. Pure.

The phases are ``forward`` (compute a step, write its state) and ``adjoint`` (read a state, compute). Measured are the
same calls without computation, by as many ranks: their wall W, and the time t of all calls for one state. Then

    without helper threads   T = Tc + W
    with helper threads      T = max(Tc + t, W + c)

with c the computation of a step and Tc that of all steps, on the rank that computes longest. The first read and the
last write overlap with nothing, which is t; the first or the last computation has no I/O beside it, which is c.

Reads of which a page cache serves the share h take W = h W_cached + (1 - h) W_storage. The share is that of a cache
that drops the oldest states first.
"""

import math
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import NormalDist, linear_regression, median, stdev
from typing import Final

# Blom, Statistical Estimates and Transformed Beta-Variables, 1958: where the largest of n normal values is expected.
_BLOM: Final = 0.375
_TWO: Final = 2


@dataclass(frozen=True)
class Computation:
    """What ranks compute in one phase. ``jitter``: share of a step by which it varies evenly, up and down."""

    ranks: int
    steps: int
    step_s: float
    imbalance: float = 0.0
    jitter: float = 0.0

    @property
    def slowest_step_s(self) -> float:
        """Mean seconds of a step on the rank that computes longest."""
        return self.step_s * (1 + (self.imbalance if self.ranks > 1 else 0.0))

    @property
    def slowest_s(self) -> float:
        """Seconds of all steps on the rank that computes longest.

        Where all ranks are alike but for the jitter, that is the largest of as many normal values (Blom).
        """
        mean = self.steps * self.slowest_step_s
        if self.ranks < _TWO or self.jitter == 0 or self.imbalance > 0:
            return mean
        deviation = self.step_s * self.jitter * math.sqrt(self.steps / 3)
        place = (self.ranks - _BLOM) / (self.ranks + 1 - 2 * _BLOM)
        return mean + NormalDist().inv_cdf(place) * deviation


@dataclass(frozen=True)
class Calls:
    """A share of a phase's states, and what their calls alone take.

    ``walls_s``: of all states of the phase, a value for each repetition; ``state_s``: of one state on one rank.
    """

    share: float
    walls_s: Sequence[float]
    state_s: float


@dataclass(frozen=True)
class Prediction:
    """Seconds of a phase. ``low`` and ``high``: one standard deviation of a single run; None from one repetition."""

    seconds: float
    low: float | None
    high: float | None
    calls_s: float


def predict(work: Computation, calls: Iterable[Calls], depth: int) -> Prediction:
    """Return the time of a phase whose calls take ``calls``. ``depth``: states that helper threads may move ahead."""
    used = [one for one in calls if one.share > 0]
    wall_s = sum(one.share * median(one.walls_s) for one in used)
    state_s = sum(one.share * one.state_s for one in used)
    deviations = [_deviation(one) for one in used]
    seconds = phase_seconds(work, wall_s, state_s, depth)
    known = [found for found in deviations if found is not None]
    if len(known) < len(deviations):
        return Prediction(seconds, None, None, wall_s)
    sigma = math.hypot(*known)
    low, high = (phase_seconds(work, max(0.0, wall_s + side * sigma), state_s, depth) for side in (-1, 1))
    return Prediction(seconds, low, high, wall_s)


def _deviation(calls: Calls) -> float | None:
    """Return how far a single further run is from the mean of the measured ones, as a standard deviation."""
    count = len(calls.walls_s)
    return None if count < _TWO else calls.share * stdev(calls.walls_s) * math.sqrt(1 + 1 / count)


def phase_seconds(work: Computation, wall_s: float, state_s: float, depth: int) -> float:
    """Return the time of a phase, as the text above says. ``wall_s``: of the calls without computation."""
    if depth == 0:
        return work.slowest_s + wall_s
    return max(work.slowest_s + state_s, wall_s + work.slowest_step_s)


def least_depth(state_s: float, step_s: float) -> int:
    """Return how many states have to be under way at once, so that one is there every ``step_s``."""
    return max(1, math.ceil(state_s / step_s - 1e-9))


def reading_order(word: str, steps: int) -> list[int]:
    """Return the steps in the order in which the adjoint reads them: ``reverse``, ``forward`` or ``stride:K``."""
    kind, _, number = word.partition(":")
    if kind == "reverse":
        return list(range(steps - 1, -1, -1))
    if kind == "forward":
        return list(range(steps))
    if kind == "stride":
        stride = int(number)
        return [step for first in range(min(stride, steps)) for step in range(first, steps, stride)]
    raise ValueError(word)


def cached_share(order: Sequence[int], cached_states: int, *, removes: bool = False) -> float:
    """Return the share of reads that a cache of ``cached_states`` serves, which drops what was used longest ago.

    The states 0, 1, 2 ... were written in this order, then they are read in ``order``. ``removes``: each is removed
    when it was read. In reverse order the share is the highest that any cache can have: C / V for C of V bytes.
    """
    steps = len(order)
    if cached_states >= steps:
        return 1.0
    held = OrderedDict.fromkeys(range(steps - cached_states, steps))
    hits = 0
    for step in order:
        if step in held:
            hits += 1
            del held[step]
        if removes or cached_states == 0:
            continue
        if len(held) >= cached_states:
            held.popitem(last=False)
        held[step] = None
    return hits / steps


@dataclass(frozen=True)
class Scaling:
    """How a total rate changes with the ranks: rate ~ ranks^``exponent``. ``points``: numbers of ranks measured.

    ``residual``: the largest deviation of a point from the power law, as a share; None of two points, which always fit.
    """

    exponent: float
    points: tuple[int, ...]
    residual: float | None


def scaling_of(rates: Sequence[tuple[int, float]]) -> Scaling | None:
    """Return the power law by least squares through logarithms of (ranks, rate); None of fewer than two numbers."""
    if len({ranks for ranks, _ in rates}) < _TWO:
        return None
    xs, ys = [math.log(ranks) for ranks, _ in rates], [math.log(rate) for _, rate in rates]
    slope, start = linear_regression(xs, ys)
    left = [abs(math.expm1(y - start - slope * x)) for x, y in zip(xs, ys, strict=True)]
    points = tuple(ranks for ranks, _ in sorted(rates))
    return Scaling(slope, points, max(left) if len(points) > _TWO else None)
