# SPDX-License-Identifier: Apache-2.0
"""Ratios of what was measured side by side, and pairs of rows all in all."""

import math
import random

import pytest

from support.make_records import make_row
from ullage.analysis.contests import compare_ratios, compare_together


def test_ratios_above_and_below_1_are_told() -> None:
    found = compare_ratios([[1.5, 1.52, 1.48, 1.5], [0.5, 0.51, 0.49, 0.5], [1.0, 1.02, 0.98, 1.01]], 0.95)
    assert [one.verdict for one in found] == ["faster", "slower", "cannot tell"]
    assert found[0].ratio == pytest.approx(1.5, rel=0.01)


@pytest.mark.parametrize("few", [[], [9.0], [9.0, 9.1], [9.0, 9.1, 0.0]])
def test_nothing_is_told_of_fewer_than_3_ratios_or_of_one_of_0(few: list[float]) -> None:
    (found,) = compare_ratios([few], 0.95)
    assert (found.verdict, found.low) == ("cannot tell", None)


def test_equal_sides_are_told_apart_in_few_sentences() -> None:
    draw = random.Random(7)
    told = 0
    for _ in range(60):
        series = [[math.exp(draw.gauss(0, 0.1)) for _ in range(6)] for _ in range(8)]
        told += any(one.verdict != "cannot tell" for one in compare_ratios(series, 0.95))
    assert told <= 5


def test_three_ratios_of_one_mode_are_not_told_beside_others_that_show_both() -> None:
    lone = [1.2, 1.201, 1.199]
    assert compare_ratios([lone], 0.95)[0].verdict == "faster"
    others = [[0.8, 1.0, 1.2], [1.0, 1.2, 0.8], [1.2, 1.0, 0.81], [1.0, 0.8, 0.8], [1.21, 1.0, 1.0]]
    assert compare_ratios([lone, *others], 0.95)[0].verdict == "cannot tell"


def test_pairs_are_compared_by_repetitions_where_they_carry_it_and_else_pair_by_pair() -> None:
    clear = [2e9, 2.02e9, 1.98e9, 2e9]
    one = make_row(clear), make_row([value / 2 for value in clear])
    assert compare_together([one], 0.95).verdict == "faster"
    single = make_row(2e9), make_row(1e9)
    assert compare_together([single], 0.95).verdict == "cannot tell"
    assert compare_together([], 0.95).verdict == "cannot tell"
    several = [(make_row(rate), make_row(1e9)) for rate in (2e9, 2.01e9, 1.99e9, 2e9)]
    assert compare_together(several, 0.95).verdict == "faster"
    disturbed = [(row.model_copy(update={"grade": "C"}), other) for row, other in (one,)]
    assert compare_together(disturbed, 0.95).verdict == "cannot tell"
