# SPDX-License-Identifier: Apache-2.0
"""Launches as a term of the variance: known from cells that several launches measured, and seen in comparisons."""

import math
import random

import pytest

from ullage.analysis.statistics import Contest, Sampled, compare_on_average, compare_two, pooled_spread
from ullage.analysis.statistics.launches import launch_spread

LAUNCHES = (0, 0, 1, 1, 2, 2)


def _cells(draw: random.Random, layouts: int, cells: int, shift: float, noise: float = 0.01) -> list[list[Sampled]]:
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
        launch_spread([cell for layout in _cells(draw, 6, 7, shift) for cell in layout]).variance for _ in range(200)
    ]
    assert math.sqrt(sum(known) / len(known)) == pytest.approx(math.hypot(shift, 0.01 / math.sqrt(14)), rel=0.1)


def test_its_degrees_of_freedom_are_those_of_the_launches_and_not_of_the_cells() -> None:
    layouts = _cells(random.Random(2), 3, 5, 0.02)
    assert launch_spread([cell for layout in layouts for cell in layout]).freedom == 6
    assert launch_spread(layouts[0]).freedom == 2
    assert launch_spread([Sampled([1.0, 1.1], [0, 0]), Sampled([1.0, 1.2], [1, 1])]).freedom == 0


def test_what_cells_of_a_launch_share_does_not_count_as_their_noise() -> None:
    cells = _cells(random.Random(3), 1, 12, 0.1)[0]
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
        cells = _cells(draw, layouts, 4, 0.02)
        first, second = cells[0][0], cells[1][0]
        spread = pooled_spread([cell for layout in cells for cell in layout])
        contest = Contest(first.values, second.values, spread=spread, launches=(first.launches, second.launches))
        told += compare_two(contest).verdict != "cannot tell"
    assert told <= 28


def test_a_shift_does_not_average_out_over_cells_that_share_it() -> None:
    draw = random.Random(5)
    told = 0
    for _ in range(200):
        cells = _cells(draw, 2, 7, 0.02)
        spread = pooled_spread([cell for layout in cells for cell in layout])
        contests = [
            Contest(a.values, b.values, spread=spread, launches=(a.launches, b.launches))
            for a, b in zip(*cells, strict=True)
        ]
        told += compare_on_average(contests).verdict != "cannot tell"
    assert told <= 16


def test_two_runs_differ_by_a_shift_of_their_own() -> None:
    cells = _cells(random.Random(6), 2, 6, 0.02)
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
