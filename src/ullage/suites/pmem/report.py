# SPDX-License-Identifier: Apache-2.0
"""What a report shows of a pmem run: tables and charts over ranks, transfer sizes and regions."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

from ullage.analysis.verdicts.grades import is_sound
from ullage.grouping import grouped, nested
from ullage.model.summary import Row
from ullage.quantity import format_quantity, format_row, rounded
from ullage.report import plots
from ullage.report.answers import AnswerRule
from ullage.report.contents import Content, Figure, Grid, Section
from ullage.report.data import ReportData
from ullage.report.declared import storage_chart
from ullage.report.grids import Column, grid_of, time_text, value_column
from ullage.report.headlines import storage_rule
from ullage.report.vega import Spec, rank_axis, tooltip
from ullage.report.verdicts import headword
from ullage.runs.options.reading import read_options
from ullage.suites.pmem.findings import FAULTS, WITHOUT_SYNC, Curve, Curves, by_path, curves, transfer_s
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


_AXES: Final[Mapping[str, tuple[str, Callable[[int], str]]]] = {
    "ranks": ("ranks", str),
    "block_bytes": ("transfer", format_bytes),
    "region_bytes": ("region", format_bytes),
}
"""The name of each axis, and how its places are written."""
_Line: TypeAlias = tuple[str, Mapping[str, Row]]
"""One place of the axis, with the row of each interface."""


def tables(data: ReportData) -> Content | None:
    """Return a table for each target, access and axis, or None for other suites and where nothing was measured."""
    options, rows = _options(data), data.rows_of(_SUITE)
    if options is None or not rows:
        return None
    bare = curves("block_bytes", rows, options, WITHOUT_SYNC)
    grids = [
        *_grids("ranks", curves("ranks", rows, options)),
        *_grids("block_bytes", curves("block_bytes", rows, options)),
        *_grids("block_bytes", bare, "time of a transfer without open, sync and close", transfer_s),
        *_grids("block_bytes", curves("block_bytes", rows, options, FAULTS), "page faults"),
        *_grids("region_bytes", curves("region_bytes", rows, options)),
    ]
    words = grouped((row.target, f"{row.access} {headword(row)}") for row in rows)
    each = (f"{target} {', '.join(dict.fromkeys(found))}" for target, found in words.items())
    return Content(notes=[f"Measured as: {'; '.join(each)}."], grids=[*grids, *_path_grids(rows)])


def _path_grids(rows: Sequence[Row]) -> list[Grid]:
    """Return the table of NUMA paths; none where no ranks were bound by it."""

    def bandwidth_by(path: str) -> Column[tuple[Curve, Mapping[str, Row]]]:
        return value_column(path, lambda line: line[1].get(path))

    columns: list[Column[tuple[Curve, Mapping[str, Row]]]] = [
        Column("target", lambda line: line[0].target, is_number=False),
        Column("interface", lambda line: line[0].interface, is_number=False),
        Column("access", lambda line: line[0].access, is_number=False),
        *map(bandwidth_by, NUMA_PATHS),
    ]
    return grid_of("bandwidth by NUMA path", columns, sorted(by_path(rows).items()))


def _grids(
    axis: str, lines: Curves, what: str = "bandwidth", time_of: Callable[[Row], float] | None = None
) -> list[Grid]:
    name, text = _AXES[axis]
    columns = [Column[_Line](name, lambda line: line[0]), *(_column(one, time_of) for one in INTERFACES)]
    places = grouped(
        ((curve.target, curve.access), (text(row.count(axis)), curve.interface, row))
        for curve, rows in lines.items()
        for row in rows
    )
    return [
        grid
        for (target, access), some in places.items()
        for grid in grid_of(f"{target} {access}s by {name}: {what}", columns, list(nested(some).items()))
    ]


def _column(interface: str, time_of: Callable[[Row], float] | None) -> Column[_Line]:
    if time_of is None:
        return value_column(interface, lambda line: line[1].get(interface))
    return Column(interface, lambda line: time_text(time_of(row) if (row := line[1].get(interface)) else None))


SECTION: Final = Section(
    name="pmem",
    title="Interfaces to memory as storage",
    doc="posix makes a system call for each transfer, mmap and pmem make none; direct is posix with O_DIRECT.",
    order=2,
    part="disk",
    build=tables,
)


_TOOLTIP: Final = tooltip("name=interface target place=at text=value")


def figures(data: ReportData) -> list[Figure]:
    """Return the charts of the run; none for other suites."""
    options, rows = _options(data), [row for row in data.rows_of(_SUITE) if is_sound(row)]
    if options is None:
        return []
    bare = curves("block_bytes", rows, options, WITHOUT_SYNC)
    return [
        *_over("ranks", curves("ranks", rows, options), "Bandwidth over ranks", _RANKS),
        *_over("block_bytes", curves("block_bytes", rows, options), "Bandwidth over transfer size", _TRANSFERS),
        *_over("block_bytes", bare, "Time of a transfer", _TIMES),
        *_over("region_bytes", curves("region_bytes", rows, options), "Read bandwidth over region", _REGIONS),
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
    tip = tooltip("label=path text=bandwidth")
    color = plots.nominal("path", paths, plots.COLORS[: len(paths)], {"title": None})
    bars = plots.bar_layer({"y": plots.bar_names(labels, 320, "label")}, plots.quantity_axis("x", "GB/s"), color, tip)
    return [Figure("Bandwidth by NUMA path", _PATHS, plots.layered(420, {"step": 18}, [bars], values))]


_PATHS: Final = "local: ranks on the NUMA node of the device. remote: ranks on other nodes."


_RANKS: Final = "Ranks of one node, each with a file of its own. Durability is inside the time of writes."
_TRANSFERS: Final = "One rank. Persistent memory of Intel works in units of 256 bytes: smaller writes cost a whole one."
_TIMES: Final = "One rank, without opening, sync and close. What remains at small sizes is the cost of a call."
_REGIONS: Final = "One rank. A region is what a rank reads once, from its beginning to its end."


def _over(axis: str, lines: Curves, title: str, caption: str) -> list[Figure]:
    """Return a chart for each access; over regions that of the reads alone."""
    of_reads = axis == "region_bytes"
    by_access = nested((curve.access, curve, rows) for curve, rows in lines.items())
    return [
        Figure(title if of_reads else f"{title}: {access}s", caption, _spec(some, axis))
        for access, some in by_access.items()
        if access == "read" or not of_reads
    ]


def _spec(lines: Curves, axis: str) -> Spec:
    is_time = next(iter(lines.values()))[0].metric == WITHOUT_SYNC
    values = [_point(curve, row, axis, is_time=is_time) for curve, rows in lines.items() for row in rows]
    names = [name for name in INTERFACES if any(curve.interface == name for curve in lines)]
    targets = list(dict.fromkeys(curve.target for curve in lines))
    places = sorted({value["x"] for value in values})
    legend: Spec = {"title": None, "symbolType": "stroke", "symbolStrokeWidth": 3}
    encoding: Spec = {
        "x": rank_axis(places, "x", "ranks") if axis == "ranks" else plots.size_axis(places, _AXES[axis][0]),
        "y": plots.decade_axis([value["y"] for value in values], "ns a transfer" if is_time else "GB/s"),
        "color": plots.nominal("name", names, plots.COLORS[: len(names)], legend),
    }
    if len(targets) > 1:
        dashes = [_DASHES[index % len(_DASHES)] for index in range(len(targets))]
        encoding["strokeDash"] = plots.nominal("target", targets, dashes, {"title": None})
    marks = plots.upright_layers(_UNIT_OF_DEVICE, places, "transfer") if axis == "block_bytes" else []
    points = {key: channel for key, channel in encoding.items() if key != "strokeDash"}
    return plots.layered(420, 260, [*marks, *plots.line_layers(encoding, _TOOLTIP, 40, values, points)])


def _point(curve: Curve, row: Row, axis: str, *, is_time: bool) -> Spec:
    value, place = transfer_s(row), row.count(axis)
    return {
        "x": place,
        "y": rounded(value / _NANO if is_time else row.median / _GIGA),
        "name": curve.interface,
        "target": curve.target,
        "place": _AXES[axis][1](place),
        "text": format_quantity(value, "s") if is_time else format_row(row),
    }


CHART: Final = storage_chart(
    "pmem",
    "Interfaces to memory as storage",
    "All axes but that of ranks are logarithmic. The line at 256 marks the unit of Intel's persistent memory.",
    figures,
)


HEADLINE: Final = storage_rule(
    "{target}: {done} of {size} by {interface}",
    "interface",
    done={"write": "writes", "read": "reads"},
    words=lambda row: {"size": format_bytes(row.count("block_bytes"))},
)

ANSWER: Final = AnswerRule(
    _SUITE,
    "Which interface, from which transfer size on, with how many ranks?",
    "system-calls writers numa-path persistence",
)
