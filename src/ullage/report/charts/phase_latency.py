# SPDX-License-Identifier: Apache-2.0
"""Latency of the operations of all named phases in one picture: middle and tail."""

from collections.abc import Sequence
from typing import Final

from ullage.report.contents import Chart, Figure
from ullage.report.data import ReportData
from ullage.report.latency import NAMES, Percentiles, merge
from ullage.report.phases import NamedPhase, labeller, named_phases
from ullage.report.quantity import format_quantity
from ullage.report.vega import GRID, Spec, ordered_colors, ordinal, time_axis, tooltip

_TOOLTIP: Final = tooltip(("phase", "phase"), ("name", "percentile"), ("text", "latency"), ("count", "operations"))


def build(data: ReportData) -> list[Figure]:
    """One figure, or none where no record of a named phase has a histogram."""
    phases = named_phases(data)
    label = labeller(phases)
    found = [(label(phase), percentiles) for phase in phases if (percentiles := _percentiles(phase)) is not None]
    return [Figure("All phases", "Over all ranks and repetitions.", _spec(found), wide=True)] if found else []


def _percentiles(phase: NamedPhase) -> Percentiles | None:
    found = merge([record.latency for record in phase.records if record.latency is not None])
    return found if found is not None and max(found.seconds.values()) > 0 else None


def _spec(found: Sequence[tuple[str, Percentiles]]) -> Spec:
    values: list[Spec] = [
        {
            "phase": label,
            "name": name,
            "x": seconds,
            "text": format_quantity(seconds, "s"),
            "count": f"{percentiles.operations:,}",
        }
        for label, percentiles in found
        for name, seconds in percentiles.seconds.items()
        if seconds > 0
    ]
    labels = [label for label, _ in found]
    y = ordinal("phase", labels, "", axis={"grid": False, "ticks": False, "domain": False, "labelLimit": 300})
    x = time_axis([value["x"] for value in values], "x", "latency of an operation")
    legend = {"orient": "top", "title": None}
    color = ordinal("name", NAMES, "", scale={"domain": NAMES, "range": ordered_colors(len(NAMES))}, legend=legend)
    span = {"y": y, "x": {**x, "aggregate": "min"}, "x2": {"aggregate": "max", "field": "x"}}
    layers: list[Spec] = [
        {"mark": {"type": "rule", "color": GRID, "strokeWidth": 4}, "encoding": span},
        {
            "mark": {"type": "point", "filled": True, "size": 70, "opacity": 1},
            "encoding": {"y": y, "x": x, "color": color, "tooltip": _TOOLTIP},
        },
    ]
    return {"width": 780, "height": {"step": 24}, "data": {"values": values}, "layer": layers}


CHART: Final = Chart(
    name="phase_latency",
    title="Latency",
    doc="Half of the operations are faster than p50, one in a thousand is slower than p99.9. The axis is logarithmic.",
    order=58,
    build=build,
)
