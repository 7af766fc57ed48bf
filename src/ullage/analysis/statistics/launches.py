# SPDX-License-Identifier: Apache-2.0
"""Launches as a term of the variance: what is measured in one launch shares its minutes.

Two settings of one launch are compared within it. Settings of different launches differ by these, too, and how much
launches of this machine differ is told by those that measured the same cells (Kalibera and Jones, Rigorous Benchmarking
in Reasonable Time, 2013).
"""

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from statistics import fmean
from typing import Final

from ullage.grouping import grouped


@dataclass(frozen=True, slots=True)
class Sampled:
    """Samples of a cell above 0, with the ``launches`` that took them (none: all of one launch).

    Launches shift all cells of a ``family`` alike.
    """

    values: Sequence[float]
    launches: Sequence[Hashable] = ()
    family: Hashable = ""


@dataclass(frozen=True, slots=True)
class LaunchSpread:
    """How much launches differ: the variance of the log of what all of one launch share, and its degrees of freedom.

    ``freedom`` 0: not known. ``shifts``: of each launch, where several cells tell it.
    """

    variance: float = 0.0
    freedom: float = 0.0
    shifts: Mapping[Hashable, float] = field(default_factory=dict[Hashable, float])

    def apart(self, values: Sequence[float], launches: Sequence[Hashable]) -> Sequence[float]:
        """Return ``values`` without what their launches did to them."""
        if not self.shifts or not launches:
            return values
        return [value / math.exp(self.shifts.get(one, 0.0)) for value, one in zip(values, launches, strict=True)]


NOT_KNOWN: Final = LaunchSpread()


def shares(launches: Sequence[Hashable], count: int) -> dict[Hashable, float]:
    """Return the share of each launch in ``count`` samples."""
    if not launches:
        return {"": 1.0}
    return {launch: times / count for launch, times in Counter(launches).items()}


def launch_spread(cells: Iterable[Sampled]) -> LaunchSpread:
    """Estimate how much launches differ from cells that several launches have measured.

    It is half the mean square of the difference between two launches, each the mean over the cells of a family that
    both have measured. What is left of the cells' own noise in it makes it too large rather than too small. The
    degrees of freedom are those of the launches, however many cells they have measured.
    """
    means = [(cell.family, _means(cell)) for cell in cells if len(set(cell.launches)) > 1]
    pairs = grouped(
        ((family, one, other), of[one] - of[other]) for family, of in means for one, other in combinations(of, 2)
    )
    if not pairs:
        return NOT_KNOWN
    weight = sum(map(len, pairs.values()))
    variance = sum(len(found) * fmean(found) ** 2 for found in pairs.values()) / 2 / weight
    freedom = sum(len(found) - 1 for found in _connected({frozenset(of) for _, of in means}))
    return LaunchSpread(variance, freedom, _shifts([of for _, of in means], freedom))


def _means(cell: Sampled) -> dict[Hashable, float]:
    logs = grouped((launch, math.log(value)) for launch, value in zip(cell.launches, cell.values, strict=True))
    return {launch: fmean(found) for launch, found in logs.items()}


def _connected(sets: Iterable[frozenset[Hashable]]) -> list[frozenset[Hashable]]:
    """Join the sets that share a launch."""
    found: list[frozenset[Hashable]] = []
    for one in sets:
        joined, apart = one, list[frozenset[Hashable]]()
        for other in found:
            if joined & other:
                joined |= other
            else:
                apart.append(other)
        found = [*apart, joined]
    return found


def _shifts(means: Sequence[Mapping[Hashable, float]], freedom: int) -> dict[Hashable, float]:
    """Return how far each launch lies from the mean of its cells, less what these would show without any shift.

    A shift is a mean of few cells: so it shrinks by the ratio of the mean squares within and between launches.
    """
    off = grouped((launch, mean - fmean(of.values())) for of in means for launch, mean in of.items())
    shifts = {launch: fmean(found) for launch, found in off.items()}
    between = sum(len(found) * shifts[launch] ** 2 for launch, found in off.items()) / freedom
    within = sum((one - shifts[launch]) ** 2 for launch, found in off.items() for one in found)
    left = sum(map(len, off.values())) - len(means) - freedom
    if left < 1 or within >= left * between:
        return {}
    share = 1 - within / left / between
    return {launch: share * shift for launch, shift in shifts.items()}
