# SPDX-License-Identifier: Apache-2.0
"""Sets of hints against each other, by pattern: which ones the MPI did not take, which are good for what. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import geometric_mean

from ullage.analysis.contests import compare_pairs, compare_rows
from ullage.analysis.findings.hints import not_used, refused_hints
from ullage.analysis.findings.phrasing import columns, gain_of, with_gain
from ullage.analysis.statistics import Comparison, level_of_each
from ullage.grouping import grouped
from ullage.model.plan import Scalar
from ullage.model.record import PhaseRecord
from ullage.model.summary import Finding, Gain, Row
from ullage.quantity import plural, processes, times
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


def ignored(io_run: BEffIoRun, target: str, label: str) -> list[Finding]:
    """Report each hint that the MPI did not name afterwards, or named with another value."""
    uses = (
        (io_run.hint_set(number), key, value, phase.hints_granted.get(key, ""))
        for number, phase in _phases(io_run, target)
        for key, value in phase.hints_given.items()
    )
    return [
        not_used(
            "b_eff_io-hints-ignored",
            (key, value),
            used,
            "pattern",
            f" (set {name})",
            label,
            target=target,
            hint_set=name,
        )
        for (name, key, value), used in refused_hints(uses).items()
    ]


def _phases(io_run: BEffIoRun, target: str) -> Iterable[tuple[int, PhaseRecord]]:
    for key in io_run.keys:
        if key.target == target:
            for attempt in io_run.attempts(key):
                for phase in attempt.good.values():
                    yield key.hints, phase


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
    pairs = ratios(rows, first)
    judged = compare_pairs([(one.row, one.base) for one in pairs], level)
    told = {name: _told(pairs, judged, name) for name in by_set}
    top = best(sets)
    values = {one.hint_set: one.value for one in sets}
    gain = None if top is None or top.hint_set == first else _gain(top.value, values.get(first), level)
    text = f"{label}With {processes(sets[0].spot.ranks)}, {_winner(top, values, first, is_told=gain is not None)}"
    text += "".join(f" {_against(name, *told[name], len(found), first)}" for name, found in by_set.items() if found)
    numbers = columns(
        **place(sets[0]),
        b_eff_io=[row.median for row in values.values() if row is not None],
        better=[len(faster) for faster, _ in told.values()],
        worse=[len(slower) for _, slower in told.values()],
        mean=[geometric_mean([one.ratio for one in found]) if found else 1.0 for found in by_set.values()],
    )
    numbers["hint_set"] = list(values)
    title = f"{label}No set of hints is shown to raise b_eff_io above that of {first}"
    if gain is not None and top is not None:
        title = f"{label}b_eff_io is higher with hints {top.hint_set}"
    severity = "info" if gain is None else "advice"
    said = Finding(kind="b_eff_io-hint-sets", title=title, text=text, severity=severity, numbers=numbers)
    return with_gain(said, gain, f"--hints {'' if top is None else top.hint_set}")


def _told(
    pairs: Sequence[HintRatio], judged: Sequence[Comparison], name: str
) -> tuple[list[HintRatio], list[HintRatio]]:
    """Return the patterns in which the set ``name`` is proved faster than the base, and those in which slower."""
    own = [(one, found.verdict) for one, found in zip(pairs, judged, strict=True) if one.hint_set == name]
    return [one for one, word in own if word == "faster"], [one for one, word in own if word == "slower"]


def _gain(best_of_all: Row | None, base: Row | None, level: float) -> Gain | None:
    """Return the gain of the best set over the base, or None where either has no value or a repetition of 0."""
    if best_of_all is None or base is None or min(*best_of_all.repetitions, *base.repetitions) <= 0:
        return None
    return gain_of(compare_rows(best_of_all, base, level, None))


def _winner(top: SpotScores | None, values: Mapping[str, Row | None], first: str, *, is_told: bool) -> str:
    if top is None or top.value is None:
        return "no set of hints has a b_eff_io."
    base = values.get(first)
    against = ""
    if base is not None and top.hint_set != first and base.median > 0:
        against = f", {times(top.value.median / base.median)} that of {first}"
        against += "" if is_told else ", which does not show that it is faster"
    return f"b_eff_io has its highest median with hints {top.hint_set}, {format_rate(top.value.median)}{against}."


def _against(name: str, faster: Sequence[HintRatio], slower: Sequence[HintRatio], count: int, first: str) -> str:
    text = f"{name} is shown to be faster than {first} in {len(faster)} of {plural(count, 'pattern')}"
    if faster:
        text += f" (most: {_named(max(faster, key=lambda one: one.ratio))})"
    text += f" and slower in {len(slower)}"
    if slower:
        text += f" (most: {_named(min(slower, key=lambda one: one.ratio))})"
    return f"{text}."


def _named(one: HintRatio) -> str:
    params = one.row.params
    return f"{params['access']} of {params['size']} in {params['pattern_type']}, {times(one.ratio)}"
