# SPDX-License-Identifier: Apache-2.0
"""Which setting a race measures next, and when it is over."""

import random

from benchmarks.simulated_responses import make_space

from ullage.analysis.tuning.race import pick, racers
from ullage.analysis.tuning.surrogate import Posterior, Scales, Trials
from ullage.arrays import np


def test_a_race_is_over_where_none_may_be_better_by_a_part_in_five_hundred() -> None:
    known = np.array([1e-6, 1e-6, 1e-6])
    assert pick(np.array([0.0, 0.1, 0.2]), np.diag(known), 0.3).wanted is None
    assert pick(np.array([0.0, 0.1, 0.2]), np.diag(known), 0.3).leader == 2
    assert pick(np.array([0.1]), np.array([[1.0]]), 0.3).wanted is None


def test_the_setting_whose_value_tells_most_is_measured_next() -> None:
    mean, variance = np.array([0.0, 0.15, 0.2]), np.array([1e-6, 0.04, 1e-6])
    assert pick(mean, np.diag(variance), 0.3).wanted == 1


def test_racers_are_those_of_the_highest_bounds_without_those_that_failed() -> None:
    space, draw = make_space(), random.Random(7)
    settings = [(draw.randrange(3), draw.randrange(7), draw.randrange(8), draw.randrange(6)) for _ in range(12)]
    trials = Trials(settings, [draw.gauss(0, 1) for _ in settings], [float(turn) for turn in range(12)])
    posterior = Posterior(space, space.candidates, Scales((-0.5,) * 4), trials)
    every = racers(posterior, set())
    bound = posterior.mean + posterior.deviation
    assert len(every) == 80
    assert every[0] == int(np.argmax(bound))
    first = space.candidates[every[0]]
    failed = (int(first[0]), int(first[1]), int(first[2]), int(first[3]))
    assert every[0] not in racers(posterior, {failed})
