# SPDX-License-Identifier: Apache-2.0
"""Changes of series: planted ones are found, stable series say little (benchmarks/history_simulation.py)."""

from itertools import islice

import pytest
from benchmarks.history_simulation import KINDS, shifted, stable
from benchmarks.simulated_noise import NOISES, Noise

from ullage.analysis.statistics.changes import FEWEST, find_changes


@pytest.mark.parametrize("noise", KINDS, ids=lambda noise: noise.name)
def test_stable_series_say_little(noise: Noise) -> None:
    # Of 100 reports with a true share of 5 %, 12 or more say something in 1 of 250.
    assert stable(noise, 8, 24, 100) <= 0.11


def test_a_step_of_a_tenth_is_found_at_its_place() -> None:
    found, placed, covered, others = shifted(NOISES[0], 8, 20, 10, 40)
    assert found == 1
    assert placed > 0.9
    assert covered > 0.8
    assert others <= 0.1


def test_steps_that_follow_one_another_are_both_found() -> None:
    values = list(islice(NOISES[0].series(0.02, "two"), 60))
    values[20:40] = [0.8 * value for value in values[20:40]]
    values[40:] = [0.6 * value for value in values[40:]]
    first, second = find_changes([values])[0]
    assert (first.at, second.at) == (20, 40)
    assert second.ratio < 1


@pytest.mark.parametrize("count", [0, 1, 2 * FEWEST - 1])
def test_few_values_say_nothing(count: int) -> None:
    assert find_changes([[1.0] * count]) == [[]]


def test_one_bad_run_is_no_change_and_equal_values_are_none() -> None:
    values = list(islice(NOISES[0].series(0.01, "bad"), 20))
    assert find_changes([[*values, 0.3, *values], [5.0] * 30]) == [[], []]


def test_a_step_between_equal_values_is_one() -> None:
    (found,) = find_changes([[5.0] * 10 + [4.0] * 10])
    assert [(one.at, round(one.ratio, 3)) for one in found] == [(10, 0.8)]
