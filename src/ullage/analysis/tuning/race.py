# SPDX-License-Identifier: Apache-2.0
"""The race between the settings that may be best: which of them to measure next, and when it is over.

The next is the one whose value raises the highest mean most, on average (Frazier, Powell and Dayanik 2009).
"""

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Final

from ullage.analysis.tuning.acquisition import Array, expected_gain, knowledge_gain
from ullage.analysis.tuning.posterior import Posterior
from ullage.analysis.tuning.space import Setting
from ullage.arrays import np

_RACERS: Final = 80
# The race ends where no setting is expected to gain more than this, as a share of the best, among those that are ahead
# of the leader with this probability.
_LEAST_GAIN: Final = 0.002
_DROPPED_BELOW: Final = 0.05
_NORMAL: Final = NormalDist()


@dataclass(frozen=True)
class RaceState:
    """The state of the race: who leads it, and what to measure next.

    Both are places among the racers. ``wanted`` is None where the race is over.
    """

    leader: int
    wanted: int | None


def racers(posterior: Posterior, failed: set[Setting]) -> list[int]:
    """Return the places of the settings with the highest upper bounds, without those that ``failed``.

    One that was not measured yet may be among them.
    """
    bound = posterior.mean + posterior.deviation
    bound[posterior.among(failed)] = -math.inf
    order: list[int] = np.argsort(-bound)[:_RACERS].tolist()
    return [place for place in order if bound[place] > -math.inf]


def pick(mean: Array, covariance: Array, noise: float) -> RaceState:
    """Return the leader and the setting to measure next, which tells most of which is best.

    ``noise``: standard deviation of a trial.
    """
    leader = int(np.argmax(mean))
    variance = np.diag(covariance) + covariance[leader, leader] - 2 * covariance[leader]
    deviation = np.sqrt(np.maximum(variance, 1e-12))
    behind = (mean - mean[leader]) / deviation
    alive = [place for place in range(len(mean)) if place != leader and _NORMAL.cdf(behind[place]) > _DROPPED_BELOW]
    regret = expected_gain(mean - mean[leader], deviation)
    if max((regret[place] for place in alive), default=0.0) < _LEAST_GAIN:
        return RaceState(leader, None)
    return RaceState(leader, int(np.argmax(knowledge_gain(mean, covariance, noise**2))))
