# SPDX-License-Identifier: Apache-2.0
"""Where the level of a series changes: the largest t of all divisions in two, which the ranks must confirm.

At most 5 % of reports on stable series name a change (Holm 1979 over the series, Bonferroni over the
divisions of each). docs/statistics.md has how often that was so.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ullage.analysis.statistics.dependence import pooled_dependence
from ullage.analysis.statistics.order import rank_test, two_sided_p, two_sided_quantile
from ullage.arrays import NDArray, np

FEWEST: Final = 4
"""The fewest values on each side of a change."""
_LEVEL: Final = 0.95
# Less than 5 %, of which the rest is for runs that resemble those before them more than is known.
_ERROR: Final = 0.04
# One series tells its own correlation badly, and less so where it has two steps: it is taken to have no more than that.
_USUAL: Final = 0.4
# No series repeats itself better than that.
_LEAST_DEVIATION: Final = 1e-4


@dataclass(frozen=True, slots=True)
class Change:
    """From value ``at`` on, the level is ``ratio`` times that before. ``low`` and ``high`` bound it at 95 %."""

    at: int
    ratio: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class _Split:
    """The clearest division of a stretch of logarithms, at ``at``; ``error`` of the step, as if of independent ones."""

    logs: NDArray[np.float64]
    start: int
    stop: int
    at: int
    step: float
    error: float

    def p(self, inflation: float) -> float:
        """Return how often a stable stretch has so clear a division."""
        divisions, freedom = self.stop - self.start - 2 * FEWEST + 1, self.stop - self.start - 2
        found = divisions * two_sided_p(abs(self.step) / self.error / math.sqrt(inflation), freedom)
        if found > 1 - _LEVEL:
            return 1.0
        sides = self.logs[self.start : self.at].tolist(), self.logs[self.at : self.stop].tolist()
        return max(found, divisions * rank_test(*sides))

    def changes(self, inflation: float, error: float) -> list[Change]:
        """Return the change here, if it is one, and those before and after it, each side at half the error."""
        if self.p(inflation) > error:
            return []
        sides = _clearest(self.logs, self.start, self.at), _clearest(self.logs, self.at, self.stop)
        before, after = (side.changes(inflation, error / 2) if side else [] for side in sides)
        reach = two_sided_quantile(_LEVEL, self.stop - self.start - 2) * self.error * math.sqrt(inflation)
        ratio, low, high = (math.exp(self.step + way * reach) for way in (0, -1, 1))
        return [*before, Change(self.at, ratio, low, high), *after]


def find_changes(series: Sequence[Sequence[float]], error: float = _ERROR) -> list[list[Change]]:
    """Return the changes of each series of values above 0, which are in order of time.

    That any change is told of stable series has a probability of at most ``error``, for all series together.
    """
    logs = [np.log(np.asarray(values, dtype=float)) for values in series]
    splits = {index: split for index, one in enumerate(logs) if (split := _clearest(one, 0, len(one)))}
    # A step would look as if each value resembled the one before.
    left = ([*one.logs[: one.at], *(one.logs[one.at :] - one.step)] for one in splits.values())
    told = pooled_dependence(left)
    correlation = max(told.correlation, min(told.most, _USUAL))
    inflation = (1 + correlation) / (1 - correlation)
    found: list[list[Change]] = [[] for _ in series]
    for rank, (p, index) in enumerate(sorted((split.p(inflation), index) for index, split in splits.items())):
        if p > (own := error / (len(splits) - rank)):
            break
        found[index] = splits[index].changes(inflation, own)
    return found


def _clearest(logs: NDArray[np.float64], start: int, stop: int) -> _Split | None:
    """Return the division of a stretch whose sides differ most for their scatter; None where it is too short."""
    n = stop - start
    if n < 2 * FEWEST:
        return None
    own = logs[start:stop] - logs[start:stop].mean()
    first = np.arange(FEWEST, n - FEWEST + 1)
    steps = -np.cumsum(own)[first - 1] * n / (first * (n - first))
    parts = 1 / first + 1 / (n - first)
    within = np.maximum((own @ own - steps**2 / parts) / (n - 2), _LEAST_DEVIATION**2)
    errors = np.sqrt(within * parts)
    best = int(np.argmax(np.abs(steps) / errors))
    return _Split(logs, start, stop, start + int(first[best]), float(steps[best]), float(errors[best]))
