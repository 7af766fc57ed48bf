# SPDX-License-Identifier: Apache-2.0
"""The options of an io_bench and its cells, and from its records to rows with their share of the peak, and findings."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Annotated, Final, Literal

from ullage.analysis.contests import compare_rows
from ullage.analysis.findings import find_all
from ullage.analysis.findings.enough import enough_of
from ullage.analysis.findings.phrasing import finding, gain_of, with_gain
from ullage.analysis.statistics.comparison import level_of_each
from ullage.analysis.verdicts.grades import sound_rows
from ullage.engine import find_registered
from ullage.grouping import grouped
from ullage.launch.base import place_ranks
from ullage.model.describe import Describe
from ullage.model.plan import Parameters, Target
from ullage.model.request import Request
from ullage.model.summary import Finding, Row
from ullage.quantity import percent, times
from ullage.results.events import failed_cases
from ullage.results.folder import ResultFolder
from ullage.results.rows import RowContext, build_rows
from ullage.runs.ceilings import with_ceilings
from ullage.runs.cells.direct import DirectIo, direct_at, way_of_own_files
from ullage.runs.cells.planning import Cell, each_once, make_cell
from ullage.runs.cells.prepared import PreparedCells
from ullage.runs.inputs import EngineContext
from ullage.runs.options.declared import Change, Option
from ullage.runs.options.groups import Blocks, QuickOnCommandLine, RunOptions, Volume
from ullage.runs.options.reading import read_options
from ullage.runs.room import check_paths, checked_machine
from ullage.runs.suite import SuiteSummary
from ullage.runs.told import launches_of
from ullage.units import format_bytes, format_rate

# A file holds at least ``FEWEST`` of its records, however large they are, and at most ``MOST``, however small.
FEWEST: Final = 8
MOST: Final = 2048


class IoBenchOptions(QuickOnCommandLine, RunOptions):
    """The options of suite ``io_bench``.

    Sizes in bytes. ``volume``: of a file, where that is at least 8 records and at most 2048.
    """

    metrics = "bandwidth latency_p50"
    changes = {
        "targets": Change("Measure the disk that holds this folder. Repeat the option to measure several disks."),
        "time_s": Change(usual="5m", quick="20s"),
        "quick": Change("Take a first look in 20 s: records 64K:16M:x4, files of 32M."),
    }

    records: Annotated[
        Blocks,
        Option(
            "Transfer records of these sizes.",
            name="--record",
            usual="4K:128M:x2",
            quick="64K:16M:x4",
            sets=("block_bytes",),
        ),
    ]
    volume: Annotated[
        Volume, Option("Use files of this size, but of at least 8 and at most 2048 records.", usual="256M", quick="32M")
    ]
    backend: Annotated[Literal["posix", "uring"], Option("Use posix or uring.")] = "posix"


Spot = tuple[Target, DirectIo]
ORDERS: Final = ("sequential", "random", "backward")


def file_bytes(options: IoBenchOptions, record: int) -> int:
    """Return the size of a file in bytes: as many whole records as the volume holds, at least 8 and at most 2048."""
    return record * max(FEWEST, min(MOST, options.volume // record))


def make_cells(options: IoBenchOptions, spots: Iterable[Spot], description: Describe, cores: int | None) -> list[Cell]:
    """Return every combination of target, order and record, each once.

    ``spots``: targets with their direct I/O.
    """
    layout = place_ranks(1, 1, 1, cores)
    cells: list[Cell] = []
    for target, direct in spots:
        for order in ORDERS:
            more: Parameters = {"order": order}
            way = way_of_own_files(target, options.backend, description, more, direct=direct.served, cached=True)
            records = dict.fromkeys(map(direct.fits, options.records))
            cells += [make_cell(way, layout, record, file_bytes(options, record)) for record in records]
    return with_kinds(each_once(cells))


def with_kinds(cells: Iterable[Cell]) -> list[Cell]:
    """Name the order and the record of cells, also of those read back from plans: a byte's cost depends on both."""
    orders = ((cell, cell.parameters.get("order", ORDERS[0])) for cell in cells)
    return [replace(cell, kind=f"in {order} order with {format_bytes(cell.block_bytes)}") for cell, order in orders]


def prepare_io_bench(request: Request, engine_context: EngineContext) -> PreparedCells:
    """Check everything that can be checked without starting anything."""
    options = read_options(IoBenchOptions, request)
    find_registered(engine_context.description, "backend", options.backend)
    check_paths(request.targets)
    machine = checked_machine(request.targets)
    spots = [(target, direct_at(target)) for target in request.targets]
    cells = make_cells(options, spots, engine_context.description, machine.cores)
    text = f"files of {format_bytes(options.volume)}, but {FEWEST} records at least and {MOST} at most"
    notes = [note for target, direct in spots for note in direct.notes(target.name, options.records)]
    lines = ["One rank with a file of its own; a write makes a new file in the order of its case."]
    return PreparedCells(request, options, machine, cells, with_kinds, text, lines, notes).checked()


METRIC: Final = "bandwidth"
# These kinds of findings say nothing here: nothing extends the table, and there is one rank.
_LEFT_OUT: Final = frozenset({"best", "edge", "scaling", "drop"})


def summarise(result: ResultFolder, request: Request, context: RowContext) -> SuiteSummary:
    """See ``Summarising``. The peak is declared or detected, else the best of this run in that direction."""
    options, launches = read_options(IoBenchOptions, request), launches_of(result)
    rows = with_ceilings(build_rows(launches, context), request.targets, options.machine)
    found = find_all(rows, failed_cases(launches), context.level, context.settable)
    general = [one for one in found if one.kind not in _LEFT_OUT]
    return SuiteSummary(rows, [*enough(sound_rows(rows), context.level), *general])


def enough(rows: Sequence[Row], level: float) -> list[Finding]:
    """Find the smallest record that is enough for each stream."""
    streams = grouped(
        ((row.target, str(row.params.get("order", ORDERS[0])), row.access), row)
        for row in rows
        if row.metric == METRIC and not row.is_invalid
    )
    own = level_of_each(level, map(len, streams.values()))
    return [_enough(*key, sorted(line, key=_record), own) for key, line in streams.items() if len(line) > 1]


def _record(row: Row) -> int:
    return row.count("block_bytes", 0)


def _enough(target: str, order: str, access: str, line: Sequence[Row], level: float) -> Finding:
    found = enough_of(line, level)
    best, first = found.best, found.row
    what = f"{target}: {order} {access}s"
    text = found.text(what, _records, format_rate, "")
    if best.share is not None:
        text += f" The highest median is {percent(best.share)} of the peak."
    # The gain is over the median record (the faster one of two), not over the worst that was tried.
    usual = sorted(line, key=lambda row: row.median)[len(line) // 2]
    gain = gain_of(compare_rows(first, usual, level, None))
    if gain is not None:
        text += f" {format_bytes(_record(first))} is {times(gain.factor)} as fast as {format_bytes(_record(usual))}."
    said = finding(
        "record-size",
        found.title(what, _records(first), has_more=False),
        text,
        target=target,
        order=order,
        access=access,
        record_bytes=[_record(row) for row in line],
        bytes_per_s=[row.median for row in line],
        enough=None if found.is_open else _record(first),
    )
    return with_gain(said, gain, f"--record {format_bytes(_record(first))}")


def _records(row: Row) -> str:
    return f"records of {format_bytes(_record(row))}"
