# SPDX-License-Identifier: Apache-2.0
"""Which setting a race measures next, and when it is over."""

import math
import random

import pytest
from benchmarks.simulated_responses import Surface, cliff, make_space, smooth, two_optima

from ullage.analysis.tuning.race import choose, expect, pick, racers
from ullage.analysis.tuning.search import Search, Trial, as_trials
from ullage.analysis.tuning.space import Dimension, Setting, Space
from ullage.analysis.tuning.surrogate import Posterior, Scales, Trials, fit
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


def trials_of(surface: Surface, seed: int, count: int = 140) -> list[Trial]:
    """Settings drawn so that better ones are more frequent, as a search draws them, with noise of 30 %."""
    draw = random.Random(f"choice/{seed}")
    every: list[Setting] = [tuple(int(place) for place in row) for row in surface.space.candidates]
    drawn = draw.choices(every, [surface.value(setting) ** 4 for setting in every], k=count - 1)
    return [
        Trial(setting, "search", math.log(surface.measured(setting, 0.3, draw)))
        for setting in (surface.space.default, *drawn)
    ]


@pytest.mark.parametrize("make", [smooth, two_optima, cliff])
def test_the_choice_reaches_more_than_the_highest_expected_value_does(make: object) -> None:
    assert callable(make)
    surface = make(make_space())
    chosen, best = 0.0, 0.0
    for seed in range(12):
        search, trials = Search(surface.space, seed), trials_of(surface, seed)
        chosen += surface.value(search.chosen(trials))
        best += surface.value(search.best(trials))
    assert chosen >= best


def test_a_jump_that_the_trials_prove_is_chosen() -> None:
    space, draw = Space((Dimension("n", tuple("12345678")), Dimension("m", tuple("12345"))), (0, 0)), random.Random(6)
    settings = [(draw.randrange(8), draw.randrange(5)) for _ in range(60)]
    logs = [0.02 * n + 0.02 * m + (0.15 if n == 2 else 0.0) + draw.gauss(0, 0.01) for n, m in settings]
    trials = Trials(settings, logs, [float(turn) for turn in range(60)])
    posterior = Posterior(space, space.candidates, fit(space, trials).scales, trials)
    assert choose(posterior, trials) == (2, 4)


def test_a_setting_that_failed_is_not_chosen_and_few_trials_are_judged_as_before() -> None:
    surface = smooth(make_space())
    trials = trials_of(surface, 1, 60)
    search = Search(surface.space)
    failed = search.chosen(trials)
    broken = [Trial(one.setting, one.purpose, None) if one.setting == failed else one for one in trials]
    assert Search(surface.space).chosen(broken) != failed
    assert search.chosen(trials[:12]) == search.best(trials[:12])


def test_the_race_and_the_choice_expect_the_same_of_settings_near_the_top() -> None:
    space, trials = make_space(), as_trials(trials_of(smooth(make_space()), 2))
    posterior = Posterior(space, space.candidates, fit(space, trials).scales, trials)
    near, mean, covariance = expect(posterior, trials, posterior.places(list(dict.fromkeys(trials.settings))))
    assert posterior.settings[near[int(np.argmax(mean))]].tolist() == list(choose(posterior, trials))
    assert float(np.min(np.diag(covariance))) > 0
    assert float(np.max(np.diag(covariance))) < 0.1
    assert expect(posterior, trials, posterior.places([space.default]))[0] == posterior.places(
        [choose(posterior, trials)]
    )
