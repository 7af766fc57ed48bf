# SPDX-License-Identifier: Apache-2.0
"""Kernels side by side with their ceilings, how the best grow with threads, and the roofline they make."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from ullage.model.summary import Row
from ullage.quantity import DASH, format_quantity, format_row, format_share, plural
from ullage.report.contents import Chart, Figure
from ullage.report.data import ReportData
from ullage.report.vega import ACCENT, INK, MUTED, Spec, ordered_colors, ordinal, rank_axis, tooltip
from ullage.report.verdicts import is_invalid
from ullage.suites.cpu.report.lines import Line, best_of, best_of_types, lines_of, thread_counts

_RATE_GIGA: Final = 1e9
_STEP: Final = 17
_FEWEST_COUNTS: Final = 3
_BAR_TOOLTIP: Final = tooltip(("name", "kernel"), ("text", "median"), ("ceiling_text", "ceiling"), ("share", "of it"))
_LINE_TOOLTIP: Final = tooltip(("name", "kernel"), ("x", "threads"), ("text", "over 1 thread"))


def rate_figures(data: ReportData) -> list[Figure]:
    """Bars with the most threads, and lines where there are three thread counts or more."""
    kernels = [line for line in lines_of(data) if line.is_kernel and line.rate.median > 0]
    counts = thread_counts(kernels)
    if not counts:
        return []
    found = [_bars(best_of_each([line for line in kernels if line.threads == counts[-1]]), counts[-1])]
    return [*found, *([_scaling(kernels, counts)] if len(counts) >= _FEWEST_COUNTS else [])]


def best_of_each(kernels: Sequence[Line]) -> list[Line]:
    """Of each type and instruction set the fastest operation; types in the order of the lines, the fastest first."""
    groups: dict[tuple[str, str], list[Line]] = {}
    for line in kernels:
        groups.setdefault((line.type, str(line.params["isa"])), []).append(line)
    types = list(dict.fromkeys(type_ for type_, _ in groups))
    found = [best for group in groups.values() if (best := best_of(group)) is not None]
    return sorted(found, key=lambda line: (types.index(line.type), -line.rate.median))


def _bars(kernels: Sequence[Line], threads: int) -> Figure:
    caption = (
        f"The fastest operation of each type and instruction set, with {plural(threads, 'thread')}; ticks: ceilings."
    )
    lowest = min((line.rate.median for line in kernels), default=1.0) / _RATE_GIGA
    floor = 10.0 ** math.floor(math.log10(lowest) - 0.05)
    values = [_bar(line, floor) for line in kernels]
    types = list(dict.fromkeys(line.type for line in kernels))
    axis = {"format": "~g", "labelOverlap": True, "tickCount": 6}
    top = max((max(value["y"], value["ceiling"] or 0.0) for value in values), default=1.0) * 1.3
    scale = {"type": "log", "domain": [floor, top], "nice": False}
    x = {"field": "y", "type": "quantitative", "title": "Gop/s", "scale": scale, "axis": axis}
    place = ordinal("name", [value["name"] for value in values], "", axis={"grid": False, "ticks": False})
    color = {
        "field": "type",
        "type": "nominal",
        "scale": {"domain": types, "range": ordered_colors(len(types))},
        "legend": None,
    }
    bar = {"y": place, "x": x, "x2": {"field": "floor"}, "color": color, "tooltip": _BAR_TOOLTIP}
    tick = {"y": place, "x": {**x, "field": "ceiling"}}
    layers: list[Spec] = [
        {"mark": {"type": "bar"}, "encoding": bar},
        {
            "transform": [{"filter": "isValid(datum.ceiling)"}],
            "mark": {"type": "tick", "color": INK, "thickness": 2, "size": _STEP - 3},
            "encoding": tick,
        },
    ]
    spec: Spec = {"width": 420, "height": {"step": _STEP}, "data": {"values": values}, "layer": layers}
    return Figure("kernels", caption, spec, wide=True)


def _bar(line: Line, floor: float) -> Spec:
    ceiling = line.rate.ceiling
    return {
        "name": line.name,
        "type": line.type,
        "y": line.rate.median / _RATE_GIGA,
        "floor": floor,
        "ceiling": None if ceiling is None else ceiling.value / _RATE_GIGA,
        "text": format_row(line.rate),
        "ceiling_text": DASH if ceiling is None else f"{format_quantity(ceiling.value, 'op/s')} ({ceiling.kind})",
        "share": format_share(line.rate.share),
    }


def _scaling(kernels: Sequence[Line], counts: Sequence[int]) -> Figure:
    """The kernel that is best with the most threads, over itself with the fewest."""
    values: list[Spec] = []
    names: list[str] = []
    for best in best_of_types(kernels, counts[-1]):
        line = sorted((one for one in kernels if one.name == best.name), key=lambda one: one.threads)
        names.append(best.name)
        for one in line:
            gain = one.rate.median / line[0].rate.median
            values.append({"name": best.name, "x": one.threads, "y": gain, "text": f"{gain:.2f} x"})
    color = {
        "field": "name",
        "type": "nominal",
        "scale": {"domain": names, "range": ordered_colors(len(names))},
        "legend": {"title": None, "labelLimit": 260},
    }
    y = {"field": "y", "type": "quantitative", "title": f"times what {counts[0]} gives", "scale": {"zero": True}}
    encoding = {"x": rank_axis(list(counts), "x", "threads"), "y": y, "color": color, "tooltip": _LINE_TOOLTIP}
    mark = {"type": "line", "strokeWidth": 2, "point": {"filled": True, "size": 36}}
    spec: Spec = {"width": 410, "height": 250, "data": {"values": values}, "mark": mark, "encoding": encoding}
    return Figure("threads", "The best kernel of each type.", spec)


RATE_CHART: Final = Chart(
    name="compute_rates",
    title="Rates of the cores",
    doc="A step of the logarithmic axis is ten times as much; a bar that meets its tick has reached its ceiling.",
    order=1,
    build=rate_figures,
)


# -- roofline (Williams, Waterman, Patterson 2009): what peaks and bandwidths allow at each intensity ------------------


_MEMORY: Final = "memory"
_BANDWIDTH: Final = "memory_bandwidth"
# One addition and one multiplication for three doubles: a = b + s c, as STREAM counts bytes.
_TRIAD_INTENSITY: Final = 2 / 24
_DOUBLE: Final = 8
_ROOFLINE_GIGA: Final = 1e9
_LEAST_X: Final = 1 / 32
_MOST_X: Final = 512.0
_WIDTH: Final = 560
_HEIGHT: Final = 320
_WORK_COLOR: Final = "#d9742b"
_TOOLTIP: Final = tooltip(("name", ""), ("text", ""), ("note", ""))


@dataclass(frozen=True)
class Roof:
    """A horizontal: operations/s; or a slope: bytes/s."""

    name: str
    value: float
    note: str


@dataclass(frozen=True)
class Work:
    """A point: operations a byte, and operations/s."""

    name: str
    intensity: float
    rate: float
    note: str


def roofline_figures(data: ReportData) -> list[Figure]:
    """One figure, of the most threads; none without a kernel in double or single precision."""
    lines = lines_of(data)
    counts = thread_counts(line for line in lines if line.is_kernel)
    if not counts:
        return []
    threads = counts[-1]
    same = [line for line in lines if line.threads == threads]
    peaks = peaks_of(same)
    if not peaks:
        return []
    streams = [row for row in data.rows_of(_MEMORY) if _is_stream(row, threads)]
    slopes, works = slopes_of(streams), [*_triad(streams), *works_of(same)]
    words = [
        f"With {plural(threads, 'thread')}.",
        "Horizontals are our fastest kernels, slopes the best bandwidth of each level." if slopes else "",
        "" if slopes else "No bandwidths are in this result: suite node, or overview, draws the slopes.",
        "A product of n x n matrices moves 24 n^2 bytes at least, a solve 16 n^2." if works else "",
    ]
    return [Figure("roofline", " ".join(filter(None, words)), _spec(peaks, slopes, works), wide=True)]


def peaks_of(lines: Sequence[Line]) -> list[Roof]:
    """The fastest kernel in single and in double precision, and the scalar FMA; highest first."""
    kernels = [line for line in lines if line.is_kernel]
    found: list[Roof] = []
    for name, chosen in (
        ("fp32", best_of(line for line in kernels if line.type == "fp32")),
        ("fp64", best_of(line for line in kernels if line.type == "fp64")),
        ("fp64 without vectors", best_of(line for line in kernels if line.name == "scalar fp64 fma")),
    ):
        if chosen is not None and all(chosen.rate.median != roof.value for roof in found):
            found.append(Roof(name, chosen.rate.median, chosen.name))
    return sorted(found, key=lambda roof: -roof.value)


def slopes_of(streams: Iterable[Row]) -> list[Roof]:
    """The best bandwidth of each level, highest first."""
    best: dict[str, Row] = {}
    for row in streams:
        level = str(row.params.get("level", ""))
        if level and (level not in best or row.median > best[level].median):
            best[level] = row
    roofs = [Roof(level, row.median, str(row.params.get("kernel", ""))) for level, row in best.items()]
    return sorted(roofs, key=lambda roof: -roof.value)


def works_of(lines: Iterable[Line]) -> list[Work]:
    """The fastest product and the fastest solve, by the bytes of their matrices."""
    all_ = [line for line in lines if not line.is_kernel and line.type == "fp64"]
    found: list[Work] = []
    # Operations over bytes: 2 n^3 over three matrices, 2/3 n^3 over one that is read and written.
    for name, intensity_of_n in (("gemm", 2 / (3 * _DOUBLE)), ("solve", 2 / 3 / (2 * _DOUBLE))):
        best = best_of(line for line in all_ if line.name == name)
        if best is not None:
            n = int(best.params.get("n", 0))
            note = f"n = {n}, BLAS {best.params.get('library', '')}"
            found.append(Work(name, intensity_of_n * n, best.rate.median, note))
    return found


def _triad(streams: Iterable[Row]) -> list[Work]:
    """From memory, not from a cache: the level with the least bandwidth."""
    triads = [row for row in streams if row.params.get("kernel") == "triad"]
    lowest = slopes_of(triads)[-1:]
    return [Work("triad", _TRIAD_INTENSITY, _TRIAD_INTENSITY * roof.value, f"from {roof.name}") for roof in lowest]


def _is_stream(row: Row, threads: int) -> bool:
    return row.metric == _BANDWIDTH and row.params.get("threads") == threads and not is_invalid(row)


def _spec(peaks: Sequence[Roof], slopes: Sequence[Roof], works: Sequence[Work]) -> Spec:
    top = peaks[0].value
    most_x = max([_MOST_X, *(2 * work.intensity for work in works)])
    values: list[Spec] = []
    for slope in slopes:
        text = f"{slope.name}: {format_quantity(slope.value, 'B/s')}"
        ends = (_LEAST_X, top / slope.value)
        values += [_point(x, x * slope.value, text, slope.note) for x in ends if ends[1] > _LEAST_X]
    for peak in peaks:
        text = f"{peak.name}: {format_quantity(peak.value, 'op/s')}"
        start = max(_LEAST_X, peak.value / slopes[0].value) if slopes else _LEAST_X
        values += [_point(x, peak.value, text, peak.note) for x in (start, most_x)]
    ys = [value["y"] for value in values] + [work.rate / _ROOFLINE_GIGA for work in works]
    x, y = _axis("x", (_LEAST_X, most_x), "operations a byte"), _axis("y", (min(ys) / 1.5, max(ys) * 1.6), "Gop/s")
    line = {"x": x, "y": y, "detail": {"field": "name", "type": "nominal"}, "tooltip": _TOOLTIP}
    layers: list[Spec] = [
        {"data": {"values": values}, "mark": {"type": "line", "strokeWidth": 2, "color": ACCENT}, "encoding": line},
        _labels([value for value in values if value["x"] == most_x], x, y, "right"),
    ]
    if slopes:
        layers.append(_labels([value for value in values if value["x"] == _LEAST_X], x, y, "left"))
    if works:
        layers += _work_layers(works, x, y)
    return {"width": _WIDTH, "height": _HEIGHT, "layer": layers}


def _point(x: float, y: float, text: str, note: str) -> Spec:
    return {
        "x": float(f"{x:.5g}") if x not in (_LEAST_X, _MOST_X) else x,
        "y": y / _ROOFLINE_GIGA,
        "name": text,
        "note": note,
    }


def _labels(values: Sequence[Spec], x: Spec, y: Spec, align: str) -> Spec:
    """At the ends of the lines: above horizontals, below slopes."""
    place = {"baseline": "bottom", "dy": -3} if align == "right" else {"baseline": "top", "dx": 14, "dy": -6}
    mark = {"type": "text", "align": align, "color": MUTED, "fontSize": 11, **place}
    encoding = {"x": _bare(x), "y": _bare(y), "text": {"field": "name", "type": "nominal"}}
    return {"data": {"values": list(values)}, "mark": mark, "encoding": encoding}


def _work_layers(works: Sequence[Work], x: Spec, y: Spec) -> list[Spec]:
    values = [
        {
            "x": work.intensity,
            "y": work.rate / _ROOFLINE_GIGA,
            "name": work.name,
            "text": format_quantity(work.rate, "op/s"),
            "note": work.note,
        }
        for work in works
    ]
    place = {"x": _bare(x), "y": _bare(y)}
    dot = {"type": "point", "filled": True, "size": 90, "color": _WORK_COLOR, "opacity": 1}
    name = {"type": "text", "dy": 15, "align": "center", "color": INK, "fontSize": 12}
    return [
        {"data": {"values": values}, "mark": dot, "encoding": {**place, "tooltip": _TOOLTIP}},
        {"data": {"values": values}, "mark": name, "encoding": {**place, "text": {"field": "name", "type": "nominal"}}},
    ]


def _bare(axis: Spec) -> Spec:
    """The same scale; the axis is drawn once."""
    return {key: value for key, value in axis.items() if key != "axis"}


def _axis(field: str, domain: tuple[float, float], title: str) -> Spec:
    scale = {"type": "log", "domain": list(domain), "nice": False}
    axis = {"format": "~g", "labelOverlap": True, "tickCount": 8}
    return {"field": field, "type": "quantitative", "scale": scale, "axis": axis, "title": title}


ROOFLINE_CHART: Final = Chart(
    name="roofline",
    title="Roofline",
    doc="Work left of where a slope meets a horizontal is held back by bandwidth, right of it by the cores. Both axes "
    "are logarithmic.",
    order=1,
    build=roofline_figures,
)
