# SPDX-License-Identifier: Apache-2.0
"""Which numbers of accelerators pass, and which number is to be measured next. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from ullage.analysis.statistics import median, median_interval

Verdict: TypeAlias = Literal["passes", "fails", "cannot tell"]
# Uses of all accelerators, one for each repetition, by their number.
Trials: TypeAlias = Mapping[int, Sequence[float]]
PASSES: Final = "passes"
FAILS: Final = "fails"


def verdict_of(samples: Sequence[float], limit: float, level: float) -> Verdict:
    """Tell whether the interval of the median lies at or above ``limit``, below it, or neither.

    Too few samples for an interval of ``level`` tell nothing.
    """
    if not samples:
        return "cannot tell"
    interval = median_interval(samples, level)
    if interval.below_level:
        return "cannot tell"
    return "passes" if interval.low >= limit else "fails" if interval.high < limit else "cannot tell"


@dataclass(frozen=True)
class Search:
    """A search for the largest number that passes, in steps of ``unit`` up to ``most``.

    A number is first looked at once. The largest that seems to pass, and the next one, are then repeated until they
    have ``repetitions``. If that changes what they seem, the search goes on.
    """

    unit: int
    most: int
    limit: float
    repetitions: int

    def next(self, trials: Trials) -> tuple[int, int] | None:
        """Return the number to measure next and how many repetitions it lacks, or None when the answer is there."""
        passing, failing = self.bracket(trials)
        if failing is None:
            if passing == 0:
                return self.unit, 1
            if passing < self._last:
                return min(2 * passing, self._last), 1
        elif failing - passing > self.unit:
            return passing + (failing - passing) // self.unit // 2 * self.unit, 1
        lacking = [n for n in (passing, failing) if n and len(trials.get(n, ())) < self.repetitions]
        return (lacking[0], self.repetitions - len(trials.get(lacking[0], ()))) if lacking else None

    def bracket(self, trials: Trials) -> tuple[int, int | None]:
        """Return the largest number that seems to pass below the smallest that does not; None where none fails."""
        failing = min((n for n, samples in trials.items() if samples and not self._seems(samples)), default=None)
        below = [n for n, samples in trials.items() if samples and (failing is None or n < failing)]
        return max(below, default=0), failing

    def _seems(self, samples: Sequence[float]) -> bool:
        return median(samples) >= self.limit

    @property
    def _last(self) -> int:
        return self.most // self.unit * self.unit


def next_listed(numbers: Sequence[int], repetitions: int, trials: Trials) -> tuple[int, int] | None:
    """Return the first of the numbers with the fewest repetitions, once: so the repetitions of all lie side by side."""
    fewest = min((len(trials.get(n, ())) for n in numbers), default=repetitions)
    if fewest >= repetitions:
        return None
    return next(n for n in numbers if len(trials.get(n, ())) == fewest), 1
