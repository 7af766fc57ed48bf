# SPDX-License-Identifier: Apache-2.0
"""The page of b_eff_io, three plots by access and five by type, and sets of hints against the default by pattern."""

import math
from collections.abc import Mapping, Sequence
from typing import Final

from ullage.analysis.contests import contest_of
from ullage.analysis.settings import select
from ullage.analysis.statistics.comparison import Comparison, compare_all
from ullage.grouping import grouped
from ullage.model.summary import Row
from ullage.quantity import DASH, format_row, rounded, significant
from ullage.report import verdicts
from ullage.report.contents import Chart, Figure
from ullage.report.data import ReportData
from ullage.report.plots import layer, layered, nominal
from ullage.report.vega import INK, MUTED, Spec, tooltip, verdict_shape
from ullage.report.verdicts import classify
from ullage.suites.b_eff_io.hints import DEFAULT_SET
from ullage.suites.b_eff_io.pattern_findings import HintRatio, ratios
from ullage.suites.b_eff_io.patterns import ACCESSES, TYPES, X_LABELS, X_POSITIONS, pattern_of
from ullage.suites.b_eff_io.rows import MEGA, PATTERN
from ullage.suites.b_eff_io.sheets import MOST_SHEETS, Sheet, best_sheets, corner_of, sheets_of, title_of
from ullage.units import format_bytes

# The original's y axis goes from 10^-1 to 10^5 MB/s, its x axis between these ends.
WHOLE: Final = (-1, 5)
_X_ENDS: Final = (0.5, 10.5)
_X_OF: Final[dict[str, int]] = {**X_POSITIONS}
_LINE: Final = 12
# The corner labels take this part of a plot's height.
_HEADROOM: Final = 0.3
ORIGINAL_AXIS: Final = "originalAxis"
OPTION: Final[Spec] = {
    "name": ORIGINAL_AXIS,
    "value": False,
    "bind": {"input": "checkbox", "name": "the original's axis, 0.1 to 100000 MB/s "},
}
"""A box below the plots switches it. A picture in a file keeps the value of the box."""
TYPE_COLORS: Final[dict[str, str]] = dict(zip(TYPES, ("#1f5f8b", "#d9742b", "#3d8b4f", "#7a4f9a", INK), strict=True))
ACCESS_COLORS: Final = {"write": "#d9742b", "rewrite": "#7a4f9a", "read": "#1f5f8b"}


def x_axis(lmax_bytes: int) -> Spec:
    """Make the x axis: well-formed sizes and those with 8 bytes more, side by side as in the original."""
    named = {X_POSITIONS[size]: label for size, label in X_LABELS.items()}
    if lmax_bytes:
        named[X_POSITIONS["Lmax"]] = format_bytes(lmax_bytes)
    cases = " : ".join(f"datum.value === {place} ? '{label}'" for place, label in named.items())
    axis = {"values": list(named), "labelExpr": f"{cases} : ''", "grid": False, "labelOverlap": False, "labelAngle": 0}
    scale = {"domain": list(_X_ENDS), "nice": False}
    return {"field": "x", "type": "quantitative", "title": None, "scale": scale, "axis": axis}


def y_axis(values: Sequence[float], title: str) -> Spec:
    """Make the y axis, logarithmic, in whole decades.

    It reaches as far as there are ``values``, which are above 0, with room for labels above them; or as far as the
    original's axis goes.
    """
    least, most = math.log10(min(values)), math.log10(max(values))
    own_low = math.floor(least)
    own_high = max(math.ceil(most), own_low + 1)
    top = max(float(own_high), own_low + (most - own_low) / (1 - _HEADROOM))
    low, high = min(WHOLE[0], own_low), max(WHOLE[1], own_high)
    ends = ((10.0**low, 10.0**own_low), (10.0**high, 10.0**top))
    domain = [{"expr": f"{ORIGINAL_AXIS} ? {whole:g} : {clipped:.6g}"} for whole, clipped in ends]
    ticks = f"{ORIGINAL_AXIS} ? {_powers(low, high)} : {_powers(own_low, math.floor(top))}"
    axis = {"values": {"expr": ticks}, "format": "~g", "titlePadding": 4}
    scale = {"type": "log", "domain": domain, "nice": False}
    return {"field": "y", "type": "quantitative", "title": title or None, "scale": scale, "axis": axis}


def _powers(low: int, high: int) -> str:
    return "[" + ", ".join(f"{10.0**power:g}" for power in range(low, high + 1)) + "]"


def _label(lines: Sequence[str], y: int, baseline: str, ink: str) -> Spec:
    """Make words at the right edge of a plot, as the original has them."""
    look = {"x": _WIDTH - 4, "y": y, "align": "right", "baseline": baseline, "color": ink}
    mark = {"type": "text", "text": list(lines), "fontSize": 9.5, "lineHeight": _LINE, **look}
    return {"data": {"values": [{}]}, "mark": mark}


def color(field: str, title: str, colors: Mapping[str, str], names: Sequence[str], **more: object) -> Spec:
    """Make the color channel of lines and points; the legend, of which ``more`` is said, stands above the plots."""
    look = {"orient": "top", "symbolType": "stroke", "symbolStrokeWidth": 3, "symbolOpacity": 1, **more}
    channel = nominal(field, names, [colors[name] for name in names], {"title": title, **look})
    return {**channel, "sort": list(names)}


_WIDTH: Final = 304
_HEIGHT: Final = 220
_COLUMNS: Final = 3
_TITLES: Final = {"write": "first write", "rewrite": "rewrite", "read": "read"}
_WHISKER: Final[Spec] = {"type": "rule", "strokeWidth": 1.2, "opacity": 0.7}
_MARKER: Final[Spec] = {"type": "point", "size": 30, "opacity": 1, "strokeWidth": 1.4}
_HAS_INTERVAL: Final = "isValid(datum.low)"
_WORKAROUND: Final = ("workaround for type shared:", "individual file pointer")
_TOOLTIP: Final = tooltip("access type sizes=chunk,_call text=bandwidth verdict grade flags")


def figures(data: ReportData) -> list[Figure]:
    """Draw a page for each partition with a set of hints; of many, those with the highest values."""
    sheets = sheets_of(data)
    drawn = [sheet for sheet in sheets if _rows(sheet)]
    return [_page(data, sheet, sheets, len(drawn)) for sheet in best_sheets(drawn, MOST_SHEETS)]


def _rows(sheet: Sheet) -> list[Row]:
    """Return the rows of the patterns that have a place on the x axis, by access, type and size."""
    found = [
        sheet.pattern(access, pattern)
        for access in sheet.accesses
        for kind in TYPES
        for size in X_POSITIONS
        if (pattern := pattern_of(kind, size)) is not None
    ]
    return [row for row in found if row is not None and row.median > 0]


def _page(data: ReportData, sheet: Sheet, sheets: Sequence[Sheet], pages: int) -> Figure:
    rows = _rows(sheet)
    words = [
        "Whiskers are the intervals of the medians." if any(row.low is not None for row in rows) else "",
        verdicts.caption(rows),
        f"Shows {MOST_SHEETS} of {pages} pages, those with the highest values." if pages > MOST_SHEETS else "",
    ]
    labels, is_shared = corner_of(data, sheet)
    drawing = _page_spec(sheet, [_point(row) for row in rows], labels, has_shared_pointer=is_shared)
    return Figure(title_of(sheet, sheets), " ".join(filter(None, words)), drawing, wide=True)


def _point(row: Row) -> Spec:
    sizes = [row.count(key) for key in ("chunk_bytes", "call_bytes") if key in row.params]
    return {
        "x": _X_OF[row.word("size")],
        "y": rounded(row.median / MEGA),
        "low": None if row.low is None else rounded(row.low / MEGA),
        "high": None if row.high is None else rounded(row.high / MEGA),
        "access": row.params["access"],
        "type": row.params["pattern_type"],
        "sizes": ", ".join(map(format_bytes, sizes)) or row.params["size"],
        "text": format_row(row),
        "verdict": row.verdict,
        "grade": row.grade or DASH,
        "flags": ", ".join(row.flag_codes) or DASH,
        "measured": classify(row).label,
        "hollow": not classify(row).filled,
    }


def _page_spec(sheet: Sheet, points: Sequence[Spec], labels: Sequence[str], *, has_shared_pointer: bool) -> Spec:
    kinds = [kind for kind in TYPES if any(point["type"] == kind for point in points)]
    x, ends = x_axis(sheet.lmax_bytes), [point[key] for point in points for key in ("y", "low", "high") if point[key]]

    def plot_of(field: str, name: str, curves: Spec, *, is_first: bool) -> Spec:
        y = y_axis(ends, "MB/s" if is_first else "")
        place = {"x": x, "y": y, "stroke": curves}
        layers = [layer({"type": "line", "strokeWidth": 1.6}, place)]
        if any(point["low"] is not None for point in points):
            whisker = {**place, "y": {**y, "field": "low"}, "y2": {"field": "high"}}
            layers.append(layer(_WHISKER, whisker, shown=_HAS_INTERVAL))
        marker = {**place, "fill": curves, **verdict_shape(), "tooltip": _TOOLTIP}
        layers += [layer(_MARKER, marker), _label(labels, 4, "top", INK)]
        if not has_shared_pointer and (field == "access" or name == "shared"):
            layers.append(_label(_WORKAROUND, _HEIGHT - 4 - _LINE * (len(_WORKAROUND) - 1), "bottom", MUTED))
        title = _TITLES[name] if field == "access" else f"type {[*TYPES].index(name)}: {name}"
        return {
            **layered(_WIDTH, _HEIGHT, layers),
            "title": {"text": title, "fontSize": 12, "offset": 4},
            "transform": [{"filter": {"field": field, "equal": name}}],
        }

    def row_of(field: str, names: Sequence[str], curves: Spec) -> Spec:
        plots = [plot_of(field, name, curves, is_first=index % _COLUMNS == 0) for index, name in enumerate(names)]
        return {"concat": plots, "columns": _COLUMNS, "spacing": 14}

    return {
        "params": [dict(OPTION)],
        "data": {"values": list(points)},
        "vconcat": [
            row_of("access", sheet.accesses, color("type", "type", TYPE_COLORS, kinds)),
            row_of("type", kinds, color("access", "access", ACCESS_COLORS, sheet.accesses)),
        ],
        "resolve": {"scale": dict.fromkeys(("fill", "stroke"), "independent")},
        "spacing": 26,
    }


CHART: Final = Chart(
    name="b_eff_io",
    title="b_eff_io over the chunk size",
    doc="As on the original's page, the y axis is MB/s of all processes together, over the contiguous chunk on disk. "
    "Chunks are 1k to Lmax, also 8 bytes longer (+8). The scale is logarithmic. Calls of type scatter move at least 1 "
    "MiB whatever the chunk, those of the other types one chunk. So scatter looks fast with small chunks.",
    order=5,
    part="disk",
    build=figures,
)


_HINT_SIZE: Final = (184, 170)
_MOST_HINT_FIGURES: Final = 2
_MOST_SETS: Final = 6
_HINT_COLORS: Final = ("#d9742b", "#1f5f8b", "#3d8b4f", "#7a4f9a", "#a15c00", "#5fa8d3")
_HINT_TOOLTIP: Final = tooltip("set=hints place=pattern text=with_them base=without ratio outcome=they_make_it")


def hint_figures(data: ReportData) -> list[Figure]:
    """Draw each target and partition that was measured with several sets; of many, those with the highest values."""
    sheets = sheets_of(data)
    groups = grouped(((sheet.target, sheet.ranks), sheet) for sheet in sheets)
    several = {id(found[0]): found for found in groups.values() if len(found) > 1}
    shown = best_sheets([found[0] for found in several.values()], _MOST_HINT_FIGURES)
    made = [_hint_figure(several[id(first)], [found[0] for found in groups.values()]) for first in shown]
    return [figure for figure in made if figure is not None]


def _hint_figure(group: Sequence[Sheet], all_: Sequence[Sheet]) -> Figure | None:
    rows = select([row for sheet in group for row in sheet.rows], PATTERN)
    names = [sheet.hint_set for sheet in group]
    base = DEFAULT_SET if DEFAULT_SET in names else names[0]
    found = [one for one in ratios(rows, base) if str(one.row.params["size"]) in _X_OF and one.ratio > 0]
    others = list(dict.fromkeys(one.hint_set for one in found))[:_MOST_SETS]
    found = [one for one in found if one.hint_set in others]
    if not found:
        return None
    contests = [contest_of(one.row, one.base) for one in found]
    points = [_hint_point(one, result) for one, result in zip(found, compare_all(contests), strict=True)]
    title, spec = f"{title_of(group[0], all_)}: against {base}", _hint_spec(points, others, group[0].lmax_bytes, base)
    return Figure(title, _hint_caption(points, others), spec, wide=True)


def _hint_point(one: HintRatio, result: Comparison) -> Spec:
    row, params = one.row, one.row.params
    return {
        "x": _X_OF[str(params["size"])],
        "y": rounded(one.ratio, 4),
        "low": None if result.low is None else rounded(result.low, 4),
        "high": None if result.high is None else rounded(result.high, 4),
        "set": one.hint_set,
        "access": params["access"],
        "type": params["pattern_type"],
        "place": f"{params['access']}, {params['pattern_type']}, {params['size']}",
        "text": format_row(row),
        "base": format_row(one.base),
        "ratio": significant(one.ratio),
        "outcome": result.verdict,
        "unsure": result.verdict == "cannot tell",
    }


def _hint_caption(points: Sequence[Spec], names: Sequence[str]) -> str:
    words: list[str] = []
    for name in names:
        of = [point["outcome"] for point in points if point["set"] == name]
        words.append(
            f"{name} makes {of.count('faster')} of {len(of)} patterns faster and {of.count('slower')} slower; of "
            f"{of.count('cannot tell')} one cannot tell."
        )
    if any(point["unsure"] for point in points):
        words.append("Hollow marks cannot be told from 1, as with one repetition.")
    return " ".join(words)


def _hint_spec(points: Sequence[Spec], names: Sequence[str], lmax_bytes: int, base: str) -> Spec:
    accesses = [access for access in ACCESSES if any(point["access"] == access for point in points)]
    kinds = [kind for kind in TYPES if any(point["type"] == kind for point in points)]
    looks = {name: _HINT_COLORS[index % len(_HINT_COLORS)] for index, name in enumerate(names)}
    colors = color("set", "hints", looks, names, columns=3, labelLimit=240)
    x, y = x_axis(lmax_bytes), _ratio_axis(points, base)
    x["axis"] |= {"labelFontSize": 9.5}
    place = {"x": x, "y": y, "stroke": colors}
    filling = {"fillOpacity": {"condition": {"test": "datum.unsure", "value": 0}, "value": 1}}
    whisker = {**place, "y": {**y, "field": "low"}, "y2": {"field": "high"}}
    one = {"y": {"datum": 1, "type": "quantitative"}, "stroke": {"value": INK}}
    layers = [
        layer({"type": "rule", "strokeWidth": 1, "strokeDash": [4, 3]}, one),
        layer({"type": "line", "strokeWidth": 1.4, "opacity": 0.8}, place),
        layer({**_WHISKER, "clip": True}, whisker, shown=_HAS_INTERVAL),
        layer(_MARKER, {**place, "fill": colors, **filling, "tooltip": _HINT_TOOLTIP}),
    ]
    head = {"title": None, "labelFontSize": 11.5, "labelFontWeight": 600, "labelColor": INK}
    label = "datum.value === 'write' ? 'first write' : datum.value"
    facet = {
        "row": {"field": "access", "type": "nominal", "sort": accesses, "header": {**head, "labelExpr": label}},
        "column": {"field": "type", "type": "nominal", "sort": kinds, "header": {**head, "labelAnchor": "start"}},
    }
    return {"data": {"values": list(points)}, "facet": facet, "spec": layered(*_HINT_SIZE, layers), "spacing": 16}


def _ratio_axis(points: Sequence[Spec], base: str) -> Spec:
    """Make the axis of ratios, by decades, or by steps of 2 and 5 where they are near each other; 1 is on it."""
    values = [1.0, *(point["y"] for point in points)]
    low, high = min(values) / 1.25, max(values) * 1.25
    steps = (1, 2, 5) if high / low < 200 else (1,)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = [step * 10.0**power for power in powers for step in steps if low <= step * 10.0**power <= high]
    scale = {"type": "log", "domain": [rounded(low, 4), rounded(high, 4)], "nice": False}
    axis = {"grid": True, "values": [float(f"{tick:g}") for tick in ticks], "format": "~g"}
    return {"field": "y", "type": "quantitative", "title": f"times {base}", "scale": scale, "axis": axis}


HINT_CHART: Final = Chart(
    name="b_eff_io_hints",
    title="Hints against each other",
    doc="How many times as fast each pattern is with a set of hints as without, on a logarithmic scale. "
    "Points above the dashed line are better, those below are worse.",
    order=5,
    part="disk",
    build=hint_figures,
)
