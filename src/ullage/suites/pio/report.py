# SPDX-License-Identifier: Apache-2.0
"""What a report shows of suite ``pio``: rates by pattern and operation, one map of all, and who owns which bytes."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, cast

from ullage.analysis.metrics import metric_named
from ullage.grouping import grouped
from ullage.model.plan import Scalar
from ullage.model.summary import Row
from ullage.quantity import DASH, format_bounds, format_quantity, rounded
from ullage.report.answers import AnswerRule
from ullage.report.contents import Cell, Chart, Content, Figure, Grid, Heading, number_cell
from ullage.report.data import ReportData
from ullage.report.declared import row_map, storage_chart, storage_section
from ullage.report.headlines import storage_rule
from ullage.report.plots import HeatMap, nominal, plot
from ullage.report.vega import Spec, ordered_colors, ordinal, tooltip
from ullage.report.verdicts import headword
from ullage.suites.pio.findings import METRIC
from ullage.suites.pio.options import OPERATIONS, PATTERNS
from ullage.units import format_bytes

_SUITE: Final = "pio"
_FEWEST_CELLS: Final = 2


_TIMES: Final = {"least": "fastest_rank_time", "mean": "mean_rank_time", "most": "slowest_rank_time"}
"""Times of the ranks in a phase, as columns."""
_SET_APART: Final = ("pattern", "calls", "base_bytes", "block_bytes")


def _rows(data: ReportData, metric: str = METRIC) -> list[Row]:
    return sorted((row for row in data.rows_of(_SUITE) if row.metric == metric), key=_place)


def _place(row: Row) -> tuple[str, int, int, str, str, int, int]:
    """Return by what rows are ordered: cases were measured in a random order."""
    order: Sequence[str] = PATTERNS
    pattern = row.word("pattern")  # or the label that a file of directives gives one
    known = order.index(pattern) if pattern in order else len(order)
    sizes = row.count("base_bytes"), row.count("block_bytes")
    return f"{row.target} {row.params['backend']}", row.ranks, known, pattern, row.word("calls"), *sizes


def _operations(rows: Iterable[Row]) -> list[str]:
    found = {row.access for row in rows}
    return [word for word in OPERATIONS if word in found]


def tables(data: ReportData) -> Content | None:
    """Return two tables for each place: rates, and how long the ranks took, each from its open to its close.

    None for other suites and where nothing was measured.
    """
    rows = _rows(data)
    if not rows:
        return None
    times = [row for metric in _TIMES.values() for row in _rows(data, metric)]
    grids = [
        *(_grid(place, some, {word: word for word in _operations(some)}) for place, some in _places(rows).items()),
        *(_grid(f"Times of ranks: {place}", some, _TIMES, "access") for place, some in _places(times).items()),
    ]
    return Content(notes=[f"Rates are {metric_named(METRIC).doc}; a sync after writes is part of it."], grids=grids)


def _places(rows: Iterable[Row]) -> dict[str, list[Row]]:
    return grouped((f"{row.target}, {row.params['backend']}, {row.ranks} ranks", row) for row in rows)


def _grid(title: str, rows: Iterable[Row], words: Mapping[str, str], *operation: str) -> Grid:
    """Return a table with a column for each of ``words``: heads, with the metric or the operation of its rows.

    ``operation``: the parameter of that name, where lines are of one operation.
    """
    lines = grouped((tuple(row.params[name] for name in (*_SET_APART, *operation)), row) for row in rows)
    heads = [Heading("pattern"), Heading("calls"), Heading("base", is_number=True), Heading("request", is_number=True)]
    heads += [*(Heading("operation") for _ in operation), *(Heading(word, is_number=True) for word in words)]
    return Grid(title, heads, [_line(key, some, words.values()) for key, some in lines.items()])


def _line(key: Sequence[Scalar], rows: Iterable[Row], shown: Iterable[str]) -> list[Cell]:
    pattern, calls, base, request, *operation = key
    by_word = {word: row for row in rows for word in (row.metric, row.access)}
    sizes = [number_cell(format_bytes(int(size)), sort=str(size)) for size in (base, request)]
    words = [Cell(str(word)) for word in (pattern, calls)]
    return [*words, *sizes, *(Cell(str(word)) for word in operation), *(_rate(by_word.get(word)) for word in shown)]


def _rate(row: Row | None) -> Cell:
    if row is None:
        return number_cell(DASH)
    interval = format_bounds(row)
    hint = "; ".join(filter(None, [interval, headword(row), *row.flag_codes]))
    return number_cell(format_quantity(row.median, row.unit), sort=repr(row.median), hint=hint)


def maps(data: ReportData) -> list[Figure]:
    """Return one map for each place: patterns and calls by operation and request, of the least base."""
    rows = _rows(data)
    base = min((row.count("base_bytes") for row in rows), default=0)
    places = _places(row for row in rows if row.params["base_bytes"] == base)
    return [_map(place, some) for place, some in places.items() if len(some) >= _FEWEST_CELLS]


def _column(row: Row) -> str:
    return f"{row.access} {format_bytes(row.count('block_bytes'))}"


def _map_line(row: Row) -> str:
    return f"{row.params['pattern']}, {row.params['calls']}"


def _map(title: str, rows: Sequence[Row]) -> Figure:
    words = _operations(rows)
    ordered = sorted(rows, key=lambda row: (words.index(row.access), row.count("block_bytes")))
    columns = list(dict.fromkeys(map(_column, ordered)))
    lines = list(dict.fromkeys(map(_map_line, rows)))
    found = HeatMap(
        *(columns, lines, "operation and request", "pattern"),
        width=520,
        most_with_text=15,
        least_step=14,
        text_height=22,
        column_axis={"labelAngle": -50},
        line_axis={"labelLimit": 260},
    )
    spec = row_map(found, rows, _column, _map_line, lambda row: f"{_map_line(row)}, {_column(row)}")
    return Figure(title, "Median rate. The framed cell is the best.", spec, wide=True)


def pictures(data: ReportData) -> list[Figure]:
    """Return one drawing of all patterns: the bytes of up to 4 ranks, by the engine's own formulas in small."""
    drawn: dict[str, list[list[list[float]]]] = {}
    for row in _rows(data):
        pattern = row.word("pattern")
        if pattern not in drawn and (found := _picture(data, row)):
            drawn[pattern] = found
    if not drawn:
        return []
    values = [
        {
            "pattern": pattern,
            "rank": f"rank {rank}",
            "begin": rounded(begin),
            "end": rounded(begin + length),
            "order": at + 1,
        }
        for pattern, ranks in drawn.items()
        for rank, pieces in enumerate(ranks)
        for at, (begin, length) in enumerate(pieces)
    ]
    caption = (
        "Up to 4 ranks with few requests each. The axis counts requests from the base of the file on; pattern "
        "sequential-own has a file for each rank."
    )
    return [Figure("Who owns which bytes", caption, _drawing(values, list(drawn)), wide=True)]


def _picture(data: ReportData, row: Row) -> list[list[list[float]]]:
    for phase in data.phases_of(row.model_copy(update={"params": {**row.params, "access": "write"}})):
        found = phase.facts.get("picture")
        if isinstance(found, list):
            return cast("list[list[list[float]]]", found)
    return []


def _drawing(values: Sequence[Spec], patterns: Sequence[str]) -> Spec:
    ranks = list(dict.fromkeys(str(value["rank"]) for value in values))
    bare = {"grid": False, "ticks": False, "labelLimit": 220}
    encoding = {
        "x": {"field": "begin", "type": "quantitative", "title": "requests behind the base", "axis": {"grid": False}},
        "x2": {"field": "end"},
        "y": ordinal("pattern", patterns, "", axis=bare),
        "yOffset": {"field": "rank", "type": "nominal", "scale": {"domain": ranks}},
        "color": nominal("rank", ranks, ordered_colors(len(ranks)), {"title": None, "orient": "top"}),
        "tooltip": tooltip("pattern rank order=request begin=from end=to"),
    }
    return plot(560, {"step": 9}, values, {"type": "bar", "stroke": "white", "strokeWidth": 0.6}, encoding)


SECTION: Final = storage_section(
    _SUITE,
    "Access patterns of parallel programs",
    "Each pattern says which bytes belong to which rank; each operation says what happens to them. Bytes of a "
    "read-modify-write count once.",
    tables,
)
CHARTS: Final = (
    storage_chart(
        "pio_map",
        "Patterns by operation and request",
        "Rates of all ranks together, for a pattern that begins where the file does.",
        maps,
    ),
    Chart(
        name="pio_picture",
        title="Spatial patterns",
        doc="Each line is a pattern, each colour a rank.",
        order=4,
        part="disk",
        build=pictures,
    ),
)


HEADLINE: Final = storage_rule(
    "{target}: {pattern} {done} of {size}, {ranks}",
    "pattern",
    "base_bytes",
    done={"write": "writes", "read": "reads"},
    words=lambda row: {"size": format_bytes(row.count("block_bytes"))},
)
ANSWER: Final = AnswerRule(
    "pio",
    "Which access patterns is this file system bad at?",
    "pio-slow-pattern pio-collective pio-shift",
    "pio-hints-ignored",
)
