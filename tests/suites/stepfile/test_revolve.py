# SPDX-License-Identifier: Apache-2.0
"""What is computed again with few states, beside the best of all schedules."""

from functools import cache

from hypothesis import given
from hypothesis import strategies as st

from ullage.suites.stepfile.suite import recomputations


@cache
def _least(steps: int, checkpoints: int) -> int:
    """Try every place for the next checkpoint; the first sweep is counted too."""
    if steps == 1:
        return 0
    if checkpoints == 1:
        return steps * (steps - 1) // 2
    return min(first + _least(first, checkpoints) + _least(steps - first, checkpoints - 1) for first in range(1, steps))


@given(st.integers(1, 40), st.integers(1, 12))
def test_recomputations_are_the_least_of_all_schedules(steps: int, checkpoints: int) -> None:
    assert recomputations(steps, checkpoints) == _least(steps, checkpoints) - (steps - 1)


def test_recomputations_of_the_published_case() -> None:
    assert recomputations(12_500, 100) == 3 * 12_500 - 5253 - 12_499
    assert recomputations(12_500, 12_500) == 0
