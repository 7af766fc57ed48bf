# SPDX-License-Identifier: Apache-2.0
"""What a report shows of a pairs run: each end, links that stand out, patterns with all ranks active, and a map."""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from ullage.analysis.ceilings.messages import MEASURED_BOUND, WORST_LINE, Copiers, copies, lines
from ullage.analysis.ladders import LadderRule
from ullage.analysis.message_steps import protocol, small_protocol
from ullage.arrays import np
from ullage.model.summary import Row
from ullage.model.system import Switch
from ullage.quantity import format_compact, format_quantity, format_row
from ullage.report.answers import AnswerRule
from ullage.report.contents import Cell, Content, Figure, Grid, Heading, number_cell
from ullage.report.data import ReportData
from ullage.report.declared import PartOfReport
from ullage.report.grids import texts_grid
from ullage.report.plots import HeatMap
from ullage.report.switches import switch_notes, switches_of
from ullage.report.vega import Spec, tooltip
from ullage.suites.pairs.effects import SUITE, PairMatrix, read_matrices, size_text
from ullage.suites.pairs.summarise import times_of_end
from ullage.suites.pairs.switches import SwitchPair, switch_pairs
from ullage.system.switches import meeting_of
from ullage.units import format_bytes

if TYPE_CHECKING:
    from ullage.arrays import NDArray


_MOST_ENDS: Final = 64
_MOST_LINKS: Final = 12
_AT_ONCE: Final = (
    "All disjoint pairs of a round were measured at the same time, so they shared their common links. "
    "`--one-at-a-time` measures each pair alone."
)
_PATTERNS: Final = ("best-bisection", "worst-bisection", "random-bisection", "incast", "outcast")
_LABELS: Final = {
    "pair_latency": "latency, median pair",
    "worst_pair_latency": "latency, slowest pair",
    "pair_bandwidth": "bandwidth one way, median pair",
    "worst_pair_bandwidth": "bandwidth one way, slowest pair",
}


def tables(data: ReportData) -> Content | None:
    """Return the tables, or None for other suites and where nothing was measured."""
    rows = data.rows_of(SUITE)
    if not rows:
        return None
    switches = switches_of(data)
    matrices = read_matrices(data.measured, switches)
    found = sorted((row for row in rows if row.metric in _LABELS), key=_message_of)
    heads = _heads("of all ordered pairs", numbers=("message", "median"))
    grids = [Grid("pairs", heads, [[Cell(_LABELS[row.metric]), *_numbers(row)] for row in found]), _exchanges(rows)]
    for matrix in matrices:
        grids += [*_switches(matrix, switches), *_ends(matrix), *_links(matrix)]
    notes = [*switch_notes(data, SUITE), *_notes(rows, matrices)]
    return Content(notes=notes, grids=[grid for grid in grids if grid.rows])


def _notes(rows: Sequence[Row], matrices: Sequence[PairMatrix]) -> list[str]:
    if not matrices:
        return []
    how = _AT_ONCE if matrices[-1].at_once else "Each pair was measured while all others waited."
    if any(row.ceiling is not None for row in rows):
        return [how, MEASURED_BOUND]
    return [how, "No ceiling is known: the rate of the links is not declared."]


def _heads(*words: str, numbers: Sequence[str]) -> list[Heading]:
    return [*map(Heading, words), *(Heading(word, is_number=True) for word in numbers)]


def _exchanges(rows: Sequence[Row]) -> Grid:
    """List bisections, one against all, then patterns of the user."""
    places = {pattern: place for place, pattern in enumerate(_PATTERNS)}
    found = [row for row in rows if row.metric == "exchange_bandwidth"]
    found.sort(key=lambda row: (places.get(row.word("pattern"), len(places)), _message_of(row), row.count("seed")))
    heads = _heads("pattern", numbers=("ranks", "message", "all together", "a rank"))
    return Grid("all ranks active", heads, [_exchange_line(row) for row in found])


def _exchange_line(row: Row) -> list[Cell]:
    seed = f", seed {row.params['seed']}" if "seed" in row.params else ""
    rank = number_cell(format_quantity(row.median / row.ranks, row.unit))
    return [Cell(f"{row.params['pattern']}{seed}"), number_cell(str(row.ranks)), *_numbers(row), rank]


def _numbers(row: Row) -> list[Cell]:
    median = number_cell(format_row(row), sort=repr(row.median), hint=", ".join(row.flag_codes))
    return [number_cell(format_bytes(_message_of(row))), median]


def _message_of(row: Row) -> int:
    return row.count("message_bytes")


def _what(matrix: PairMatrix) -> str:
    return f"{'latency' if matrix.is_latency else 'bandwidth'}, messages of {size_text(matrix.message_bytes)}"


def _switches(matrix: PairMatrix, switches: Sequence[Switch]) -> list[Grid]:
    """List what pairs within and between switches take: all together, then each two switches, slow ones first."""
    found = switch_pairs(matrix)
    both = [one for one in found if one.is_all]
    each = sorted((one for one in found if not one.is_all), key=lambda one: -one.median)
    heads = ("from a node at", "to a node at", "through", "pairs", "median", "slowest", "median in each repetition")
    lines = [_switch_line(matrix, one, switches) for one in [*both, *each[:_MOST_ENDS]]]
    return texts_grid(f"pairs by {matrix.leaf_noun}: {_what(matrix)}", heads, lines, heads[:3], whole=True)


def _switch_line(matrix: PairMatrix, one: SwitchPair, switches: Sequence[Switch]) -> list[str]:
    median, worst, least, most = (
        format_quantity(matrix.value(seconds), matrix.unit)
        for seconds in (one.median, one.worst, min(one.each), max(one.each))
    )
    low, high = (least, most) if matrix.is_latency else (most, least)
    through = "" if one.is_all else meeting_of(switches, one.sender, one.receiver)
    return [one.sender, one.receiver, through, str(one.pairs), median, worst, f"{low} to {high}"]


def _ends(matrix: PairMatrix) -> list[Grid]:
    """List each end with the median over its links, slow ones first; of many only the first."""
    slow, polish = {end.end for end in matrix.fit.ends}, matrix.fit.polish
    leaves = [[leaf] for leaf in matrix.leaves] if any(matrix.leaves) else [list[str]()] * len(matrix.names)
    order = sorted(range(len(matrix.names)), key=lambda end: (end not in slow, end))
    lines = [
        [
            matrix.names[end],
            *leaves[end],
            *(format_quantity(matrix.value(s), matrix.unit) for s in times_of_end(matrix, end)),
            *(f"{math.exp(float(effects[end])):.2f} x" for effects in (polish.sends, polish.receives)),
            "slow" if end in slow else "",
        ]
        for end in order[:_MOST_ENDS]
    ]
    words = (matrix.noun, *([matrix.leaf_noun] if any(matrix.leaves) else []), "verdict")
    heads = (*words[:-1], "sends", "receives", "sending takes", "receiving takes", "verdict")
    return texts_grid(f"each {matrix.noun}: {_what(matrix)}", heads, lines, words, whole=True)


def _links(matrix: PairMatrix) -> list[Grid]:
    """List slow links and asymmetric pairs; there is no table where nothing stands out."""
    slow = {(link.sender, link.receiver): (link.factor, "slow link") for link in matrix.fit.links}
    apart = () if matrix.is_latency else matrix.fit.asymmetric
    found = {(link.sender, link.receiver): (link.factor, "asymmetric") for link in apart}
    shown = {**slow, **{ends: why for ends, why in found.items() if ends not in slow}}

    def value(sender: int, receiver: int) -> str:
        return format_quantity(matrix.value(float(matrix.median[sender, receiver])), matrix.unit)

    lines = [
        [*map(matrix.placed, (one, other)), value(one, other), value(other, one), f"{factor:.2f} x", why]
        for (one, other), (factor, why) in list(shown.items())[:_MOST_LINKS]
    ]
    heads = ("from", "to", "there", "back", "longer by", "why it is here")
    words = ("from", "to", "why it is here")
    return texts_grid(f"links that stand out: {_what(matrix)}", heads, lines, words, whole=True)


MOST_CELLS: Final = 48
_MOST_WITH_TEXT: Final = 14
_WIDTH: Final = 460
_DARKEST: Final = 4.0


def figures(data: ReportData) -> list[Figure]:
    """Draw a map for each message size."""
    return [figure(matrix) for matrix in read_matrices(data.measured)]


def figure(matrix: PairMatrix) -> Figure:
    """Draw the map of a matrix.

    More ends than ``MOST_CELLS`` are drawn as blocks of neighbours, which show their slowest pair.
    """
    each = -(-len(matrix.names) // MOST_CELLS)
    times, names = _blocks(matrix.median, matrix.names, each)
    what = "latency" if matrix.is_latency else "bandwidth one way"
    unit = "" if matrix.is_latency else " in B/s"
    words = [
        f"Median {what}{unit}; rows send, columns receive. Darker is slower, up to {_DARKEST:g} x the median time.",
        f"A cell stands for {each} by {each} {matrix.noun}s, and shows the slowest pair of them." if each > 1 else "",
        "The framed cells are slow links." if matrix.fit.links and each == 1 else "",
    ]
    title = f"{what}, messages of {size_text(matrix.message_bytes)}"
    return Figure(title, " ".join(filter(None, words)), _spec(matrix, times, names, each), wide=len(names) > 2 * 9)


def _blocks(times: "NDArray[np.float64]", names: Sequence[str], each: int) -> "tuple[NDArray[np.float64], list[str]]":
    """Reduce each block of ``each`` by ``each`` pairs to its slowest, and name the blocks."""
    if each == 1:
        return times, list(names)
    starts = range(0, len(names), each)
    worst = [[np.nanmax(times[i : i + each, j : j + each]) for j in starts] for i in starts]
    last = len(names) - 1
    return np.array(worst), [f"{names[start]} to {names[min(start + each - 1, last)]}" for start in starts]


def _spec(matrix: PairMatrix, times: "NDArray[np.float64]", names: Sequence[str], each: int) -> Spec:
    values = [[matrix.value(float(one)) for one in line] for line in times]
    slower = np.log(times / np.nanmedian(times)) / np.log(_DARKEST)
    slow = {(link.sender, link.receiver) for link in matrix.fit.links} if each == 1 else set[tuple[int, int]]()
    cells = [
        {
            "line": names[i],
            "column": names[j],
            "label": format_compact(value, matrix.unit),
            "position": round(min(max(float(slower[i][j]), 0.0), 1.0), 3),
            "best": (i, j) in slow,
            "hollow": False,
            "what": f"{names[i]} to {names[j]}",
            "text": format_quantity(value, matrix.unit),
        }
        for i, line in enumerate(values)
        for j, value in enumerate(line)
        if not np.isnan(value)
    ]
    found = HeatMap(
        *(names, names, "receives", "sends"),
        width=_WIDTH,
        most_with_text=_MOST_WITH_TEXT,
        least_step=9,
        text_height=26,
        line_axis={"labelOverlap": True},
    )
    has_long_names = max(map(len, names)) * 7 > found.step
    angle = {"labelAngle": -60 if has_long_names else 0, "labelOverlap": True}
    return replace(found, column_axis=angle).spec(cells, tooltip("what=messages text=median"), bare_height=found.step)


def _one_way(row: Row) -> Copiers:
    return "half" if row.params.get("at_once") else "one"


def _is_bandwidth_of(copiers: Copiers, row: Row) -> bool:
    return row.metric == "pair_bandwidth" and _one_way(row) == copiers


BOUNDS: Final = (
    lines("pair_latency"),
    lines("worst_pair_latency", given=WORST_LINE),
    *(copies(metric, _one_way) for metric in ("pair_bandwidth", "worst_pair_bandwidth")),
    # Each rank of a pair sends and receives; one of an odd number has no partner.
    copies(
        "exchange_bandwidth",
        lambda _row: "all",
        lambda row: row.word("pattern").endswith("bisection"),
        lambda ranks: 2.0 * (ranks // 2),
    ),
)
LADDERS: Final = (
    *(LadderRule("messages", (protocol(copiers),), partial(_is_bandwidth_of, copiers)) for copiers in ("half", "one")),
    LadderRule("messages", (small_protocol(),), lambda row: row.metric == "pair_latency"),
)

_REPORT: Final = PartOfReport(SUITE, "messages", 5)
SECTION: Final = _REPORT.section(
    "Pairs",
    "The tables hold every ordered pair: small messages there and back, large ones one way. A node is called "
    "slow when all of its links are slow. A link is called slow when it is slower than its two ends explain. Both "
    "must hold in every repetition. In a bisection every rank sends and receives at the same time.",
    tables,
)
CHART: Final = _REPORT.chart(
    "pair_matrix",
    "Every pair",
    "A slow node is a row and a column that differ from all others. A slow link is a single cell.",
    figures,
    order=6,
)


ANSWER: Final = AnswerRule(
    "pairs",
    "Which nodes and links are slow?",
    "slow-switch slow-end switch-links slow-link asymmetric-pair between-switches bisection",
    remarks="pairs",
)
