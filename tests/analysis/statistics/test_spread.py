# SPDX-License-Identifier: Apache-2.0
"""What cells say together of the noise of one value."""

import math
import random

import pytest

from ullage.analysis.statistics.comparison import Contest, compare_all, compare_on_average, compare_two
from ullage.analysis.statistics.spread import Sampled, digamma, launch_spread, log_mean, pooled_spread, trigamma


def _cells(draw: random.Random, deviations: list[float], n: int = 6) -> list[list[float]]:
    return [[math.exp(draw.gauss(0, deviation)) for _ in range(n)] for deviation in deviations]


def test_cells_of_equal_noise_tell_of_one_another() -> None:
    found = pooled_spread(_cells(random.Random(1), [0.05] * 60))
    assert math.sqrt(found.variance) == pytest.approx(0.05, rel=0.1)
    assert found.freedom > 50


def test_cells_of_unlike_noise_are_left_to_themselves() -> None:
    found = pooled_spread(_cells(random.Random(2), [0.01, 0.02, 0.05, 0.1, 0.2, 0.4] * 8))
    assert found.freedom < 4


def test_a_cell_whose_samples_are_all_of_one_mode_is_not_taken_for_quiet() -> None:
    cells = _cells(random.Random(3), [0.05] * 40)
    known = pooled_spread([*cells, [1.0] * 6])
    lone = log_mean([1.0] * 6, known)
    assert lone is not None
    assert math.sqrt(6 * lone.variance) > 0.02


def test_one_cell_says_nothing_of_others() -> None:
    assert pooled_spread([[1.0, 2.0]]).freedom == 0
    assert log_mean([1.0]) is None
    alone = log_mean([1.0, math.e])
    assert alone is not None
    assert (alone.mean, alone.variance, alone.freedom) == pytest.approx((0.5, 0.25, 1))


def test_derivatives_of_the_log_gamma_function() -> None:
    assert digamma(1) == pytest.approx(-0.5772156649, abs=1e-8)
    assert digamma(0.5) == pytest.approx(-1.9635100260, abs=1e-8)
    assert trigamma(1) == pytest.approx(math.pi**2 / 6, abs=1e-8)
    assert trigamma(0.5) == pytest.approx(math.pi**2 / 2, abs=1e-8)


def test_two_cells_do_not_tell_that_they_scatter_alike() -> None:
    """Before, 1 of 4 sets of 64 equal pairs with 3 samples had a pair that was told apart, at 95 %."""
    assert pooled_spread([[1.0, 1.1, 0.9], [1.0, 1.1, 0.9]]).freedom == 0
    draw = random.Random(2)
    told = 0
    for _ in range(30):
        pairs = [[[math.exp(draw.gauss(0, 0.05)) for _ in range(3)] for _ in range(2)] for _ in range(64)]
        found = compare_all([Contest(*pair, spread=pooled_spread(pair)) for pair in pairs], 0.95)
        told += any(one.verdict != "cannot tell" for one in found)
    assert told <= 3


def test_noisy_cells_among_quiet_ones_are_not_told_apart() -> None:
    """Before, 1 of 6 such sentences told a pair apart: 3 samples may all be of one mode, and most cells are quiet."""
    draw = random.Random(3)
    told = 0
    for _ in range(40):
        deviations = [0.05 * math.exp(draw.gauss(0, 0.7)) for _ in range(32)]
        pairs = [
            [[math.exp(one * (draw.choice((-1, 1)) + draw.gauss(0, 0.2))) for _ in range(3)] for _ in range(2)]
            for one in deviations
        ]
        spread = pooled_spread([cell for pair in pairs for cell in pair])
        found = compare_all([Contest(first, second, spread=spread) for first, second in pairs], 0.95)
        told += any(one.verdict != "cannot tell" for one in found)
    assert told <= 2


LAUNCHES = (0, 0, 1, 1, 2, 2)


def _cells_of_launches(
    draw: random.Random, layouts: int, cells: int, shift: float, noise: float = 0.01
) -> list[list[Sampled]]:
    """For each layout cells of three launches of its own, which shift all of them."""
    found: list[list[Sampled]] = []
    for layout in range(layouts):
        shifts = [draw.gauss(0, shift) for _ in range(3)]
        names = [f"{layout}/{launch}" for launch in LAUNCHES]
        found.append(
            [Sampled([math.exp(shifts[one] + draw.gauss(0, noise)) for one in LAUNCHES], names) for _ in range(cells)]
        )
    return found


@pytest.mark.parametrize("shift", [0.01, 0.05])
def test_the_variance_of_launches_is_found_whatever_the_cells_scatter(shift: float) -> None:
    draw = random.Random(1)
    known = [
        launch_spread([cell for layout in _cells_of_launches(draw, 6, 7, shift) for cell in layout]).variance
        for _ in range(200)
    ]
    assert math.sqrt(sum(known) / len(known)) == pytest.approx(math.hypot(shift, 0.01 / math.sqrt(14)), rel=0.1)


def test_its_degrees_of_freedom_are_those_of_the_launches_and_not_of_the_cells() -> None:
    layouts = _cells_of_launches(random.Random(2), 3, 5, 0.02)
    assert launch_spread([cell for layout in layouts for cell in layout]).freedom == 6
    assert launch_spread(layouts[0]).freedom == 2
    assert launch_spread([Sampled([1.0, 1.1], [0, 0]), Sampled([1.0, 1.2], [1, 1])]).freedom == 0


def test_what_cells_of_a_launch_share_does_not_count_as_their_noise() -> None:
    cells = _cells_of_launches(random.Random(3), 1, 12, 0.1)[0]
    spread = pooled_spread(cells)
    assert math.sqrt(spread.variance) == pytest.approx(0.01, rel=0.3)
    better, launches = [1.05 * value for value in cells[0].values], (cells[0].launches, cells[1].launches)
    found = compare_two(Contest(better, cells[1].values, spread=spread, launches=launches))
    assert found.verdict == "faster"


def test_sides_of_one_launch_each_cannot_be_told_where_nobody_knows_launches() -> None:
    contest = Contest([2.0, 2.1, 1.9], [1.0, 1.1, 0.9], launches=(["a"] * 3, ["b"] * 3))
    found = compare_two(contest)
    assert (found.verdict, found.low, found.high) == ("cannot tell", None, None)
    assert found.ratio == pytest.approx(2, rel=0.01)
    assert compare_on_average([contest]).verdict == "cannot tell"


@pytest.mark.parametrize("layouts", [2, 4])
def test_equal_settings_of_different_launches_are_seldom_told_apart(layouts: int) -> None:
    draw = random.Random(4)
    told = 0
    for _ in range(400):
        cells = _cells_of_launches(draw, layouts, 4, 0.02)
        first, second = cells[0][0], cells[1][0]
        spread = pooled_spread([cell for layout in cells for cell in layout])
        contest = Contest(first.values, second.values, spread=spread, launches=(first.launches, second.launches))
        told += compare_two(contest).verdict != "cannot tell"
    assert told <= 28


def test_a_shift_does_not_average_out_over_cells_that_share_it() -> None:
    draw = random.Random(5)
    told = 0
    for _ in range(200):
        cells = _cells_of_launches(draw, 2, 7, 0.02)
        spread = pooled_spread([cell for layout in cells for cell in layout])
        contests = [
            Contest(a.values, b.values, spread=spread, launches=(a.launches, b.launches))
            for a, b in zip(*cells, strict=True)
        ]
        told += compare_on_average(contests).verdict != "cannot tell"
    assert told <= 16


def test_two_runs_differ_by_a_shift_of_their_own() -> None:
    cells = _cells_of_launches(random.Random(6), 2, 6, 0.02)
    spread = pooled_spread([cell for layout in cells for cell in layout])
    a, b = cells[0][0], cells[1][0]
    within, between = (
        compare_two(
            Contest(a.values, b.values, spread=spread, launches=(a.launches, b.launches), is_of_runs=is_of_runs)
        )
        for is_of_runs in (False, True)
    )
    assert within.low is not None
    assert between.low is not None
    assert between.low < within.low
