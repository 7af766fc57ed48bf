# SPDX-License-Identifier: Apache-2.0
"""What a report shows of collective operations: time over sizes and ranks, bytes on a link, overlap, one-sided ones.

Time is that of one call. Rows with the most ranks that had a core each stand for all others where one has to.
"""

from collections.abc import Callable, Iterable, Sequence
from statistics import median
from typing import Final, Literal

from ullage.analysis.ceilings.messages import MEASURED_BOUND
from ullage.grouping import grouped, nested
from ullage.model.summary import Row
from ullage.quantity import percent, plural
from ullage.report import plots
from ullage.report.answers import AnswerRule
from ullage.report.contents import Cell, Content, Figure, Grid, Heading, number_cell
from ullage.report.data import ReportData
from ullage.report.declared import PartOfReport, columns
from ullage.report.grids import Column, MeasuredLine, PhaseLine, grid_of, time_text, value_hint, value_text
from ullage.report.headlines import Rule, ranks_key
from ullage.report.switches import switch_notes
from ullage.report.vega import Spec, ordered_colors, ordinal, rank_axis, time_axis, tooltip
from ullage.suites.collectives import suite
from ullage.suites.collectives.suite import ONE_SIDED, blocking, is_crowded, operation_of, size_of
from ullage.units import format_bytes

SUITE: Final = "collectives"
# The tables keep this order of operations; charts have a figure for each of the two groups.
TREES: Final = ("barrier", "bcast", "reduce", "allreduce", "reduce_scatter")
EXCHANGES: Final = ("gather", "scatter", "allgather", "allgatherv", "alltoall", "alltoallv")
_PLACES: Final = {name: place for place, name in enumerate((*TREES, *EXCHANGES, "put", "get", "accumulate"))}


def in_order(rows: Iterable[Row]) -> list[Row]:
    """Sort by operation, what ends it, size and tests: rows come in the order in which their cases were met."""

    def key(row: Row) -> tuple[int, str, int, int]:
        place = _PLACES[operation_of(row)]
        return place, row.word("sync"), size_of(row), row.count("tests")

    return sorted(rows, key=key)


def _rank_counts(rows: Iterable[Row]) -> list[int]:
    return sorted({row.ranks for row in rows})


def with_most_ranks(rows: Sequence[Row]) -> list[Row]:
    """Return the rows with the most ranks; where some have a core for each rank, the most of those."""
    most = max(_rank_counts([row for row in rows if not is_crowded(row)] or rows), default=0)
    return [row for row in rows if row.ranks == most]


_NO_CEILING: Final = (
    "No ceiling is known. The least time of a collective operation depends on the links and on how the library splits "
    "it into messages. The guidelines among the findings compare each operation with others instead."
)
_CROWDED: Final = "Those times measure how the kernel switches between ranks."
_ROTATING: Final = (
    "Operations with a root use another root in each call. With the same root each time, the root of"
    " a bcast would run ahead of the others. Its calls would then look as short as a copy."
)


def tables(data: ReportData) -> Content | None:
    """Return the tables, or None for other suites and where nothing was measured."""
    rows = data.rows_of(SUITE)
    if not rows:
        return None
    times, rates = in_order(blocking(rows)), with_most_ranks(in_order(blocking(rows, "link_bandwidth")))
    chosen = grouped((operation_of(row), row) for row in with_most_ranks(times))
    ends = [row for found in chosen.values() for row in ([found[0], found[-1]] if len(found) > 1 else found)]
    overlaps = with_most_ranks(in_order(row for row in rows if row.metric == "overlap"))
    most, beside = (some[0].ranks if some else 0 for some in (ends, overlaps))
    grids = [
        *(
            _matrix(f"time of a call, {ranks} ranks", [row for row in times if row.ranks == ranks])
            for ranks in _rank_counts(times)
        ),
        *([_matrix(f"bytes on a rank's link (busbw), {rates[0].ranks} ranks", rates)] if rates else []),
        *grid_of(f"time of a call over the ranks, {most} ranks", _RANK_COLUMNS, _calls(data, ends)),
        *grid_of(f"nonblocking, during computation, {beside} ranks", _OVERLAP_COLUMNS, _calls(data, overlaps)),
        *_one_sided_grids(rows),
    ]
    crowded = _rank_counts(row for row in rows if is_crowded(row))
    notes = [MEASURED_BOUND if any(row.ceiling is not None for row in rows) else _NO_CEILING]
    if any(row.params.get("mode") == "blocking" for row in rows):
        notes.append(_ROTATING)
    if crowded:
        counts = ", ".join(map(str, crowded))
        notes.insert(0, f"With {counts} ranks there are more ranks than cores. {_CROWDED}")
    return Content(notes=[*switch_notes(data, SUITE), *notes], grids=[grid for grid in grids if grid.rows])


def _matrix(title: str, rows: Sequence[Row], label: Callable[[Row], str] = operation_of) -> Grid:
    """Lay out a line for each label and a column for each size; a barrier has a column of its own."""
    sizes = sorted({size_of(row) for row in rows})
    heads = [
        Heading("operation"),
        *(Heading(format_bytes(size) if size else "no message", is_number=True) for size in sizes),
    ]
    lines = nested((label(row), size_of(row), row) for row in rows)
    cells = [[Cell(name), *(_value(by_size.get(size)) for size in sizes)] for name, by_size in lines.items()]
    return Grid(title, heads, cells)


def _value(row: Row | None) -> Cell:
    return number_cell("" if row is None else value_text(row), hint=value_hint(row))


def _size_text(row: Row) -> str:
    return format_bytes(size_of(row)) if size_of(row) else ""


def _call(gauge: str, of: Literal["sum", "least", "most"]) -> Callable[[MeasuredLine], str]:
    """Return what shows the median over the repetitions of a time in a gauge for one call.

    Sums are over the ranks, so these are over the calls of all ranks.
    """

    def text(line: MeasuredLine) -> str:
        found = [
            float(getattr(took, of)) / (calls.sum if of == "sum" else calls.most)
            for phase in line.phases
            if (took := phase.gauges.get(gauge)) and (calls := phase.gauges.get("calls")) and calls.most > 0
        ]
        return time_text(median(found) if found else None)

    return text


def _calls(data: ReportData, rows: Iterable[Row]) -> list[MeasuredLine]:
    return [MeasuredLine({row.metric: row}, data.phases_of(row)) for row in rows]


_WHAT: Final = (
    Column[PhaseLine]("operation", lambda line: operation_of(line.first), is_number=False),
    Column[PhaseLine]("message", lambda line: _size_text(line.first)),
)
_RANK_COLUMNS: Final = columns(
    *_WHAT,
    Column[MeasuredLine]("fastest rank", _call("call_s", "least")),
    "row=mean",
    Column[MeasuredLine]("slowest rank", _call("call_s", "most")),
)
_OVERLAP_COLUMNS: Final = columns(
    *_WHAT,
    Column[PhaseLine]("MPI_Test", lambda line: line.first.word("tests", "0")),
    Column[MeasuredLine]("alone", _call("call_s", "sum")),
    Column[MeasuredLine]("computation", _call("compute_s", "sum")),
    Column[MeasuredLine]("both", _call("overall_s", "sum")),
    Column[PhaseLine]("overlap", lambda line: percent(line.first.median), hint=lambda line: value_hint(line.first)),
)


def _one_sided_grids(rows: Sequence[Row]) -> list[Grid]:
    own = in_order(row for row in rows if row.access == ONE_SIDED)
    times, rates = (
        with_most_ranks([row for row in own if row.metric == f"one_sided_{what}"]) for what in ("latency", "bandwidth")
    )
    titles = {
        f"one-sided, one at a time, rank 0 to rank {times[0].ranks - 1}" if times else "": times,
        f"one-sided, {rates[0].params['outstanding']} under way together" if rates else "": rates,
    }
    return [
        _matrix(title, some, lambda row: f"{operation_of(row)}, {row.params['sync']}")
        for title, some in titles.items()
        if some
    ]


_SMALL: Final = ["allreduce", "blocking", 8]
HEADLINE: Final = Rule(
    "messages",
    "collective_latency",
    lambda row: [row.params.get(name) for name in ("operation", "mode", "message_bytes")] == _SMALL,
    ranks_key,
    lambda row: f"allreduce of {_SMALL[-1]} bytes, {row.params['ranks']} ranks",
)


BOUNDS: Final = suite.BOUNDS
LADDER: Final = suite.LADDER


_GROUPS: Final = (("barriers, broadcasts and reductions", TREES), ("gathering and exchanging", EXCHANGES))
_FEWEST: Final = 2
_TIME_TOOLTIP: Final = tooltip("name=operation size=message x=ranks text=time flags")
_SIZE_TOOLTIP: Final = tooltip("name=operation size=message text=time flags")


def time_figures(data: ReportData) -> list[Figure]:
    """Draw for each group of operations a figure over sizes and one over ranks, if there are two of them or more."""
    rows = in_order(row for row in blocking(data.rows_of(SUITE)) if row.median > 0)
    found: list[Figure] = []
    for title, operations in _GROUPS:
        group = [row for row in rows if operation_of(row) in operations]
        found += [*_over_sizes(title, group), *_over_ranks(title, group)]
    return found


def _over_sizes(title: str, group: Sequence[Row]) -> list[Figure]:
    rows = [row for row in with_most_ranks(group) if size_of(row)]
    sizes = sorted({size_of(row) for row in rows})
    if len(sizes) < _FEWEST:
        return []
    caption = (
        f"{plural(rows[0].ranks, 'rank')}. Where a line is flat, the time of a call dominates. Where it rises with the "
        "size, the time of the bytes dominates."
    )
    spec = _time_spec(rows, plots.size_axis(sizes, "message"), size_of, _SIZE_TOOLTIP)
    return [Figure(f"{title}, over the size", caption, spec)]


def _over_ranks(title: str, group: Sequence[Row]) -> list[Figure]:
    """Draw each operation's smallest message over the ranks, since small ones show the steps."""
    counts = _rank_counts(group)
    if len(counts) < _FEWEST:
        return []
    smallest = min((size_of(row) for row in group if size_of(row)), default=0)
    rows = [row for row in group if size_of(row) in (0, smallest)]
    words = f"Messages of {format_bytes(smallest)}. " if smallest else ""
    caption = f"{words}With twice as many ranks a tree needs one more step, and an exchange twice the messages."
    spec = _time_spec(rows, rank_axis(counts, "x", "ranks"), lambda row: row.ranks, _TIME_TOOLTIP)
    return [Figure(f"{title}, over ranks", caption, spec)]


def _time_spec(rows: Sequence[Row], x: Spec, at: Callable[[Row], int], tips: list[Spec]) -> Spec:
    names = list(dict.fromkeys(map(operation_of, rows)))
    values = [plots.row_point(row, at(row), name=operation_of(row), size=_size_text(row)) for row in rows]
    legend: Spec = {"title": None, "symbolType": "stroke", "symbolStrokeWidth": 3}
    encoding = {
        "x": x,
        "y": time_axis([value["y"] for value in values], "y", "time of a call"),
        "color": plots.nominal("name", names, plots.COLORS[: len(names)], legend),
    }
    return plots.layered(410, 260, plots.line_layers(encoding, tips, 34), values)


def overlap_figures(data: ReportData) -> list[Figure]:
    """Draw one figure of the largest message of each operation, with the most ranks; none without overlaps."""
    found = with_most_ranks(in_order(row for row in data.rows_of(SUITE) if row.metric == "overlap"))
    sizes = grouped((operation_of(row), size_of(row)) for row in found)
    largest = {operation: max(some) for operation, some in sizes.items()}
    rows = [row for row in found if size_of(row) == largest[operation_of(row)]]
    if not rows:
        return []
    caption = f"{plural(rows[0].ranks, 'rank')}, the largest message of each that was measured."
    labels = list(dict.fromkeys(map(_label, rows)))
    tests = sorted({row.count("tests") for row in rows})
    words = [_tests(count) for count in tests]
    values = [
        {
            "name": _label(row),
            "tests": _tests(row.count("tests")),
            "y": round(100 * row.median, 2),
            "text": percent(row.median),
            "flags": ", ".join(row.flag_codes),
        }
        for row in rows
    ]
    scale = {"domain": words, "range": ordered_colors(len(words))}
    color = ordinal("tests", words, "calls of MPI_Test", scale=scale, legend={"orient": "top", "title": None})
    encoding = {
        "y": plots.bar_names(labels, 220),
        "x": plots.quantity_axis("y", "overlap (%)", scale={"domain": [0, 100]}),
        "color": color,
        "yOffset": {"field": "tests", "type": "ordinal", "sort": words},
        "tooltip": tooltip("name=operation tests text=overlap flags", tests="MPI_Test"),
    }
    return [
        Figure("overlap with computation", caption, plots.plot(410, {"step": 12}, values, {"type": "bar"}, encoding))
    ]


def _label(row: Row) -> str:
    return f"{operation_of(row)} {_size_text(row)}".strip()


def _tests(count: int) -> str:
    return plural(count, "call") + " of MPI_Test" if count else "none in between"


_REPORT: Final = PartOfReport(SUITE, "messages", 6)
SECTION: Final = _REPORT.section(
    "Collective operations",
    "Each time is that of one call, the mean over calls and ranks, between barriers that are not "
    "timed. A pointer over it shows its interval. Messages are counted as OSU does: what one rank "
    "sends to one other, or the whole vector of a bcast or a reduction.",
    tables,
)
ANSWER: Final = AnswerRule(
    "collectives",
    "Which collective operations are slower than they need to be?",
    "guideline progress overlap scaling one-sided one-sided-bandwidth guidelines-held",
    remarks="oversubscribed",
)
CHARTS: Final = (
    _REPORT.chart(
        "collectives",
        "Collective operations",
        "Blocking calls. Both axes are logarithmic, so parallel lines differ by a constant factor.",
        time_figures,
    ),
    _REPORT.chart(
        "collective_overlap",
        "Nonblocking operations",
        "At 100 % the operation is free: computation and operation together take no longer than the computation alone.",
        overlap_figures,
    ),
)
