# SPDX-License-Identifier: Apache-2.0
"""How the time of a run is shared out."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Deadline:
    """An instant that a part of a run must end at. ``now`` is a clock in s that never goes back."""

    at: float
    now: Callable[[], float] = time.monotonic

    @property
    def left_s(self) -> float:
        """Below 0 when it is over."""
        return self.at - self.now()

    def earlier(self, seconds: float) -> "Deadline":
        """An instant before this one."""
        return Deadline(self.at - seconds, self.now)


def share_out(left_s: float, estimates: Sequence[float]) -> float:
    """Seconds for the first of several launches that are expected to take ``estimates``: its part of all that is left.

    In proportion even when there is plenty: estimates may be wrong, but mostly in the same way for all. What a launch
    does not use is there for the next.
    """
    total = sum(estimates)
    return max(0.0, left_s) * (estimates[0] / total if total > 0 else 1 / len(estimates))
