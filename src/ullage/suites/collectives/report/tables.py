# SPDX-License-Identifier: Apache-2.0
"""The tables of a run over collective operations: time, bytes on a link, ranks, overlap, one-sided operations."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final

from ullage.model.flags import OVERSUBSCRIBED
from ullage.model.record import PhaseRecord
from ullage.model.summary import Row
from ullage.quantity import DASH, format_quantity
from ullage.report.contents import Content, Grid, Heading, Section
from ullage.report.data import ReportData
from ullage.report.grids import Column, grid_of, value_hint, value_text
from ullage.report.table import Cell, number_cell
from ullage.runs.composite.headlines import Rule, ranks_key, word_of
from ullage.units import format_bytes

SUITE: Final = "collectives"
ONE_SIDED: Final = "one-sided"
# In the order of the tables; the two groups of the charts.
TREES: Final = ("barrier", "bcast", "reduce", "allreduce", "reduce_scatter")
EXCHANGES: Final = ("gather", "scatter", "allgather", "allgatherv", "alltoall", "alltoallv")
_PLACES: Final = {name: place for place, name in enumerate((*TREES, *EXCHANGES, "put", "get", "accumulate"))}


def own_rows(data: ReportData) -> list[Row]:
    """Those of suite ``collectives``."""
    return data.rows_of(SUITE)


def operation_of(row: Row) -> str:
    """``allreduce``."""
    return str(row.params["operation"])


def size_of(row: Row) -> int:
    """Bytes of a message; 0 of a barrier."""
    return int(row.params.get("message_bytes", 0))


def ranks_of(row: Row) -> int:
    """How many took part."""
    return int(row.params["ranks"])


def blocking(rows: Iterable[Row], metric: str) -> list[Row]:
    """Rows of the blocking forms, in the order of the tables."""
    return in_order(row for row in rows if row.metric == metric and row.params.get("mode") == "blocking")


def in_order(rows: Iterable[Row]) -> list[Row]:
    """By operation, then by what ends it, size and tests: rows come in the order in which their cases were met."""

    def key(row: Row) -> tuple[int, str, int, int]:
        place = _PLACES[operation_of(row)]
        return place, str(row.params.get("sync", "")), size_of(row), int(row.params.get("tests", 0))

    return sorted(rows, key=key)


def rank_counts(rows: Iterable[Row]) -> list[int]:
    """Rising."""
    return sorted({ranks_of(row) for row in rows})


def with_most_ranks(rows: Sequence[Row]) -> list[Row]:
    """Rows with the most ranks, of those with a core for each rank where there are any."""
    quiet = [row for row in rows if not row.has_flag(OVERSUBSCRIBED)]
    most = max(rank_counts(quiet or rows), default=0)
    return [row for row in rows if ranks_of(row) == most]


# -- tables ------------------------------------------------------------------------------------------------------------


_NO_CEILING: Final = (
    "No ceilings: what a collective operation could take at best follows from the links between nodes and from how the "
    "library cuts it into messages, and of that no datasheet and no probe here says enough; on one node the ranks copy "
    "through memory that they share. The guidelines among the findings hold each operation against others instead."
)
_ROTATING: Final = (
    "Operations with a root have another one in each call: with one and the same, the root of a bcast would run ahead "
    "of the others, and its calls would look as short as a copy."
)


def tables(data: ReportData) -> Content | None:
    """None for other suites, and where nothing was measured."""
    rows = own_rows(data)
    if not rows:
        return None
    times, rates = blocking(rows, "collective_latency"), blocking(rows, "link_bandwidth")
    grids = [
        *(_matrix(f"time of a call, {ranks} ranks", _of_ranks(times, ranks)) for ranks in rank_counts(times)),
        *_link_grids(rates),
        *_rank_grids(data, times),
        *_overlap_grids(data, rows),
        *_one_sided_grids(rows),
    ]
    return Content(notes=_notes(rows), grids=[grid for grid in grids if grid.rows])


def _of_ranks(rows: Iterable[Row], ranks: int) -> list[Row]:
    return [row for row in rows if ranks_of(row) == ranks]


def _notes(rows: Sequence[Row]) -> list[str]:
    crowded = sorted({ranks_of(row) for row in rows if row.has_flag(OVERSUBSCRIBED)})
    notes = [_NO_CEILING]
    if any(row.params.get("mode") == "blocking" for row in rows):
        notes.append(_ROTATING)
    if crowded:
        counts = ", ".join(map(str, crowded))
        notes.insert(0, f"Oversubscribed with {counts} ranks: those times say how the kernel switches between ranks.")
    return notes


def _matrix(title: str, rows: Sequence[Row], label: Callable[[Row], str] = operation_of) -> Grid:
    """A line for each label, a column for each size; a barrier has a column of its own."""
    sizes = sorted({size_of(row) for row in rows})
    heads = [
        Heading("operation"),
        *(Heading(format_bytes(size) if size else "no message", is_number=True) for size in sizes),
    ]
    lines: dict[str, dict[int, Row]] = {}
    for row in rows:
        lines.setdefault(label(row), {})[size_of(row)] = row
    cells = [[Cell(name), *(_value(by_size.get(size)) for size in sizes)] for name, by_size in lines.items()]
    return Grid(title, heads, cells)


def _value(row: Row | None) -> Cell:
    return number_cell("" if row is None else value_text(row), hint=value_hint(row))


def _link_grids(rates: Sequence[Row]) -> list[Grid]:
    rows = with_most_ranks(rates)
    return [_matrix(f"bytes on a rank's link (busbw), {ranks_of(rows[0])} ranks", rows)] if rows else []


# -- the ranks of a call -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Ranks:
    """Median over the repetitions of a call's time on the fastest rank and on the slowest."""

    row: Row
    least: float | None
    most: float | None


def _rank_grids(data: ReportData, times: Sequence[Row]) -> list[Grid]:
    """The fastest and slowest rank in each operation's smallest and largest message, with the most ranks."""
    chosen: dict[str, list[Row]] = {}
    for row in with_most_ranks(times):
        chosen.setdefault(operation_of(row), []).append(row)
    ends = [row for found in chosen.values() for row in ([found[0], found[-1]] if len(found) > 1 else found)]
    lines = [_ranks_line(row, data.phases_of(row)) for row in ends]
    columns: tuple[Column[_Ranks], ...] = (
        Column("operation", lambda line: operation_of(line.row), is_number=False),
        Column("message", lambda line: format_bytes(size_of(line.row)) if size_of(line.row) else ""),
        Column("fastest rank", lambda line: _seconds(line.least)),
        Column("mean", lambda line: value_text(line.row), hint=lambda line: value_hint(line.row)),
        Column("slowest rank", lambda line: _seconds(line.most)),
    )
    return grid_of(f"time of a call over the ranks, {ranks_of(ends[0])} ranks", columns, lines) if ends else []


def _ranks_line(row: Row, phases: Sequence[PhaseRecord]) -> _Ranks:
    found = [
        (took.least / calls.most, took.most / calls.most)
        for phase in phases
        if (took := phase.gauges.get("call_s")) and (calls := phase.gauges.get("calls")) and calls.most > 0
    ]
    if not found:
        return _Ranks(row, None, None)
    return _Ranks(row, median(least for least, _ in found), median(most for _, most in found))


def _seconds(value: float | None) -> str:
    return DASH if value is None else format_quantity(value, "s")


# -- overlap -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Overlap:
    """Mean times of one call over ranks and repetitions: alone, the computation, both."""

    row: Row
    pure: float | None
    compute: float | None
    overall: float | None


def _overlap_grids(data: ReportData, rows: Sequence[Row]) -> list[Grid]:
    found = with_most_ranks(in_order(row for row in rows if row.metric == "overlap"))
    lines = [_overlap_line(row, data.phases_of(row)) for row in found]
    columns: tuple[Column[_Overlap], ...] = (
        Column("operation", lambda line: operation_of(line.row), is_number=False),
        Column("message", lambda line: format_bytes(size_of(line.row)) if size_of(line.row) else ""),
        Column("MPI_Test", lambda line: str(line.row.params.get("tests", 0))),
        Column("alone", lambda line: _seconds(line.pure)),
        Column("computation", lambda line: _seconds(line.compute)),
        Column("both", lambda line: _seconds(line.overall)),
        Column("hidden", lambda line: f"{line.row.median:.0%}", hint=lambda line: value_hint(line.row)),
    )
    return grid_of(f"nonblocking, beside computation, {ranks_of(found[0])} ranks", columns, lines) if found else []


def _overlap_line(row: Row, phases: Sequence[PhaseRecord]) -> _Overlap:
    return _Overlap(row, *(_mean_of(phases, name) for name in ("call_s", "compute_s", "overall_s")))


def _mean_of(phases: Sequence[PhaseRecord], name: str) -> float | None:
    found = [
        took.sum / calls.sum
        for phase in phases
        if (took := phase.gauges.get(name)) and (calls := phase.gauges.get("calls")) and calls.sum > 0
    ]
    return median(found) if found else None


# -- one-sided ---------------------------------------------------------------------------------------------------------


def _one_sided_grids(rows: Sequence[Row]) -> list[Grid]:
    own = in_order(row for row in rows if row.params["access"] == ONE_SIDED)
    times = with_most_ranks([row for row in own if row.metric == "one_sided_latency"])
    rates = with_most_ranks([row for row in own if row.metric == "one_sided_bandwidth"])
    grids: list[Grid] = []
    if times:
        grids.append(_matrix(f"one-sided, one at a time, rank 0 to rank {ranks_of(times[0]) - 1}", times, _ended_by))
    if rates:
        grids.append(_matrix(f"one-sided, {rates[0].params['outstanding']} under way together", rates, _ended_by))
    return grids


def _ended_by(row: Row) -> str:
    return f"{operation_of(row)}, {row.params['sync']}"


SECTION: Final = Section(
    name="collectives",
    title="Collective operations",
    doc="Each time is that of one call, mean over calls and ranks, between barriers that are not timed; a pointer over "
    "it shows its interval. Messages are counted as OSU does: what one rank gives to one other, or the whole vector "
    "of a bcast or a reduction.",
    order=6,
    build=tables,
    suite=SUITE,
)


# -- headlines of the front page --------------------------------------------------------------------------------------

_SMALL_BYTES: Final = 8


def _is_small_allreduce(row: Row) -> bool:
    shape = word_of(row, "operation"), word_of(row, "mode"), row.params.get("message_bytes")
    return shape == ("allreduce", "blocking", _SMALL_BYTES)


HEADLINES: Final = (
    Rule(
        "messages",
        "collective_latency",
        _is_small_allreduce,
        ranks_key,
        lambda row: f"allreduce of {_SMALL_BYTES} bytes, {row.params['ranks']} ranks",
    ),
)
