# SPDX-License-Identifier: Apache-2.0
"""Whether the best setting is better than the default, by fresh trials of both in alternating pairs; and in what.

What made a setting look best has no part in it, so the error is that of one comparison. Pairs are looked at several
times, each time at its share of the error (Bonferroni), so that a clear case ends early.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Final, Literal, TypeAlias

from ullage.analysis.statistics.order import two_sided_quantile
from ullage.quantity import times

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


_NOTABLE: Final = math.log(1.1)
_MOST_NAMED: Final = 6


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
    named = ", ".join(
        f"{one.name} to {times(one.ratio) if one.ratio >= 0.1 else f'{one.ratio:.3g} x'}" for one in found[:most]
    )
    more = f", and {len(found) - most} more" if len(found) > most else ""
    return f"{setting} (before: {before}) changes {named}{more}."


def front(points: Sequence[Sequence[float]]) -> list[int]:
    """Return the places of the points that no other dominates (more is better in each objective); equal points stay."""

    def dominates(first: Sequence[float], second: Sequence[float]) -> bool:
        return first != second and all(a >= b for a, b in zip(first, second, strict=True))

    return [place for place, point in enumerate(points) if not any(dominates(other, point) for other in points)]
