# SPDX-License-Identifier: Apache-2.0
"""Every named phase, targets and published runs of the same benchmark side by side, on a logarithmic scale."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ullage.report.contents import Chart, Figure
from ullage.report.data import ReportData
from ullage.report.phases import NamedPhase, format_rate, format_rate_interval, named_phases, phase_scale
from ullage.report.references import Publication, ReferenceRun, publications
from ullage.report.vega import ACCENT, INK, Spec, ordinal, tooltip
from ullage.report.verdicts import is_invalid

# Blue for what was measured, warm and grey tones for what was read: told apart with every common colour blindness.
_OWN_COLORS: Final = (ACCENT, "#6aa0c2", "#0f3d5e", "#9fc5dc")
_REFERENCE_COLORS: Final = ("#d9a441", "#9aa4ae", "#b5651d", "#c9ced4")
_TOOLTIP: Final = tooltip(("who", "run"), ("phase", "phase"), ("text", "value"), ("note", "mind"))
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


def build(data: ReportData) -> list[Figure]:
    """A figure for every unit that named phases have."""
    phases = named_phases(data)
    units = dict.fromkeys(phase.row.unit for phase in phases)
    found = [figure([phase for phase in phases if phase.row.unit == unit], unit) for unit in units]
    return [one for one in found if one is not None]


def figure(phases: Sequence[NamedPhase], unit: str) -> Figure | None:
    """Phases of one unit, which may be of several targets; None where none gave anything."""
    used = [(publication, run) for publication in publications() for run in publication.runs if _fits(run, phases)]
    own = [_own(phase) for phase in phases if phase.row.median > 0]
    names = list(dict.fromkeys(phase.name for phase in phases))
    bars = [*own, *(bar for _, run in used for bar in _of_reference(run, names, unit))]
    if not own:
        return None
    title = "Bandwidth" if unit == "B/s" else "Rate of operations" if unit == "op/s" else unit
    return Figure(title, _caption(phases, used), _spec(bars, names, [run.name for _, run in used], unit))


def _own(phase: NamedPhase) -> _Bar:
    row = phase.row
    text = f"{format_rate(row.median, row.unit)} {format_rate_interval(row)}".strip()
    note = "INVALID" if is_invalid(row) else row.verdict
    return _Bar(phase.target, phase.name, row.median, row.low, row.high, text, note)


def _of_reference(run: ReferenceRun, names: Sequence[str], unit: str) -> list[_Bar]:
    shown = [(name, run.phases[name]) for name in names if name in run.phases]
    return [
        _Bar(run.name, name, phase.rate, None, None, format_rate(phase.rate, unit), "published")
        for name, phase in shown
        if phase.rate > 0
    ]


def _fits(run: ReferenceRun, phases: Sequence[NamedPhase]) -> bool:
    """Whether enough phases are in ``run``, and no target is ``run`` itself, come in by an import."""
    names = {phase.name for phase in phases}
    if len(names & set(run.phases)) < _LEAST_COMMON * len(names):
        return False
    return not any(_is_same(run, [phase for phase in phases if phase.target == target]) for target in _targets(phases))


def _targets(phases: Sequence[NamedPhase]) -> list[str]:
    return list(dict.fromkeys(phase.target for phase in phases))


def _is_same(run: ReferenceRun, phases: Sequence[NamedPhase]) -> bool:
    common = [(phase.row.median, run.phases[phase.name].rate) for phase in phases if phase.name in run.phases]
    return all(math.isclose(value, rate, rel_tol=_SAME) for value, rate in common)


def _caption(phases: Sequence[NamedPhase], used: Sequence[tuple[Publication, ReferenceRun]]) -> str:
    sources = dict.fromkeys(publication.source for publication, _ in used)
    void = sum(is_invalid(phase.row) for phase in phases)
    words = [
        f"Published runs, to compare shapes rather than lengths: {'; '.join(sources)}." if sources else "",
        f"INVALID phases: {void}." if void else "",
    ]
    return " ".join(filter(None, words))


def _spec(bars: Sequence[_Bar], names: Sequence[str], references: Sequence[str], unit: str) -> Spec:
    scale = phase_scale([bar.value for bar in bars], unit)
    who = list(dict.fromkeys(bar.who for bar in bars))
    own = [name for name in who if name not in references]
    colors = [_OWN_COLORS[index % len(_OWN_COLORS)] for index in range(len(own))]
    colors += [_REFERENCE_COLORS[index % len(_REFERENCE_COLORS)] for index in range(len(who) - len(own))]
    floor = 10.0 ** math.floor(math.log10(min(bar.value for bar in bars) / scale.factor) - 0.05)
    values = [_value(bar, scale.factor, floor) for bar in bars]
    axis = {"format": "~g", "labelOverlap": True, "tickCount": 6}
    top = max(bar.high or bar.value for bar in bars) / scale.factor * 1.2
    domain = {"type": "log", "domain": [floor, top], "nice": False}
    x = {"field": "x", "type": "quantitative", "title": scale.unit, "scale": domain, "axis": axis}
    place = {
        "y": ordinal("phase", names, "", axis={"grid": False, "ticks": False, "labelLimit": 190}),
        "yOffset": {"field": "who", "type": "nominal", "sort": who, "scale": {"domain": who}},
    }
    legend = {"orient": "top", "title": None, "columns": 1, "labelLimit": 380, "symbolType": "square"}
    color = {"field": "who", "type": "nominal", "scale": {"domain": who, "range": colors}, "legend": legend}
    bar = {**place, "x": x, "x2": {"field": "floor"}, "color": color, "tooltip": _TOOLTIP}
    layers: list[Spec] = [{"mark": {"type": "bar"}, "encoding": bar}]
    if any(found.low is not None for found in bars):
        whisker = {**place, "x": {**x, "field": "low"}, "x2": {"field": "high"}}
        measured = {"transform": [{"filter": "isValid(datum.low)"}]}
        layers.append({**measured, "mark": {"type": "rule", "color": INK, "strokeWidth": 1.4}, "encoding": whisker})
    height = _HEIGHT_OF_A_PHASE if len(who) < 4 else 10 * len(who)
    return {"width": 360, "height": {"step": height, "for": "position"}, "data": {"values": values}, "layer": layers}


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


CHART: Final = Chart(
    name="phase_bars",
    title="Phases side by side",
    doc="Each phase on a logarithmic scale: a step of the axis is ten times as much.",
    order=3,
    build=build,
)
