# SPDX-License-Identifier: Apache-2.0
"""Access time against the bandwidth that other threads inject: where loads begin to queue."""

from collections.abc import Sequence
from typing import Final

from ullage.report.axes import WIDTH, color_of
from ullage.report.contents import Chart, Figure
from ullage.report.data import ReportData
from ullage.report.memory.latency import Load, loads
from ullage.report.memory.rows import own_rows
from ullage.report.quantity import format_quantity, format_row
from ullage.report.vega import Spec, tooltip

_GIGA: Final = 1e9
_NANO: Final = 1e-9
_FEWEST: Final = 2
_TOOLTIP: Final = tooltip(("name", "injected"), ("rate", "bandwidth"), ("text", "access time"), ("delay", "pauses"))


def build(data: ReportData) -> list[Figure]:
    """One figure; none with fewer than two loads."""
    found = loads(own_rows(data))
    if len(found) < _FEWEST:
        return []
    threads = max(int(load.time.params.get("injectors", 1)) for load in found)
    caption = (
        f"One thread chases beside {threads} that load{'s' if threads == 1 else ''} memory, with pauses between lines. "
        "A curve that stays flat has not filled memory: more cores would."
    )
    return [Figure("access time under load", caption, _spec(found))]


def _spec(found: Sequence[Load]) -> Spec:
    values = [_point(load) for load in found]
    names = list(dict.fromkeys(value["name"] for value in values))
    x = {
        "field": "x",
        "type": "quantitative",
        "title": "injected bandwidth (GB/s)",
        "scale": {"zero": True},
        "axis": {"grid": False},
    }
    y = {"field": "y", "type": "quantitative", "title": "access time (ns)", "scale": {"zero": True}}
    mark = {"type": "line", "strokeWidth": 2, "point": {"filled": True, "size": 40}}
    encoding = {
        "x": x,
        "y": y,
        "color": color_of("name", names),
        "order": {"field": "x", "type": "quantitative"},
        "tooltip": _TOOLTIP,
    }
    return {"width": WIDTH, "height": 240, "data": {"values": values}, "mark": mark, "encoding": encoding}


def _point(load: Load) -> Spec:
    return {
        "x": float(f"{load.bytes_per_s / _GIGA:.5g}"),
        "y": float(f"{load.time.median / _NANO:.5g}"),
        "name": f"{str(load.time.params['injection']).replace('-', ' ')}s",
        "rate": format_quantity(load.bytes_per_s, "B/s"),
        "text": format_row(load.time),
        "delay": str(load.time.params.get("delay", "")),
    }


CHART: Final = Chart(
    name="loaded_latency",
    title="Memory: time of a load while others work",
    doc="To the right memory is busier. Where the line turns up, loads queue.",
    order=4,
    build=build,
)
