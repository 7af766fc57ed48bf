# SPDX-License-Identifier: Apache-2.0
"""Intervals of the median and of quantiles: exact coverage, honest about few samples."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ullage.analysis.statistics import mad, median, median_interval, quantile, quantile_interval, relative_width

SAMPLES = st.lists(st.floats(min_value=-1e12, max_value=1e12), min_size=1, max_size=40)
SCALE = st.floats(min_value=0.001, max_value=1000)


@pytest.mark.parametrize(("samples", "expected"), [([3], 3), ([1, 2], 1.5), ([5, 1, 3], 3), ([4, 1, 3, 2], 2.5)])
def test_median(samples: list[float], expected: float) -> None:
    assert median(samples) == expected


def test_no_samples_are_an_error() -> None:
    for function in (median, mad, median_interval):
        with pytest.raises(ValueError, match="no samples"):
            function([])


def test_mad_of_a_normal_sample_estimates_its_deviation() -> None:
    draw = random.Random(1)
    samples = [draw.gauss(10, 2) for _ in range(4000)]
    assert mad(samples, consistent=True) == pytest.approx(2, rel=0.1)


@pytest.mark.parametrize(
    ("n", "low", "high", "level"),
    [
        # Exact values: 1 - 2 * P(B < k) for B binomial (n, 1/2).
        (6, 1, 6, 0.96875),
        (8, 1, 8, 0.9921875),
        (9, 2, 8, 0.9609375),
        (10, 2, 9, 0.978515625),
        (15, 4, 12, 0.96484375),
        (20, 6, 15, 0.958610534667969),
    ],
)
def test_interval_of_the_median_uses_the_known_ranks(n: int, low: int, high: int, level: float) -> None:
    interval = median_interval([float(i) for i in range(1, n + 1)])
    assert (interval.low, interval.high) == (low, high)
    assert interval.level_reached == pytest.approx(level, abs=1e-12)
    assert not interval.below_level


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_few_samples_give_the_full_range_and_the_level_it_really_has(n: int) -> None:
    interval = median_interval([float(i) for i in range(n)])
    assert (interval.low, interval.high) == (0, n - 1)
    assert interval.level_reached == pytest.approx(1 - 2.0 ** (1 - n))
    assert interval.below_level


@pytest.mark.parametrize("n", [6, 9, 15, 31])
def test_interval_covers_the_true_median_as_often_as_it_says(n: int) -> None:
    draw = random.Random(n)
    rounds, covered = 2000, 0
    for _ in range(rounds):
        interval = median_interval([draw.lognormvariate(0, 1) for _ in range(n)])
        covered += interval.low <= 1 <= interval.high
    reached = median_interval([0.0] * n).level_reached
    assert covered / rounds == pytest.approx(reached, abs=0.015)
    assert covered / rounds >= 0.94


@given(SAMPLES)
def test_the_median_lies_within_its_interval_and_that_within_the_samples(samples: list[float]) -> None:
    interval = median_interval(samples)
    assert min(samples) <= interval.low <= interval.median <= interval.high <= max(samples)


@given(SAMPLES, SCALE)
def test_the_interval_scales_with_the_samples(samples: list[float], scale: float) -> None:
    plain, scaled = median_interval(samples), median_interval([value * scale for value in samples])
    assert scaled.low == pytest.approx(plain.low * scale, rel=1e-9)
    assert scaled.high == pytest.approx(plain.high * scale, rel=1e-9)


@given(st.permutations(list(range(12))))
def test_the_order_of_the_samples_does_not_matter(samples: list[int]) -> None:
    assert median_interval([float(s) for s in samples]) == median_interval([float(s) for s in range(12)])


def test_relative_width() -> None:
    assert relative_width(median_interval([90.0, 100.0, 110.0])) == pytest.approx(0.1)
    assert relative_width(median_interval([0.0, 0.0])) is None


@given(SAMPLES, st.floats(min_value=0, max_value=1))
def test_a_quantile_lies_within_the_samples(samples: list[float], q: float) -> None:
    assert min(samples) <= quantile(samples, q) <= max(samples)


def test_quantile_interval_of_the_median_agrees_with_the_medians_own() -> None:
    samples = [float(i) for i in range(20)]
    assert quantile_interval(samples, 0.5).low == median_interval(samples).low
    assert quantile_interval(samples, 0.5).high == median_interval(samples).high


def test_a_high_quantile_needs_many_samples() -> None:
    few = quantile_interval([float(i) for i in range(200)], 0.99)
    assert few.below_level
    assert few.high == 199
    assert not quantile_interval([float(i) for i in range(600)], 0.99).below_level


def test_quantile_interval_covers() -> None:
    draw = random.Random(7)
    rounds = 1000
    covered = sum(
        interval.low <= 0.9 <= interval.high
        for interval in (quantile_interval([draw.random() for _ in range(100)], 0.9) for _ in range(rounds))
    )
    assert covered / rounds >= 0.94


@pytest.mark.parametrize("level", [0.0, 1.0, -1.0])
def test_a_level_outside_0_and_1_is_an_error(level: float) -> None:
    with pytest.raises(ValueError, match="level"):
        median_interval([1.0], level)
