# SPDX-License-Identifier: Apache-2.0
import random
from statistics import fmean

import pytest

from ullage.analysis.statistics.dependence import autocorrelation, outliers
from ullage.analysis.statistics.intervals import bootstrap_interval
from ullage.analysis.statistics.order import quantile


def test_a_drift_is_correlated_and_noise_is_not() -> None:
    draw = random.Random(1)
    drift = autocorrelation([float(i) for i in range(50)])
    noise = autocorrelation([draw.random() for _ in range(500)])
    assert drift is not None
    assert noise is not None
    assert drift > 0.9
    assert abs(noise) < 0.15


def test_alternation_is_negative() -> None:
    found = autocorrelation([1.0, 2.0] * 20)
    assert found is not None
    assert found < -0.9


@pytest.mark.parametrize("samples", [[], [1.0], [1.0, 2.0], [3.0] * 10, [0.1] * 7])
def test_without_variation_there_is_no_correlation(samples: list[float]) -> None:
    assert autocorrelation(samples) is None


def test_outliers_are_labelled_by_index() -> None:
    samples = [10.0, 10.1, 9.9, 10.2, 50.0, 9.8]
    assert outliers(samples) == [4]
    assert outliers([]) == []
    assert outliers([*samples, 11.0], reach=3.0) == [4]


def test_bootstrap_is_the_same_for_the_same_seed() -> None:
    draw = random.Random(3)
    samples = [draw.gauss(5, 1) for _ in range(30)]
    mean = lambda values: sum(values) / len(values)  # noqa: E731
    one, other = bootstrap_interval(samples, mean, seed=7), bootstrap_interval(samples, mean, seed=7)
    assert one == other
    assert one.low < one.median < one.high
    # The interval of a mean of 30: about 2 standard errors on either side.
    assert (one.high - one.low) / 2 == pytest.approx(2 / 30**0.5, rel=0.35)


def test_bootstrap_corrects_for_skew() -> None:
    draw = random.Random(11)
    rounds, covered = 120, 0
    for _ in range(rounds):
        samples = [draw.lognormvariate(0, 0.5) for _ in range(25)]
        found = bootstrap_interval(samples, lambda values: quantile(values, 0.5), resamples=300)
        covered += found.low <= 1 <= found.high
    assert covered / rounds >= 0.88


def test_bootstrap_of_few_samples_covers() -> None:
    """The plain one covers the mean of 6 in 86 to 88 % of all cases where it says 95."""
    draw = random.Random(5)
    rounds, covered = 300, 0
    for _ in range(rounds):
        found = bootstrap_interval([draw.gauss(5, 1) for _ in range(6)], fmean, resamples=200)
        covered += found.low <= 5 <= found.high
    assert 0.92 <= covered / rounds <= 0.98


def test_bootstrap_of_one_sample_reaches_no_level() -> None:
    found = bootstrap_interval([4.0], max)
    assert (found.low, found.high, found.level_reached) == (4.0, 4.0, 0.0)
    assert found.below_level


def test_bootstrap_of_equal_samples_is_a_point() -> None:
    found = bootstrap_interval([4.0] * 5, max)
    assert (found.low, found.high) == (4.0, 4.0)
