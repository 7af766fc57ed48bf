# SPDX-License-Identifier: Apache-2.0
"""Correlation told by many short series together, and what it does to the number of samples."""

import math
import random

import pytest

from ullage.analysis.statistics.dependence import pooled_dependence


def _series(draw: random.Random, n: int, rho: float) -> list[float]:
    state, found = draw.gauss(0, 1), list[float]()
    for _ in range(n):
        found.append(100 + state)
        state = rho * state + math.sqrt(1 - rho * rho) * draw.gauss(0, 1)
    return found


@pytest.mark.parametrize("rho", [0.3, 0.6])
def test_short_series_together_tell_their_correlation(rho: float) -> None:
    draw = random.Random(1)
    found = [pooled_dependence(_series(draw, 10, rho) for _ in range(84)).correlation for _ in range(40)]
    assert sum(found) / len(found) == pytest.approx(rho, abs=0.1)


def test_of_independent_samples_it_is_seldom_said() -> None:
    draw = random.Random(2)
    said = sum(pooled_dependence(_series(draw, 6, 0.0) for _ in range(42)).correlation > 0 for _ in range(300))
    assert said <= 30


def test_what_says_nothing() -> None:
    assert pooled_dependence([]).correlation == 0
    assert pooled_dependence([[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]]).correlation == 0, "a single series"
    assert pooled_dependence([[1.0, 2.0, 3.0]] * 50).series == 0
    assert pooled_dependence([[5.0] * 9] * 3).correlation == 0


def test_fewer_samples_are_worth_as_much() -> None:
    draw = random.Random(3)
    found = pooled_dependence(_series(draw, 15, 0.5) for _ in range(200))
    assert 3 < found.effective(12) < 6
    assert found.correlation <= found.most < found.correlation + 0.1


@pytest.mark.parametrize("length", [5, 6, 10])
@pytest.mark.parametrize("correlation", [0.0, 0.3, 0.6])
def test_series_seldom_have_more_than_they_may_have_at_most(length: int, correlation: float) -> None:
    draw = random.Random(4)
    found = [pooled_dependence(_series(draw, length, correlation) for _ in range(36)) for _ in range(200)]
    assert sum(one.most < correlation for one in found) <= 24
    assert sum(one.most for one in found) / len(found) < correlation + 0.7
