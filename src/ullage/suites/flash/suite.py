# SPDX-License-Identifier: Apache-2.0
"""Suite ``flash``: its options, its cases (formats, transfers, ranks, files, sizes of a block), its rows and sentences.

Sizes are those of the FLASH I/O benchmark (M. Zingale) and its port to PnetCDF, as the engine has them.
"""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Annotated, Final, Literal

from pydantic import Field

from ullage.analysis.findings.alike import Faster
from ullage.analysis.findings.phrasing import level_of_part, noun
from ullage.model.plan import Scalar
from ullage.model.summary import Finding, Row
from ullage.runs.cells.backends import hdf5_left_out, ways_of_formats
from ullage.runs.cells.planning import Cell, Sizing, cell_of
from ullage.runs.cells.prepared import Asked, Preparing, plan_columns
from ullage.runs.options.declared import Change, OfEngine, Option
from ullage.runs.options.engine import Values
from ullage.runs.options.groups import StorageOptions
from ullage.runs.options.settings import BackendParameterOptions, check_settings, parameters_for
from ullage.runs.told import Source, summarising, told_rows, usual
from ullage.units import format_volume

HEADER_BYTES: Final = 4096
"""The header of our own format, before the arrays."""


class FlashOptions(BackendParameterOptions, StorageOptions):
    """``blocks``: 0 as the original."""

    workload = "flash"
    metrics = (
        "bandwidth flash_bandwidth phase_time open_time metadata_time unknowns_time sync_time close_time latency_p50 "
        "latency_max"
    )
    changes = {
        "targets": Change("Write the files at this place. Repeat the option to compare several places."),
        "time_s": Change(usual="5m", quick="30s"),
        "quick": Change("Take a first look in 30 s: the checkpoint alone, with blocks of 8 cells."),
    }

    files: Annotated[list[str], OfEngine("file", usual="checkpoint,plot-centred,plot-corner", quick="checkpoint")]
    cells: Annotated[list[int], OfEngine(usual="8,16", quick="8")]
    blocks: Annotated[int, OfEngine(sets=("volume",))] = 0
    formats: Annotated[
        list[Literal["raw", "hdf5"]],
        Option(
            "Write these formats: raw (arrays behind a header of Ullage, by MPI-IO), hdf5.",
            name="--format",
            usual="raw",
        ),
    ]
    transfers: Annotated[
        list[Literal["independent", "collective"]],
        Option(
            "Transfer the arrays in these ways.", name="--access", usual="independent,collective", sets=("transfers",)
        ),
    ]
    plot_real_bytes: Annotated[int, Field(multiple_of=4), OfEngine(name="--plot-reals")] = 4
    sync: Annotated[bool, OfEngine(help="Do not sync a file within the time, after its last array.")] = True
    cache: Annotated[str, OfEngine()] = "none"


def blocks_of(rank: int, given: int) -> int:
    """Return the blocks of a rank: ``given``, or as the original 80 + (rank mod 3)."""
    return given or 80 + rank % 3


def block_of_array_bytes(file: str, cells: int, plot_real_bytes: int = 4) -> int:
    """Return the bytes of a block in one array of values. Those of corners have a point more in each direction."""
    return (cells + (file == "plot-corner")) ** 3 * (8 if file == "checkpoint" else plot_real_bytes)


def _call_bytes(values: Values) -> int:
    """Return the first rank's part of one array, which it moves in a call."""
    block = block_of_array_bytes(values.word("file"), values.count("cells"), values.count("plot_real_bytes"))
    return blocks_of(0, values.count("blocks")) * block


def _access(is_collective: object) -> str:
    return "collective" if is_collective else "independent"


def make_cells(asked: Asked[FlashOptions]) -> list[Cell]:
    """Return every combination; raise ``UserError`` for what the engine would refuse."""
    options, description = asked.options, asked.description
    ways = {
        target.name: ways_of_formats(target, options.formats, options.transfers, description)
        for target in asked.targets
    }
    backends = sorted({backend.name for some in ways.values() for backend, _ in some})
    check_settings(options.parameters, backends, {f"{name}.collective": "--access" for name in backends})
    return [
        cell_of(
            target,
            layout,
            (
                backend.name,
                {**parameters_for(options.parameters, backend), **({"collective": True} if collective else {})},
            ),
            (
                "flash",
                {
                    **options.of_engine(),
                    "file": file,
                    "cells": cells,
                    "format": "arrays" if "arrays" in backend.capabilities else "raw",
                    "cache": options.cache if "data" in backend.capabilities else "none",
                    "verify": "full" if "data" in backend.capabilities else "none",
                },
            ),
            description,
        )
        for layout, target in itertools.product(asked.layouts, asked.targets)
        for backend, collective in ways[target.name]
        for file, cells in itertools.product(options.files, options.cells)
    ]


_COLUMNS: Final = plan_columns(
    "target backend access ranks file cells blocks bytes a_call",
    access=lambda cell: _access(cell.is_collective),
    cells=lambda cell: f"{cell.values.word('cells')}^3",
    blocks=lambda cell: str(sum(blocks_of(rank, cell.values.count("blocks")) for rank in range(cell.layout.ranks))),
    bytes=lambda cell: format_volume(cell.dataset_bytes),
)


def _lines(_asked: Asked[FlashOptions], cells: Sequence[Cell]) -> list[str]:
    files = ", ".join(dict.fromkeys(cell.values.word("file") for cell in cells))
    return [f"All ranks write one file ({files}) and read their own blocks again. PnetCDF is not built."]


prepare: Final = Preparing(
    FlashOptions,
    lambda options, _machine: (options, f"{options.blocks or '80 + (rank mod 3)'} blocks a rank"),
    make_cells,
    Sizing("", _call_bytes),
    _COLUMNS,
    _lines,
    lambda asked, _cells: hdf5_left_out(asked.options.formats, asked.description),
)


def _tell(row: Row, source: Source) -> Mapping[str, Scalar]:
    return {
        **usual(row, "access", "ranks", "nodes", "backend"),
        **source.values.some("file", "cells", "blocks"),
        "format": "raw" if source.values.word("format") == "raw" else row.word("backend"),
        "transfers": _access(source.case.backend_parameters.get("collective")),
    }


_QUESTIONS: Final = tuple(
    Faster(
        f"flash-{option.removeprefix('--')}",
        param,
        option,
        title="{target}: {what} are faster with {way}",
        text="With {ranks} ({target}, {what}), {way} reach {value}, and {other_way} reach {other_value}.",
        way=way,
        gained="{Way} reach {factor} the rate of {other_way}.",
        untold=("{target}: no gain of {way} is shown ({what})", "{which} is faster cannot be told."),
        goes_with=goes_with,
        numbers={"access": "access"},
    )
    for option, param, way, goes_with in (
        ("--access", "transfers", "{transfers} transfers", ()),
        ("--format", "format", "{format} files", ("backend",)),
    )
)


def findings_of(rows: Iterable[Row], level: float) -> list[Finding]:
    """Return all findings; ``rows`` are sound ones. Each question has its part of the error of a report."""
    rates = [row for row in rows if row.metric == "bandwidth" and not row.is_invalid]
    own = level_of_part(level, len(_QUESTIONS))
    return [found for asked in _QUESTIONS for found in asked.findings(rates, own, partial(_words, param=asked.param))]


def _words(row: Row, param: str) -> Mapping[str, str]:
    """Name what is the same in all rows: ``collective checkpoint writes of 8^3 cells``."""
    other = row.word("format" if param == "transfers" else "transfers")
    return {"what": f"{other} {row.params['file']} {noun(row.access)} of {row.params['cells']}^3 cells"}


summarise: Final = summarising(lambda launches, context, _request: told_rows(launches, context, _tell), findings_of)
