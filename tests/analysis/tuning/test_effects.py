# SPDX-License-Identifier: Apache-2.0
"""Shares of the variance, fronts and sentences on what was traded for what."""

import math
import random

import pytest

from ullage.analysis.tuning.confirmation import changes, front, proved_changes, sentence
from ullage.analysis.tuning.effects import effects, response, told
from ullage.analysis.tuning.space import Dimension, Setting, Space
from ullage.analysis.tuning.surrogate import Trials, fit

SPACE = Space(tuple(Dimension(name, ("1", "2", "4", "8")) for name in "abc"), (0, 0, 0))


def surrogate_of(log: object) -> object:
    assert callable(log)
    settings: list[Setting] = [(a, b, c) for a in range(4) for b in range(4) for c in range(4)]
    random.Random(1).shuffle(settings)
    return fit(SPACE, Trials(settings, [log(one) for one in settings], [float(i) for i in range(len(settings))]))


def test_a_parameter_has_the_share_of_the_variance_that_it_makes() -> None:
    """Two independent linear effects of 2 to 1 have shares of 4 to 1."""
    found = effects(surrogate_of(lambda s: 0.2 * s[0] + 0.1 * s[1]))  # type: ignore[arg-type]
    assert found.alone[0] == pytest.approx(0.8, abs=0.04)
    assert found.alone[1] == pytest.approx(0.2, abs=0.04)
    assert found.alone[2] < 0.02
    assert all(share < 0.02 for share in found.together.values())


def test_what_two_parameters_do_only_together_is_an_interaction() -> None:
    found = effects(surrogate_of(lambda s: 0.2 * (s[0] - 1.5) * (s[1] - 1.5)))  # type: ignore[arg-type]
    assert found.together[(0, 1)] > 0.9
    assert max(found.alone) < 0.05


def test_a_response_has_an_interval_around_what_is_true() -> None:
    line = response(surrogate_of(lambda s: 0.2 * s[0] + 0.1 * s[1]), (3, 3, 0), 0)  # type: ignore[arg-type]
    for place, (low, middle, high) in enumerate(line):
        assert low <= middle <= high
        assert middle == pytest.approx(0.2 * place + 0.3, abs=0.05)


def test_a_front_has_what_no_other_is_better_than_in_everything() -> None:
    assert front([(1, 3), (2, 2), (3, 1), (1, 1), (2, 2)]) == [0, 1, 2, 4]


def test_small_changes_are_not_named_and_the_largest_stands_first() -> None:
    found = changes({"a": 1.0, "b": 1.0, "c": 1.0, "d": 1.0}, {"a": 1.05, "b": 2.0, "c": 0.1})
    assert [one.name for one in found] == ["c", "b"]
    assert sentence("ppn=2", "ppn=16", found) == "ppn=2 (before: ppn=16) changes c to 0.10 x, b to 2.00 x."
    assert sentence("ppn=2", "ppn=16", []) == ""


def test_pairs_have_to_prove_a_change() -> None:
    draw = random.Random(2)
    before = [{"same": math.exp(draw.gauss(0, 0.3)), "more": math.exp(draw.gauss(0, 0.02))} for _ in range(6)]
    after = [{"same": math.exp(draw.gauss(0, 0.3)), "more": 2 * math.exp(draw.gauss(0, 0.02))} for _ in range(6)]
    assert [one.name for one in proved_changes(before, after)] == ["more"]


def trials(effect: float, correlation: float, seed: int, count: int = 30) -> tuple[list[tuple[int, int]], list[float]]:
    """Settings in random order, with autoregressive noise of 0.1."""
    draw = random.Random(seed)
    settings = [(draw.randrange(4), draw.randrange(2)) for _ in range(count)]
    noise, logs = draw.gauss(0, 1), list[float]()
    for setting in settings:
        noise = correlation * noise + (1 - correlation**2) ** 0.5 * draw.gauss(0, 1)
        logs.append(effect * setting[0] + 0.1 * noise)
    return settings, logs


@pytest.mark.parametrize("correlation", [0.0, 0.6])
def test_noise_is_told_from_an_effect(correlation: float) -> None:
    falsely = sum(any(told(*trials(0.0, correlation, seed))) for seed in range(100))
    assert falsely <= 5
    assert all(told(*trials(0.2, correlation, seed)) == [True, False] for seed in range(20))


def test_few_or_equal_trials_tell_nothing() -> None:
    assert told([(0, 0), (1, 1)] * 2, [0.0, 1.0, 0.0, 1.0]) == [False, False]
    assert told([(0, 0), (1, 1)] * 5, [1.0] * 10) == [False, False]
