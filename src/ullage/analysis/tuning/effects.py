# SPDX-License-Identifier: Apache-2.0
"""What each parameter does: its share of the variance, alone and with others, its response, and whether it matters.

Functional analysis of variance (Sobol 1993; Hutter, Hoos and Leyton-Brown 2014) of what the surrogate expects, over all
settings of the space: exact where all of them are listed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

from ullage.analysis.tuning.space import Setting, Settings, Space
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


# The design is a definitive screening design (Jones and Nachtsheim 2011) from conference matrices of Paley. Each
# parameter is at its first, middle and last value, in at least twice as many trials as there are parameters. What one
# parameter does is not mixed with what another does, nor with what two do together. A maximum in the middle is seen.


FEWEST_SCREENED: Final = 6
"""Parameters from which on they are screened: fewer can all be searched."""
MOST_SCREENED: Final = 48
_PRIMES: Final = (5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47)
_BACKGROUNDS: Final = 128
_KEPT_SHARE: Final = 0.02
_ALWAYS_KEPT: Final = 4


def design(space: Space) -> list[Setting]:
    """Return the settings of the screening, the middle last; values without an order take turns."""
    count = len(space.dimensions)
    matrix = conference(count)
    rows = np.vstack([matrix, -matrix, np.zeros((1, matrix.shape[1]), dtype=np.int64)])[:, :count]
    columns: list[NDArray[np.int64]] = []
    for place, one in enumerate(space.dimensions):
        last = len(one.values) - 1
        if one.ordered:
            columns.append(np.array([0, last // 2, last])[rows[:, place] + 1])
        else:
            columns.append((rows[:, place] + 1 + np.arange(len(rows)) // 3) % (last + 1))
    found = [tuple(int(value) for value in row) for row in np.column_stack(columns)]
    return [setting for setting in dict.fromkeys(found) if setting != space.default]


def conference(columns: int) -> NDArray[np.int64]:
    """Return a matrix of at least ``columns`` columns, 0 on its diagonal and else 1 or -1, any two columns orthogonal.

    There may be ``MOST_SCREENED`` columns.
    """
    prime = next(one for one in _PRIMES if one + 1 >= columns)
    squares = {value * value % prime for value in range(1, prime)}
    apart = (np.arange(prime)[:, None] - np.arange(prime)[None, :]) % prime
    inner = np.where(apart == 0, 0, np.where(np.isin(apart, list(squares)), 1, -1))
    border = 1 if prime % 4 == 1 else -1
    top = np.concatenate([[0], np.ones(prime, dtype=np.int64)])
    left = np.full((prime, 1), border, dtype=np.int64)
    return np.vstack([top, np.hstack([left, inner])]).astype(np.int64)


def important(surrogate: Posterior) -> tuple[int, ...]:
    """Return the places of the parameters that may matter: the four that matter most, and all that matter at all.

    A parameter's measure is its total effect: the variance over its values, all others equal, on average over others.
    """
    space = surrogate.space
    total = np.array([_effect(surrogate, place) for place in range(len(space.dimensions))])
    order = np.argsort(-total, kind="stable")
    places: list[int] = order.tolist()
    kept = set(places[:_ALWAYS_KEPT]) | {place for place in places if total[place] >= _KEPT_SHARE * total.sum()}
    return tuple(sorted(kept))


def _effect(surrogate: Posterior, place: int) -> float:
    space = surrogate.space
    step = max(1, len(space.candidates) // _BACKGROUNDS)
    background = space.candidates[::step][:_BACKGROUNDS]
    count = len(space.dimensions[place].values)
    rows = np.repeat(background, count, axis=0)
    rows[:, place] = np.tile(np.arange(count), len(background))
    mean, _ = surrogate.predict(rows)
    variances: NDArray[np.float64] = mean.reshape(len(background), count).var(axis=1)
    return float(variances.mean())


def narrowed(space: Space, kept: tuple[int, ...]) -> Settings:
    """Return the settings in which only the parameters at ``kept`` differ from the default."""
    part = Space(tuple(space.dimensions[place] for place in kept), tuple(space.default[place] for place in kept))
    found = np.tile(np.array(space.default, dtype=np.int64), (len(part.candidates), 1))
    found[:, list(kept)] = part.candidates
    return found
