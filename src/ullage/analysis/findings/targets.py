# SPDX-License-Identifier: Apache-2.0
"""Which of several targets is better, best against best, for suites whose own findings compare none."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from ullage.analysis.contests import compare_pairs
from ullage.analysis.findings.phrasing import capital, columns, operations
from ullage.analysis.settings import ACCESS_KEYS, access_of, phase_of, separating_keys
from ullage.analysis.statistics import Comparison
from ullage.analysis.verdicts.grades import sound_rows
from ullage.model.summary import Finding, Row
from ullage.quantity import between, format_param, param_label, show, times

_KIND: Final = "ratio"
_WORDS: Final = {"faster": "better", "slower": "worse"}


@dataclass(frozen=True)
class _Bests:
    """The best rows of two targets in one kind of work, with the settings in which the rows of that work differ."""

    access: str
    first: Row
    second: Row
    settings: Sequence[str]


def find_better_targets(
    rows: Sequence[Row], told: Sequence[Finding], targets: Collection[str], level: float
) -> list[Finding]:
    """Return a finding for each kind of work and each of ``targets`` beside the best of them.

    There is none where ``told`` compares targets. All verdicts together hold at ``level``.
    """
    if any(finding.kind == _KIND for finding in told):
        return []
    pairs = list(_pairs([row for row in sound_rows(rows) if row.target in targets]))
    judged = compare_pairs([(pair.first, pair.second) for pair in pairs], level)
    return [_finding(pair, found) for pair, found in zip(pairs, judged, strict=True)]


def _pairs(rows: Sequence[Row]) -> Iterator[_Bests]:
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
        first, *others = sorted(bests.values(), key=_strength, reverse=True)
        yield from (_Bests(access, first, other, settings) for other in others)


def _strength(row: Row) -> float:
    return row.median if row.better == "more" else -row.median


def _finding(pair: _Bests, found: Comparison) -> Finding:
    first, second = pair.first, pair.second
    both, what = f"{first.target} and {second.target}", capital(operations(pair.access))
    is_told = found.verdict != "cannot tell"
    said = f"{first.target} is {_WORDS[found.verdict]}" if is_told else "which is better cannot be told"
    known = "" if found.low is None or found.high is None else f" {between(times(found.low), times(found.high))}"
    unlike = first.verdict != second.verdict
    caveat = f" The two were not measured alike ({first.verdict} against {second.verdict})." if unlike else ""
    text = (
        f"{what}, best against best: {_best(pair, first)}, {_best(pair, second)}. The ratio is {times(found.ratio)}"
        f"{known}: {said}.{caveat}"
    )
    title = f"{what}: {said if is_told else f'which of {both} is better cannot be told'}, best against best"
    # Numbers of speed, as those of a grid are: above 1 where the first target is better.
    ratios = [one if one is None or first.better == "more" else 1 / one for one in (found.ratio, found.low, found.high)]
    ratio, low, high = ratios if first.better == "more" else (ratios[0], ratios[2], ratios[1])
    numbers = columns(scope="best", against=second.target, ratio=ratio, low=low, high=high, verdict=found.verdict)
    of = {"target": first.target, "access": pair.access, "metric": first.metric}
    return Finding(kind=_KIND, title=title, text=text, numbers={**of, **numbers})


def _best(pair: _Bests, row: Row) -> str:
    settings = [
        f"{param_label(key)} {format_param(key, row.params[key])}" for key in pair.settings if key in row.params
    ]
    where = f" ({', '.join(settings)})" if settings else ""
    return f"{row.target} reaches {show(row.median, row.unit)}{where}"
