# SPDX-License-Identifier: Apache-2.0
"""Rows as chart data: plain numbers for the axes, ready text for tooltips, no more rows than a picture carries."""

from collections.abc import Sequence
from typing import Final, TypeVar

from ullage.model.plan import Scalar
from ullage.model.summary import Row
from ullage.quantity import DASH, Scale, format_param, format_row, format_share, param_label, plural
from ullage.report.vega import Spec, tooltip
from ullage.report.verdicts import classify
from ullage.report.view import Panel

MOST_SERIES: Final = 10
MOST_XS: Final = 64
# So many points of one kind of chart, over all its figures, keep a page of many thousand cases below 2 MB.
_MOST_POINTS: Final = 800
T = TypeVar("T")

ROW_TOOLTIP: Final = tooltip(
    "place=target setting text=median verdict grade flags count=repetitions share=of_the_ceiling"
)


def point(row: Row, panel: Panel, scale: Scale) -> Spec:
    """Return a row as a datum: ``x``, ``series``, ``y``, ``low``, ``high`` in ``scale``, and the tooltip's text."""
    return {
        "x": row.params.get(panel.x_key, ""),
        "series": series_label(row, panel),
        "y": row.median / scale.factor,
        "low": None if row.low is None else row.low / scale.factor,
        "high": None if row.high is None else row.high / scale.factor,
        "measured": classify(row).label,
        "hollow": not classify(row).filled,
        "place": panel.title,
        "setting": setting_of(row, panel),
        "text": format_row(row),
        "verdict": "; ".join([row.verdict, *row.reasons]),
        "grade": row.grade or DASH,
        "flags": ", ".join(row.flag_codes) or DASH,
        "count": str(len(row.repetitions)),
        "share": format_share(row.share),
    }


def series_label(row: Row, panel: Panel) -> str:
    """Write the series of a row, such as ``1M``; empty when it belongs to none."""
    value = row.params.get(panel.series_key)
    return "" if value is None else format_param(panel.series_key, value)


def series_labels(panel: Panel, values: Sequence[Scalar]) -> list[str]:
    """Return the labels of ``values``, as ``series_label`` writes them."""
    return [format_param(panel.series_key, value) for value in values]


def setting_of(row: Row, panel: Panel) -> str:
    """Write the setting of a row, such as ``8 ranks, block 1M``."""
    x = row.params.get(panel.x_key)
    count = plural(x, panel.x_key.removesuffix("s")) if isinstance(x, int) and panel.x_key.endswith("s") else ""
    parts = [count or ("" if x is None else f"{param_label(panel.x_key)} {format_param(panel.x_key, x)}")]
    if panel.series_key in row.params:
        parts.append(f"{param_label(panel.series_key)} {series_label(row, panel)}")
    return ", ".join(filter(None, parts))


def strongest_series(panel: Panel, most: int = MOST_SERIES) -> list[Scalar]:
    """Return at most ``most`` series, those whose best row is best, in their own order."""
    sign = 1 if panel.better == "more" else -1
    peaks: dict[Scalar, float] = {}
    for row in panel.rows:
        value = row.params.get(panel.series_key)
        if value is not None:
            peaks[value] = max(peaks.get(value, float("-inf")), sign * row.median)
    chosen = sorted(panel.series, key=lambda value: -peaks[value])[:most]
    return [value for value in panel.series if value in set(chosen)]


def spread_out(values: Sequence[T], most: int) -> list[T]:
    """Return at most ``most`` values, evenly picked: the first alone, or the first and the last among them."""
    if len(values) <= most:
        return list(values)
    if most == 1:
        return [values[0]]
    return [values[round(index * (len(values) - 1) / (most - 1))] for index in range(most)]


def points_each(figures: int) -> int:
    """Return how many points each of ``figures`` pictures may hold."""
    return _MOST_POINTS // max(figures, 1)


def omitted(shown: int, total: int, noun: str, rule: str) -> str:
    """Return a sentence for a caption that says what the picture leaves out; empty when nothing."""
    return "" if shown >= total else f"Shows {shown} of {total} {noun}s, {rule}; the tables hold all."
