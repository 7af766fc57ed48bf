# SPDX-License-Identifier: Apache-2.0
"""What each parameter does: its share of the variance over all settings, alone and with others, and its response.

Functional analysis of variance (Sobol 1993; Hutter, Hoos and Leyton-Brown 2014) of what the surrogate expects, over all
settings of the space: exact where all of them are listed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

from ullage.analysis.tuning.space import Setting
from ullage.analysis.tuning.surrogate import Surrogate
from ullage.arrays import NDArray, np

_TWO_SIDED_95: Final = 1.96
_NOTHING: Final = 1e-12


@dataclass(frozen=True)
class Effects:
    """Shares of the variance: of each parameter alone, and of each two together beyond that, by their places."""

    alone: tuple[float, ...]
    together: dict[tuple[int, int], float]


def effects(surrogate: Surrogate) -> Effects:
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


def response(surrogate: Surrogate, best: Setting, place: int) -> NDArray[np.float64]:
    """Return a row for each value of the parameter at ``place``, the others as in ``best``.

    It has the low end, the middle and the high end of what is expected there at 95 %, as logarithms.
    """
    count = len(surrogate.space.dimensions[place].values)
    line = np.array([(*best[:place], value, *best[place + 1 :]) for value in range(count)])
    mean, deviation = surrogate.predict(line)
    half = _TWO_SIDED_95 * deviation
    return np.column_stack([mean - half, mean, mean + half])
