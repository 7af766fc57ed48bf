# SPDX-License-Identifier: Apache-2.0
"""Rows that differ in one thing alone, so that what is faster is faster because of it; sentences on them as data."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from ullage.analysis.contests import carries, compare_rows, spread_of
from ullage.analysis.findings.doubts import verdict_word
from ullage.analysis.findings.phrasing import capital, finding, gain_of, with_gain
from ullage.analysis.statistics.comparison import level_of_each
from ullage.grouping import grouped
from ullage.model.summary import Finding, Gain, Row
from ullage.quantity import format_quantity, listing, plural, times


def differing_in(rows: Iterable[Row], *names: str) -> list[list[Row]]:
    """Return groups of two rows or more that differ in the parameters ``names`` alone, the best first.

    All of a group have the same target, and the same verdict: a cache and the storage are not compared.
    """
    groups = grouped(
        ((row.target, verdict_word(row), *sorted((k, str(v)) for k, v in row.params.items() if k not in names)), row)
        for row in rows
    )
    return [sorted(some, key=_from_best) for some in groups.values() if len(some) > 1]


def best_of_alike(rows: Iterable[Row], level: float, *names: str) -> list[tuple[list[Row], Gain | None]]:
    """Return the groups of ``differing_in``, each with the gain of its best over the second; ``level``: of them all."""
    groups = differing_in(rows, *names)
    own = level_of_each(level, map(len, groups))
    spread = spread_of(row for some in groups for row in some if carries(row))
    return [(some, gain_of(compare_rows(some[0], some[1], own, None, spread))) for some in groups]


def _from_best(row: Row) -> float:
    return -row.median if row.better == "more" else row.median


Words: TypeAlias = Callable[[Row], Mapping[str, object]]


@dataclass(frozen=True)
class Faster:
    """A sentence on rows that differ in ``param`` alone: the best with the second best, as templates.

    Templates have the parameters of the best row, ``target``, ``ranks`` (``8 ranks``), ``value``, and words of the
    suite. ``way`` is the template of what differs; its text is ``{way}``, with a capital letter ``{Way}``, and with the
    value of all compared rows ``{each}``. ``other_`` before a name means the second row. ``gained`` follows ``text``
    where the best is proved to be faster by ``{factor}``, and ``untold``, a title and a sentence with ``{which}``, are
    for where it is not; without them nothing is said there. ``option`` sets the parameter, ``goes_with`` may differ
    too, and ``numbers`` are parameters that the finding has.
    """

    kind: str
    param: str
    option: str
    title: str
    text: str
    way: str = ""
    gained: str = ""
    untold: tuple[str, str] | None = None
    goes_with: tuple[str, ...] = ()
    numbers: Mapping[str, str] = field(default_factory=dict[str, str])

    def findings(self, rows: Iterable[Row], level: float, words: Words = lambda _row: {}) -> list[Finding]:
        """Return what is said of ``rows``; ``level``: of all comparisons together."""
        alike = best_of_alike(rows, level, self.param, *self.goes_with)
        return [self._said(some, gain, words) for some, gain in alike if gain is not None or self.untold is not None]

    def _said(self, rows: Sequence[Row], gain: Gain | None, words: Words) -> Finding:
        best, other = (self._words(row, words) for row in rows[:2])
        ways = [self._words(row, words) for row in rows]
        said = {
            **best,
            **{f"other_{name}": value for name, value in other.items()},
            "Way": capital(str(best["way"])),
            "each": listing([f"{one['value']} ({one['way']})" for one in ways]),
            "which": "Which of the first two" if len(rows) > 2 else "Which",
            "factor": "" if gain is None else times(gain.factor),
        }
        numbers = {name: rows[0].params[param] for name, param in self.numbers.items()}
        title, more = self.untold if gain is None and self.untold is not None else (self.title, self.gained)
        text = " ".join(filter(None, (self.text, more))).format_map(said)
        found = finding(
            self.kind,
            title.format_map(said),
            text,
            "info" if gain is None else "advice",
            case=rows[0].case,
            other=rows[1].case,
            **numbers,
        )
        change = f"{self.option} {rows[0].params[self.param]}"
        return found if gain is None else with_gain(found, gain, change)

    def _words(self, row: Row, words: Words) -> dict[str, object]:
        usual = {
            "target": row.target,
            "ranks": plural(row.ranks, "rank"),
            "value": format_quantity(row.median, row.unit),
        }
        said = {**row.params, **usual, **words(row)}
        return {**said, "way": self.way.format_map(said)}
