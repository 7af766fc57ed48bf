# SPDX-License-Identifier: Apache-2.0
"""Access time over the working set, a line for each way its pages lie, with the sizes of the caches drawn in."""

from collections.abc import Mapping, Sequence
from typing import Final

from ullage.model.summary import Row
from ullage.report.axes import HEIGHT, WIDTH, cache_layers, color_of, size_axis
from ullage.report.contents import Chart, Figure
from ullage.report.data import ReportData
from ullage.report.memory.rows import cache_lines, own_rows, single_chases, size_of
from ullage.report.quantity import format_row
from ullage.report.vega import Spec, time_axis, tooltip
from ullage.units import format_bytes

_FEWEST: Final = 3
_TOOLTIP: Final = tooltip(("name", "pages"), ("size", "working set"), ("text", "access time"), ("flags", "flags"))


def build(data: ReportData) -> list[Figure]:
    """One figure; none where no curve has three sets."""
    curves = {words: curve for words, curve in single_chases(own_rows(data)).items() if len(curve) >= _FEWEST}
    if not curves:
        return []
    caption = (
        "One thread follows pointers from line to line in a random cycle, so each load waits for the one before. Where "
        "small pages are slower than huge ones, translations are missing too."
    )
    return [Figure("access time over the working set", caption, _spec(data, curves), wide=True)]


def _spec(data: ReportData, curves: Mapping[str, Sequence[Row]]) -> Spec:
    values = [_point(row, words) for words, curve in curves.items() for row in curve]
    sizes = [value["x"] for value in values]
    x, y = size_axis(sizes), time_axis([value["y"] for value in values], "y", "access time")
    encoding = {"x": x, "y": y, "color": color_of("name", list(curves))}
    layers: list[Spec] = [
        *cache_layers(cache_lines(data), sizes),
        {"data": {"values": values}, "mark": {"type": "line", "strokeWidth": 2}, "encoding": encoding},
        {
            "data": {"values": values},
            "mark": {"type": "point", "filled": True, "size": 30},
            "encoding": {**encoding, "tooltip": _TOOLTIP},
        },
    ]
    return {"width": WIDTH, "height": HEIGHT, "layer": layers}


def _point(row: Row, words: str) -> Spec:
    return {
        "x": size_of(row),
        "y": float(f"{row.median:.5g}"),
        "name": words,
        "size": format_bytes(size_of(row)),
        "text": format_row(row),
        "flags": ", ".join(row.flags),
    }


CHART: Final = Chart(
    name="access_time",
    title="Memory: time of a load",
    doc="Each step up is the end of a cache or of the translations that the core keeps. Both axes are logarithmic.",
    order=4,
    build=build,
)
