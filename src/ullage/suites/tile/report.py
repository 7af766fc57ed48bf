# SPDX-License-Identifier: Apache-2.0
"""What a report shows of tiles: both phases of each case, and a picture of who owns which part of the data set."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from ullage.model.summary import Row
from ullage.quantity import plural
from ullage.report.answers import AnswerRule
from ullage.report.contents import Cell, Content, Figure, Grid, Heading
from ullage.report.data import ReportData
from ullage.report.declared import Table, columns, storage_chart, storage_section, tables_of
from ullage.report.headlines import storage_rule
from ullage.report.plots import COLORS, layer, layered
from ullage.report.vega import INK, MUTED, Spec, tooltip
from ullage.suites.tile.options import Tiling, read_overlap, read_sizes, three
from ullage.units import format_bytes

_SUITE: Final = "tile"
# A larger grid of tiles is not drawn whole, and not listed.
_MOST_TILES: Final = 64
_MOST_PICTURES: Final = 3
_WIDTH: Final = 330
_OWNERS: Final = 4


_TITLES: Final = {"write": "Write each frame", "read": "Read each frame"}


def _notes(rows: Sequence[Row]) -> list[str]:
    notes = [_sizes(one) for one in tilings_of(rows)[:_MOST_PICTURES]]
    if any(row.params["backend"] == "hdf5" for row in rows):
        notes.append("HDF5 adds its own data to those bytes, so its files were checked to have that many at least.")
    return notes


_phases: Final = tables_of(
    _SUITE,
    [
        Table(
            columns(
                "target ranks tiles calls hint_set=hints bandwidth=rate frame_rate=frames tile_bandwidth=transfers",
                "open_time=open move_time=transfer sync_time=sync close_time=close latency_p50=frame_p50",
                "latency_p99=p99 verdict",
            ),
            lambda row: _TITLES.get(row.access),
        )
    ],
    lambda row: row.access != "write",
    _notes,
)


def tables(data: ReportData) -> Content | None:
    """Return a table for each access and one of the tiles, or None where nothing was measured."""
    content = _phases(data)
    tilings = tilings_of(data.rows_of(_SUITE))[:_MOST_PICTURES]
    owners = [_owner_grid(one) for one in tilings if one.count <= _MOST_TILES]
    return None if content is None else replace(content, grids=[*content.grids, *owners])


def tilings_of(rows: Sequence[Row]) -> list[Tiling]:
    """Return the tilings that rows are of, each once."""
    found = [
        Tiling(
            three(read_sizes(row.word("tiles")), 1),
            three(read_sizes(row.word("tile")), 1),
            three(read_overlap(row.word("overlap")), 0),
            row.count("element_bytes"),
            row.count("header_bytes"),
            row.count("frames"),
        )
        for row in rows
    ]
    return list(dict.fromkeys(found))


def _across(tiling: Tiling, sizes: Sequence[int], form: str = "") -> str:
    return " x ".join(format(size, form) for size in sizes[: 3 if tiling.has_depth else 2])


def _sizes(tiling: Tiling) -> str:
    elements = _across(tiling, tiling.data_set, ",")
    return (
        f"{plural(tiling.count, 'tile')} of {_across(tiling, tiling.tile)} elements, overlap "
        f"{_across(tiling, tiling.overlap)}: a frame has {elements} "
        f"elements of {plural(tiling.element_bytes, 'byte')}, which is {tiling.frame_bytes:,} bytes. "
        f"{plural(tiling.frames, 'frame')} and a header of {tiling.header_bytes:,} bytes make a file of "
        f"{tiling.file_bytes:,} bytes."
    )


def _owner_grid(tiling: Tiling) -> Grid:
    """Return a table in which a cell is a tile: its rank, and the byte of the frame that it begins at."""
    across, down, deep = tiling.tiles
    heads = [Heading("tiles"), *(Heading(f"x {x}") for x in range(across))]
    lines = [
        [
            Cell(f"y {y}, z {z}" if deep > 1 else f"y {y}"),
            *(_owner(tiling, (z * down + y) * across + x) for x in range(across)),
        ]
        for z in range(deep)
        for y in range(down)
    ]
    return Grid("The rank of each tile and its first byte in a frame", heads, lines)


def _owner(tiling: Tiling, rank: int) -> Cell:
    x, y, z = tiling.begin_of(rank)
    wide, high, _ = tiling.data_set
    first = ((z * high + y) * wide + x) * tiling.element_bytes
    return Cell(f"rank {rank}: {first:,}")


def pictures(data: ReportData) -> list[Figure]:
    """Draw each tiling: the part of each rank in the data set, what overlaps darker, and one line of it in the file."""
    drawn = [one for one in tilings_of(data.rows_of(_SUITE)) if one.count <= _MOST_TILES][:_MOST_PICTURES]
    return [figure for one in drawn for figure in _drawn(one)]


def _drawn(tiling: Tiling) -> list[Figure]:
    layers = " The first layer along z is shown." if tiling.tiles[2] > 1 else ""
    caption = f"Each rectangle is the tile of a rank. Darker parts belong to several ranks.{layers}"
    line = format_bytes(tiling.data_set[0] * tiling.element_bytes)
    of_line = f"The first row of a frame takes {line} of the file. Each bar is the part of one rank."
    return [
        Figure(f"{plural(tiling.count, 'tile')} of {_across(tiling, tiling.tile)}", caption, picture(tiling)),
        Figure("One row of elements in the file", of_line, strip(tiling)),
    ]


def picture(tiling: Tiling) -> Spec:
    """Return the first layer of a data set, its tiles drawn to scale."""
    wide, high, _ = tiling.data_set
    values: list[Spec] = []
    for rank in range(tiling.tiles[0] * tiling.tiles[1]):
        x, y, _ = tiling.begin_of(rank)
        right, low = x + tiling.tile[0], y + tiling.tile[1]
        values.append(
            {
                "rank": f"{rank}",
                "x": x,
                "x2": right,
                "y": y,
                "y2": low,
                "mx": (x + right) / 2,
                "my": (y + low) / 2,
                "part": f"x {x} to {right - 1}, y {y} to {low - 1}",
                "color": COLORS[(tiling.place_of(rank)[0] + 2 * tiling.place_of(rank)[1]) % _OWNERS],
            }
        )
    height = max(60, min(_WIDTH, round(_WIDTH * high / wide)))
    horizontal = _axis("x", wide, "element along x")
    vertical = _axis("y", high, "element along y")
    vertical["scale"] = {**vertical["scale"], "reverse": True}
    box = {
        "x": horizontal,
        "x2": {"field": "x2"},
        "y": vertical,
        "y2": {"field": "y2"},
        "color": {"field": "color", "type": "nominal", "scale": None},
        "tooltip": tooltip("rank part=its_part"),
    }
    name = {
        "x": {"field": "mx", "type": "quantitative"},
        "y": {"field": "my", "type": "quantitative"},
        "text": {"field": "rank", "type": "nominal"},
    }
    layers = [
        layer({"type": "rect", "opacity": 0.45, "stroke": INK, "strokeWidth": 1}, box),
        layer({"type": "text", "fontSize": 12, "fontWeight": "bold", "color": INK}, name),
    ]
    return layered(_WIDTH, height, layers, values)


def strip(tiling: Tiling) -> Spec:
    """Return the first row of elements of a frame as bytes of the file, a bar for each rank that has some of them."""
    wide = tiling.data_set[0] * tiling.element_bytes
    begin = tiling.header_bytes
    values: list[Spec] = []
    for rank in range(tiling.tiles[0]):
        first = begin + tiling.begin_of(rank)[0] * tiling.element_bytes
        last = first + tiling.tile[0] * tiling.element_bytes
        values.append(
            {
                "rank": f"rank {rank}",
                "x": first,
                "x2": last,
                "part": f"bytes {first:,} to {last - 1:,}",
                "color": COLORS[rank % _OWNERS],
            }
        )
    encoding = {
        "x": _axis("x", begin + wide, "byte of the file", begin),
        "x2": {"field": "x2"},
        "y": {
            "field": "rank",
            "type": "nominal",
            "title": None,
            "sort": [value["rank"] for value in values],
            "axis": {"domainColor": MUTED},
        },
        "color": {"field": "color", "type": "nominal", "scale": None},
        "tooltip": tooltip("rank=who part=its_part"),
    }
    return layered(_WIDTH, {"step": 18}, [layer({"type": "bar", "opacity": 0.7}, encoding)], values)


def _axis(field: str, end: int, title: str, begin: int = 0) -> Spec:
    return {
        "field": field,
        "type": "quantitative",
        "title": title,
        "scale": {"domain": [begin, end], "nice": False, "zero": False},
        "axis": {"grid": False, "tickCount": 4, "labelOverlap": True},
    }


SECTION: Final = storage_section(
    _SUITE,
    "Tiles of a data set",
    "A rate is bytes of all tiles over the time from the first open to the last close, with the sync. The rate "
    "under transfers is that of MPI Tile I/O, without open, sync and close. A frame is one call of a rank.",
    tables,
)
CHART: Final = storage_chart(
    "tile_picture",
    "Which rank owns which bytes of a frame",
    "The tiles of the ranks in the data set, to scale, and one row of its elements in the file.",
    pictures,
)


HEADLINE: Final = storage_rule("{target}: tiles of {tile} {done}, {ranks}", "tile", "tiles")
ANSWER: Final = AnswerRule(
    "tile",
    "How fast do ranks write and read the tiles of a data set?",
    "tile-calls tile-hints tile-frames",
    "tile-hints-ignored",
    {"tile-frames": "frame_rate"},
)
