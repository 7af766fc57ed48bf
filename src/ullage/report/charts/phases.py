# SPDX-License-Identifier: Apache-2.0
"""Charts of named phases: side by side with published runs, rate over time, latency of the operations."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final, Literal

from ullage.model.base import Strict
from ullage.model.record import PhaseRecord
from ullage.quantity import format_quantity, rounded, scale_for
from ullage.reading import read_bytes
from ullage.report import plots
from ullage.report.charts.repetitions import Points, middle_repetition
from ullage.report.contents import Chart, Figure
from ullage.report.data import ReportData
from ullage.report.phases import (
    PERCENTILE_NAMES,
    NamedPhase,
    Percentiles,
    format_list_interval,
    format_list_rate,
    labeller,
    merge,
    named_phases,
    phase_scale,
)
from ullage.report.vega import ACCENT, GRID, INK, MUTED, Spec, ordered_colors, ordinal, time_axis, tooltip
from ullage.report.verdicts import is_invalid

_REFERENCE_RUNS: Final = Path(__file__).parents[1] / "reference_runs"
_FACTORS: Final = {"GiB/s": float(1 << 30), "kIOPS": 1e3}


class ReferencePhase(Strict):
    """What one phase gave."""

    value: float
    unit: Literal["GiB/s", "kIOPS"]
    time_s: float

    @property
    def rate(self) -> float:
        """The rate in bytes/s or operations/s."""
        return self.value * _FACTORS[self.unit]


class ReferenceRun(Strict):
    """One published run, its phases by the names that rows have as ``phase``."""

    name: str
    phases: dict[str, ReferencePhase]


class Publication(Strict):
    """Where runs were published, and the runs."""

    source: str
    runs: list[ReferenceRun]


@cache
def publications() -> tuple[Publication, ...]:
    """Read all publications, in the order of their files."""
    files = sorted(_REFERENCE_RUNS.glob("*.json"))
    return tuple(Publication.model_validate_json(read_bytes(file)) for file in files)


# Blue is what was measured, warm and grey tones what was published: every common colour blindness tells them apart.
_OWN_COLORS: Final = (ACCENT, "#6aa0c2", "#0f3d5e", "#9fc5dc")
_REFERENCE_COLORS: Final = ("#d9a441", "#9aa4ae", "#b5651d", "#c9ced4")
# A run is a reference for a result when it has at least this share of the result's phases of one kind.
_LEAST_COMMON: Final = 0.5
_SAME: Final = 1e-4
_HEIGHT_OF_A_PHASE: Final = 34


@dataclass(frozen=True)
class _Bar:
    who: str
    phase: str
    value: float
    low: float | None
    high: float | None
    text: str
    note: str


def bar_figures(data: ReportData) -> list[Figure]:
    """Return a figure for every unit that named phases have."""
    phases = named_phases(data)
    units = dict.fromkeys(phase.row.unit for phase in phases)
    found = [bar_figure([phase for phase in phases if phase.row.unit == unit], unit) for unit in units]
    return [one for one in found if one is not None]


def bar_figure(phases: Sequence[NamedPhase], unit: str) -> Figure | None:
    """Draw phases of one unit, which may be of several targets; return None where none gave anything."""
    used = [(publication, run) for publication in publications() for run in publication.runs if _fits(run, phases)]
    own = [_own(phase) for phase in phases if phase.row.median > 0]
    names = list(dict.fromkeys(phase.name for phase in phases))
    bars = [*own, *(bar for _, run in used for bar in _of_reference(run, names, unit))]
    if not own:
        return None
    title = "Bandwidth" if unit == "B/s" else "Rate of operations" if unit == "op/s" else unit
    sources = dict.fromkeys(publication.source for publication, _ in used)
    void = sum(is_invalid(phase.row) for phase in phases)
    words = [
        f"Published runs, to compare shapes rather than lengths: {'; '.join(sources)}." if sources else "",
        f"INVALID phases: {void}." if void else "",
    ]
    return Figure(title, " ".join(filter(None, words)), _bar_spec(bars, names, [run.name for _, run in used], unit))


def _own(phase: NamedPhase) -> _Bar:
    row = phase.row
    text = f"{format_list_rate(row.median, row.unit)} {format_list_interval(row)}".strip()
    note = "INVALID" if is_invalid(row) else row.verdict
    return _Bar(phase.target, phase.name, row.median, row.low, row.high, text, note)


def _of_reference(run: ReferenceRun, names: Sequence[str], unit: str) -> list[_Bar]:
    shown = [(name, run.phases[name]) for name in names if name in run.phases]
    return [
        _Bar(run.name, name, phase.rate, None, None, format_list_rate(phase.rate, unit), "published")
        for name, phase in shown
        if phase.rate > 0
    ]


def _fits(run: ReferenceRun, phases: Sequence[NamedPhase]) -> bool:
    """Tell whether ``run`` has enough of the phases, and no target is ``run`` itself, come in by an import."""
    names = {phase.name for phase in phases}
    if len(names & set(run.phases)) < _LEAST_COMMON * len(names):
        return False
    return not any(
        _is_same(run, [phase for phase in phases if phase.target == target])
        for target in {phase.target for phase in phases}
    )


def _is_same(run: ReferenceRun, phases: Sequence[NamedPhase]) -> bool:
    common = [(phase.row.median, run.phases[phase.name].rate) for phase in phases if phase.name in run.phases]
    return all(math.isclose(value, rate, rel_tol=_SAME) for value, rate in common)


def _bar_spec(bars: Sequence[_Bar], names: Sequence[str], references: Sequence[str], unit: str) -> Spec:
    scale = phase_scale([bar.value for bar in bars], unit)
    who = list(dict.fromkeys(bar.who for bar in bars))
    own = [name for name in who if name not in references]
    colors = [_OWN_COLORS[index % len(_OWN_COLORS)] for index in range(len(own))]
    colors += [_REFERENCE_COLORS[index % len(_REFERENCE_COLORS)] for index in range(len(who) - len(own))]
    floor = plots.decade_floor(min(bar.value for bar in bars) / scale.factor)
    values = [_value(bar, scale.factor, floor) for bar in bars]
    top = max(bar.high or bar.value for bar in bars) / scale.factor * 1.2
    x = plots.log_axis("x", (floor, top), scale.unit, tickCount=6)
    place = {
        "y": plots.bar_names(names, 190, "phase"),
        "yOffset": {"field": "who", "type": "nominal", "sort": who, "scale": {"domain": who}},
    }
    legend = {"orient": "top", "title": None, "columns": 1, "labelLimit": 380, "symbolType": "square"}
    color = plots.nominal("who", who, colors, legend)
    layers = [plots.bar_layer(place, x, color, tooltip("who=run phase text=value note=mind"))]
    if any(found.low is not None for found in bars):
        whisker = {**place, "x": {**x, "field": "low"}, "x2": {"field": "high"}}
        layers.append(
            plots.layer({"type": "rule", "color": INK, "strokeWidth": 1.4}, whisker, shown="isValid(datum.low)")
        )
    height = _HEIGHT_OF_A_PHASE if len(who) < 4 else 10 * len(who)
    return plots.layered(360, {"step": height, "for": "position"}, layers, values)


def _value(bar: _Bar, factor: float, floor: float) -> Spec:
    return {
        "who": bar.who,
        "phase": bar.phase,
        "x": bar.value / factor,
        "low": None if bar.low is None else max(bar.low / factor, floor),
        "high": None if bar.high is None else bar.high / factor,
        "floor": floor,
        "text": bar.text,
        "note": bar.note,
    }


PHASE_BARS: Final = Chart(
    name="phase_bars",
    title="Phases side by side",
    doc="Each phase has a logarithmic scale.",
    order=3,
    part="metadata",
    build=bar_figures,
)


# Limits on the points of all figures, and of one, keep a page of many phases small.
_ALL_POINTS: Final = 3000
_MOST_POINTS: Final = 200
_NS_PER_S: Final = 1e9
Line = tuple[NamedPhase, PhaseRecord, Points]


def rate_figures(data: ReportData) -> list[Figure]:
    """Return a figure for every named phase whose records have time series."""
    phases = named_phases(data)
    most = min(_MOST_POINTS, _ALL_POINTS // max(1, len(phases)))
    names = dict.fromkeys(phase.name for phase in phases)
    found = [rate_figure(name, [phase for phase in phases if phase.name == name], most) for name in names]
    return [one for one in found if one is not None]


def rate_figure(name: str, phases: Sequence[NamedPhase], most: int) -> Figure | None:
    """Draw the phase ``name`` of each target; return None when no record has a series long enough to be seen."""
    middles = [
        (phase, middle_repetition(phase.records, of_operations=phase.row.unit != "B/s", most=most)) for phase in phases
    ]
    lines = [(phase, *found) for phase, found in middles if found is not None]
    return Figure(name, _rate_caption(lines), _rate_spec(lines)) if lines else None


def _rate_caption(lines: Sequence[Line]) -> str:
    walls = [
        f"{f'{phase.target}: ' if len(lines) > 1 else ''}time was up after {format_quantity(_wall_s(record), 's')}, "
        f"the last rank ended after {format_quantity(record.elapsed_ns / _NS_PER_S, 's')}"
        for phase, record, _ in lines
        if record.stonewall is not None
    ]
    return f"{'; '.join(walls)}.".capitalize() if walls and len(lines) == 1 else f"{'; '.join(walls)}." if walls else ""


def _wall_s(record: PhaseRecord) -> float:
    return record.stonewall.at_wall.elapsed_ns / _NS_PER_S if record.stonewall is not None else 0.0


def _rate_spec(lines: Sequence[Line]) -> Spec:
    unit = lines[0][0].row.unit
    scale = phase_scale([rate for _, _, points in lines for _, rate in points], unit)
    time = scale_for([second for _, _, points in lines for second, _ in points], "s")
    values = [
        {"who": phase.target, "x": rounded(second / time.factor), "y": rounded(rate / scale.factor)}
        for phase, _, points in lines
        for second, rate in points
    ]
    targets = [phase.target for phase, _, _ in lines]
    legend = {"orient": "top", "title": None, "symbolType": "stroke", "symbolStrokeWidth": 3, "labelLimit": 380}
    colors = [plots.COLORS[index % 4] for index in range(len(targets))]
    color = plots.nominal("who", targets, colors, legend if len(targets) > 1 else None)
    x: Spec = {"field": "x", "type": "quantitative", "title": f"time from the phase's start ({time.unit})"}
    y = plots.quantity_axis("y", scale.unit)
    tip = [
        {"field": field, "type": "quantitative", "title": title, "format": ".4~g"}
        for field, title in (("x", f"time ({time.unit})"), ("y", scale.unit))
    ]
    line = {"x": {**x, "axis": {"grid": False, "tickCount": 6}}, "y": y, "color": color, "tooltip": tip}
    mark = {"type": "line", "strokeWidth": 1.6, "interpolate": "step"}
    return plots.layered(410, 150, [plots.layer(mark, line), *_wall_layers(lines, time.factor)], values)


def _wall_layers(lines: Sequence[Line], factor: float) -> list[Spec]:
    walls = [{"x": _wall_s(record) / factor} for _, record, _ in lines if record.stonewall is not None]
    if not walls:
        return []
    place = {"x": {"field": "x", "type": "quantitative"}}
    look = {"color": MUTED, "baseline": "bottom", "y": -2, "fontSize": 11}
    return [
        plots.layer({"type": "rule", "color": INK, "strokeDash": [5, 4], "strokeWidth": 1.2}, place, walls),
        plots.layer({"type": "text", "text": "wall", **look}, place, walls[:1]),
    ]


PHASE_RATES: Final = Chart(
    name="phase_rates",
    title="Rate over time",
    doc="The rate of all ranks together, in the repetition with the median time. After the dashed line "
    "comes wear-out: each rank continues until all have done the same amount of work.",
    order=55,
    part="metadata",
    build=rate_figures,
)


def latency_figures(data: ReportData) -> list[Figure]:
    """Return one figure, or none where no record of a named phase has a histogram."""
    phases = named_phases(data)
    label = labeller(phases)
    found = [(label(phase), percentiles) for phase in phases if (percentiles := _percentiles(phase)) is not None]
    return [Figure("All phases", "Over all ranks and repetitions.", _latency_spec(found), wide=True)] if found else []


def _percentiles(phase: NamedPhase) -> Percentiles | None:
    found = merge([record.latency for record in phase.records if record.latency is not None])
    return found if found is not None and max(found.seconds.values()) > 0 else None


def _latency_spec(found: Sequence[tuple[str, Percentiles]]) -> Spec:
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
    color = ordinal(
        "name",
        PERCENTILE_NAMES,
        "",
        scale={"domain": PERCENTILE_NAMES, "range": ordered_colors(len(PERCENTILE_NAMES))},
        legend=legend,
    )
    span = {"y": y, "x": {**x, "aggregate": "min"}, "x2": {"aggregate": "max", "field": "x"}}
    dots = {"y": y, "x": x, "color": color, "tooltip": tooltip("phase name=percentile text=latency count=operations")}
    layers = [
        plots.layer({"type": "rule", "color": GRID, "strokeWidth": 4}, span),
        plots.layer({"type": "point", "filled": True, "size": 70, "opacity": 1}, dots),
    ]
    return plots.layered(780, {"step": 24}, layers, values)


PHASE_LATENCY: Final = Chart(
    name="phase_latency",
    title="Latency",
    doc="Half of the operations are faster than p50, one in a thousand is slower than p99.9. The axis is logarithmic.",
    order=58,
    part="metadata",
    build=latency_figures,
)


CHARTS: Final = (PHASE_BARS, PHASE_RATES, PHASE_LATENCY)
