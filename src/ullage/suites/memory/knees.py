# SPDX-License-Identifier: Apache-2.0
"""Where a curve over the working set leaves a plateau: the ends of caches, as measured. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

# Neighbours on a plateau differ by less than this; a cache's end makes a larger step.
_STEP: Final = 1.2
_FEWEST: Final = 2


@dataclass(frozen=True, slots=True)
class Plateau:
    """Sizes in bytes from the first to the last on it, and the middle one of their values."""

    first: int
    last: int
    value: float


def plateaus(points: Sequence[tuple[int, float]]) -> list[Plateau]:
    """``points``: size and value, in any order. Stretches of at least two sizes with nearly the same value.

    What lies between two of them is a slope: a part of the set in each of two levels.
    """
    ordered = sorted(points)
    stretches: list[list[tuple[int, float]]] = []
    for point in ordered:
        if stretches and _near(stretches[-1][0][1], point[1]) and _near(stretches[-1][-1][1], point[1]):
            stretches[-1].append(point)
        else:
            stretches.append([point])
    return [
        Plateau(stretch[0][0], stretch[-1][0], sorted(value for _, value in stretch)[len(stretch) // 2])
        for stretch in stretches
        if len(stretch) >= _FEWEST
    ]


def _near(first: float, second: float) -> bool:
    return max(first, second) <= _STEP * min(first, second)
