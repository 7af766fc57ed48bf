# SPDX-License-Identifier: Apache-2.0
"""Roofline (Williams, Waterman, Patterson 2009): what the measured peaks and bandwidths allow at each intensity.

Attainable operations/s = min(peak, intensity x bandwidth). Roofs are measured ones; work is placed by the least bytes
it has to move.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from ullage.model.summary import Row
from ullage.report.contents import Chart, Figure
from ullage.report.cpu.rows import Line, best_of, lines_of, thread_counts
from ullage.report.data import ReportData
from ullage.report.quantity import format_quantity, plural
from ullage.report.vega import ACCENT, INK, MUTED, Spec, tooltip
from ullage.report.verdicts import is_invalid

_MEMORY: Final = "memory"
_BANDWIDTH: Final = "memory_bandwidth"
# One addition and one multiplication for three doubles: a = b + s c, as STREAM counts bytes.
_TRIAD_INTENSITY: Final = 2 / 24
_DOUBLE: Final = 8
_GIGA: Final = 1e9
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


def build(data: ReportData) -> list[Figure]:
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
    ys = [value["y"] for value in values] + [work.rate / _GIGA for work in works]
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
    return {"x": float(f"{x:.5g}") if x not in (_LEAST_X, _MOST_X) else x, "y": y / _GIGA, "name": text, "note": note}


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
            "y": work.rate / _GIGA,
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


CHART: Final = Chart(
    name="roofline",
    title="Roofline",
    doc="Work left of where a slope meets a horizontal is held back by bandwidth, right of it by the cores. Both axes "
    "are logarithmic.",
    order=1,
    build=build,
)
