# SPDX-License-Identifier: Apache-2.0
"""How much of something is enough: ranks, requests in flight. What cannot be told is said, and is not enough."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from ullage.analysis.contests import carries, compare_rows, spread_of
from ullage.analysis.findings.phrasing import gain_of
from ullage.analysis.statistics.spread import Spread
from ullage.model.summary import Gain, Row
from ullage.quantity import percent, times

ENOUGH: Final = 0.9
"""What is proved to reach this share of each other number of the line is enough."""


@dataclass(frozen=True)
class Enough:
    """What a line of rows tells. ``row``: the first that is proved to be enough, else the one with the highest median.

    ``is_open``: how many are enough cannot be told. ``falls``: the last is slower than the best, and not enough.
    """

    row: Row
    first: Row
    best: Row
    last: Row
    is_open: bool
    falls: bool
    gain: Gain | None

    @property
    def still_gains(self) -> bool:
        """Whether the last one tried is proved to be needed."""
        return self.row is self.last and not self.is_open

    def title(self, what: str, many: str, *, has_more: bool = True) -> str:
        """Claim no more than is proved of ``what`` with ``many``; ``has_more``: there are more than those tried."""
        if self.is_open:
            return f"{what} have their highest median with {many}"
        return f"{what} {'still gain at' if has_more and self.still_gains else 'need'} {many}"

    def text(self, what: str, name: Callable[[Row], str], rate: Callable[[float], str], more: str) -> str:
        """Say what ``row`` reaches and what others do not; ``name`` is that of a setting, ``more`` advises to go on."""
        said = f"{what} reach {rate(self.row.median)} with {name(self.row)}"
        said += f", {times(self.gain.factor)} the rate of {name(self.first)}." if self.gain else "."
        if self.row is not self.best:
            most = f"{rate(self.best.median)} with {name(self.best)}"
            said += f" That is at least {percent(ENOUGH)} of the highest median, {most}."
        if self.is_open:
            said += " Which is enough cannot be told. Repeat more often on an idle machine."
        elif self.still_gains:
            said += more
        elif self.row is self.best and not self.falls:
            said += " More have no higher median."
        if self.falls:
            said += f" {name(self.last)} are slower: {rate(self.last.median)}."
        return said


def enough_of(line: Sequence[Row], level: float, spread: Spread | None = None) -> Enough:
    """Judge rows that rise in one setting; ``level``: of any two of them. ``spread``: as more lines tell it."""
    first, last, best = line[0], line[-1], max(line, key=lambda row: row.median)
    spread = spread or spread_of(row for row in line if carries(row))

    def is_proved(row: Row) -> bool:
        found = [compare_rows(row, other, level, None, spread).low for other in line if other is not row]
        return all(low is not None and low >= ENOUGH for low in found)

    row = next(filter(is_proved, line), None)
    before = line[: line.index(best if row is None else row)]
    is_slower = (compare_rows(one, best, level, None, spread).verdict == "slower" for one in before)
    is_less = last.median < ENOUGH * best.median
    falls = is_less and compare_rows(best, last, level, None, spread).verdict == "faster"
    gain = gain_of(compare_rows(row or best, first, level, None, spread))
    return Enough(row or best, first, best, last, row is None or not all(is_slower), falls, gain)
