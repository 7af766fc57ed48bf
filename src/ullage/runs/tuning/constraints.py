# SPDX-License-Identifier: Apache-2.0
"""Which settings break a rule of ``--keep``: by all trials of a setting together, not by a single one.

One trial of a setting that is as good as the default falls below 0.9 of it where trials differ by as much. So a setting
is rejected in the search only for what the noise of the trials does not explain. The pairs that confirm the best
setting are judged by their means.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Final

from ullage.model.tuning import TuneTrial
from ullage.runs.tuning.objective import Rule
from ullage.runs.tuning.proxies import Setting, key

# A mean of normal values lies below its true value by more than this many deviations in 1 of 20 cases.
_ONE_SIDED_95: Final = 1.645


@dataclass(frozen=True)
class RuleResult:
    """A rule in the pairs. ``value``: times the default's where the rule is relative, else the value itself."""

    rule: Rule
    value: float
    breaks: bool


def judged(trials: Sequence[TuneTrial], rules: Sequence[Rule], default: Setting) -> list[TuneTrial]:
    """Return ``trials``, each with the first rule that its setting breaks. The default breaks no relative rule."""
    if not rules:
        return list(trials)
    broken: dict[tuple[tuple[str, str], ...], str] = {}
    for rule in reversed(rules):
        for setting in _broken(trials, rule, default):
            broken[setting] = rule.text
    return [one.model_copy(update={"breaks": broken.get(key(one.setting), "")}) for one in trials]


def _broken(trials: Sequence[TuneTrial], rule: Rule, default: Setting) -> list[tuple[tuple[str, str], ...]]:
    logs: dict[tuple[tuple[str, str], ...], list[float]] = {}
    for one in trials:
        if not one.reason and one.values.get(rule.metric, 0.0) > 0:
            logs.setdefault(key(one.setting), []).append(math.log(one.values[rule.metric]))
    of_default = logs.get(key(default), [])
    if rule.times and not of_default:
        return []
    noise, found = _noise([*logs.values()]), list[tuple[tuple[str, str], ...]]()
    for setting, values in logs.items():
        if rule.times and setting == key(default):
            continue
        base, counts = (fmean(of_default), (len(values), len(of_default))) if rule.times else (0.0, (len(values),))
        allowance = _ONE_SIDED_95 * noise * math.sqrt(sum(1 / count for count in counts))
        margin = fmean(values) - base - math.log(rule.number)
        if (margin if rule.at_least else -margin) < -allowance:
            found.append(setting)
    return found


def _noise(groups: Sequence[Sequence[float]]) -> float:
    """Return the deviation of a single trial, from the settings that have several; 0 where none has."""
    freedom = sum(len(group) - 1 for group in groups)
    squares = sum((value - fmean(group)) ** 2 for group in groups for value in group)
    return math.sqrt(squares / freedom) if freedom else 0.0


def kept_in_pairs(
    pairs: Sequence[TuneTrial], rules: Sequence[Rule], is_default: Callable[[TuneTrial], bool]
) -> list[RuleResult]:
    """Say of each rule what the pairs show, by geometric means."""
    found: list[RuleResult] = []
    for rule in rules:
        values = {
            side: [
                math.log(one.values[rule.metric])
                for one in pairs
                if is_default(one) == side and rule.metric in one.values
            ]
            for side in (True, False)
        }
        if not values[True] or not values[False]:
            continue
        value = math.exp(fmean(values[False]) - (fmean(values[True]) if rule.times else 0.0))
        found.append(RuleResult(rule, value, rule.breaks(value)))
    return found
