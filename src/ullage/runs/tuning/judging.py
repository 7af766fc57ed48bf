# SPDX-License-Identifier: Apache-2.0
"""Which trials count, which settings break a rule of ``--keep``, and whether two settings were measured alike.

Short trials come before full ones, where a suite offers them: they tell which settings are worth a full one. Default
and other settings are measured short alike. A short value counts as its share of the default's short values, times the
default's full ones. Once a setting was measured in full, its short trials count no more. So the finalists are judged by
full trials alone, and the pairs are full always. Trials that an earlier search has measured count by its default alike.

One trial of a setting that is as good as the default falls below 0.9 of it where trials differ by as much. So a setting
is rejected in the search only for what the noise of the trials does not explain. The pairs that confirm the best
setting are judged by their means. Only settings that were measured alike can be compared.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Final, TypeAlias

from ullage.grouping import grouped
from ullage.model.record import PhaseRecord
from ullage.model.summary import Row
from ullage.model.tuning import Purpose, TuneObjective, TuneTrial
from ullage.runs.tuning.objective import Rule

# These purposes are served by short trials; a default that is repeated is one of them, but not the first.
_SHORT: Final = frozenset({"default", "start", "search"})
_MOST_KEPT: Final = 14
_LEAST_KEPT: Final = 7
_KEPT_SHARE: Final = 0.6
Setting: TypeAlias = Mapping[str, str]
Key: TypeAlias = tuple[tuple[str, str], ...]


def is_short_one(purpose: Purpose, done: Sequence[TuneTrial], default: Setting) -> bool:
    """Tell whether a trial for ``purpose`` is to be short: after the first full trial, as long as no default failed."""
    own = [one for one in done if one.setting == default]
    has_full = any(not one.is_proxy and not one.reason for one in own)
    return purpose in _SHORT and has_full and not any(one.is_proxy and one.reason for one in own)


def lacks_default(done: Sequence[TuneTrial], default: Setting) -> bool:
    """Tell whether the default has to be measured short before other settings are."""
    return not any(one.is_proxy for one in done if one.setting == default)


def counted(trials: Sequence[TuneTrial], default: Setting) -> list[TuneTrial]:
    """Return the trials that count, short ones with the values of full ones as far as the default tells these."""
    full = {key(one.setting) for one in trials if not one.is_proxy and not one.reason and one.setting != default}
    # The first short default tells the scale alone; those that repeat it show how the machine drifts.
    first = next((one.number for one in trials if one.is_proxy and one.setting == default), 0)
    short, whole = (_means(trials, default, is_proxy=side) for side in (True, False))
    found: list[TuneTrial] = []
    for one in trials:
        if one.default_there:
            found.append(one.model_copy(update={"values": _rescaled(one.values, one.default_there, whole)}))
        elif not one.is_proxy:
            found.append(one)
        elif one.number != first and key(one.setting) not in full and one.values.keys() <= short.keys() & whole.keys():
            found.append(one.model_copy(update={"values": _rescaled(one.values, short, whole)}))
    return found


def _rescaled(values: Mapping[str, float], there: Mapping[str, float], here: Mapping[str, float]) -> dict[str, float]:
    """Return ``values`` as shares of the default's values ``there``, times those ``here``."""
    shared = [name for name in values if name in there and name in here]
    return {name: values[name] * here[name] / there[name] for name in shared}


def _means(trials: Sequence[TuneTrial], default: Setting, *, is_proxy: bool) -> dict[str, float]:
    """Return the geometric means of the default's values in short or in full trials."""
    good = [one for one in trials if one.setting == default and one.is_proxy == is_proxy and not one.reason]
    names = [name for name in good[0].values if all(one.values.get(name, 0.0) > 0 for one in good)] if good else []
    return {name: math.exp(fmean(math.log(one.values[name]) for one in good)) for name in names}


def room(left: int, full: float, short: float) -> int:
    """Return how many trials there is room for while short ones come, where ``left`` full ones would fit.

    ``full`` and ``short``: seconds or bytes of a trial. What finalists and pairs need is kept for full ones.
    """
    kept = min(left, max(_LEAST_KEPT, min(_MOST_KEPT, math.floor(_KEPT_SHARE * left))))
    if short <= 0 or full <= short:
        return left
    return kept + math.floor((left - kept) * full / short)


def key(setting: Setting) -> Key:
    """Return the same for equal settings."""
    return tuple(sorted(setting.items()))


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
    broken: dict[Key, str] = {}
    for rule in reversed(rules):
        broken.update(dict.fromkeys(_broken(trials, rule, default), rule.text))
    return [one.model_copy(update={"breaks": broken.get(key(one.setting), "")}) for one in trials]


def _broken(trials: Sequence[TuneTrial], rule: Rule, default: Setting) -> list[Key]:
    good = [one for one in trials if not one.reason and one.values.get(rule.metric, 0.0) > 0]
    logs = grouped((key(one.setting), math.log(one.values[rule.metric])) for one in good)
    of_default = logs.get(key(default), [])
    if rule.times and not of_default:
        return []
    groups = [*logs.values()]
    freedom = sum(len(group) - 1 for group in groups)
    squares = sum((value - fmean(group)) ** 2 for group in groups for value in group)
    noise, found = (math.sqrt(squares / freedom) if freedom else 0.0), list[Key]()
    for setting, values in logs.items():
        if rule.times and setting == key(default):
            continue
        base, counts = (fmean(of_default), (len(values), len(of_default))) if rule.times else (0.0, (len(values),))
        allowance = _ONE_SIDED_95 * noise * math.sqrt(sum(1 / count for count in counts))
        margin = fmean(values) - base - math.log(rule.number)
        if (margin if rule.at_least else -margin) < -allowance:
            found.append(setting)
    return found


def kept_in_pairs(
    pairs: Sequence[TuneTrial], rules: Sequence[Rule], is_default: Callable[[TuneTrial], bool]
) -> list[RuleResult]:
    """Say of each rule what the pairs show, by geometric means."""
    found: list[RuleResult] = []
    for rule in rules:
        good = [one for one in pairs if rule.metric in one.values]
        values = grouped((is_default(one), math.log(one.values[rule.metric])) for one in good)
        if len(values) < 2:
            continue
        value = math.exp(fmean(values[False]) - (fmean(values[True]) if rule.times else 0.0))
        found.append(RuleResult(rule, value, rule.breaks(value)))
    return found


_ALIKE: Final = 0.01


def verdict_of(rows: Sequence[Row]) -> str:
    """Return the verdicts of rows without their shares, for example ``mixed`` of ``mixed 37 %``."""
    return " and ".join(sorted({row.verdict.split()[0] for row in rows if row.verdict}))


def work_of(phases: Iterable[PhaseRecord], rows: Sequence[Row]) -> list[float]:
    """Return the bytes of an operation and of a repetition in the cases of ``rows``; nothing where they move none."""
    cases = {row.case for row in rows}
    own = [one for one in phases if one.case in cases and one.status == "ok" and not one.warmup]
    moved, operations = sum(one.bytes for one in own), sum(one.operations for one in own)
    if moved <= 0 or operations <= 0:
        return []
    by_phase = grouped(((one.case, one.phase), float(one.bytes)) for one in own)
    return [moved / operations, sum(map(fmean, by_phase.values()))]


def difference(goals: Sequence[TuneObjective], default: Sequence[TuneTrial], best: Sequence[TuneTrial]) -> str:
    """Say what makes trials of ``default`` and ``best`` different measurements; return nothing where they are alike."""
    before, after = _verdicts(default), _verdicts(best)
    if before and after and before != after:
        return f"the default was measured {_joined(before)} and this setting {_joined(after)} (verdict)"
    works = [[one.work for one in trials if one.work] for trials in (default, best)]
    if not all(works):
        return ""
    for place, what in enumerate(("bytes in an operation", "bytes in a repetition")):
        ratio = fmean(one[place] for one in works[1]) / fmean(one[place] for one in works[0])
        # Rates in bytes count the work themselves. Of latencies only the bytes of an operation matter.
        counting = [one for one in goals if one.unit and one.unit != "B/s"]
        of_operations = [one.unit in ("B/op", "op/s", "s/op") or "latency" in one.metric for one in counting]
        if abs(ratio - 1) > _ALIKE and (place == 0) in of_operations:
            return f"it moves {ratio:.3g} x the {what}, which is different work"
    return ""


def _verdicts(trials: Sequence[TuneTrial]) -> set[str]:
    return {word for one in trials for word in one.verdict.split(" and ") if word}


def _joined(words: set[str]) -> str:
    return " and ".join(sorted(words))
