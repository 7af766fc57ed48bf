# SPDX-License-Identifier: Apache-2.0
"""Is one setting faster than another: a ratio, its interval, and one of three words. Of many at once, all are right."""

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import Final, Literal, TypeAlias

from ullage.analysis.statistics.order import are_apart, rank_test, two_sided_p, two_sided_quantile
from ullage.analysis.statistics.spread import UNKNOWN, LaunchSpread, LogMean, Spread, log_mean, shares

ComparisonVerdict: TypeAlias = Literal["faster", "slower", "cannot tell"]
Better: TypeAlias = Literal["more", "less"]
# The rank test has to reach this level for each pair by itself, however many pairs there are: of 6 against 6 samples it
# never goes below 0.0022, which 24 pairs would need by Holm.
_RANKS_LEVEL: Final = 0.05
_SURE_NOISE: Final = 1e6
_NO_PART: Final = 1e-9
_FIRST_RUN: Final = "first run"
_MOST_LOG: Final = 700.0


@dataclass(frozen=True, slots=True)
class Comparison:
    """What a comparison of two sets of samples found.

    ``ratio`` of the geometric means, first over second; bounds are null where a single sample says nothing of its
    noise, and where nobody knows how much the launches of the two differ. ``level``: that of the interval, by which the
    verdict was made.

    ``verdict`` is of the first: ``faster`` means better, whichever direction of the value that is.
    """

    ratio: float
    low: float | None
    high: float | None
    verdict: ComparisonVerdict
    level: float


@dataclass(frozen=True, slots=True)
class Contest:
    """Two sets of samples above 0 to be compared.

    ``spread``: what other cells say of the noise of one value. ``noise``: the standard deviation of the log of one
    value, for sides of one sample, known with ``freedom`` degrees; without either those say ``cannot tell``.
    ``launches``: of each sample of both (none: all of one). Samples of different launches say ``cannot tell``, too,
    where ``spread`` does not know these. ``is_of_runs``: the sides are two runs, and the launches of each share its
    minutes.
    """

    first: Sequence[float]
    second: Sequence[float]
    better: Better = "more"
    noise: float | None = None
    spread: Spread = UNKNOWN
    launches: tuple[Sequence[Hashable], Sequence[Hashable]] = ((), ())
    is_of_runs: bool = False
    freedom: float = _SURE_NOISE

    @property
    def weights(self) -> dict[Hashable, float]:
        """By how much more of the first side's samples are from a launch than of the second's.

        Two runs differ by one more shift each, which is taken to be like those of launches.
        """
        first, second = (shares(*side) for side in zip(self.launches, map(len, (self.first, self.second)), strict=True))
        of_runs = {_FIRST_RUN: 1.0, "second run": -1.0} if self.is_of_runs else {}
        return {one: first.get(one, 0.0) - second.get(one, 0.0) for one in (*first, *second)} | of_runs


@dataclass(frozen=True, slots=True)
class _Evidence:
    """The log of the ratio, its standard error and degrees of freedom, and of what: the ranks of that are asked only
    where the logs tell. None: of many contests together. ``weights`` of launches, whose shifts error leaves out."""

    log: float
    error: float
    freedom: float
    contest: Contest | None = None
    weights: Mapping[Hashable, float] = field(default_factory=dict[Hashable, float])

    @property
    def p(self) -> float:
        """1 where the ranks do not agree."""
        if self.error <= 0:
            return 1.0 if self.log == 0 else 0.0
        found = two_sided_p(abs(self.log) / self.error, self.freedom)
        return found if found > _RANKS_LEVEL or self.agrees else 1.0

    @property
    def agrees(self) -> bool:
        """Whether the ranks say so too."""
        return self.contest is None or _ranks_agree(self.contest)


def compare_two(contest: Contest, level: float = 0.95) -> Comparison:
    """Compare two sets of samples above 0 by the interval of the ratio of their geometric means.

    Welch's t of the logarithms, with what other cells say of the noise (``spread``), decides together with the exact
    rank test: both have to say so. Where so few samples cannot reach 5 % by ranks, their ranges must not overlap. Raise
    ValueError without samples or for samples that are not above 0.
    """
    return _judged(contest, _evidence(contest), level)


def compare_all(contests: Sequence[Contest], level: float = 0.95) -> list[Comparison]:
    """Compare as ``compare`` does, but so that all verdicts are right with probability ``level`` (Holm 1979).

    The more there are, the wider the intervals: the one that is clearest is judged at 1 - (1 - level) / number, the
    next at 1 - (1 - level) / (number - 1), until one cannot be told; the rest is judged as that one.
    """
    evidence = [_evidence(contest) for contest in contests]
    order = sorted((found.p, index) for index, found in enumerate(evidence) if found is not None)
    levels = dict.fromkeys(range(len(contests)), level)
    left, own, told = len(order), level, True
    for p, index in order:
        if told:
            own = 1 - (1 - level) / left
            told = p <= 1 - own
            left -= 1
        levels[index] = own
    return [_judged(contest, evidence[index], levels[index]) for index, contest in enumerate(contests)]


def level_of_each(level: float, settings: Iterable[int]) -> float:
    """Return the level at which any two settings of a line are compared so that all such comparisons hold together.

    ``settings``: how many each line has. Any two, since the best that is compared with another is chosen by what was
    measured (Bonferroni).
    """
    return 1 - (1 - level) / max(1, pairs_on(settings))


def pairs_on(lines: Iterable[int]) -> int:
    """Return how many pairs of settings there are on lines of so many each."""
    return sum(count * (count - 1) // 2 for count in lines)


def beaten_by_best(contests: Sequence[Contest], error: float = 0.05) -> list[bool]:
    """Tell for each setting that the best is compared with whether it is proved worse, in the order of ``contests``.

    Any of equals may have come out best, so what counts is how far all of them may lie apart, and not how far one is
    from another (Hsu 1984 protects the one true best; of 42 equals there are 42). Steps down from the clearest: with p
    settings left, of k in all, a pair is told at error 2 / (k (p - 1)) (Ryan 1960, Einot and Gabriel 1975, Welsch 1977;
    by Bonferroni in place of the studentised range, so that settings may differ in noise and in number of samples).
    """
    evidence = [_evidence(contest) for contest in contests]
    order = sorted(
        (found.p, index)
        for index, (found, contest) in enumerate(zip(evidence, contests, strict=True))
        if found is not None and (found.log > 0) == (contest.better == "more")
    )
    beaten = [False] * len(contests)
    settings = len(contests) + 1
    for left, (p, index) in zip(range(settings, 1, -1), order, strict=False):
        if p > 2 * error / (settings * (left - 1)):
            break
        beaten[index] = True
    return beaten


def compare_on_average(contests: Sequence[Contest], level: float = 0.95) -> Comparison:
    """Compare the first sides all in all, by the mean of the logs of all ratios; raise ValueError for none.

    The ranks have no part in it: a mean of many is much the same whatever the noise of one is like.
    """
    evidence = [_within(contest) for contest in contests]
    known = [found for found in evidence if found is not None]
    if not contests or len(known) < len(contests):
        ratios = [_mean_log(contest.first) - _mean_log(contest.second) for contest in contests]
        return Comparison(math.exp(fmean(ratios)), None, None, "cannot tell", level)
    variances = [found.error**2 for found in known]
    variance, freedom = _together([(one, found.freedom) for one, found in zip(variances, known, strict=True)])
    weights = {launch: 0.0 for found in known for launch in found.weights}
    for found in known:
        weights.update((one, weights[one] + weight / len(known)) for one, weight in found.weights.items())
    mean = _Evidence(fmean(found.log for found in known), math.sqrt(variance) / len(known), freedom, None, weights)
    return _judged(contests[0], _with_launches(mean, contests[0].spread.launches), level)


def _judged(contest: Contest, found: _Evidence | None, level: float) -> Comparison:
    if found is None:
        ratio = math.exp(_mean_log(contest.first) - _mean_log(contest.second))
        return Comparison(ratio, None, None, "cannot tell", level)
    reach = min(two_sided_quantile(level, max(1.0, found.freedom)) * found.error, _MOST_LOG)
    ratio = math.exp(found.log)
    is_told = abs(found.log) > reach and found.agrees
    word = ("faster" if (ratio > 1) == (contest.better == "more") else "slower") if is_told else "cannot tell"
    return Comparison(ratio, math.exp(found.log - reach), math.exp(found.log + reach), word, level)


def _evidence(contest: Contest) -> _Evidence | None:
    """Return the log of the ratio and its error; None where nothing is known of noise or launches.

    Raise ValueError without samples or for samples that are not above 0.
    """
    found = _within(contest)
    return None if found is None else _with_launches(found, contest.spread.launches)


def _within(contest: Contest) -> _Evidence | None:
    """Return the evidence as if launches did not differ."""
    first, second = contest.first, contest.second
    if not first or not second or min(*first, *second) <= 0:
        raise ValueError("a comparison needs samples above 0 on both sides")
    a, b = (_side(side, contest, own) for side, own in zip((first, second), contest.launches, strict=True))
    if a is None or b is None:
        return None
    variance, freedom = _together([(a.variance, a.freedom), (b.variance, b.freedom)])
    return _Evidence(a.mean - b.mean, math.sqrt(variance), freedom, contest, contest.weights)


def _with_launches(found: _Evidence, launches: LaunchSpread) -> _Evidence | None:
    """Return the evidence with the error that launches bring; None where they have a part and are not known."""
    part = sum(weight**2 for weight in found.weights.values())
    if part < _NO_PART:
        return found
    if not launches.freedom:
        return None
    variance, freedom = _together([(found.error**2, found.freedom), (part * launches.variance, launches.freedom)])
    return replace(found, error=math.sqrt(variance), freedom=freedom)


def _together(parts: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Return the sum of variances and its degrees of freedom (Welch 1947, Satterthwaite 1946)."""
    variance = sum(one for one, _ in parts)
    divided = sum(one**2 / freedom for one, freedom in parts)
    return variance, max(1.0, math.floor(variance**2 / divided)) if divided > 0 else _SURE_NOISE


def _side(samples: Sequence[float], contest: Contest, launches: Sequence[Hashable]) -> LogMean | None:
    if len(samples) == 1 and contest.noise is not None:
        return LogMean(math.log(samples[0]), contest.noise**2, contest.freedom)
    return log_mean(samples, contest.spread, launches)


def _ranks_agree(contest: Contest) -> bool:
    sides = zip((contest.first, contest.second), contest.launches, strict=True)
    first, second = (contest.spread.launches.apart(*side) for side in sides)
    if are_apart(first, second):
        return True
    return min(len(first), len(second)) > 1 and rank_test(first, second) <= _RANKS_LEVEL


def _mean_log(samples: Sequence[float]) -> float:
    return sum(map(math.log, samples)) / len(samples)
