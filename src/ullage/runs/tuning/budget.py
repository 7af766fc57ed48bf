# SPDX-License-Identifier: Apache-2.0
"""What is left of time, bytes and trials. A trial begins only where it cannot exceed any of them."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Final

from ullage.analysis.tuning.search import FEWEST_TRIALS
from ullage.errors import UserError
from ullage.model.tuning import TuneTrial
from ullage.quantity import plural
from ullage.runs.tuning.judging import room as room_of_short
from ullage.units import format_time, format_volume

NO_LIMIT: Final = 100_000
# A trial may take so long beyond its measuring time, which its suite keeps: for engine start, probes and cleaning.
_START_S: Final = 1.5
_OVERRUN: Final = 1.1
_RECENT: Final = 8
# A trial may write so many times what others have written.
_MORE_BYTES: Final = 1.5


def measuring_s(seconds: float, trials: int) -> float:
    """Return the seconds that each of ``trials`` may measure so that all fit into ``seconds``."""
    return max(0.0, seconds / trials / _OVERRUN - _START_S)


def _is_good(trial: TuneTrial) -> bool:
    return not trial.reason and not trial.is_proxy


@dataclass(frozen=True)
class Budget:
    """Limits what each trial and the whole search may use.

    ``trial_s``: that a trial may measure, None where its suite has no limit; ``trial_bytes``: most it may write,

    None where its plans do not say; ``least_s``: that any trial takes, by what is assumed of the machine.
    """

    seconds: float
    trials: int | None
    bytes: int | None
    trial_s: float | None
    trial_bytes: int | None
    least_s: float = 0.0

    def longest_s(self, done: Sequence[TuneTrial], of: Callable[[Sequence[float]], float] = max) -> float:
        """Return the seconds that the next full trial may take, by its limit and by the last ones.

        One that failed does not count: a trial that hangs is ended by the time that is left. ``of``: of the last ones,
        their mean where several trials are to come.
        """
        recent = of([one.seconds for one in [*filter(_is_good, done)][-_RECENT:]] or [0.0])
        measured_s = max(self.trial_s or 0.0, self.least_s)
        limit = _OVERRUN * measured_s + _START_S if measured_s > 0 else 0.0
        # Trials that ended long before their limit tell more than the limit.
        return limit if recent == 0 else max(_OVERRUN * recent, min(limit, 2 * recent))

    def most_bytes(self, done: Sequence[TuneTrial]) -> int:
        """Return the bytes that a trial is expected to write, by its plan and by the others."""
        usual = self._usual_bytes(done)
        return usual if self.trial_bytes is None else min(self.trial_bytes, usual or self.trial_bytes)

    @staticmethod
    def _usual_bytes(done: Sequence[TuneTrial]) -> int:
        return round(_MORE_BYTES * max((one.bytes for one in done), default=0))

    def left(self, done: Sequence[TuneTrial], *, next_is_short: bool = False) -> int:
        """Return how many more trials the budget has room for, so that none exceeds anything.

        ``next_is_short``: short ones come first, and leave room for full ones.
        """
        found = [NO_LIMIT if self.trials is None else self.trials - len(done)]
        left_s, longest_s = self.seconds - sum(one.seconds for one in done), self.longest_s(done)
        if longest_s > 0:
            # Half of the trials in pairs have the default.
            own = [one.seconds for one in done if one.purpose == "default" and _is_good(one)]
            usual_s = max(self.longest_s(done, fmean), _OVERRUN * own[-1] if own else 0.0)
            full = max(1, math.floor(left_s / usual_s)) if left_s >= longest_s else 0
            short_s = _OVERRUN * max((one.seconds for one in done if one.is_proxy), default=0.0)
            found.append(room_of_short(full, longest_s, short_s) if next_is_short else full)
        if self.bytes is not None and (each := self.most_bytes(done)) > 0:
            # The next trial may write all that its plan allows; those after it are counted by what others wrote.
            left = self.bytes - sum(one.bytes for one in done) - (self.trial_bytes or each)
            full = 0 if left < 0 else 1 + left // each
            short = self._usual_bytes([one for one in done if one.is_proxy])
            found.append(room_of_short(full, each, short) if next_is_short else full)
        return max(0, min(found)) if left_s > 0 else 0

    def why_no_more(self, done: Sequence[TuneTrial]) -> str:
        """Say why a search that goes on with the trials ``done`` has added none."""
        room, longest_s = self.left(done), self.longest_s(done)
        if room >= FEWEST_TRIALS:
            return "No trial was added: further trials of these settings would tell nothing new."
        if self.trials is not None and self.trials - len(done) <= room:
            return f"No trial was added: --trials {self.trials} leaves {plural(room, 'trial')}, too few to go on."
        left_s = format_time(max(0.0, self.seconds_left(done)))
        each = f" (a trial may take {format_time(longest_s)}, and {left_s} are left)" if longest_s > 0 else ""
        return f"No trial was added: the budget has room for {plural(room, 'trial')}{each}. Give it more time."

    def seconds_left(self, done: Sequence[TuneTrial]) -> float:
        """Return the seconds of the budget that the trials ``done`` have left."""
        return self.seconds - sum(one.seconds for one in done)

    def check(self) -> None:
        """Raise ``UserError`` where not even the smallest search fits."""
        room = self.left([])
        if room >= FEWEST_TRIALS:
            return
        needs = [f"--trials {FEWEST_TRIALS}"] if self.trials is not None and self.trials < FEWEST_TRIALS else []
        if (each := self.longest_s([])) * FEWEST_TRIALS > self.seconds:
            needs.append(f"--budget {math.ceil(each * FEWEST_TRIALS)}s ({format_time(each)} a trial)")
        if self.bytes is not None and (most := self.most_bytes([])) * FEWEST_TRIALS > self.bytes:
            needs.append(f"--space {most * FEWEST_TRIALS} ({format_volume(most)} a trial)")
        what = f"the budget has room for {max(room, 0)} trials, and a search needs {FEWEST_TRIALS}"
        raise UserError(what, "ullage tune", f"give at least {', '.join(needs)}, or shorter trials")
