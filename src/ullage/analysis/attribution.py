# SPDX-License-Identifier: Apache-2.0
"""What moved a score from one run to another: its parts account for the logarithm of the ratio, in sum. Pure.

A score that is a product of powers is such a sum as it stands. A mean is split by the logarithmic mean, exactly too.
How a suite's score is divided stands in its ``attribution.py``, which sets ``ATTRIBUTIONS``.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ullage.discovery import gathered, suite_modules
from ullage.grouping import grouped
from ullage.model.summary import Row
from ullage.quantity import listing, plural, times

_NO_REST: Final = 0.005
_MOST_NAMED: Final = 3


@dataclass(frozen=True, slots=True)
class Mover:
    """A part of a score with its values in both runs. ``moved``: what it accounts for of the logarithm of the ratio.

    ``is_doubtful``: one of the values was disturbed or contradicts others, so that nothing rests on it.
    """

    name: str
    unit: str
    first: float
    second: float
    moved: float
    is_doubtful: bool = False

    @property
    def ratio(self) -> float:
        """The second value over the first."""
        return self.second / self.first

    @property
    def factor(self) -> float:
        """How many times the score becomes what it was by this part alone."""
        return math.exp(self.moved)


@dataclass(frozen=True, slots=True)
class Attribution:
    """The change of ``score`` from the run called ``base_name`` to ``other_name``, by its parts in their own order."""

    score: str
    unit: str
    base_name: str
    other_name: str
    first: float
    second: float
    movers: tuple[Mover, ...]

    @property
    def ratio(self) -> float:
        """The second score over the first."""
        return self.second / self.first

    @property
    def rest(self) -> float:
        """The factor that no part accounts for: 1 where the score is made of exactly these values."""
        return self.ratio / math.exp(math.fsum(mover.moved for mover in self.movers))

    def share(self, mover: Mover) -> float | None:
        """Return the part's share of the logarithm of the ratio; None where the score is the same but for rounding."""
        whole = math.log(self.ratio)
        return mover.moved / whole if abs(whole) > 1e-9 else None


Attributed = Callable[[Sequence[Row], Sequence[Row], tuple[str, str]], list[Attribution]]
"""Divides the change of a suite's score from one group of rows to another, whose names come last; none without one."""


def load_attributions() -> list[Attributed]:
    """Return what the suites set."""
    return gathered(suite_modules("attribution"), "ATTRIBUTIONS")


def attribution_text(change: Attribution) -> str:
    """Say which parts moved a score most, those in its own direction first; doubtful ones are told together."""
    moved = [one for one in change.movers if one.moved]
    known = sorted((one for one in moved if not one.is_doubtful), key=lambda one: -abs(one.moved))
    known.sort(key=lambda one: (one.moved > 0) != (change.ratio > 1))
    unsure = [one for one in moved if one.is_doubtful]
    parts = [f"{times(one.factor)} from {one.name} (its rate: {times(one.ratio)})" for one in known[:_MOST_NAMED]]
    for more, what in (
        (known[_MOST_NAMED:], plural(len(known) - _MOST_NAMED, "more part")),
        (unsure, f"parts with doubtful numbers ({listing([one.name for one in unsure], 4)})"),
    ):
        parts += [f"{times(math.exp(math.fsum(one.moved for one in more)))} from {what}"] if more else []
    parts += [] if abs(change.rest - 1) < _NO_REST else [f"{times(change.rest)} from the rest"]
    head = f"From {change.base_name} to {change.other_name} {change.score} changes by {times(change.ratio)}"
    return f"{head}: {listing(parts, len(parts)) or 'no part changed'}."


def moved_of_mean(first: Mapping[str, float], second: Mapping[str, float]) -> dict[str, float]:
    """Return what each addend of a mean accounts for of the logarithm of the ratio of the means.

    Both hold the same names, with values above 0 in sum.
    """
    one, other = math.fsum(first.values()), math.fsum(second.values())
    middle = one if math.isclose(one, other) else (other - one) / math.log(other / one)
    return {name: (second[name] - first[name]) / middle for name in first}


def runs_by(
    key: Callable[[Row], str], first: Iterable[Row], second: Iterable[Row]
) -> Iterator[tuple[str, list[Row], list[Row]]]:
    """Yield the rows of each run that both have, by ``key``, with the words that tell it from others.

    Where both have one run these are compared, whatever their keys are, and need no words.
    """
    one, other = grouped((key(row), row) for row in first), grouped((key(row), row) for row in second)
    if len(one) == len(other) == 1:
        yield "", next(iter(one.values())), next(iter(other.values()))
        return
    yield from ((f" of {name}", rows, other[name]) for name, rows in one.items() if name in other)
