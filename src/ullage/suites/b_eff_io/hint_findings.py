# SPDX-License-Identifier: Apache-2.0
"""Sets of hints against each other, by pattern: which ones the MPI did not take, which are good for what. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import geometric_mean
from typing import Final

from ullage.analysis.findings.phrasing import columns, finding, gain_of, with_gain
from ullage.analysis.findings.study import compare_rows
from ullage.analysis.statistics import level_of_each
from ullage.grouping import grouped
from ullage.model.plan import Scalar
from ullage.model.record import PhaseRecord
from ullage.model.summary import Finding, Gain, Row
from ullage.quantity import percent, plural, processes, times
from ullage.suites.b_eff_io.findings import place
from ullage.suites.b_eff_io.measured import BEffIoRun
from ullage.suites.b_eff_io.rows import PATTERN, select
from ullage.suites.b_eff_io.scores import SpotScores, best
from ullage.units import format_rate

_SET = "hint_set"


@dataclass(frozen=True, slots=True)
class HintRatio:
    """One pattern with a set of hints against the same with the base. ``ratio`` > 1: the set is faster."""

    row: Row
    base: Row

    @property
    def ratio(self) -> float:
        """The ratio of the medians."""
        return self.row.median / self.base.median

    @property
    def hint_set(self) -> str:
        """The name of the set."""
        return str(self.row.params[_SET])


def sets_of(rows: Iterable[Row]) -> list[str]:
    """Return the names of the sets of hints that the rows of patterns have, in the order of the rows."""
    return list(dict.fromkeys(str(row.params[_SET]) for row in select(rows, PATTERN)))


def ratios(rows: Iterable[Row], base: str = "") -> list[HintRatio]:
    """Compare each pattern's row with that of the set ``base``; an empty name takes the first set."""
    found = select(rows, PATTERN)
    name = base or next(iter(sets_of(found)), "")
    by_place = {_place(row): row for row in found if row.params[_SET] == name}
    return [
        HintRatio(row, against)
        for row in found
        if row.params[_SET] != name and (against := by_place.get(_place(row))) is not None and against.median > 0
    ]


def _place(row: Row) -> tuple[Scalar, ...]:
    return row.target, row.params["ranks"], row.params["access"], row.params["pattern"]


# Patterns whose ratio is below this are taken as equally fast.
_ALIKE: Final = 1.1


@dataclass
class _Count:
    """How many patterns were given a hint, how many did not get it, and what they got first."""

    given: int = 0
    refused: int = 0
    granted: str = ""


def ignored(io_run: BEffIoRun, target: str, label: str) -> list[Finding]:
    """Report each hint that the MPI did not name afterwards, or named with another value."""
    counts: dict[tuple[int, str, str], _Count] = {}
    for number, phase in _phases(io_run, target):
        for key, value in phase.hints_given.items():
            count = counts.setdefault((number, key, value), _Count())
            count.given += 1
            granted = phase.hints_granted.get(key, "")
            if granted != value:
                count.granted = count.granted or granted
                count.refused += 1
    return [
        _ignored(io_run.hint_set(number), key, value, count, target, label)
        for (number, key, value), count in counts.items()
        if count.refused
    ]


def _phases(io_run: BEffIoRun, target: str) -> Iterable[tuple[int, PhaseRecord]]:
    for key in io_run.keys:
        if key.target == target:
            for attempt in io_run.attempts(key):
                for phase in attempt.good.values():
                    yield key.hints, phase


def _ignored(hint_set: str, key: str, value: str, count: _Count, target: str, label: str) -> Finding:
    many = "" if count.refused == count.given else f" in {count.refused:,} of {plural(count.given, 'pattern')}"
    what = f"used {count.granted} instead" if count.granted else "did not use it"
    text = f"{label}The MPI library was given the hint {key} = {value} (set {hint_set}) and {what}{many}."
    title = f"{label}The MPI library did not use the hint {key} = {value}"
    return finding(
        "b_eff_io-hints-ignored",
        title,
        text,
        "advice",
        target=target,
        hint_set=hint_set,
        key=key,
        given=value,
        granted=count.granted,
        patterns=count.refused,
        of=count.given,
    )


def sets_compared(found: Sequence[SpotScores], label: str, level: float) -> list[Finding]:
    """Compare the sets of each partition that has more than one: which is best, and in how many patterns.

    ``found``: all partitions on one target.
    """
    by_ranks = grouped((one.spot.ranks, one) for one in found)
    own = level_of_each(level, map(len, by_ranks.values()))
    return [_compared(sets, label, own) for sets in by_ranks.values() if len(sets) > 1]


def _compared(sets: Sequence[SpotScores], label: str, level: float) -> Finding:
    rows = [row for one in sets for row in one.rows]
    first, *others = sets_of(rows) or [sets[0].hint_set]
    by_set: dict[str, list[HintRatio]] = {name: [] for name in others}
    for ratio in ratios(rows, first):
        by_set.setdefault(ratio.hint_set, []).append(ratio)
    top = best(sets)
    values = {one.hint_set: one.value for one in sets}
    text = f"{label}With {processes(sets[0].spot.ranks)}, {_winner(top, values, first)}"
    text += "".join(f" {_against(name, found, first)}" for name, found in by_set.items() if found)
    numbers = columns(
        **place(sets[0]),
        b_eff_io=[row.median for row in values.values() if row is not None],
        better=[sum(one.ratio > _ALIKE for one in found) for found in by_set.values()],
        worse=[sum(one.ratio < 1 / _ALIKE for one in found) for found in by_set.values()],
        mean=[geometric_mean([one.ratio for one in found]) if found else 1.0 for found in by_set.values()],
    )
    numbers["hint_set"] = list(values)
    is_won = top is not None and top.hint_set != first
    severity = "advice" if is_won else "info"
    title = f"{label}b_eff_io is highest with hints {'' if top is None else top.hint_set}".strip()
    told = Finding(kind="b_eff_io-hint-sets", title=title, text=text, severity=severity, numbers=numbers)
    if top is None or not is_won:
        return told
    return with_gain(told, _gain(top.value, values.get(first), level), f"--hints {top.hint_set}")


def _gain(best_of_all: Row | None, base: Row | None, level: float) -> Gain | None:
    """Return the gain of the best set over the base, or None where either has no value or a repetition of 0."""
    if best_of_all is None or base is None or min(*best_of_all.repetitions, *base.repetitions) <= 0:
        return None
    return gain_of(compare_rows(best_of_all, base, level, None))


def _winner(top: SpotScores | None, values: Mapping[str, Row | None], first: str) -> str:
    if top is None or top.value is None:
        return "no set of hints has a b_eff_io."
    base = values.get(first)
    against = ""
    if base is not None and top.hint_set != first and base.median > 0:
        against = f", {times(top.value.median / base.median)} that of {first}"
    return f"b_eff_io is highest with hints {top.hint_set}, {format_rate(top.value.median)}{against}."


def _against(name: str, found: Sequence[HintRatio], first: str) -> str:
    faster = [one for one in found if one.ratio > _ALIKE]
    slower = [one for one in found if one.ratio < 1 / _ALIKE]
    apart = f"by more than {percent(_ALIKE - 1)}"
    text = f"{name} has a higher rate than {first} {apart} in {len(faster)} of {plural(len(found), 'pattern')}"
    if faster:
        text += f" (most: {_named(max(faster, key=lambda one: one.ratio))})"
    text += f" and a lower one in {len(slower)}"
    if slower:
        text += f" (most: {_named(min(slower, key=lambda one: one.ratio))})"
    return f"{text}."


def _named(one: HintRatio) -> str:
    params = one.row.params
    return f"{params['access']} of {params['size']} in {params['pattern_type']}, {times(one.ratio)}"
