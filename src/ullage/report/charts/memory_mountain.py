# SPDX-License-Identifier: Apache-2.0
"""Bandwidth over the working set: a line for each kernel and thread count, with the sizes of the caches drawn in."""

from collections.abc import Sequence
from typing import Final

from ullage.analysis.findings.words import plural
from ullage.model.summary import Row
from ullage.report.axes import HEIGHT, WIDTH, cache_layers, color_of, log_axis, size_axis
from ullage.report.contents import Chart, Figure
from ullage.report.data import ReportData
from ullage.report.memory.rows import KERNELS, cache_lines, own_rows, size_of, streams, threads_of
from ullage.report.quantity import format_row
from ullage.report.vega import Spec, tooltip
from ullage.units import format_bytes

_GIGA: Final = 1e9
_FEWEST: Final = 3
_DASHES: Final = ([1, 0], [6, 4], [2, 3])
_TOOLTIP: Final = tooltip(("name", "kernel"), ("size", "working set"), ("who", "by"), ("text", "bandwidth"))


def build(data: ReportData) -> list[Figure]:
    """One figure; none where fewer than three sets were measured."""
    rows = [row for row in streams(own_rows(data)) if row.params.get("stores", "ordinary") == "ordinary"]
    lines: dict[tuple[str, int], list[Row]] = {}
    for row in rows:
        lines.setdefault((str(row.params["kernel"]), threads_of(row)), []).append(row)
    drawn = {key: sorted(found, key=size_of) for key, found in lines.items() if len(found) >= _FEWEST}
    curves = {key: drawn[key] for key in sorted(drawn, key=lambda key: (KERNELS.index(key[0]), key[1]))}
    if not curves:
        return []
    sizes = [size_of(row) for curve in curves.values() for row in curve]
    caption = (
        "Bytes as STREAM counts them, ordinary stores. The set is that of all threads together; dashed uprights are "
        "caches of one core, or shared, as the kernel states them."
    )
    return [Figure("bandwidth over the working set", caption, _spec(data, curves, sizes), wide=True)]


def _spec(data: ReportData, curves: dict[tuple[str, int], list[Row]], sizes: Sequence[int]) -> Spec:
    values = [_point(row, kernel, threads) for (kernel, threads), curve in curves.items() for row in curve]
    kernels = [kernel for kernel in KERNELS if any(kernel == found for found, _ in curves)]
    counts = sorted({threads for _, threads in curves})
    whos = [plural(count, "thread") for count in counts]
    dashes = {"domain": whos, "range": [_DASHES[index % len(_DASHES)] for index in range(len(whos))]}
    dash = {
        "field": "who",
        "type": "nominal",
        "scale": dashes,
        "legend": {"title": None, "symbolType": "stroke", "symbolStrokeWidth": 2} if len(whos) > 1 else None,
    }
    x, y = size_axis(sizes), log_axis([value["y"] for value in values], "bandwidth (GB/s)")
    encoding = {"x": x, "y": y, "color": color_of("name", kernels), "strokeDash": dash}
    marks = {"x": x, "y": y, "color": color_of("name", kernels), "tooltip": _TOOLTIP}
    layers: list[Spec] = [
        *cache_layers(cache_lines(data), sizes),
        {"data": {"values": values}, "mark": {"type": "line", "strokeWidth": 2}, "encoding": encoding},
        {"data": {"values": values}, "mark": {"type": "point", "filled": True, "size": 26}, "encoding": marks},
    ]
    return {"width": WIDTH, "height": HEIGHT, "layer": layers}


def _point(row: Row, kernel: str, threads: int) -> Spec:
    return {
        "x": size_of(row),
        "y": float(f"{row.median / _GIGA:.5g}"),
        "name": kernel,
        "who": plural(threads, "thread"),
        "size": format_bytes(size_of(row)),
        "text": format_row(row),
    }


CHART: Final = Chart(
    name="memory_mountain",
    title="Memory: bandwidth of every level",
    doc="Each step down is the end of a cache. Both axes are logarithmic.",
    order=3,
    build=build,
)
