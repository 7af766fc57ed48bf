# SPDX-License-Identifier: Apache-2.0
"""What a report shows of a run of all kernels: the settings that change most, and each class of patterns.

A class stands with the data that it moved, its rate and its share of the ceiling.
"""

from collections.abc import Sequence
from statistics import median
from typing import Final

from ullage.analysis.verdicts.grades import sound_rows
from ullage.grouping import grouped
from ullage.model.summary import Row, Summary
from ullage.quantity import DASH, plural
from ullage.report.answers import AnswerRule
from ullage.report.bars import Bars, bars
from ullage.report.contents import Content
from ullage.report.data import ReportData
from ullage.report.declared import PartOfReport
from ullage.report.grids import Column, ceiling_text, grid_of, share_text, value_column
from ullage.report.verdicts import headword
from ullage.suites.apps import suite
from ullage.units import format_volume

_SUITE: Final = "apps"


_SORTED: Final = (
    "Each table is sorted by the verdict and then by the median. Rates of different verdicts are not compared."
)
_NO_CEILING: Final = (
    "No ceiling is known but the best of this run. State one with --ceiling TARGET:write=RATE and --ceiling "
    "TARGET:read=RATE."
)


def tables(data: ReportData) -> Content | None:
    """Return a table of the classes of each target, or None for other suites and where nothing was measured."""
    if data.summary.suite != _SUITE:
        return None
    rates = suite.rates_of(data.summary.rows, suite.SMALL)
    if not rates:
        return None
    grids = [
        grid
        for target in dict.fromkeys(row.target for row in rates)
        for writes in (True, False)
        for grid in grid_of(
            f"{target}: {'writes' if writes else 'reads'}",
            _columns(data),
            sorted(
                (row for row in rates if row.target == target and suite.is_write(row) == writes),
                key=lambda row: (row.verdict, -row.median),
            ),
        )
    ]
    settings, compared = suite.settings_of(sound_rows(data.summary.rows))
    gone = [part for part in data.summary.parts if part.status == "not available"]
    missing = [f"Not available: {part.suite}: {part.reason}." for part in gone]
    notes = [*missing, *_settings_notes(len(settings), compared), _SORTED]
    if all(row.share is None for row in rates):
        notes.append(_NO_CEILING)
    return Content(notes=notes, grids=[*grid_of("Settings that change most", _SETTINGS, settings), *grids])


def _columns(data: ReportData) -> Sequence[Column[Row]]:
    """Return the columns of a class; ``data`` knows the bytes and operations of its phase, all ranks together."""

    def moved(row: Row) -> str:
        phases = data.phases_of(row)
        return format_volume(median(phase.bytes for phase in phases)) if phases else DASH

    def operations(row: Row) -> str:
        phases = data.phases_of(row)
        return f"{round(median(phase.operations for phase in phases)):,}" if phases else DASH

    return (
        Column[Row]("pattern", suite.class_of, is_number=False),
        Column[Row]("kernel", lambda row: row.suite, is_number=False),
        Column[Row]("phase", lambda row: str(row.params.get("access", suite.direction(row))), is_number=False),
        Column[Row]("ranks", lambda row: str(row.params.get("ranks", DASH))),
        Column[Row]("data", moved),
        Column[Row]("operations", operations),
        value_column("rate", lambda row: row),
        Column[Row]("ceiling", ceiling_text),
        Column[Row]("share", share_text),
        Column[Row]("verdict", headword, is_number=False),
    )


def _settings_notes(ranked: int, compared: int) -> list[str]:
    """Say of how many comparisons the settings are the best, and why there are fewer than asked for."""
    if not compared:
        return ["No two rates with a clear verdict differ in one setting alone, so no setting is compared."]
    pairs = f"{plural(compared, 'pair')} of rates {'differs' if compared == 1 else 'differ'} in one setting alone."
    if ranked < suite.MOST_SETTINGS:
        told = f"{plural(ranked, 'setting')} {'is' if ranked == 1 else 'are'}" if ranked else "No setting is"
        return [f"{pairs} {told} shown to change a rate."]
    return [f"{pairs} The {suite.MOST_SETTINGS} settings with the largest sure gain stand first."]


_SETTINGS: Final[Sequence[Column[suite.Paired]]] = (
    Column[suite.Paired]("change", lambda pair: pair.setting.change(pair.top), is_number=False),
    Column[suite.Paired]("kernel", lambda pair: pair.setting.suite, is_number=False),
    Column[suite.Paired]("of", lambda pair: f"{suite.direction(pair.top)} on {pair.top.target}", is_number=False),
    value_column("rate", lambda pair: pair.top),
    Column[suite.Paired]("instead of", lambda pair: pair.setting.change(pair.other), is_number=False),
    value_column("its rate", lambda pair: pair.other),
    Column[suite.Paired]("gain", lambda pair: suite.ratio_text(pair.found)),
)


def extremes(summary: Summary) -> list[Bars]:
    """Return the best and the worst pattern of each direction and target, among rates of the commonest verdict."""
    rates = [row for row in suite.rates_of(sound_rows(summary.rows), suite.SMALL) if suite.is_clear(row)]
    groups = grouped(((suite.direction(row), row.target, row.verdict), row) for row in rates)
    most: dict[tuple[str, str], Sequence[Row]] = {}
    for (way, target, _), rows in sorted(groups.items(), key=lambda group: -len(group[1])):
        most.setdefault((way, target), rows)
    return [
        group
        for (way, target), rows in sorted(most.items(), reverse=True)
        if len(rows) > 1
        for group in bars(
            f"{way.capitalize()} on {target}: the best and the worst of {len(rows)} settings",
            [(f"{row.suite}: {suite.class_of(row)}", row) for row in (max(rows, key=_median), min(rows, key=_median))],
        )
    ]


def _median(row: Row) -> float:
    return row.median


ANSWER: Final = AnswerRule(
    "apps",
    "Which access patterns is this target good and bad at?",
    "apps-classes apps-cached apps-settings",
    picture=extremes,
)
_REPORT: Final = PartOfReport(_SUITE, "disk", 1)
SECTION: Final = _REPORT.section(
    "Classes of access patterns",
    "Rates of all ranks together, for each class of patterns that the kernels measured, with the bytes and "
    "operations of a repetition. A share is of the ceiling of the target.",
    tables,
)
