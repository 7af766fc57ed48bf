# SPDX-License-Identifier: Apache-2.0
"""Rate over time within every named phase, with the instant at which its time was up."""

from collections.abc import Sequence
from typing import Final

from ullage.model.record import PhaseRecord
from ullage.report.charts.time_series import rates
from ullage.report.contents import Chart, Figure
from ullage.report.data import ReportData
from ullage.report.phases import NamedPhase, named_phases, phase_scale
from ullage.report.quantity import format_quantity, scale_for
from ullage.report.vega import ACCENT, INK, MUTED, Spec

_COLORS: Final = (ACCENT, "#d9742b", "#6b7a3a", "#7a4f9a")
_FEWEST_POINTS: Final = 3
# Points over all figures, and of one: a page of many phases stays small.
_ALL_POINTS: Final = 3000
_MOST_POINTS: Final = 200
_NS_PER_S: Final = 1e9
Line = tuple[NamedPhase, PhaseRecord, list[tuple[float, float]]]


def build(data: ReportData) -> list[Figure]:
    """A figure for every named phase whose records have time series."""
    phases = named_phases(data)
    most = min(_MOST_POINTS, _ALL_POINTS // max(1, len(phases)))
    names = dict.fromkeys(phase.name for phase in phases)
    found = [figure(name, [phase for phase in phases if phase.name == name], most) for name in names]
    return [one for one in found if one is not None]


def figure(name: str, phases: Sequence[NamedPhase], most: int) -> Figure | None:
    """``phases``: the phase ``name`` on each target. None when no record has a series long enough to be seen."""
    lines = [line for phase in phases if (line := _line(phase, most)) is not None]
    if not lines:
        return None
    return Figure(name, _caption(lines), _spec(lines))


def _line(phase: NamedPhase, most: int) -> Line | None:
    """The repetition with the median time among those that can be drawn."""
    of_operations = phase.row.unit != "B/s"
    drawn = [(record, rates(record, of_operations=of_operations, most=most)) for record in phase.records]
    found = sorted((one for one in drawn if len(one[1]) >= _FEWEST_POINTS), key=lambda one: one[0].elapsed_ns)
    return (phase, *found[len(found) // 2]) if found else None


def _caption(lines: Sequence[Line]) -> str:
    walls = [
        f"{_who(lines, phase)}time was up after {format_quantity(_wall_s(record), 's')}, "
        f"the last rank ended after {format_quantity(record.elapsed_ns / _NS_PER_S, 's')}"
        for phase, record, _ in lines
        if record.stonewall is not None
    ]
    return f"{'; '.join(walls)}.".capitalize() if walls and len(lines) == 1 else f"{'; '.join(walls)}." if walls else ""


def _who(lines: Sequence[Line], phase: NamedPhase) -> str:
    return f"{phase.target}: " if len(lines) > 1 else ""


def _wall_s(record: PhaseRecord) -> float:
    return record.stonewall.at_wall.elapsed_ns / _NS_PER_S if record.stonewall is not None else 0.0


def _spec(lines: Sequence[Line]) -> Spec:
    unit = lines[0][0].row.unit
    scale = phase_scale([rate for _, _, points in lines for _, rate in points], unit)
    time = scale_for([second for _, _, points in lines for second, _ in points], "s")
    values = [
        {"who": phase.target, "x": _short(second / time.factor), "y": _short(rate / scale.factor)}
        for phase, _, points in lines
        for second, rate in points
    ]
    targets = [phase.target for phase, _, _ in lines]
    colors = [_COLORS[index % len(_COLORS)] for index in range(len(targets))]
    legend = {"orient": "top", "title": None, "symbolType": "stroke", "symbolStrokeWidth": 3, "labelLimit": 380}
    color = {
        "field": "who",
        "type": "nominal",
        "scale": {"domain": targets, "range": colors},
        "legend": legend if len(targets) > 1 else None,
    }
    axis = {"grid": False, "tickCount": 6}
    x = {"field": "x", "type": "quantitative", "title": f"time from the phase's start ({time.unit})", "axis": axis}
    y = {"field": "y", "type": "quantitative", "title": scale.unit, "scale": {"zero": True}}
    tip = [{**x, "title": f"time ({time.unit})", "format": ".4~g"}, {**y, "title": scale.unit, "format": ".4~g"}]
    tip = [{key: part for key, part in one.items() if key not in {"axis", "scale"}} for one in tip]
    line = {"x": x, "y": y, "color": color, "tooltip": tip}
    mark = {"type": "line", "strokeWidth": 1.6, "interpolate": "step"}
    layers: list[Spec] = [{"mark": mark, "encoding": line}, *_wall_layers(lines, time.factor)]
    return {"width": 410, "height": 150, "data": {"values": values}, "layer": layers}


def _short(value: float) -> float:
    """Five digits: more cannot be seen, and they would make up most of the page."""
    return float(f"{value:.5g}")


def _wall_layers(lines: Sequence[Line], factor: float) -> list[Spec]:
    walls = [{"x": _wall_s(record) / factor} for _, record, _ in lines if record.stonewall is not None]
    if not walls:
        return []
    place = {"x": {"field": "x", "type": "quantitative"}}
    rule = {"type": "rule", "color": INK, "strokeDash": [5, 4], "strokeWidth": 1.2}
    text = {"type": "text", "text": "wall", "color": MUTED, "baseline": "bottom", "y": -2, "fontSize": 11}
    return [
        {"data": {"values": walls}, "mark": rule, "encoding": place},
        {"data": {"values": walls[:1]}, "mark": text, "encoding": place},
    ]


CHART: Final = Chart(
    name="phase_rates",
    title="Rate over time",
    doc="All ranks added up, of the repetition with the median time. What comes after the dashed line is wear-out: "
    "ranks that go on until all have done the same amount of work.",
    order=55,
    build=build,
)
