# SPDX-License-Identifier: Apache-2.0
"""Comparisons of two sets of samples, as tests write them."""

from collections.abc import Sequence

from ullage.analysis.statistics.comparison import Better, Comparison, Contest, compare_two
from ullage.analysis.statistics.spread import UNKNOWN, Spread


def compare(
    first: Sequence[float],
    second: Sequence[float],
    *,
    better: Better = "more",
    level: float = 0.95,
    noise: float | None = None,
    spread: Spread = UNKNOWN,
) -> Comparison:
    return compare_two(Contest(first, second, better, noise, spread), level)
