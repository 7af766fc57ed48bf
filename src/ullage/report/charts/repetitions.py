# SPDX-License-Identifier: Apache-2.0
"""What single repetitions show: latency of calls over the block size, and the rate within a repetition."""

from collections.abc import Iterable, Sequence
from typing import Final, TypeAlias

from ullage.analysis.findings.nodes import NOTABLE_SPREAD, spread_of
from ullage.model.record import Latency, PhaseRecord
from ullage.model.summary import Row
from ullage.quantity import format_param, format_quantity, param_label, plural, scale_for, significant
from ullage.report import verdicts
from ullage.report.contents import Chart, Figure
from ullage.report.data import ReportData
from ullage.report.phases import PERCENTILE_NAMES, Percentiles, merge
from ullage.report.plots import line_mark, nominal, plot, quantity_axis
from ullage.report.points import MOST_XS, omitted, series_label, series_labels, setting_of, spread_out
from ullage.report.vega import ACCENT, Spec, ordered_colors, ordinal, time_axis, tooltip
from ullage.report.view import Panel

_LATENCY_TOOLTIP: Final = tooltip("place=target setting name=percentile text=latency count=calls verdict")


def latencies(data: ReportData) -> list[Figure]:
    """Return a figure for every panel whose records have histograms."""
    return [found for panel in data.view.shown if (found := latency_figure(data, panel)) is not None]


def latency_figure(data: ReportData, panel: Panel) -> Figure | None:
    """Draw percentiles at the rank count of the panel's best cell; return None when no record there has a histogram."""
    if panel.best is None:
        return None
    x = panel.best.params.get(panel.x_key)
    rows = [row for row in panel.rows if row.params.get(panel.x_key) == x]
    shown = spread_out(rows, MOST_XS)
    found = [(row, percentiles) for row in shown if (percentiles := merge(_latencies(data, row))) is not None]
    if not any(max(percentiles.seconds.values()) > 0 for _, percentiles in found):
        return None
    words = [
        f"At {_at(panel, x)}, over all repetitions." if all(p.merged for _, p in found) else f"At {_at(panel, x)}.",
        _unsound(panel, [row for row, _ in found]),
        omitted(len(shown), len(rows), param_label(panel.series_key), "evenly picked"),
    ]
    single = len(found) == 1
    spec = _over_percentiles(panel, found) if single else _over_series(panel, found)
    return Figure(panel.title, " ".join(filter(None, words)), spec)


def _unsound(panel: Panel, rows: list[Row]) -> str:
    words = [f"{series_label(row, panel)} {row.verdict}".strip() for row in rows if not verdicts.classify(row).filled]
    return f"Not measured as asked: {', '.join(words)}." if words else ""


def _at(panel: Panel, x: object) -> str:
    if isinstance(x, int) and panel.x_key.endswith("s"):
        return plural(x, panel.x_key.removesuffix("s"))
    return (
        f"{param_label(panel.x_key)} {format_param(panel.x_key, x)}"
        if isinstance(x, (int, float, str))
        else "the best setting"
    )


def _latencies(data: ReportData, row: Row) -> list[Latency]:
    return [phase.latency for phase in data.phases_of(row) if phase.latency is not None]


def _percentile_values(panel: Panel, found: list[tuple[Row, Percentiles]]) -> list[Spec]:
    return [
        {
            "series": series_label(row, panel),
            "name": name,
            "y": percentiles.seconds[name],
            "place": panel.title,
            "setting": setting_of(row, panel),
            "text": format_quantity(percentiles.seconds[name], "s"),
            "count": f"{percentiles.operations:,}",
            "verdict": row.verdict,
        }
        for row, percentiles in found
        for name in PERCENTILE_NAMES
        if percentiles.seconds.get(name, 0) > 0
    ]


def _y_axis(values: list[Spec]) -> Spec:
    return time_axis([value["y"] for value in values], "y", "latency of a call")


def _over_series(panel: Panel, found: list[tuple[Row, Percentiles]]) -> Spec:
    labels = series_labels(
        panel, [value for value in panel.series if any(row.params.get(panel.series_key) == value for row, _ in found)]
    )
    x = ordinal(
        "series", labels, param_label(panel.series_key), axis={"labelAngle": 0, "grid": False, "labelOverlap": True}
    )
    values = _percentile_values(panel, found)
    # The slowest stands on top of the legend, as in the picture.
    names = list(reversed(PERCENTILE_NAMES))
    color = ordinal("name", names, "", scale={"domain": names, "range": ordered_colors(len(names))})
    encoding = {"x": x, "y": _y_axis(values), "color": color, "tooltip": _LATENCY_TOOLTIP}
    return plot(410, 220, values, line_mark(36), encoding)


def _over_percentiles(panel: Panel, found: list[tuple[Row, Percentiles]]) -> Spec:
    x = ordinal("name", PERCENTILE_NAMES, "percentile of the calls", axis={"labelAngle": 0, "grid": False})
    values = _percentile_values(panel, found)
    encoding = {"x": x, "y": _y_axis(values), "tooltip": _LATENCY_TOOLTIP}
    return plot(410, 220, values, {**line_mark(50), "color": ordered_colors(1)[0]}, encoding)


LATENCY: Final = Chart(
    name="latency",
    title="Latency",
    doc="Half of the calls are faster than p50, one in a thousand is slower than p99.9. The axis is logarithmic.",
    order=40,
    build=latencies,
)


_MOST_POINTS: Final = 240
_FEWEST_POINTS: Final = 3
_WIDEST_COLOR: Final = "#d55e00"
# Below this the ranks ended together, and the second line would say nothing.
_NS_PER_S: Final = 1e9


Points: TypeAlias = list[tuple[float, float]]
_Line: TypeAlias = tuple[str, Points, str]
"""Name, points and colour."""


def time_series(data: ReportData) -> list[Figure]:
    """Return a figure for every panel whose records have time series."""
    return [found for panel in data.view.shown if (found := series_figure(data, panel)) is not None]


def series_figure(data: ReportData, panel: Panel) -> Figure | None:
    """Draw the best cell and that of the widest spread; return None when no series is long enough to be seen."""
    best = panel.best
    middle = middle_repetition(data.phases_of(best)) if best is not None else None
    found = [(row, phase) for row in panel.rows for phase in data.phases_of(row) if spread_of(phase) >= NOTABLE_SPREAD]
    ordered = sorted(found, key=lambda item: -spread_of(item[1]))
    widest = next((item for item in ordered if len(rates(item[1])) >= _FEWEST_POINTS), None)
    lines: list[_Line] = []
    if best is not None and middle is not None:
        lines.append((f"best: {setting_of(best, panel)} ({best.verdict})", middle[1], ACCENT))
    if widest is not None and (middle is None or widest[1] is not middle[0]):
        row, phase = widest
        apart = f"ranks furthest apart ({significant(spread_of(phase), 2)}x)"
        lines.append((f"{apart}: {setting_of(row, panel)} ({row.verdict})", rates(phase), _WIDEST_COLOR))
    return Figure(panel.title, _slowest_words(widest and widest[1]), _series_spec(lines)) if lines else None


def rates(phase: PhaseRecord, *, of_operations: bool = False, most: int = _MOST_POINTS) -> Points:
    """Return points: the middle of an interval in s from the start, and its rate in bytes/s or operations/s.

    Neighbours are joined where there are more than ``most`` intervals. A last interval of under half the length is left
    out: its rate would be mostly chance.
    """
    series = phase.series
    if series is None or series.interval_ns <= 0:
        return []
    counts = series.operations if of_operations else series.bytes
    step = -(-len(counts) // most)
    length_ns = step * series.interval_ns
    points: Points = []
    for index, start in enumerate(range(0, len(counts), max(step, 1))):
        begin_ns = index * length_ns
        covered_ns = min(length_ns, phase.elapsed_ns - begin_ns)
        if covered_ns >= length_ns / 2:
            amount = sum(counts[start : start + step])
            points.append(((begin_ns + covered_ns / 2) / _NS_PER_S, amount / covered_ns * _NS_PER_S))
    return points


def middle_repetition(
    phases: Iterable[PhaseRecord], *, of_operations: bool = False, most: int = _MOST_POINTS
) -> tuple[PhaseRecord, Points] | None:
    """Return the repetition with the median time among those that can be drawn, with its points; None without any."""
    drawn = [(phase, rates(phase, of_operations=of_operations, most=most)) for phase in phases]
    found = sorted((one for one in drawn if len(one[1]) >= _FEWEST_POINTS), key=lambda one: one[0].elapsed_ns)
    return found[len(found) // 2] if found else None


def _slowest_words(widest: PhaseRecord | None) -> str:
    if widest is None or widest.by_rank is None:
        return ""
    slowest, fastest = widest.by_rank.slowest[0], widest.by_rank.fastest
    long, short = (format_quantity(found.elapsed_ns / _NS_PER_S, "s") for found in (slowest, fastest))
    words = f"Furthest apart: rank {slowest.rank} on {slowest.node} took {long}"
    return f"{words}, rank {fastest.rank} on {fastest.node} {short}."


def _series_spec(lines: Sequence[_Line]) -> Spec:
    points = [(name, second, rate) for name, found, _ in lines for second, rate in found]
    scale, time = scale_for([rate for _, _, rate in points], "B/s"), scale_for([second for _, second, _ in points], "s")
    values = [
        {
            "which": name,
            "x": second / time.factor,
            "y": rate / scale.factor,
            "when": format_quantity(second, "s"),
            "text": format_quantity(rate, "B/s"),
        }
        for name, second, rate in points
    ]
    legend = {"orient": "top", "symbolType": "stroke", "symbolStrokeWidth": 3, "labelLimit": 420, "columns": 1}
    color = nominal("which", [name for name, _, _ in lines], [shade for _, _, shade in lines], legend)
    title = f"time from the phase's start ({time.unit})"
    encoding = {
        "x": {"field": "x", "type": "quantitative", "title": title, "axis": {"grid": False}},
        "y": quantity_axis("y", f"rate ({scale.unit})"),
        "color": {**color, "title": None},
        "tooltip": tooltip("which=repetition when=from_the_phase's_start text=rate"),
    }
    return plot(470, 190, values, {"type": "line", "strokeWidth": 1.8}, encoding)


TIME_SERIES: Final = Chart(
    name="time_series",
    title="Within a repetition",
    doc="The rate of all ranks together over time: of the best cell, and of the one whose ranks differ most.",
    order=50,
    build=time_series,
)


CHARTS: Final = (LATENCY, TIME_SERIES)
