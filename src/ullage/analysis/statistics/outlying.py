# SPDX-License-Identifier: Apache-2.0
"""Which of several nodes that did the same work are worse than the others. docs/statistics.md has rule and simulation.

A node is named in a measure where three things hold, each at the error that its tests together may have:

- Spread: it lies outside of what the others are like, by the generalised test for outliers of Rosner (1983), on the
  side that is worse. Up to a quarter of the nodes may be outliers, and do not hide each other.
- Repetitions: its mean differs from the middle of the others by more than the repetitions of both scatter.
- Size: it is worse by a margin that matters.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Final, TypeGuard

from ullage.analysis.statistics.comparison import Better
from ullage.analysis.statistics.order import two_sided_quantile
from ullage.analysis.statistics.spread import Spread, log_mean, pooled_spread

FEWEST_NODES: Final = 4
"""With two nodes, either may be the odd one. With three, the two others are too few to estimate a spread."""
MANY_NODES: Final = 8
MARGIN: Final = 1.05
MARGIN_OF_FEW: Final = 1.25
"""How many times worse a node has to be; the spread of fewer than ``MANY_NODES`` is hardly known."""
# The spread of so few nodes alone proves no distance: from here on the margin has to answer for it.
_FARTHEST_OF_FEW: Final = 8.0
_OUTLIERS_OF: Final = 4
_LEAST_SPREAD: Final = 1e-4
# The median of n normal values has this many times the variance of their mean.
_OF_MEDIAN: Final = math.pi / 2
_MOST_CELLS: Final = 2000


@dataclass(frozen=True, slots=True)
class NodeSamples:
    """Repetitions of one node, above 0. ``may_be_named``: False where something else than the node disturbed it."""

    samples: tuple[float, ...]
    may_be_named: bool = True


@dataclass(frozen=True, slots=True)
class Measure:
    """One number of all nodes; None for a node without it."""

    nodes: Sequence[NodeSamples | None]
    better: Better


@dataclass(frozen=True, slots=True)
class Standing:
    """How a node stands in a measure.

    ``worse``: how many times worse its median is than the middle of the others; below 1 is better.
    """

    worse: float
    is_named: bool = False


@dataclass(frozen=True, slots=True)
class _Value:
    """A node's number as a log of which more is worse. ``mean`` and ``variance``: of the log, by its repetitions."""

    node: int
    log: float
    mean: float
    variance: float
    freedom: float
    may_be_named: bool


def margin_of(nodes: int) -> float:
    """Return how many times worse than the others one of ``nodes`` has to be."""
    return MARGIN if nodes >= MANY_NODES else MARGIN_OF_FEW


def standings(measures: Sequence[Measure], level: float = 0.95) -> list[list[Standing | None]]:
    """Return for each measure how each node stands; None where it has no number, or the others have none.

    Of equal nodes none is named in any measure with probability ``level``: docs/statistics.md says how equal.
    """
    # Of very many cells, some that stand evenly tell the noise of one repetition.
    cells = [node.samples for measure in measures for node in measure.nodes if _has_log(node)]
    spread = pooled_spread(cells[:: max(1, len(cells) // _MOST_CELLS)])
    values = [_values(measure, spread) for measure in measures]
    tests = sum(len(found) for found in values if len(found) >= FEWEST_NODES)
    return [
        _stand(found, len(measure.nodes), (1 - level) / max(1, tests))
        for measure, found in zip(measures, values, strict=True)
    ]


def _has_log(node: NodeSamples | None) -> TypeGuard[NodeSamples]:
    return node is not None and bool(node.samples) and min(node.samples) > 0


def _values(measure: Measure, spread: Spread) -> list[_Value]:
    side = -1.0 if measure.better == "more" else 1.0
    found: list[_Value] = []
    for index, node in enumerate(measure.nodes):
        if not _has_log(node):
            continue
        known = log_mean(node.samples, spread)
        log = side * math.log(median(node.samples))
        mean, variance, freedom = (
            (log, math.inf, 1.0) if known is None else (known.mean * side, known.variance, known.freedom)
        )
        found.append(_Value(index, log, mean, variance, freedom, node.may_be_named))
    return found


def _stand(values: Sequence[_Value], nodes: int, error: float) -> list[Standing | None]:
    """Judge one measure, each node at ``error``."""
    found: list[Standing | None] = [None] * nodes
    if len(values) < 2:
        return found
    named = _outside(values, error) if len(values) >= FEWEST_NODES else frozenset[int]()
    logs, means = _Others([one.log for one in values]), _Others([one.mean for one in values])
    known = [one.variance for one in values if math.isfinite(one.variance)]
    noise = _OF_MEDIAN * fmean(known) / (len(values) - 1) if known else math.inf
    least = math.log(margin_of(len(values)))
    for place, one in enumerate(values):
        apart = one.log - logs.middle_without(place)
        beyond = one.mean - means.middle_without(place)
        is_told = one.node in named and one.may_be_named and apart >= least and _exceeds(beyond, one, noise, error)
        found[one.node] = Standing(math.exp(apart), is_told)
    return found


def _exceeds(beyond: float, one: _Value, noise: float, error: float) -> bool:
    """Tell whether a node lies beyond the middle of the others by more than repetitions scatter."""
    error_of_it = math.sqrt(one.variance + noise)
    return math.isfinite(error_of_it) and beyond > _quantile(error, one.freedom) * error_of_it


def _quantile(error: float, freedom: float) -> float:
    """Return the t that is exceeded, on one side, with probability ``error``."""
    return two_sided_quantile(1 - 2 * error, max(1.0, freedom))


class _Others:
    """The middle of the values without one of them, for each of them."""

    def __init__(self, values: Sequence[float]) -> None:
        self._values = values
        self._sorted = sorted(values)

    def middle_without(self, place: int) -> float:
        """Return the median of all but the value at ``place``."""
        rest, value = self._sorted, self._values[place]
        half, odd = divmod(len(rest) - 1, 2)

        def at(index: int) -> float:
            return rest[index] if rest[index] < value else rest[index + 1]

        return at(half) if odd else (at(half - 1) + at(half)) / 2


def _outside(values: Sequence[_Value], error: float) -> frozenset[int]:
    """Return the nodes that are outliers on the worse side, by Rosner's test whose steps share ``error``.

    Steps go from the worst node inwards, each compared with what is left without it. The last step that exceeds its
    quantile makes outliers of its node and of all before it.
    """
    ordered = sorted(values, key=lambda one: one.log)
    sums, squares = _running(ordered)
    middle, last = ordered[len(ordered) // 2].log, 0
    steps = max(1, len(ordered) // _OUTLIERS_OF)
    for step in range(1, steps + 1):
        left = len(ordered) - step
        mean = sums[left] / left
        spread = math.sqrt(max(0.0, squares[left] - left * mean * mean) / (left - 1))
        distance = (ordered[left].log - middle - mean) / (max(spread, _LEAST_SPREAD) * math.sqrt(1 + 1 / left))
        far = _quantile(error / steps, left - 1)
        last = step if distance > (far if len(ordered) >= MANY_NODES else min(far, _FARTHEST_OF_FEW)) else last
    return frozenset(one.node for one in ordered[len(ordered) - last :])


def _running(ordered: Sequence[_Value]) -> tuple[list[float], list[float]]:
    """Return the sums of the first 0, 1, 2 ... values and of their squares, from the middle one on.

    Far from it the difference of two sums would lose the digits of a small spread.
    """
    middle, sums, squares = ordered[len(ordered) // 2].log, [0.0], [0.0]
    for one in ordered:
        sums.append(sums[-1] + one.log - middle)
        squares.append(squares[-1] + (one.log - middle) ** 2)
    return sums, squares
