# SPDX-License-Identifier: Apache-2.0
"""Every cell of ranks by block size with its number in it."""

import math
from typing import Final

from ullage.model.summary import Row
from ullage.quantity import format_compact, format_param, param_label, scale_for
from ullage.report import verdicts
from ullage.report.contents import Chart, Figure
from ullage.report.data import ReportData
from ullage.report.plots import HeatMap, shade_positions
from ullage.report.points import ROW_TOOLTIP, omitted, point, points_each, series_labels, spread_out
from ullage.report.vega import Spec
from ullage.report.view import Panel

_MOST_WITH_TEXT: Final = 12
_WIDTH: Final = 450


def build(data: ReportData) -> list[Figure]:
    """Return a figure for every panel that has two dimensions."""
    panels = [panel for panel in data.view.shown if len(panel.xs) > 1 and len(panel.series) > 1]
    return [figure(panel, points_each(len(panels))) for panel in panels]


def figure(panel: Panel, most: int) -> Figure:
    """Draw one panel that has at least two ranks and two blocks, with about ``most`` cells at most."""
    side = math.isqrt(most)
    xs = spread_out(panel.xs, max(side, most // max(len(panel.series), 1)))
    series = spread_out(panel.series, max(2, most // len(xs)))
    rows = [
        row
        for row in panel.rows
        if row.params.get(panel.x_key) in set(xs) and row.params.get(panel.series_key) in set(series)
    ]
    # With no unit in the cells, the caption says what the letters stand for.
    caption = " ".join(
        filter(
            None,
            [
                f"Median in {panel.unit} with its prefix. The framed cell is the best.",
                verdicts.caption(rows),
                omitted(len(xs) * len(series), len(panel.xs) * len(panel.series), "cell", "evenly picked"),
            ],
        )
    )
    return Figure(
        panel.title,
        caption,
        _spec(panel, rows, [format_param(panel.x_key, x) for x in xs], series_labels(panel, series)),
    )


def _spec(panel: Panel, rows: list[Row], xs: list[str], series: list[str]) -> Spec:
    found = HeatMap(
        *(xs, series, param_label(panel.x_key), param_label(panel.series_key)),
        width=_WIDTH,
        most_with_text=_MOST_WITH_TEXT,
        least_step=10,
        text_height=26,
        line_field="series",
    )
    shades = shade_positions([row.median for row in rows])
    cells = [_cell(row, panel, shade) for row, shade in zip(rows, shades, strict=True)]
    return found.spec(cells, ROW_TOOLTIP)


def _cell(row: Row, panel: Panel, position: float) -> Spec:
    return {
        **point(row, panel, scale_for([row.median], row.unit)),
        "column": format_param(panel.x_key, row.params[panel.x_key]),
        "label": format_compact(row.median, row.unit),
        "position": round(position, 4),
        "best": row is panel.best,
    }


CHART: Final = Chart(
    name="heatmap",
    title="Ranks by block size",
    doc="The same numbers as a map, where darker is more. A mark beside a number says that it was not "
    "measured as asked.",
    order=20,
    build=build,
)
CHARTS: Final = (CHART,)
