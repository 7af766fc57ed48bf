# SPDX-License-Identifier: Apache-2.0
"""What each parameter does: its share of the variance, alone and with others, its response, and whether it matters.

Functional analysis of variance (Sobol 1993; Hutter, Hoos and Leyton-Brown 2014) of what the surrogate expects, over all
settings of the space: exact where all of them are listed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

from ullage.analysis.tuning.space import Setting
from ullage.analysis.tuning.surrogate import Posterior
from ullage.arrays import NDArray, np

_TWO_SIDED_95: Final = 1.96
_NOTHING: Final = 1e-12


@dataclass(frozen=True)
class Effects:
    """Shares of the variance: of each parameter alone, and of each two together beyond that, by their places."""

    alone: tuple[float, ...]
    together: dict[tuple[int, int], float]


def effects(surrogate: Posterior) -> Effects:
    """Return the shares of all parameters and of all pairs; 0 where all settings are expected to be equal."""
    candidates = surrogate.space.candidates
    mean, _ = surrogate.predict(candidates)
    total = float(np.var(mean))
    places = range(candidates.shape[1])
    if total < _NOTHING:
        return Effects(tuple(0.0 for _ in places), {})
    alone = [_explained([candidates[:, place]], mean) / total for place in places]
    together = {
        (first, second): max(
            0.0, _explained([candidates[:, first], candidates[:, second]], mean) / total - alone[first] - alone[second]
        )
        for first, second in combinations(places, 2)
    }
    return Effects(tuple(alone), together)


def _explained(columns: Sequence[NDArray[np.int64]], mean: NDArray[np.float64]) -> float:
    """Return the variance of the means of all settings that are alike in ``columns``."""
    cells = np.zeros(len(mean), dtype=np.int64)
    for column in columns:
        cells = cells * (int(column.max()) + 1) + column
    _, inverse, counts = np.unique(cells, return_inverse=True, return_counts=True)
    sums = np.bincount(inverse, weights=mean)
    return float(np.average((sums / counts - mean.mean()) ** 2, weights=counts))


def response(surrogate: Posterior, best: Setting, place: int) -> NDArray[np.float64]:
    """Return a row for each value of the parameter at ``place``, the others as in ``best``.

    It has the low end, the middle and the high end of what is expected there at 95 %, as logarithms.
    """
    count = len(surrogate.space.dimensions[place].values)
    line = np.array([(*best[:place], value, *best[place + 1 :]) for value in range(count)])
    mean, deviation = surrogate.predict(line)
    half = _TWO_SIDED_95 * deviation
    return np.column_stack([mean - half, mean, mean + half])


# -- which parameters change the objective beyond the noise ------------------------------------------------------------
# The share of the variance that a parameter's values explain, tested: the same values in another order show what chance
# explains (Good 2005, Permutation tests). The largest share of any parameter counts, so that all of them together are
# named falsely at the stated rate. Shifted by some trials the values keep the drift of the machine, which an order at
# random destroys: a parameter has to exceed all of both.


_ORDERS: Final = 199
_FEWEST: Final = 6


def told(settings: Sequence[Setting], logs: Sequence[float]) -> list[bool]:
    """Tell of each parameter whether trials of ``settings`` with ``logs`` show that it matters."""
    places = np.array(settings, dtype=np.int64)
    if len(logs) < _FEWEST or float(np.ptp(logs)) == 0.0:
        return [False] * places.shape[1]
    draw, values = np.random.default_rng(0), np.array(logs) - np.mean(logs)
    shifted = [np.roll(values, turn) for turn in range(1, len(values))]
    every = np.array([values, *shifted, *(draw.permutation(values) for _ in range(_ORDERS))], dtype=np.float64)
    shares = np.array([_between_over_within(column, every) for column in places.T])
    by_chance = float(np.max(shares[:, 1:]))
    return [bool(share > by_chance) for share in shares[:, 0]]


def _between_over_within(column: NDArray[np.int64], every: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the ratio of the mean squares between and within the values of a parameter (F), for each row of values."""
    kinds, of = np.unique(column, return_inverse=True)
    if len(kinds) < 2 or len(kinds) >= len(column):
        return np.zeros(len(every))
    member = np.eye(len(kinds))[of]
    between = np.sum((every @ member) ** 2 / member.sum(axis=0), axis=1)
    within = np.maximum(np.sum(every**2, axis=1) - between, 1e-12)
    found: NDArray[np.float64] = between / within * (len(column) - len(kinds)) / (len(kinds) - 1)
    return found
