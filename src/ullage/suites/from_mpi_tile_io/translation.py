# SPDX-License-Identifier: Apache-2.0
"""MPI Tile I/O's command lines as cases of the workload ``tile``. Pure.

What is a mistake of the original's is not copied: sizes have 64 bits, the sync after a write is in its time, data is
read back and checked, and the measurement is repeated.
"""

import math
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Final

from ullage.command_lines.flags import FlagTable, ParsedFlags, answered, translated
from ullage.command_lines.options import LineOptions
from ullage.command_lines.translation import (
    CommandLine,
    Draft,
    Translation,
    WantedLayout,
    agreed_layout,
    without_file_system,
)
from ullage.errors import UserError
from ullage.model.plan import Named, Parameters
from ullage.parameters import count_of
from ullage.runs.options.declared import Change

TOOL: Final = "mpi-tile-io"
# The original repeats nothing. So many values give an interval of 95 %.
_REPETITIONS: Final = 6
_USUAL_SIZE: Final = 1024
_USUAL_ELEMENT: Final = 3
_AXES: Final = ("x", "y", "z")
_ONE_FILE: Final = "the original's files beyond the first are never opened; one file is used"


def _along(name: str, axis: str) -> str:
    return f"--{name}_{axis}"


_SIZES: Final = tuple(_along(name, axis) for axis in _AXES for name in ("nr_tiles", "sz_tile", "overlap"))
TABLE: Final = FlagTable(
    TOOL,
    (
        *translated(",".join(f"{name} VALUE" for name in (*_SIZES, "--sz_element", "--header_bytes", "--filename"))),
        *translated("--collective,--write_file"),
        *answered({"--nr_files VALUE": _ONE_FILE}),
    ),
    {"-w": "write --write_file"},
)
_IN_ENVIRONMENT: Final[Mapping[str, str]] = {name.removeprefix("--").upper(): name for name in TABLE.by_name}


def translate(lines: Sequence[CommandLine], wanted: WantedLayout) -> Translation:
    """See ``Translator``."""
    jobs = [_given(line) for line in lines]
    parameters = [_workload_of(given) for given in jobs]
    tiles = [math.prod(count_of(one, f"tiles_{axis}") for axis in _AXES) for one in parameters]
    layout = agreed_layout(lines, wanted)
    said = wanted.ranks or any(line.ranks for line in lines)
    ranks = (layout.ranks or 1) if said else max(tiles)
    for number, count in enumerate(tiles, start=1):
        if count > ranks:
            what = f"line {number} has {count} tiles, but there are {ranks} ranks"
            raise UserError(what, TOOL, f"start {count} ranks: mpirun -np {count}, or --ranks {count}")
    notes = dict.fromkeys(note for line in lines for note in line.notes)
    for number, (given, count) in enumerate(zip(jobs, tiles, strict=True), start=1):
        notes.update(dict.fromkeys([*given.notes, *_notes(number, given, count, ranks)]))
    said_of_paths: list[str] = []
    paths = [without_file_system(given.text("--filename"), TOOL, "--filename", said_of_paths) for given in jobs]
    notes.update(dict.fromkeys(said_of_paths))
    drafts = [_draft(number, *pair) for number, pair in enumerate(zip(paths, parameters, strict=True), start=1)]
    return Translation(
        drafts=tuple(drafts),
        ranks=ranks,
        repetitions=_REPETITIONS,
        nodes=layout.nodes,
        ranks_per_node=layout.ranks_per_node,
        notes=tuple(notes),
    )


def _given(line: CommandLine) -> ParsedFlags:
    """Read a line; words of the environment count where the line does not say them, as in the original."""
    unknown = next((name for name in line.environment if name not in _IN_ENVIRONMENT), None)
    if unknown is not None:
        raise UserError(f"{unknown} before the command is not carried to the ranks", TOOL, "export it for `ullage run`")
    words = [f"{_IN_ENVIRONMENT[name]}={text}" for name, text in line.environment.items()]
    return TABLE.read([*words, *line.words])


def _workload_of(given: ParsedFlags) -> Parameters:
    parameters: Parameters = {}
    for axis in _AXES:
        size, common = _along("sz_tile", axis), _along("overlap", axis)
        tile = given.count(size, 1 if axis == "z" else _USUAL_SIZE, least=1)
        overlap = given.count(common, 0)
        if overlap >= tile and overlap > 0:
            what = f"{common} {overlap} is not below {size} {tile}"
            raise UserError(what, TOOL, "neighbours have a part of a tile in common, not all of it")
        parameters[f"tiles_{axis}"] = given.count(_along("nr_tiles", axis), 1, least=1)
        parameters[f"tile_{axis}"] = tile
        parameters[f"overlap_{axis}"] = overlap
    return {
        **parameters,
        "element_bytes": given.count("--sz_element", _USUAL_ELEMENT, least=1),
        "header_bytes": given.count("--header_bytes", 0),
        "frames": 1,
        "calls": "collective" if given.has("--collective") else "independent",
        "phases": ["write", "read"],
    }


def _notes(number: int, given: ParsedFlags, tiles: int, ranks: int) -> list[str]:
    notes = [f"the original measures once; each line is repeated {_REPETITIONS} times"]
    if given.has("--write_file"):
        notes.append(f"line {number}: a phase `read` follows, which verifies what was written")
    else:
        notes.append(f"line {number} only reads: its file is written first")
    if ranks > tiles:
        notes.append(f"line {number}: {ranks - tiles} of {ranks} ranks have no tile and wait, as in the original")
    return notes


def _draft(number: int, path: str, parameters: Parameters) -> Draft:
    folder = str(PurePath(path).parent) if path else ""
    along = ((count_of(parameters, f"{name}_{axis}") for name in ("tiles", "tile", "overlap")) for axis in _AXES)
    leaves = math.prod(tiles * tile - (tiles - 1) * overlap for tiles, tile, overlap in along)
    named = Named(name="tile", parameters=parameters)
    return Draft(number, Named(name="mpiio"), named, folder, leaves=leaves * count_of(parameters, "element_bytes"))


class FromMpiTileIoOptions(LineOptions):
    """The options of all suites that measure command lines."""

    tool = TOOL
    metrics = "bandwidth tile_bandwidth frame_rate open_time sync_time close_time"
    translate = staticmethod(translate)
    changes = {
        "lines": Change(
            'Measure what these command lines do. Put each in quotes: "mpi-tile-io ..." or "mpirun -np 6 mpi-tile-io '
            '...".'
        ),
        "ranks": Change(unsaid="the number in the command lines, otherwise one for each tile"),
    }
