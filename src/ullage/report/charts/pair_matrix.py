# SPDX-License-Identifier: Apache-2.0
"""Every pair of nodes or ranks as a map: who sends, who receives, how fast."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from ullage.report.charts.heatmap import LOG_FROM_RATIO, cell_layers, shade_position
from ullage.report.contents import Chart, Figure
from ullage.report.data import ReportData
from ullage.report.quantity import format_compact, format_quantity
from ullage.report.vega import Spec, ordinal, tooltip
from ullage.suites.pairs.matrix import PairMatrix, read_matrices, size_text

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST_CELLS: Final = 48
_MOST_WITH_TEXT: Final = 14
_WIDTH: Final = 460
_TOOLTIP: Final = tooltip(("what", "messages"), ("text", "median"))


def build(data: ReportData) -> list[Figure]:
    """A map for each message size."""
    return [figure(matrix) for matrix in read_matrices(data.measured)]


def figure(matrix: PairMatrix) -> Figure:
    """More ends than ``MOST_CELLS`` are drawn as blocks of neighbours, of which the slowest pair counts."""
    each = -(-len(matrix.names) // MOST_CELLS)
    times, names = _blocks(matrix.median, matrix.names, each)
    what = "latency" if matrix.is_latency else "bandwidth one way"
    way = f"from the {matrix.noun} of the line to that of the column"
    words = [
        f"Median in {matrix.unit} with its prefix, {way}; darker is {'slower' if matrix.is_latency else 'faster'}.",
        f"A cell stands for {each} by {each} {matrix.noun}s, and shows the slowest pair of them." if each > 1 else "",
        "The framed cells are slow links." if matrix.fit.links and each == 1 else "",
    ]
    title = f"{what}, messages of {size_text(matrix.message_bytes)}"
    return Figure(title, " ".join(filter(None, words)), _spec(matrix, times, names, each), wide=len(names) > 2 * 9)


def _blocks(times: "NDArray[np.float64]", names: Sequence[str], each: int) -> "tuple[NDArray[np.float64], list[str]]":
    """The slowest of ``each`` by ``each`` pairs."""
    import numpy as np

    if each == 1:
        return times, list(names)
    starts = range(0, len(names), each)
    worst = [[np.nanmax(times[i : i + each, j : j + each]) for j in starts] for i in starts]
    last = len(names) - 1
    return np.array(worst), [f"{names[start]} to {names[min(start + each - 1, last)]}" for start in starts]


def _spec(matrix: PairMatrix, times: "NDArray[np.float64]", names: Sequence[str], each: int) -> Spec:
    import numpy as np

    values = [[matrix.value(float(one)) for one in line] for line in times]
    known = [value for line in values for value in line if not np.isnan(value)]
    wide = max(known) / min(known) > LOG_FROM_RATIO
    slow = {(link.sender, link.receiver) for link in matrix.fit.links} if each == 1 else set[tuple[int, int]]()
    cells = [
        {
            "line": names[i],
            "column": names[j],
            "label": format_compact(value, matrix.unit),
            "position": round(shade_position(value, known, logarithmic=wide), 3),
            "best": (i, j) in slow,
            "hollow": False,
            "what": f"{names[i]} to {names[j]}",
            "text": format_quantity(value, matrix.unit),
        }
        for i, line in enumerate(values)
        for j, value in enumerate(line)
        if not np.isnan(value)
    ]
    with_text = len(names) <= _MOST_WITH_TEXT
    step = min(max(_WIDTH // len(names), 46 if with_text else 9), 84)
    bare = {"domain": False, "ticks": False}
    long_names = max(map(len, names)) * 7 > step
    angle = {"labelAngle": -60 if long_names else 0, "labelOverlap": True}
    x = ordinal("column", names, "receives", axis={"orient": "bottom", **angle, **bare})
    y = ordinal("line", names, "sends", axis={"labelOverlap": True, **bare})
    layers = cell_layers({"x": x, "y": y}, _TOOLTIP, step if with_text else None)
    size = {"width": {"step": step}, "height": {"step": 26 if with_text else step}}
    return {**size, "data": {"values": cells}, "layer": layers}


CHART: Final = Chart(
    name="pair_matrix",
    title="Every pair",
    doc="A slow node is a line and a column that differ from all others; a slow link is a single cell.",
    order=6,
    build=build,
)
