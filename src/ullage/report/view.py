# SPDX-License-Identifier: Apache-2.0
"""The rows of a summary arranged for the eye: one panel for every target, access and further setting."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from ullage.analysis.settings import ACCESS_KEYS, access_of, phase_of, separating_keys, sort_key, values_by_key
from ullage.grouping import grouped
from ullage.model.plan import Scalar
from ullage.model.summary import Row, Summary
from ullage.quantity import format_param, param_label
from ullage.report.verdicts import is_invalid

_X_KEYS: Final = ("ranks", "threads", "nodes", "streams")
_SERIES_KEYS: Final = ("block_bytes", "transfer_bytes", "message_bytes", "size_bytes")

MOST_PANELS: Final = 12


@dataclass(frozen=True)
class Panel:
    """Rows that one chart can show: they differ in ``x_key`` and ``series_key`` only."""

    target: str
    access: str
    metric: str
    unit: str
    better: str
    extra: tuple[tuple[str, Scalar], ...]
    x_key: str
    series_key: str
    rows: tuple[Row, ...]

    @property
    def suite(self) -> str:
        """Whose rows these are, where a result has those of several."""
        return self.rows[0].suite

    @property
    def setting(self) -> str:
        """What sets this panel apart beside target and access: ``backend mpiio, collective yes``."""
        return ", ".join(f"{param_label(key)} {format_param(key, value)}" for key, value in self.extra)

    @property
    def title(self) -> str:
        """Target, access and setting: ``nvme · read``."""
        return " · ".join(part for part in (self.target, self.access, self.setting) if part)

    @cached_property
    def xs(self) -> list[Scalar]:
        """Values along the axis, rising."""
        return sorted({row.params[self.x_key] for row in self.rows if self.x_key in row.params}, key=sort_key)

    @cached_property
    def series(self) -> list[Scalar]:
        """Values that make the lines, rising."""
        return sorted({row.params[self.series_key] for row in self.rows if self.series_key in row.params}, key=sort_key)

    @cached_property
    def best(self) -> Row | None:
        """The best valid row; None when no row is valid."""
        return best_of(self.rows)


def best_of(rows: Iterable[Row]) -> Row | None:
    """Return the best of rows of one metric, invalid ones left out; None when no row is valid."""
    valid = [row for row in rows if not is_invalid(row)]
    return max(valid, key=lambda row: row.median if row.better == "more" else -row.median, default=None)


def _strength(panel: Panel) -> float:
    if panel.best is None:
        return float("-inf")
    return panel.best.median if panel.better == "more" else -panel.best.median


@dataclass(frozen=True)
class View:
    """A summary and its panels. ``panels`` holds every metric, ``main`` the first one of each target and access.

    ``own``: suites whose rows have tables and charts of their own.
    """

    summary: Summary
    panels: tuple[Panel, ...]
    own: frozenset[str] = frozenset()

    @cached_property
    def main(self) -> list[Panel]:
        """Panels of the metric that the suite names first for its access."""
        first: dict[tuple[str, str, str], str] = {}
        for panel in self.panels:
            first.setdefault((panel.suite, panel.target, panel.access), panel.metric)
        return [panel for panel in self.panels if panel.metric == first[panel.suite, panel.target, panel.access]]

    @cached_property
    def swept(self) -> list[Panel]:
        """Main panels without those of named phases and of suites that have tables and charts of their own."""
        return [panel for panel in self.main if not phase_of(panel.rows[0]) and not self.has_own(panel.rows[0])]

    @cached_property
    def of_phases(self) -> list[Row]:
        """Rows of named phases."""
        return [row for row in self.summary.rows if phase_of(row)]

    @cached_property
    def values(self) -> dict[str, set[Scalar]]:
        """Every parameter of the rows with the set of values that it takes."""
        return values_by_key(self.summary.rows)

    def has_own(self, row: Row) -> bool:
        """Tell whether tables and charts made for its suite show ``row``."""
        return (row.suite or self.summary.suite) in self.own

    @cached_property
    def shown(self) -> list[Panel]:
        """The panels that are drawn: all swept ones, or of many the best few in their own order."""
        if len(self.swept) <= MOST_PANELS:
            return self.swept
        ranked = sorted(self.swept, key=_strength, reverse=True)
        chosen = {id(panel) for panel in ranked[:MOST_PANELS]}
        return [panel for panel in self.swept if id(panel) in chosen]

    @cached_property
    def targets(self) -> list[str]:
        """The targets in the order of the summary."""
        return list(dict.fromkeys(row.target for row in self.summary.rows))


def make_view(summary: Summary, own: frozenset[str] = frozenset()) -> View:
    """Group the rows into panels, in the order in which the summary first names them. ``own``: see ``View``."""
    by_suite = grouped((row.suite, row) for row in summary.rows)
    return View(summary, tuple(panel for rows in by_suite.values() for panel in _panels(rows)), own)


def _panels(rows: Sequence[Row]) -> list[Panel]:
    """Return the panels of the rows of one suite, whose parameters are not those of another."""
    x_key, series_key = _axis_keys(rows)
    extra_keys = _separating_keys(rows, x_key, series_key)
    groups: dict[tuple[object, ...], list[Row]] = {}
    for row in rows:
        extra = tuple((key, row.params[key]) for key in extra_keys if key in row.params)
        groups.setdefault((row.target, access_of(row), row.metric, row.unit, row.better, extra), []).append(row)
    return [_panel(found, extra_keys, x_key, series_key) for found in groups.values()]


def _panel(rows: Sequence[Row], extra_keys: Sequence[str], x_key: str, series_key: str) -> Panel:
    first = rows[0]
    extra = tuple((key, first.params[key]) for key in extra_keys if key in first.params)
    return Panel(
        first.target, access_of(first), first.metric, first.unit, first.better, extra, x_key, series_key, tuple(rows)
    )


def _axis_keys(rows: Sequence[Row]) -> tuple[str, str]:
    """Choose what runs along the axis and what makes the lines.

    These are well-known parameters, else those with the most values.
    """
    counts = {key: len(values) for key, values in values_by_key(rows).items() if key not in ACCESS_KEYS}
    numeric = [key for key in counts if all(isinstance(row.params.get(key, 0), (int, float)) for row in rows)]
    numeric.sort(key=lambda key: -counts[key])
    x_key = next((key for key in (*_X_KEYS, *numeric) if key in counts), _X_KEYS[0])
    others = [key for key in (*_SERIES_KEYS, *numeric, *counts) if key in counts and key != x_key]
    return x_key, next(iter(others), _SERIES_KEYS[0])


def _separating_keys(rows: Sequence[Row], x_key: str, series_key: str) -> list[str]:
    def place(row: Row) -> tuple[object, ...]:
        return (row.target, row.metric, access_of(row), row.params.get(x_key), row.params.get(series_key))

    return [key for key in separating_keys(rows, place) if key not in {*ACCESS_KEYS, x_key, series_key}]
