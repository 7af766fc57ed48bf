# SPDX-License-Identifier: Apache-2.0
"""Which of several targets is better, best against best, for suites whose own findings compare none."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from ullage.analysis.contests import carries, compare_rows, spread_of
from ullage.analysis.findings.phrasing import capital, columns, level_of_part, operations
from ullage.analysis.settings import ACCESS_KEYS, access_of, phase_of, separating_keys
from ullage.analysis.statistics.comparison import Comparison
from ullage.analysis.statistics.spread import Spread
from ullage.analysis.verdicts.grades import sound_rows
from ullage.model.summary import Finding, Row
from ullage.quantity import between, format_param, param_label, show, times

_KIND: Final = "ratio"
# Fewer rows than these do not tell the noise of a row with fewer samples: all may be of one of its modes.
_FEW: Final = 6
_WORDS: Final = {"faster": "better", "slower": "worse"}


@dataclass(frozen=True)
class _Work:
    """The rows of all targets in one kind of work, the best of each target, and the settings in which rows differ."""

    access: str
    rows: Sequence[Row]
    bests: Sequence[Row]
    settings: Sequence[str]

    @property
    def comparisons(self) -> int:
        """How many of equal settings may come out as a difference: each setting, of each two targets."""
        most = max(Counter(row.target for row in self.rows).values())
        return most * len(self.bests) * (len(self.bests) - 1) // 2


def find_better_targets(
    rows: Sequence[Row], told: Sequence[Finding], targets: Collection[str], level: float
) -> list[Finding]:
    """Return a finding for each kind of work and each of ``targets`` beside the best of them.

    There is none where ``told`` compares targets. All verdicts together hold at ``level``: a best is chosen by what was
    measured, so every setting of every two targets counts (Bonferroni). They take half of the error, since the suite's
    own sentences stand beside them.
    """
    if any(finding.kind == _KIND for finding in told):
        return []
    works = list(_works([row for row in sound_rows(rows) if row.target in targets]))
    own = level_of_part(level, 2 * max(1, sum(work.comparisons for work in works)))
    known = [row for work in works for row in work.rows if carries(row)]
    spread, fewest = spread_of(known), _FEW if len(known) < _FEW else 0
    return [
        _finding(work, best, other, _judged(best, other, own, spread, fewest))
        for work in works
        for best, *others in [work.bests]
        for other in others
    ]


def _judged(first: Row, second: Row, level: float, spread: Spread, fewest: int) -> Comparison:
    if min(len(first.repetitions), len(second.repetitions)) < fewest:
        return Comparison(first.median / second.median if second.median else 1.0, None, None, "cannot tell", level)
    return compare_rows(first, second, level, None, spread)


def _works(rows: Sequence[Row]) -> Iterator[_Work]:
    works: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        of_work = works.setdefault((row.suite, phase_of(row) or access_of(row)), [])
        # The first metric of a kind of work is its main one.
        if not of_work or (of_work[0].metric, of_work[0].unit) == (row.metric, row.unit):
            of_work.append(row)
    for (_, access), of_work in works.items():
        bests: dict[str, Row] = {}
        for row in of_work:
            if row.target not in bests or _strength(row) > _strength(bests[row.target]):
                bests[row.target] = row
        settings = [key for key in separating_keys(of_work, lambda row: (row.target,)) if key not in ACCESS_KEYS]
        yield _Work(access, of_work, sorted(bests.values(), key=_strength, reverse=True), settings)


def _strength(row: Row) -> float:
    return row.median if row.better == "more" else -row.median


def _finding(work: _Work, first: Row, second: Row, found: Comparison) -> Finding:
    both, what = f"{first.target} and {second.target}", capital(operations(work.access))
    is_told = found.verdict != "cannot tell"
    said = f"{first.target} is {_WORDS[found.verdict]}" if is_told else "which is better cannot be told"
    known = "" if found.low is None or found.high is None else f" {between(times(found.low), times(found.high))}"
    unlike = first.verdict != second.verdict
    caveat = f" The two were not measured alike ({first.verdict} against {second.verdict})." if unlike else ""
    text = (
        f"{what}, best against best: {_best(work, first)}, {_best(work, second)}. The ratio is {times(found.ratio)}"
        f"{known}: {said}.{caveat}"
    )
    title = f"{what}: {said if is_told else f'which of {both} is better cannot be told'}, best against best"
    # Numbers of speed, as those of a grid are: above 1 where the first target is better.
    ratios = [one if one is None or first.better == "more" else 1 / one for one in (found.ratio, found.low, found.high)]
    ratio, low, high = ratios if first.better == "more" else (ratios[0], ratios[2], ratios[1])
    numbers = columns(scope="best", against=second.target, ratio=ratio, low=low, high=high, verdict=found.verdict)
    of = {"target": first.target, "access": work.access, "metric": first.metric}
    return Finding(kind=_KIND, title=title, text=text, numbers={**of, **numbers})


def _best(work: _Work, row: Row) -> str:
    settings = [
        f"{param_label(key)} {format_param(key, row.params[key])}" for key in work.settings if key in row.params
    ]
    where = f" ({', '.join(settings)})" if settings else ""
    return f"{row.target} reaches {show(row.median, row.unit)}{where}"
