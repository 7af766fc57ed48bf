# SPDX-License-Identifier: Apache-2.0
"""Correlation told by many short series together, and what it does to the number of samples."""

import math
import random

import pytest

from ullage.analysis.statistics import pooled_dependence


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
    assert found.effective(12) == pytest.approx(12 / found.inflation)
    assert 3 < found.effective(12) < 6
