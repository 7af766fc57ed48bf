# SPDX-License-Identifier: Apache-2.0
"""How much better a number becomes by a change: said only where a comparison tells it."""

import math
from collections.abc import Iterable

from ullage.analysis.statistics import Comparison
from ullage.model.summary import Finding, Gain


def gain_of(found: Comparison) -> Gain | None:
    """How many times better the first side is, with the interval by which it is told; None where it is not told."""
    if found.verdict != "faster" or found.low is None or found.high is None:
        return None
    if found.ratio > 1:
        return Gain(factor=found.ratio, low=found.low, high=found.high)
    return Gain(factor=1 / found.ratio, low=1 / found.high, high=1 / found.low)


def with_gain(finding: Finding, gain: Gain | None, change: str) -> Finding:
    """``finding`` with what brings the gain; as it is where there is none."""
    return finding if gain is None else finding.model_copy(update={"gain": gain, "change": change})


def least_gain(gains: Iterable[Gain | None]) -> Gain | None:
    """The one that promises least, for a sentence on several; None where one of them is not told, or there is none."""
    found = list(gains)
    told = [gain for gain in found if gain is not None]
    if not told or len(told) < len(found):
        return None
    return min(told, key=lambda gain: math.log(gain.low or 1.0))


def level_of_part(level: float, parts: int) -> float:
    """At which level to judge one of so many groups of comparisons, for all of them to hold together (Bonferroni)."""
    return 1 - (1 - level) / parts
