# SPDX-License-Identifier: Apache-2.0
"""What a report shows of a pmem run: tables and charts over ranks, transfer sizes and regions."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

from ullage.analysis.verdicts.grades import is_sound
from ullage.grouping import nested
from ullage.model.summary import Row
from ullage.quantity import format_quantity, format_row, rounded
from ullage.report.answers import AnswerRule
from ullage.report.contents import Chart, Content, Figure, Grid, Section
from ullage.report.data import ReportData
from ullage.report.grids import Column, grid_of, time_text, value_column
from ullage.report.headlines import storage_rule
from ullage.report.plots import (
    COLORS,
    bar_layer,
    bar_names,
    decade_axis,
    layered,
    line_layers,
    nominal,
    quantity_axis,
    size_axis,
    upright_layers,
)
from ullage.report.vega import Spec, rank_axis, tooltip
from ullage.report.verdicts import headword
from ullage.runs.options.reading import read_options
from ullage.suites.pmem.findings import (
    FAULTS,
    WITHOUT_SYNC,
    Curve,
    Curves,
    by_path,
    by_ranks,
    by_region,
    by_transfer,
    transfer_s,
)
from ullage.suites.pmem.options import INTERFACES, NUMA_PATHS, PmemOptions
from ullage.units import format_bytes

_SUITE: Final = "pmem"
_GIGA: Final = 1e9
_NANO: Final = 1e-9
_DASHES: Final = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3])
_UNIT_OF_DEVICE: Final = (("256", 256),)


def _options(data: ReportData) -> PmemOptions | None:
    """Return the options of the run whose rows these are; None for another suite's, and for an imported table."""
    if data.request is None or data.request.suite != _SUITE:
        return None
    return read_options(PmemOptions, data.request)


# -- tables ------------------------------------------------------------------------------------------------------------


_PLACES: Final[Mapping[str, Callable[[Row], str]]] = {
    "ranks": lambda row: str(row.ranks),
    "transfer": lambda row: format_bytes(row.count("block_bytes")),
    "region": lambda row: format_bytes(row.count("region_bytes")),
}
_Line: TypeAlias = tuple[str, Mapping[str, Row]]
"""One place of the axis, with the row of each interface."""


def tables(data: ReportData) -> Content | None:
    """Return a table for each target, access and axis, or None for other suites and where nothing was measured."""
    options, rows = _options(data), data.rows_of(_SUITE)
    if options is None or not rows:
        return None
    bare = by_transfer(rows, options, WITHOUT_SYNC)
    grids = [
        *_grids("ranks", by_ranks(rows, options)),
        *_grids("transfer", by_transfer(rows, options)),
        *_grids("transfer", bare, "time of a transfer without open, sync and close", transfer_s),
        *_grids("transfer", by_transfer(rows, options, FAULTS), "page faults"),
        *_grids("region", by_region(rows, options)),
    ]
    return Content(notes=[_measured_as(rows)], grids=[*grids, *_path_grids(rows)])


def _path_grids(rows: Sequence[Row]) -> list[Grid]:
    """Return the table of NUMA paths; none where no ranks were bound by it."""

    def path_column(path: str) -> Column[tuple[Curve, Mapping[str, Row]]]:
        return value_column(path, lambda line: line[1].get(path))

    lines = sorted(by_path(rows).items())
    columns: list[Column[tuple[Curve, Mapping[str, Row]]]] = [
        Column("target", lambda line: line[0].target, is_number=False),
        Column("interface", lambda line: line[0].interface, is_number=False),
        Column("access", lambda line: line[0].access, is_number=False),
        *(path_column(path) for path in NUMA_PATHS),
    ]
    return grid_of("bandwidth by NUMA path", columns, lines)


def _measured_as(rows: Sequence[Row]) -> str:
    """Say what each target was measured as, by the verdicts of its rows."""
    words: dict[str, dict[str, None]] = {}
    for row in rows:
        words.setdefault(row.target, {})[f"{row.access} {headword(row)}"] = None
    return "Measured as: " + "; ".join(f"{target} {', '.join(found)}" for target, found in words.items()) + "."


def _grids(
    axis: str, curves: Curves, what: str = "bandwidth", time_of: Callable[[Row], float] | None = None
) -> list[Grid]:
    found: list[Grid] = []
    for target, access in dict.fromkeys((curve.target, curve.access) for curve in curves):
        lines = nested(
            (_PLACES[axis](row), curve.interface, row)
            for curve, rows in curves.items()
            if (curve.target, curve.access) == (target, access)
            for row in rows
        )
        columns = [Column[_Line](axis, lambda line: line[0]), *(_column(name, time_of) for name in INTERFACES)]
        found += grid_of(f"{target} {access}s by {axis}: {what}", columns, list(lines.items()))
    return found


def _column(interface: str, time_of: Callable[[Row], float] | None) -> Column[_Line]:
    if time_of is None:
        return value_column(interface, lambda line: line[1].get(interface))
    return Column(interface, lambda line: time_text(time_of(row) if (row := line[1].get(interface)) else None))


SECTIONS: Final = (
    Section(
        name="pmem",
        title="Interfaces to memory as storage",
        doc="posix makes a system call for each transfer, mmap and pmem make none; direct is posix with O_DIRECT.",
        order=2,
        part="disk",
        build=tables,
    ),
)

# -- charts ------------------------------------------------------------------------------------------------------------

_TOOLTIP: Final = tooltip(("name", "interface"), ("target", "target"), ("place", "at"), ("text", "value"))


def figures(data: ReportData) -> list[Figure]:
    """Return the charts of the run; none for other suites."""
    options, rows = _options(data), [row for row in data.rows_of(_SUITE) if is_sound(row)]
    if options is None:
        return []
    transfers = by_transfer(rows, options, WITHOUT_SYNC)
    reads = {curve: some for curve, some in by_region(rows, options).items() if curve.access == "read"}
    return [
        *_over(by_ranks(rows, options), "ranks", "Bandwidth over ranks", _RANKS),
        *_over(by_transfer(rows, options), "block_bytes", "Bandwidth over transfer size", _TRANSFERS),
        *_over(transfers, "block_bytes", "Time of a transfer", _TIMES, is_time=True),
        *_over(reads, "region_bytes", "Read bandwidth over region", _REGIONS),
        *_paths(rows),
    ]


def _paths(rows: Sequence[Row]) -> list[Figure]:
    """Return bars for the NUMA paths of each interface; none where no ranks were bound by it."""
    found = by_path(rows)
    if not found:
        return []
    values = [
        {
            "label": f"{curve.subject} {path}",
            "x": rounded(row.median / _GIGA),
            "floor": 0,
            "path": path,
            "text": format_row(row),
        }
        for curve, lines in found.items()
        for path, row in lines.items()
    ]
    labels = [str(value["label"]) for value in values]
    paths = [path for path in NUMA_PATHS if any(value["path"] == path for value in values)]
    tip = tooltip(("label", "path"), ("text", "bandwidth"))
    color = nominal("path", paths, COLORS[: len(paths)], {"title": None})
    bars = bar_layer({"y": bar_names(labels, 320, "label")}, quantity_axis("x", "GB/s"), color, tip)
    return [Figure("Bandwidth by NUMA path", _PATHS, layered(420, {"step": 18}, [bars], values))]


_PATHS: Final = "local: ranks on the NUMA node of the device. remote: ranks on other nodes."


_RANKS: Final = "Ranks of one node, each with a file of its own. Durability is inside the time of writes."
_TRANSFERS: Final = "One rank. Persistent memory of Intel works in units of 256 bytes: smaller writes cost a whole one."
_TIMES: Final = "One rank, without opening, sync and close. What remains at small sizes is the cost of a call."
_REGIONS: Final = "One rank. A region is what a rank reads once, from its beginning to its end."


def _over(curves: Curves, axis: str, title: str, caption: str, *, is_time: bool = False) -> list[Figure]:
    accesses = dict.fromkeys(curve.access for curve in curves)
    return [
        Figure(
            title if axis == "region_bytes" else f"{title}: {access}s",
            caption,
            _spec({curve: rows for curve, rows in curves.items() if curve.access == access}, axis, is_time=is_time),
        )
        for access in accesses
    ]


def _spec(curves: Curves, axis: str, *, is_time: bool) -> Spec:
    values = [_point(curve, row, axis, is_time=is_time) for curve, rows in curves.items() for row in rows]
    names = [name for name in INTERFACES if any(curve.interface == name for curve in curves)]
    targets = list(dict.fromkeys(curve.target for curve in curves))
    places = sorted({value["x"] for value in values})
    is_size = axis != "ranks"
    legend: Spec = {"title": None, "symbolType": "stroke", "symbolStrokeWidth": 3}
    encoding: Spec = {
        "x": size_axis(places, "region" if axis == "region_bytes" else "transfer")
        if is_size
        else rank_axis(places, "x", "ranks"),
        "y": decade_axis([value["y"] for value in values], "ns a transfer" if is_time else "GB/s"),
        "color": nominal("name", names, COLORS[: len(names)], legend),
    }
    if len(targets) > 1:
        dashes = [_DASHES[index % len(_DASHES)] for index in range(len(targets))]
        encoding["strokeDash"] = nominal("target", targets, dashes, {"title": None})
    marks = upright_layers(_UNIT_OF_DEVICE, places, "transfer") if axis == "block_bytes" else []
    points = {key: channel for key, channel in encoding.items() if key != "strokeDash"}
    return layered(420, 260, [*marks, *line_layers(encoding, _TOOLTIP, 40, values, points)])


def _point(curve: Curve, row: Row, axis: str, *, is_time: bool) -> Spec:
    value = transfer_s(row)
    place = row.count(axis)
    return {
        "x": place,
        "y": rounded(value / _NANO if is_time else row.median / _GIGA),
        "name": curve.interface,
        "target": curve.target,
        "place": str(place) if axis == "ranks" else format_bytes(place),
        "text": format_quantity(value, "s") if is_time else format_row(row),
    }


CHARTS: Final = (
    Chart(
        name="pmem",
        title="Interfaces to memory as storage",
        doc="All axes but that of ranks are logarithmic. The line at 256 marks the unit of Intel's persistent memory.",
        order=3,
        part="disk",
        build=figures,
    ),
)

# -- headlines and the answer of the suite -----------------------------------------------------------------------------


HEADLINES: Final = (
    storage_rule(
        "{target}: {done} of {size} by {interface}",
        "interface",
        done={"write": "writes", "read": "reads"},
        words=lambda row: {"size": format_bytes(row.count("block_bytes"))},
    ),
)

ANSWERS: Final = (
    AnswerRule(
        _SUITE,
        "Which interface, from which transfer size on, with how many ranks?",
        ("system-calls", "writers", "numa-path", "persistence"),
    ),
)
