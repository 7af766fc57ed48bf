# SPDX-License-Identifier: Apache-2.0
"""Faster, slower or cannot tell: rarely wrong about equals, rarely silent about what differs clearly."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.contests import compare
from ullage.analysis.statistics.comparison import (
    Contest,
    beaten_by_best,
    compare_all,
    compare_on_average,
    level_of_each,
)
from ullage.analysis.statistics.order import two_sided_p, two_sided_quantile
from ullage.analysis.statistics.spread import pooled_spread

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
    assert found.ratio == pytest.approx(100)


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


@pytest.mark.parametrize("freedom", [1, 2.5, 7, 40.25, 3000])
@pytest.mark.parametrize("level", [0.5, 0.95, 0.999999])
def test_probability_and_quantile_are_each_others_inverse(freedom: float, level: float) -> None:
    assert two_sided_p(two_sided_quantile(level, freedom), freedom) == pytest.approx(1 - level, rel=1e-8)


def _study(draw: random.Random, cells: int, n: int, spread: float) -> list[list[float]]:
    return [_samples(draw, n, 1, spread) for _ in range(cells)]


def _modes(draw: random.Random, n: int, distance: float) -> list[float]:
    return [math.exp(draw.choice((0, distance)) + draw.gauss(0, distance / 10)) for _ in range(n)]


@pytest.mark.parametrize("spread", [0.02, 0.1])
def test_of_many_equal_pairs_none_is_told_apart(spread: float) -> None:
    """One by one, at 95 % each, a third of such comparisons said something false."""
    draw, wrong = random.Random(2), 0
    for _ in range(120):
        sides = _study(draw, 48, 6, spread)
        known = pooled_spread(sides)
        pairs = [Contest(a, b, spread=known) for a, b in zip(sides[::2], sides[1::2], strict=True)]
        wrong += any(found.verdict != "cannot tell" for found in compare_all(pairs))
    assert wrong <= 12


def test_of_many_equal_pairs_with_two_modes_none_is_told_apart() -> None:
    draw, wrong = random.Random(3), 0
    for _ in range(120):
        sides = [_modes(draw, 6, 0.1) for _ in range(48)]
        known = pooled_spread(sides)
        pairs = [Contest(a, b, spread=known) for a, b in zip(sides[::2], sides[1::2], strict=True)]
        wrong += any(found.verdict != "cannot tell" for found in compare_all(pairs))
    assert wrong <= 12


def test_the_one_pair_that_differs_is_told_among_many() -> None:
    """By ranks alone, 6 against 6 samples could never be told among 24 pairs."""
    draw, told = random.Random(4), 0
    for _ in range(60):
        sides = _study(draw, 84, 6, 0.03)
        sides[10] = [1.15 * value for value in sides[10]]
        known = pooled_spread(sides)
        pairs = [Contest(a, b, spread=known) for a, b in zip(sides[::2], sides[1::2], strict=True)]
        told += compare_all(pairs)[5].verdict == "faster"
    assert told >= 57


def test_verdicts_together_agree_with_their_intervals() -> None:
    draw = random.Random(5)
    pairs = [Contest(_samples(draw, 6, 1 + 0.05 * step, 0.02), _samples(draw, 6, 1, 0.02), "less") for step in range(6)]
    found = compare_all(pairs)
    for one in found:
        assert one.low is not None
        assert one.high is not None
        assert one.verdict == "cannot tell" or not one.low < 1 < one.high
    assert found[-1].verdict == "slower"
    assert found[-1].level > found[0].level, "the clearest is judged most severely"


def test_of_equal_settings_the_best_beats_none() -> None:
    """Against each of the others at 95 %, as it was, it beats at least one in half of all studies or more."""
    draw, wrong = random.Random(6), 0
    for _ in range(120):
        settings = _study(draw, 42, 6, 0.05)
        best = max(settings, key=lambda one: sorted(one)[2] + sorted(one)[3])
        known = pooled_spread(settings)
        wrong += any(beaten_by_best([Contest(best, one, spread=known) for one in settings if one is not best]))
    assert wrong <= 12


def test_a_setting_that_is_clearly_the_best_beats_all_others() -> None:
    draw = random.Random(7)
    settings = _study(draw, 42, 6, 0.02)
    settings[3] = [1.15 * value for value in settings[3]]
    known = pooled_spread(settings)
    contests = [Contest(settings[3], one, spread=known) for one in settings if one is not settings[3]]
    assert all(beaten_by_best(contests))
    assert not any(beaten_by_best([Contest(c.first, c.second, "less", spread=known) for c in contests]))
    assert beaten_by_best([]) == []


def test_what_no_pair_shows_alone_many_show_together() -> None:
    draw = random.Random(8)
    pairs = [Contest(_samples(draw, 4, 1.06, 0.05), _samples(draw, 4, 1, 0.05)) for _ in range(30)]
    assert sum(found.verdict == "faster" for found in compare_all(pairs)) == 0
    together = compare_on_average(pairs)
    assert together.verdict == "faster"
    assert together.ratio == pytest.approx(1.06, rel=0.02)
    assert compare_on_average([Contest([2.0], [1.0])]).verdict == "cannot tell"


def test_the_best_of_equal_lines_is_seldom_told_from_any_other() -> None:
    draw = random.Random(11)
    trials, together, alone = 200, 0, 0
    own = level_of_each(0.95, [5, 5])
    for _ in range(trials):
        wrong = {own: False, 0.95: False}
        for _ in range(2):
            line = [[draw.lognormvariate(0, 0.05) for _ in range(8)] for _ in range(5)]
            best = max(line, key=math.prod)
            for level in wrong:
                wrong[level] |= any(compare(best, one, level=level).verdict == "faster" for one in line)
        together, alone = together + wrong[own], alone + wrong[0.95]
    assert together <= 0.05 * trials
    assert alone >= 0.2 * trials


def test_the_level_of_each_is_that_of_all_where_there_is_one_pair() -> None:
    assert level_of_each(0.95, [2, 1, 0]) == level_of_each(0.95, []) == pytest.approx(0.95)
    assert level_of_each(0.95, [3, 2]) == pytest.approx(1 - 0.05 / 4)
