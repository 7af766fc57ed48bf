# SPDX-License-Identifier: Apache-2.0
"""What a change of settings made better and worse, in sentences, and which settings no other dominates."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Final

from ullage.analysis.statistics.student import two_sided_quantile
from ullage.quantity import times

_NOTABLE: Final = math.log(1.1)
_MOST_NAMED: Final = 6
_LEAST_SPREAD: Final = 1e-9


@dataclass(frozen=True)
class Change:
    """A number that changes with the setting. ``ratio``: the value after the change over that before."""

    name: str
    ratio: float


def changes(before: Mapping[str, float], after: Mapping[str, float]) -> list[Change]:
    """Return numbers above 0 that both have and that differ by 10 % or more, the largest change first."""
    found = [Change(name, after[name] / value) for name, value in before.items() if name in after]
    return sorted(
        (one for one in found if abs(math.log(one.ratio)) >= _NOTABLE), key=lambda one: -abs(math.log(one.ratio))
    )


def proved_changes(
    before: Sequence[Mapping[str, float]], after: Sequence[Mapping[str, float]], error: float = 0.05
) -> list[Change]:
    """Return changes of 10 % or more that all pairs of trials together prove, the largest first.

    ``error`` is that over all numbers; at least 3 pairs are needed.
    """
    names = [name for name in before[0] if all(name in one for one in (*before, *after))] if before else []
    found: list[Change] = []
    for name in names:
        logs = [math.log(b[name] / a[name]) for a, b in zip(before, after, strict=True)]
        if len(logs) < 3:
            continue
        half = (
            max(stdev(logs), _LEAST_SPREAD)
            / math.sqrt(len(logs))
            * two_sided_quantile(1 - error / len(names), len(logs) - 1)
        )
        if abs(fmean(logs)) > max(half, _NOTABLE):
            found.append(Change(name, math.exp(fmean(logs))))
    return sorted(found, key=lambda one: -abs(math.log(one.ratio)))


def sentence(setting: str, before: str, found: Sequence[Change], most: int = _MOST_NAMED) -> str:
    """Write ``ppn=2 (before: ppn=16) changes ior-hard-write to 27.2 x, mdtest-hard-write to 0.00231 x.`` or nothing.

    ``most``: of how many changes it names.
    """
    if not found:
        return ""
    named = ", ".join(f"{one.name} to {_times(one.ratio)}" for one in found[:most])
    more = f", and {len(found) - most} more" if len(found) > most else ""
    return f"{setting} (before: {before}) changes {named}{more}."


def _times(ratio: float) -> str:
    return times(ratio) if ratio >= 0.1 else f"{ratio:.3g} x"


def front(points: Sequence[Sequence[float]]) -> list[int]:
    """Return the places of the points that no other dominates (more is better in each objective); equal points stay."""
    return [place for place, point in enumerate(points) if not any(_dominates(other, point) for other in points)]


def _dominates(first: Sequence[float], second: Sequence[float]) -> bool:
    return all(a >= b for a, b in zip(first, second, strict=True)) and any(
        a > b for a, b in zip(first, second, strict=True)
    )
