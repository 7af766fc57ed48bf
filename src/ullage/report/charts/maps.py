# SPDX-License-Identifier: Apache-2.0
"""What is faster, as a map: targets side by side, cell by cell, and where one cannot tell; nodes by numbers."""

import math
from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Final

from ullage.analysis.compare import Cell, compare_samples
from ullage.analysis.findings.nodes import name_of
from ullage.analysis.matching import Sample
from ullage.errors import UserError
from ullage.model.nodes import NodeCell, NodeNumber, Nodes
from ullage.model.plan import Scalar
from ullage.model.summary import Row
from ullage.quantity import DASH, format_param, format_quantity, format_row, param_label, significant, times
from ullage.report.contents import Chart, Figure
from ullage.report.data import ReportData
from ullage.report.plots import HeatMap, layer, layered
from ullage.report.points import omitted, points_each, series_label, setting_of, spread_out
from ullage.report.vega import INK, Spec, ordinal, tooltip
from ullage.report.verdicts import classify
from ullage.report.view import MOST_PANELS, Panel

_WIDTH: Final = 450
_UNKNOWN_COLOR: Final = "#d5d9de"
# Blue and orange are told apart with every common colour blindness.
_FIRST_COLOR: Final = "#2f78ad"
_SECOND_COLOR: Final = "#d9742b"
# Ratios beyond this are all equally dark: the number in the cell tells them apart.
_DARKEST_RATIO: Final = 8.0
_TOOLTIP: Final = tooltip("setting base=first other=second ratio=second_/_first outcome=the_second_is notes=mind")


def build(data: ReportData) -> list[Figure]:
    """Return a figure for every two targets and every panel that both have."""
    pairs = [pair for a, b in combinations(data.view.targets, 2) for pair in _pairs(data.view.shown, a, b)]
    shown = pairs[:MOST_PANELS]
    return [found for base, other in shown if (found := figure(base, other, points_each(len(shown)))) is not None]


def _pairs(panels: Sequence[Panel], a: str, b: str) -> list[tuple[Panel, Panel]]:
    """Pair the panels of two targets by access and setting; the target that wins more of the cells comes second."""
    first, second = ([panel for panel in panels if panel.target == target] for target in (a, b))
    found = [(x, y) for x in first for y in second if (x.access, x.metric, x.extra) == (y.access, y.metric, y.extra)]
    wins = sum(1 if (cell.ratio >= 1) == (x.better == "more") else -1 for x, y in found for cell in _cells(x, y))
    return found if wins >= 0 else [(y, x) for x, y in found]


def _cells(base: Panel, other: Panel) -> Sequence[Cell]:
    """Compare two panels cell by cell.

    Return no cells where rows cannot be told apart: `ullage compare` says why, and a report is still a report.
    """
    samples = [Sample(row, "") for row in (*base.rows, *other.rows)]
    try:
        return compare_samples(samples, "target", base=base.target).cells
    except UserError:
        return ()


def figure(base: Panel, other: Panel, most: int) -> Figure | None:
    """Compare ``other`` with ``base``, of the same access and setting; return None without a common cell."""
    cells = _cells(base, other)
    if not cells:
        return None
    counts = {name: sum(cell.outcome == name for cell in cells) for name in ("faster", "slower", "cannot tell")}
    caption = (
        f"The same {param_label(base.x_key)} and {param_label(base.series_key)} in both: {other.target} is faster "
    )
    caption += f"in {counts['faster']}, slower in {counts['slower']} of {len(cells)} cells; "
    caption += f"in {counts['cannot tell']} one cannot tell."
    if dirty := sum("C" in (cell.base.grade, cell.other.grade) for cell in cells):
        caption += f" In {dirty} at least one side was disturbed (grade C), and no sentence rests on these."
    unsound = sum(not (classify(cell.base).filled and classify(cell.other).filled) for cell in cells)
    if unsound:
        caption += f" In {unsound} cells at least one side was not measured as asked (*)."
    spec = _spec(base, cells, math.isqrt(most))
    words = [caption, omitted(len(spec["data"]["values"]), len(cells), "cell", "evenly picked")]
    title = " · ".join(part for part in (f"{other.target} against {base.target}", base.access, base.setting) if part)
    return Figure(title, " ".join(filter(None, words)), spec)


def _spec(panel: Panel, cells: Sequence[Cell], side: int) -> Spec:
    xs = spread_out(_values(cells, panel.x_key), side)
    series = spread_out(_values(cells, panel.series_key), side)
    columns = [format_param(panel.x_key, value) for value in xs]
    lines = [format_param(panel.series_key, value) for value in series]
    values = [
        value for cell in cells if (value := _value(cell, panel))["column"] in columns and value["series"] in lines
    ]
    x = ordinal("column", columns, param_label(panel.x_key), axis={"labelAngle": 0, "domain": False, "ticks": False})
    y = ordinal("series", lines, param_label(panel.series_key), axis={"domain": False, "ticks": False})
    place = {"x": x, "y": y}
    scale = {"domain": [-1, 0, 1], "range": [_FIRST_COLOR, "#ffffff", _SECOND_COLOR], "interpolate": "rgb"}
    shade = {"field": "position", "type": "quantitative", "scale": scale, "legend": None}
    color = {"condition": {"test": "datum.outcome === 'cannot tell'", "value": _UNKNOWN_COLOR}, **shade}
    with_text = len(columns) <= 12
    step = min(max(_WIDTH // max(len(columns), 1), 46 if with_text else 12), 84)
    layers = [
        layer({"type": "rect", "stroke": "#fff", "strokeWidth": 1}, {**place, "color": color, "tooltip": _TOOLTIP})
    ]
    if with_text:
        is_dark = "abs(datum.position) > 0.6 && datum.outcome !== 'cannot tell'"
        ink = {"condition": {"test": is_dark, "value": "white"}, "value": INK}
        text = {**place, "text": {"field": "label", "type": "nominal"}, "color": ink}
        layers.append(layer({"type": "text", "fontSize": 10.5}, text))
    return layered({"step": step}, {"step": 26 if with_text else 12}, layers, values)


def _values(cells: Iterable[Cell], key: str) -> list[Scalar]:
    found = {cell.base.params[key] for cell in cells if key in cell.base.params}
    return sorted(found, key=lambda value: (str(type(value)), value))


def _value(cell: Cell, panel: Panel) -> Spec:
    gain = cell.ratio if panel.better == "more" else 1 / cell.ratio if cell.ratio else 0.0
    doubt = " ?" if cell.outcome == "cannot tell" else ""
    marked = "" if classify(cell.base).filled and classify(cell.other).filled else "*"
    interval = "" if cell.low is None or cell.high is None else f" [{significant(cell.low)}, {significant(cell.high)}]"
    # -1 where the first is so many times faster, 1 where the second is.
    position = -1.0 if gain <= 0 else round(max(-1.0, min(1.0, math.log(gain) / math.log(_DARKEST_RATIO))), 4)
    return {
        "column": format_param(panel.x_key, cell.base.params.get(panel.x_key, "")),
        "series": series_label(cell.base, panel),
        "position": position,
        "label": f"{significant(gain, 2)}x{marked}{doubt}",
        "outcome": cell.outcome,
        "setting": setting_of(cell.base, panel),
        "base": f"{cell.base_name}: {format_row(cell.base)}, {cell.base.verdict}",
        "other": f"{cell.other_name}: {format_row(cell.other)}, {cell.other.verdict}",
        "ratio": f"{significant(cell.ratio)}{interval}",
        "notes": "; ".join(cell.notes) or DASH,
    }


COMPARISON: Final = Chart(
    name="comparison",
    title="Targets, cell against cell",
    doc="Each cell shows how many times as fast the first named target is. It is orange where that target is faster, "
    "blue where it is slower. It is grey with a question mark where the repetitions cannot tell.",
    order=30,
    build=build,
)


_MOST_NODES: Final = 64
_MOST_NUMBERS: Final = 30
_NODES_WIDTH: Final = 700
_MOST_WITH_TEXT: Final = 16
_MOST_UPRIGHT: Final = 8
# The darkest shade stands for this factor, and for all beyond.
_DARKEST: Final = 2.0
_CAPTION: Final = (
    "Each cell says how many times worse the node is than the middle of the other nodes. "
    "Framed cells are those for which the test names the node."
)


def node_map(data: ReportData) -> list[Figure]:
    """Return the map; nothing for results of one node, and without numbers that nodes can be compared in."""
    nodes = data.summary.nodes
    if nodes is None:
        return []
    tested = [number for number in nodes.numbers if number.tested]
    worst_numbers = sorted(tested, key=lambda number: max(map(_factor, number.cells)), reverse=True)[:_MOST_NUMBERS]
    numbers = sorted(worst_numbers, key=lambda number: number.row)
    worst_nodes = sorted(
        range(len(nodes.nodes)),
        key=lambda node: max([0.0, *(_factor(one.cells[node]) for one in tested)]),
        reverse=True,
    )
    lines = sorted(worst_nodes[:_MOST_NODES])
    if not numbers or not lines:
        return []
    left_out = [
        omitted(len(lines), len(nodes.nodes), "node", "those with the largest differences"),
        omitted(len(numbers), len(tested), "number", "those with the largest differences"),
    ]
    caption = " ".join([_CAPTION, *filter(None, left_out)])
    return [
        Figure(f"{len(nodes.nodes)} nodes", caption, _node_spec(nodes, lines, numbers, data.summary.rows), wide=True)
    ]


def _factor(cell: NodeCell | None) -> float:
    return 0.0 if cell is None or cell.worse is None else cell.worse


def _node_spec(nodes: Nodes, shown: Sequence[int], numbers: Sequence[NodeNumber], rows: Sequence[Row]) -> Spec:
    # Its place keeps lines apart that are named alike.
    lines = [f"{place}  {name_of(rows[number.row])}" for place, number in enumerate(numbers, start=1)]
    found = HeatMap(
        [nodes.nodes[node].name for node in shown],
        lines,
        "node",
        "",
        width=_NODES_WIDTH,
        most_with_text=_MOST_WITH_TEXT,
        least_step=10,
        text_height=22,
        column_axis={"labelAngle": -45} if len(shown) > _MOST_UPRIGHT else None,
        line_axis={"labelLimit": 420},
    )
    cells = [
        _cell(nodes.nodes[node].name, line, cell, rows[number.row])
        for line, number in zip(lines, numbers, strict=True)
        for node in shown
        if (cell := number.cells[node]) is not None and cell.worse is not None
    ]
    return found.spec(cells, tooltip("node line=number value=this_node usual=median label=worse"))


def _cell(node: str, line: str, cell: NodeCell, row: Row) -> Spec:
    worse = max(_factor(cell), 1e-6)
    return {
        "line": line,
        "column": node,
        "value": format_quantity(cell.median, row.unit),
        "usual": format_quantity(row.median, row.unit),
        "label": times(worse),
        "position": round(min(1.0, max(0.0, math.log(worse) / math.log(_DARKEST))), 4),
        "best": cell.named,
    }


NODES: Final = Chart(
    name="nodes",
    title="Nodes by numbers",
    doc="Darker is worse. A dark column is a node that is worse in everything, a dark line a number in which "
    "the nodes differ.",
    order=5,
    build=node_map,
)
CHARTS: Final = (COMPARISON, NODES)
