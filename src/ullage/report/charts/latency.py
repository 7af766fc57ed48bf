# SPDX-License-Identifier: Apache-2.0
"""Latency of single calls: the middle and the tail, over the block size."""

from typing import Final

from ullage.model.record import Latency
from ullage.model.summary import Row
from ullage.quantity import format_param, format_quantity, param_label, plural
from ullage.report import verdicts
from ullage.report.contents import Chart, Figure
from ullage.report.data import ReportData
from ullage.report.latency import NAMES, Percentiles, merge
from ullage.report.plots import line_mark, plot
from ullage.report.points import MOST_XS, omitted, series_label, series_labels, setting_of, spread_out
from ullage.report.vega import Spec, ordered_colors, ordinal, time_axis, tooltip
from ullage.report.view import Panel

_TOOLTIP: Final = tooltip(
    ("place", "target"),
    ("setting", "setting"),
    ("name", "percentile"),
    ("text", "latency"),
    ("count", "calls"),
    ("verdict", "really measured"),
)


def build(data: ReportData) -> list[Figure]:
    """Return a figure for every panel whose records have histograms."""
    return [found for panel in data.view.shown if (found := figure(data, panel)) is not None]


def figure(data: ReportData, panel: Panel) -> Figure | None:
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


def _values(panel: Panel, found: list[tuple[Row, Percentiles]]) -> list[Spec]:
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
        for name in NAMES
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
    values = _values(panel, found)
    # The slowest stands on top of the legend, as in the picture.
    names = list(reversed(NAMES))
    color = ordinal("name", names, "", scale={"domain": names, "range": ordered_colors(len(names))})
    encoding = {"x": x, "y": _y_axis(values), "color": color, "tooltip": _TOOLTIP}
    return plot(410, 220, values, line_mark(36), encoding)


def _over_percentiles(panel: Panel, found: list[tuple[Row, Percentiles]]) -> Spec:
    x = ordinal("name", NAMES, "percentile of the calls", axis={"labelAngle": 0, "grid": False})
    values = _values(panel, found)
    encoding = {"x": x, "y": _y_axis(values), "tooltip": _TOOLTIP}
    return plot(410, 220, values, {**line_mark(50), "color": ordered_colors(1)[0]}, encoding)


CHART: Final = Chart(
    name="latency",
    title="Latency",
    doc="Half of the calls are faster than p50, one in a thousand is slower than p99.9. The axis is logarithmic.",
    order=40,
    build=build,
)
CHARTS: Final = (CHART,)
