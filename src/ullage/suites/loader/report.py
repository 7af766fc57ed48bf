# SPDX-License-Identifier: Apache-2.0
"""What a report shows of suite ``loader``: AU over the accelerators, epoch by epoch, and what was read for it."""

from collections.abc import Sequence
from typing import Final

from ullage.analysis.findings.phrasing import level_of_part
from ullage.grouping import grouped
from ullage.model.summary import Row
from ullage.quantity import DASH, plural, rounded
from ullage.report.answers import AnswerRule
from ullage.report.contents import Content, Figure
from ullage.report.data import ReportData
from ullage.report.declared import columns, storage_chart, storage_section
from ullage.report.grids import Column, PhaseLine, grid_of, of, phase_lines
from ullage.report.headlines import Rule
from ullage.report.plots import curve_colors, interval_point, layer, layered
from ullage.report.vega import INK, Spec, tooltip, verdict_shape
from ullage.report.verdicts import caption
from ullage.suites.loader.findings import (
    ALL_EPOCHS,
    CACHED,
    CLIENT,
    RATE,
    SAMPLES,
    USE,
    accelerators_of,
    epoch_of,
    order_of,
    verdicts_of,
)
from ullage.units import format_volume

_SUITE: Final = "loader"
_TOOLTIP: Final = tooltip("accelerators epoch text=AU verdict flags")
_LEVEL: Final = 0.95


def tables(data: ReportData) -> Content | None:
    """Return a table for each target, or None for other suites and where nothing was read."""
    rows = data.rows_of(_SUITE)
    lines = [line for line in phase_lines(rows) if accelerators_of(line.first) > 0]
    if not lines:
        return None
    lines.sort(key=lambda line: (line.first.target, accelerators_of(line.first), epoch_of(line.first) or 1 << 30))
    places = grouped((line.first.target, line) for line in lines)
    grids = [grid for target, some in places.items() for grid in grid_of(target, _columns(rows), some)]
    return Content(notes=_notes([line.first for line in lines]), grids=grids)


def _limit(rows: Sequence[Row]) -> float:
    """Return the AU from which on a number of accelerators passes."""
    return float(rows[0].params["limit"])


def _notes(rows: Sequence[Row]) -> list[str]:
    first, limit = rows[0].params, 100 * _limit(rows)
    notes = [
        f"Accelerators take {samples_text(rows[0])} in batches of {first['batch']}. AU of at least {limit:g} % passes."
    ]
    if any(row.params.get("data_of") == "own" for row in rows):
        notes.append("Nodes read what they have written themselves. The verdict says what a cache answered.")
    return notes


def _percent(heading: str, metric: str) -> Column[PhaseLine]:
    return Column(heading, of(metric, lambda row: f"{100 * row.median:.3g} %"))


def _columns(rows: Sequence[Row]) -> Sequence[Column[PhaseLine]]:
    targets = grouped((row.target, row) for row in rows)
    own = level_of_part(_LEVEL, len(targets))
    verdicts = {target: verdicts_of(some, _limit(some), own) for target, some in targets.items()}

    def passes(line: PhaseLine) -> str:
        if line.first.access != ALL_EPOCHS:
            return DASH
        return verdicts[line.first.target].get(accelerators_of(line.first), DASH)

    return columns(
        Column[PhaseLine]("accelerators", lambda line: line.first.word("accelerators")),
        "ranks",
        Column[PhaseLine]("epoch", lambda line: str(epoch_of(line.first) or "all"), is_number=False),
        _percent("AU", USE),
        f"{USE}:interval",
        _percent("least AU", "least_use"),
        Column("limit", passes, is_number=False),
        f"{SAMPLES}=samples {RATE}=rate volume_bytes:volume=read",
        _percent("from memory", CACHED),
        f"{CLIENT}=cores_busy sample_read_p50=a_sample step_wait_p99=99_%_wait_at_most verdict",
    )


def figures(data: ReportData) -> list[Figure]:
    """Return a figure for each target: AU over the accelerators, a line for each epoch, and the limit."""
    rows = sorted((row for row in data.rows_of(_SUITE) if row.metric == USE and epoch_of(row) > 0), key=order_of)
    places = grouped((row.target, row) for row in rows)
    return [_figure(target, some) for target, some in places.items()]


def _figure(title: str, rows: Sequence[Row]) -> Figure:
    epochs = [f"epoch {epoch}" for epoch in sorted({epoch_of(row) for row in rows})]
    color = curve_colors("epoch", epochs)
    numbers = [accelerators_of(row) for row in rows]
    x: Spec = {
        "field": "accelerators",
        "type": "quantitative",
        "scale": {"type": "log", "base": 2, "domain": [min(numbers), max(*numbers, min(numbers) + 1)]},
        "axis": {"title": "accelerators", "values": sorted({*numbers}), "format": "d"},
    }
    y: Spec = {
        "field": "au",
        "type": "quantitative",
        "scale": {"domain": [0, 100]},
        "axis": {"title": "time that the accelerators compute, AU (%)"},
    }
    point = {"type": "point", "size": 46, "opacity": 1, "strokeWidth": 1.6}
    span: Spec = {"y": {**y, "field": "low"}, "y2": {"field": "high"}}
    rule: Spec = {"type": "rule", "color": INK, "strokeDash": [4, 3]}
    layers = [
        layer(rule, {"y": {"datum": rounded(100 * _limit(rows))}}),
        layer({"type": "line", "strokeWidth": 1.6}, {"x": x, "y": y, "color": color}),
        layer({"type": "rule"}, {"x": x, **span, "color": color}, None, "datum.low !== null"),
        layer(point, {"x": x, "y": y, "stroke": color, "fill": color, **verdict_shape(), "tooltip": _TOOLTIP}),
    ]
    words = ["The dashed line is the limit.", *(["Lines at points are intervals."] if rows[0].low is not None else [])]
    values = [_point(row) for row in rows]
    return Figure(title, " ".join(filter(None, [*words, caption(rows)])), layered(430, 260, layers, values))


def _point(row: Row) -> Spec:
    place = {"accelerators": accelerators_of(row), "epoch": f"epoch {epoch_of(row)}"}
    return interval_point(row, "au", 0.01, lambda share: f"{100 * share:.3g} %", place)


SECTION: Final = storage_section(
    _SUITE,
    "Training samples",
    "AU is the time that the accelerators compute over all their time, in each epoch without the first step. "
    "Samples are read in shuffled order, each once an epoch.",
    tables,
)
CHART: Final = storage_chart(
    "loader",
    "AU over the number of accelerators",
    "A line for each epoch. From the second one on, memory may answer.",
    figures,
)


def samples_text(row: Row) -> str:
    """Name the samples of a row by their preset, or by the size that was asked for."""
    size = row.params.get("sample_bytes")
    return f"samples of {row.params['preset'] if size is None else format_volume(int(size))}"


def _what(row: Row) -> str:
    if row.access == "write":
        return f"{row.target}: {samples_text(row)} made, {plural(row.ranks, 'rank')}"
    return f"{row.target}: {samples_text(row)} read, {plural(accelerators_of(row), 'accelerator')}"


HEADLINE: Final = Rule(
    "disk",
    RATE,
    lambda row: "threads_each" in row.params and (epoch_of(row) == 1 or row.access == "write"),
    lambda row: (row.params["preset"], row.params.get("sample_bytes"), row.access),
    _what,
)
ANSWER: Final = AnswerRule(
    _SUITE,
    "How many accelerators does the storage keep busy?",
    "loader-passes",
    "loader-cached loader-client",
    {"loader-passes": "passes"},
)
