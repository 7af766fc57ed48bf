# SPDX-License-Identifier: Apache-2.0
"""Two things measured in turn, A B A B ..., and compared pair by pair, so that a drift of the machine meets both."""

import statistics
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Pairs:
    """Medians of both sides and of the ratio A/B of each pair."""

    a: float
    b: float
    ratio: float
    low: float
    high: float

    def line(self, name: str, unit: str, scale: float = 1.0) -> str:
        """A row of a Markdown table."""
        return (
            f"| {name} | {self.a / scale:.4g} {unit} | {self.b / scale:.4g} {unit}"
            f" | {self.ratio:.3f} | {self.low:.3f} to {self.high:.3f} |"
        )


def measure(a: Callable[[], float], b: Callable[[], float], pairs: int) -> Pairs:
    """Run ``a`` and ``b`` in turn, the first pair unmeasured; the order within a pair changes each time."""
    a()
    b()
    left, right = list[float](), list[float]()
    for i in range(pairs):
        if i % 2 == 0:
            left.append(a())
            right.append(b())
        else:
            right.append(b())
            left.append(a())
    ratios = sorted(x / y for x, y in zip(left, right, strict=True))
    return Pairs(statistics.median(left), statistics.median(right), statistics.median(ratios), ratios[0], ratios[-1])
