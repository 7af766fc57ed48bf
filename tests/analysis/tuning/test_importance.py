# SPDX-License-Identifier: Apache-2.0
"""A parameter that nothing reads is not said to change anything, however the noise goes on from trial to trial."""

import random

import pytest

from ullage.analysis.tuning.importance import told


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
