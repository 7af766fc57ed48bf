# SPDX-License-Identifier: Apache-2.0
"""The exact rank test against published tables and against counting all divisions."""

import itertools
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ullage.analysis.statistics.order import are_apart, rank_test

FEW = st.lists(st.integers(min_value=0, max_value=6), min_size=1, max_size=5)


@pytest.mark.parametrize(
    ("n", "u", "p"),
    [
        # Mann and Whitney 1947, table I, doubled: P(U <= u) of n against n.
        (3, 0, 0.1),
        (4, 0, 2 / 70),
        (4, 1, 4 / 70),
        (5, 2, 8 / 252),
        (6, 0, 2 / 924),
        (6, 5, 38 / 924),
    ],
)
def test_tables(n: int, u: int, p: float) -> None:
    first = [float(i) for i in range(n)]
    second = [n + float(i) for i in range(n)]
    # U counts the pairs that stand the other way round: raise the largest of the first above u of the second.
    first[-1] = n - 0.5 + u if u <= n else first[-1]
    assert rank_test(first, second) == pytest.approx(p)


@given(FEW, FEW)
def test_it_is_what_counting_all_divisions_gives(a: list[int], b: list[int]) -> None:
    together, size = [*a, *b], len(a)
    ranks = [sum(other < value for other in together) + sum(other <= value for other in together) for value in together]
    expected = sum(ranks) * size / len(ranks)
    far = abs(sum(ranks[:size]) - expected)
    sums = [sum(chosen) for chosen in itertools.combinations(ranks, size)]
    p = sum(abs(one - expected) >= far - 1e-9 for one in sums) / len(sums)
    assert rank_test(a, b) == pytest.approx(p)


def test_many_samples_are_approximated() -> None:
    draw = random.Random(1)
    a = [draw.random() for _ in range(39)]
    b = [draw.random() + 0.12 for _ in range(39)]
    exact, approximate = rank_test(a, b), rank_test([*a, *a[:2]], [*b, *b[:2]])
    assert 0.0005 < exact < 0.2
    assert approximate == pytest.approx(exact, rel=0.5)
    assert rank_test([1.0] * 60, [1.0] * 60) == 1.0


def test_ranges_apart() -> None:
    assert are_apart([1, 2], [3, 4])
    assert are_apart([3, 4], [1, 2])
    assert not are_apart([1, 3], [2, 4])
