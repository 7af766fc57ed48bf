# SPDX-License-Identifier: Apache-2.0
"""Impacts of a congestion run as bars, and the victims' times alone and under load as shares of their exchanges."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from ullage.model.record import PhaseRecord
from ullage.model.summary import Row
from ullage.report.contents import Chart, Figure
from ullage.report.data import ReportData
from ullage.report.latency import bucket_midpoint_ns
from ullage.report.quantity import format_quantity, format_row
from ullage.report.sections.congestion import IMPACTS, SUITE
from ullage.report.vega import INK, Spec, ordered_colors, ordinal, time_axis, tooltip

_NAMES: Final = ("mean", "p99")
_STATES: Final = ("isolated", "congested")
_STATE_COLORS: Final = ("#1f5f8b", "#d9742b")
_NS: Final = 1e9
# Of the exchanges, those that took longer: one point where the share falls below each of these.
_SHARES: Final = tuple(10 ** (-step / 8) for step in range(41))
_BAR_TOOLTIP: Final = tooltip(("name", "test"), ("what", "of"), ("text", "impact"), ("flags", "flags"))
_LINE_TOOLTIP: Final = tooltip(("state", "the others"), ("text", "time"), ("share", "take longer"))


def build(data: ReportData) -> list[Figure]:
    """Bars of all loads, then a figure for each load and test."""
    rows = data.rows_of(SUITE)
    impacts = [row for row in rows if row.metric in IMPACTS and row.median > 0]
    return [*([_bars(impacts)] if impacts else []), *_tails(data, rows)]


def _bars(rows: Sequence[Row]) -> Figure:
    labels = list(dict.fromkeys(map(_label, rows)))
    values: list[Spec] = [
        {
            "name": _label(row),
            "what": _NAMES[IMPACTS.index(row.metric)],
            "y": float(f"{row.median:.5g}"),
            "floor": 1.0,
            "text": format_row(row),
            "flags": ", ".join(row.flags),
        }
        for row in rows
    ]
    found = [1.0, *(row.median for row in rows)]
    scale: Spec = {"type": "log", "domain": [min(found) / 1.15, max(found) * 1.15], "nice": False}
    axis = {"format": "~g", "labelOverlap": True}
    x = {"field": "y", "type": "quantitative", "title": "congested / isolated", "scale": scale, "axis": axis}
    y = ordinal("name", labels, "", axis={"grid": False, "ticks": False, "labelLimit": 220})
    color = ordinal(
        "what",
        _NAMES,
        "",
        scale={"domain": list(_NAMES), "range": ordered_colors(len(_NAMES))},
        legend={"orient": "top", "title": None},
    )
    bar = {
        "y": y,
        "yOffset": {"field": "what", "type": "ordinal", "sort": list(_NAMES)},
        "x": x,
        "x2": {"field": "floor"},
        "color": color,
        "tooltip": _BAR_TOOLTIP,
    }
    rule: Spec = {"x": {"datum": 1.0, "type": "quantitative", "scale": scale}}
    layers: list[Spec] = [
        {"data": {"values": values}, "mark": {"type": "bar"}, "encoding": bar},
        {"data": {"values": [{}]}, "mark": {"type": "rule", "color": INK}, "encoding": rule},
    ]
    caption = "Bars begin at 1, where the load changes nothing. The axis is logarithmic."
    return Figure("impact", caption, {"width": 410, "height": {"step": 14}, "layer": layers}, wide=True)


def _label(row: Row) -> str:
    return f"{row.params['test']}, {row.params['load']}"


def _tails(data: ReportData, rows: Iterable[Row]) -> list[Figure]:
    pairs: dict[tuple[str, str], dict[str, list[PhaseRecord]]] = {}
    for row in rows:
        if row.metric == "congestion_time":
            by_state = pairs.setdefault((str(row.params["load"]), str(row.params["test"])), {})
            by_state[str(row.params["state"])] = data.phases_of(row)
    return [
        Figure(f"{test} under {load}", "Over all victims and repetitions.", spec)
        for (load, test), by_state in pairs.items()
        if (spec := _tail_spec(by_state)) is not None
    ]


def _tail_spec(by_state: dict[str, list[PhaseRecord]]) -> Spec | None:
    values = [value for state in _STATES for value in _tail(state, by_state.get(state, []))]
    if not values:
        return None
    x = time_axis([value["x"] for value in values], "x", "time of an exchange")
    lowest = min(value["y"] for value in values)
    scale = {"type": "log", "domain": [lowest / 1.3, 1.0], "nice": False}
    axis = {"format": "~g", "labelOverlap": True}
    y = {"field": "y", "type": "quantitative", "title": "share that take longer", "scale": scale, "axis": axis}
    color = {
        "field": "state",
        "type": "nominal",
        "scale": {"domain": list(_STATES), "range": list(_STATE_COLORS)},
        "legend": {"title": None, "orient": "top"},
    }
    mark = {"type": "line", "strokeWidth": 2, "interpolate": "step-after", "point": {"size": 16, "filled": True}}
    encoding = {"x": x, "y": y, "color": color, "tooltip": _LINE_TOOLTIP}
    return {"width": 300, "height": 190, "data": {"values": values}, "mark": mark, "encoding": encoding}


def _tail(state: str, phases: Iterable[PhaseRecord]) -> list[Spec]:
    """The complementary distribution, at most a point for each of the shares."""
    counts: Counter[int] = Counter()
    for phase in phases:
        if phase.latency is not None:
            for index, count in phase.latency.buckets:
                counts[index] += count
    total = sum(counts.values())
    values: list[Spec] = []
    left, step = total, 0
    for index, count in sorted(counts.items()):
        share = left / total
        if step < len(_SHARES) and share <= _SHARES[step]:
            values.append(_tail_point(state, bucket_midpoint_ns(index) / _NS, share))
            while step < len(_SHARES) and share <= _SHARES[step]:
                step += 1
        left -= count
    return values


def _tail_point(state: str, seconds: float, share: float) -> Spec:
    return {
        "state": state,
        "x": max(seconds, 1 / _NS),
        "y": float(f"{share:.4g}"),
        "text": format_quantity(seconds, "s"),
        "share": f"{share:.2%}",
    }


CHART: Final = Chart(
    name="congestion",
    title="Congestion",
    doc="The further the second curve lies to the right of the first, the more the load costs; where it leaves only at "
    "the bottom, it costs a few messages much.",
    order=7,
    build=build,
)
