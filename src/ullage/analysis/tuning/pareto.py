# SPDX-License-Identifier: Apache-2.0
"""Which of several settings no other is better than in all objectives."""

from collections.abc import Sequence


def front(points: Sequence[Sequence[float]]) -> list[int]:
    """Return the places of the points that no other dominates (more is better in each objective); equal points stay."""
    return [place for place, point in enumerate(points) if not any(_dominates(other, point) for other in points)]


def _dominates(first: Sequence[float], second: Sequence[float]) -> bool:
    return all(a >= b for a, b in zip(first, second, strict=True)) and any(
        a > b for a, b in zip(first, second, strict=True)
    )
