# SPDX-License-Identifier: Apache-2.0
"""Which of many parameters matter: a design of few trials, and what a surrogate of them says of each parameter.

The design is a definitive screening design (Jones and Nachtsheim 2011) from Paley's conference matrices. Each parameter
is at its first, middle and last value, in at least twice as many trials as there are parameters. What one parameter
does is not mixed with what another does, nor with what two do together, and a maximum in the middle is seen.
"""

from typing import Final

from ullage.analysis.tuning.space import Setting, Settings, Space
from ullage.analysis.tuning.surrogate import Posterior
from ullage.arrays import NDArray, np

FEWEST: Final = 6
"""Parameters from which on they are screened: fewer can all be searched."""
MOST: Final = 48
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

    There may be ``MOST`` columns.
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
