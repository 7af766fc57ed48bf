# SPDX-License-Identifier: Apache-2.0
"""Faster, slower or cannot tell: rarely wrong about equals, rarely silent about what differs clearly."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ullage.analysis.statistics import compare
from ullage.analysis.statistics.student import two_sided_quantile

POSITIVE = st.lists(st.floats(min_value=1e-6, max_value=1e12), min_size=1, max_size=12)


def _samples(draw: random.Random, n: int, centre: float, spread: float) -> list[float]:
    return [centre * math.exp(draw.gauss(0, spread)) for _ in range(n)]


def test_clear_differences_are_told_from_three_repetitions() -> None:
    found = compare([10.0, 10.1, 10.2], [1.0, 1.01, 1.02])
    assert found.verdict == "faster"
    assert found.ratio == pytest.approx(10)
    assert found.low is not None
    assert found.high is not None
    assert 9 < found.low < found.ratio < found.high < 11


def test_for_times_less_is_faster() -> None:
    assert compare([1.0, 1.01, 1.02], [2.0, 2.01, 2.02], better="less").verdict == "faster"
    assert compare([1.0, 1.01, 1.02], [2.0, 2.01, 2.02], better="more").verdict == "slower"


@pytest.mark.parametrize("n", [3, 5, 8, 15])
def test_equals_are_seldom_called_different(n: int) -> None:
    draw = random.Random(n)
    rounds = 600
    wrong = sum(
        compare(_samples(draw, n, 1, 0.1), _samples(draw, n, 1, 0.1)).verdict != "cannot tell" for _ in range(rounds)
    )
    assert wrong / rounds <= 0.05


@pytest.mark.parametrize("n", [3, 8, 15])
def test_the_interval_covers_the_true_ratio(n: int) -> None:
    draw = random.Random(n)
    rounds, covered = 600, 0
    for _ in range(rounds):
        found = compare(_samples(draw, n, 3, 0.2), _samples(draw, n, 1, 0.05))
        assert found.low is not None
        assert found.high is not None
        covered += found.low <= 3 <= found.high
    assert covered / rounds >= 0.94


def test_what_lies_six_deviations_apart_is_told() -> None:
    draw = random.Random(5)
    told = sum(
        compare(_samples(draw, 6, math.exp(0.6), 0.1), _samples(draw, 6, 1, 0.1)).verdict == "faster"
        for _ in range(200)
    )
    assert told > 195


@given(POSITIVE, POSITIVE)
def test_turning_a_comparison_round_turns_its_verdict(a: list[float], b: list[float]) -> None:
    opposite = {"faster": "slower", "slower": "faster", "cannot tell": "cannot tell"}
    one, other = compare(a, b, noise=0.1), compare(b, a, noise=0.1)
    assert other.verdict == opposite[one.verdict]
    assert other.ratio * one.ratio == pytest.approx(1)


@given(POSITIVE)
def test_samples_cannot_be_told_from_themselves(samples: list[float]) -> None:
    assert compare(samples, samples, noise=0.1).verdict == "cannot tell"


def test_single_samples_say_nothing_without_a_noise() -> None:
    found = compare([100.0], [1.0])
    assert (found.low, found.high, found.verdict) == (None, None, "cannot tell")
    assert found.ratio == 100


def test_single_samples_are_told_apart_beyond_a_stated_noise() -> None:
    assert compare([1.2], [1.0], noise=0.1).verdict == "cannot tell"
    assert compare([1.5], [1.0], noise=0.1).verdict == "faster"
    assert compare([1.0], [1.5, 1.51, 1.49], noise=0.1).verdict == "slower"


@pytest.mark.parametrize(("a", "b"), [([], [1.0]), ([1.0], []), ([0.0], [1.0]), ([1.0], [-1.0])])
def test_samples_must_lie_above_0(a: list[float], b: list[float]) -> None:
    with pytest.raises(ValueError, match="above 0"):
        compare(a, b)


@pytest.mark.parametrize(
    ("freedom", "expected"), [(1, 12.7062), (2, 4.3027), (3, 3.1824), (4, 2.7764), (10, 2.2281), (30, 2.0423)]
)
def test_quantiles_of_students_t_are_those_of_the_tables(freedom: int, expected: float) -> None:
    assert two_sided_quantile(0.95, freedom) == pytest.approx(expected, abs=1e-4)


def test_students_t_goes_over_into_the_normal_distribution() -> None:
    assert two_sided_quantile(0.95, 400) == pytest.approx(two_sided_quantile(0.95, 401), rel=0.005)
