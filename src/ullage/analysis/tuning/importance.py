# SPDX-License-Identifier: Apache-2.0
"""Which parameters change the objective beyond the noise: the share of the variance that one's values explain, tested.

The same values in another order show what chance explains (Good 2005, Permutation tests). The largest share of any
parameter counts, so that all of them together are named falsely at the stated rate. Shifted by some trials the values
keep the drift of the machine, which an order at random destroys: a parameter has to exceed all of both.
"""

from collections.abc import Sequence
from typing import Final

from ullage.analysis.tuning.space import Setting
from ullage.arrays import NDArray, np

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
    shares = np.array([_explained(column, every) for column in places.T])
    by_chance = float(np.max(shares[:, 1:]))
    return [bool(share > by_chance) for share in shares[:, 0]]


def _explained(column: NDArray[np.int64], every: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the ratio of the mean squares between and within the values of a parameter (F), for each row of values."""
    kinds, of = np.unique(column, return_inverse=True)
    if len(kinds) < 2 or len(kinds) >= len(column):
        return np.zeros(len(every))
    member = np.eye(len(kinds))[of]
    between = np.sum((every @ member) ** 2 / member.sum(axis=0), axis=1)
    within = np.maximum(np.sum(every**2, axis=1) - between, 1e-12)
    found: NDArray[np.float64] = between / within * (len(column) - len(kinds)) / (len(kinds) - 1)
    return found
