# SPDX-License-Identifier: Apache-2.0
"""Whether the best setting that was found is better than the default: fresh trials of both, in alternating pairs.

What made a setting look best has no part in it, so the error is that of one comparison. Pairs are looked at several
times, each time at its share of the error (Bonferroni), so that a clear case ends early.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Final, Literal, TypeAlias

from ullage.analysis.statistics.student import two_sided_quantile

Answer: TypeAlias = Literal["better", "not better", "undecided"]
ERROR: Final = 0.05
FEWEST_PAIRS: Final = 3
_LOOKS: Final = (6, 10, 15)
_LEAST_SPREAD: Final = 1e-9
# A comparison ends without an answer early where not even this gain is likely.
_NO_GAIN: Final = 0.0


@dataclass(frozen=True)
class Confirmation:
    """Says by how much the best setting is better than the default.

    ``ratio`` of the best over the default, geometric mean of ``pairs`` pairs, with an interval at 95 % or above.
    """

    ratio: float
    low: float
    high: float
    pairs: int
    answer: Answer


def looks(pairs: int) -> tuple[int, ...]:
    """Return after how many pairs they are looked at, where there is room for ``pairs``."""
    found = tuple(look for look in _LOOKS if look <= pairs)
    return found or ((pairs,) if pairs >= FEWEST_PAIRS else ())


def judge(
    defaults: Sequence[float], bests: Sequence[float], most_pairs: int, error: float = ERROR
) -> Confirmation | None:
    """Compare the pairs so far, as logarithms (more is better); return None before the first look.

    ``most_pairs``: for how many there is room in all, which has to be known before the first. ``undecided``: another
    pair may tell. ``error``: of all looks together, to both sides.
    """
    planned = looks(most_pairs)
    done = [look for look in planned if look <= min(len(defaults), len(bests))]
    if not done:
        return None
    count = done[-1]
    apart = [best - default for default, best in zip(defaults[:count], bests[:count], strict=True)]
    deviation = max(stdev(apart), _LEAST_SPREAD) / math.sqrt(count)
    half = deviation * two_sided_quantile(1 - error / len(planned), count - 1)
    middle = fmean(apart)
    ended = count == planned[-1] or middle <= _NO_GAIN
    answer: Answer = "better" if middle - half > 0 else "not better" if ended else "undecided"
    return Confirmation(math.exp(middle), math.exp(middle - half), math.exp(middle + half), count, answer)


def of_pair(turn: int) -> bool:
    """Tell whether confirming trial ``turn``, from 0, is one of the best setting: default, best, best, default.

    So a drift that goes on evenly cancels out over two pairs.
    """
    return turn % 4 in (1, 2)
