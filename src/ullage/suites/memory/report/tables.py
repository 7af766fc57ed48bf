# SPDX-License-Identifier: Apache-2.0
"""The tables of a memory run: copies of blocks beside peers, kernels, levels, access times, cores, load, updates."""

from collections.abc import Sequence
from typing import Final

from ullage.analysis.ceilings.rows import FEWEST_SAMPLES
from ullage.model.summary import Row
from ullage.quantity import format_quantity
from ullage.report.contents import Content, Section
from ullage.report.data import ReportData
from ullage.report.grids import peers_of
from ullage.report.headlines import Rule, threads_text, word_of
from ullage.suites.memory.report import bandwidth, latency
from ullage.suites.memory.report.rows import MEMORY_LEVEL, SUITE, own_rows
from ullage.units import format_bytes

_PEERS: Final = "mbw, sysbench and HPC Challenge's STREAM"


def tables(data: ReportData) -> Content | None:
    """Return the notes and tables of the suite; None for other suites, and where nothing was measured."""
    rows = own_rows(data)
    if not rows:
        return None
    grids = [
        *bandwidth.block_grids(rows),
        *bandwidth.stream_grids(rows),
        *bandwidth.level_grids(rows),
        *(grid for grids in latency.GRIDS for grid in grids(rows)),
        *bandwidth.update_grids(rows),
    ]
    return Content(notes=_notes(rows), grids=grids)


def _notes(rows: Sequence[Row]) -> list[str]:
    peers = peers_of(rows)
    after = f"{', '.join(peers)} ran for comparison, after the measurements of Ullage on the same machine."
    notes = [after] if peers else []
    if not peers:
        notes.append(f"No other tool was run for comparison: none of {_PEERS} is installed, or none was requested.")
    notes += _ceilings(rows)
    return notes


def _ceilings(rows: Sequence[Row]) -> list[str]:
    in_memory = [row for row in rows if row.unit == "B/s" and row.params.get("level") == MEMORY_LEVEL]
    if not in_memory:
        return ["No working set was larger than all caches, so no number here is one of memory."]
    bounded = [row for row in in_memory if row.ceiling is not None]
    declared = max(
        (row.ceiling for row in bounded if row.ceiling is not None and row.ceiling.kind == "declared"),
        key=lambda ceiling: ceiling.value,
        default=None,
    )
    if declared is not None:
        text = (
            f"The ceiling of memory is {format_quantity(declared.value, 'B/s')} on the bus ({declared.source}). Where "
            "ordinary stores fetch lines first, less of it is left for the bytes of the application."
        )
        return [text]
    by_best = (
        "The ceiling of each number of memory is the most that crossed the bus here in the same mix of "
        f"reads and writes. It needs as many threads and at least {FEWEST_SAMPLES} samples."
    )
    none = f"No row has the {FEWEST_SAMPLES} clean samples that a ceiling needs, so memory has no ceiling here."
    instead = " A machine file (--machine) with channels and transfers replaces it."
    return [(by_best if bounded else none) + instead]


SECTION: Final = Section(
    name="memory",
    title="Memory",
    doc="RWS copies blocks in order, RWR in random order. Application bytes are counted as STREAM does. Bytes on the "
    "bus include the lines that ordinary stores fetch before they write them. Access time is that of dependent loads.",
    order=3,
    part="memory",
    build=tables,
    suite=SUITE,
)

# -- headlines of the front page --------------------------------------------------------------------------------------

_KERNELS: Final = ("read", "write", "copy", "triad")


def _is_in_memory(row: Row) -> bool:
    return word_of(row, "level") == MEMORY_LEVEL


def _is_stream(row: Row) -> bool:
    return _is_in_memory(row) and word_of(row, "kernel") in _KERNELS and "block_bytes" not in row.params


def _is_chase(row: Row) -> bool:
    whole = word_of(row, "locality") in ("", "whole set")
    return _is_in_memory(row) and whole and row.params.get("chains", 1) == 1 and row.params.get("threads", 1) == 1


def _stream(row: Row) -> str:
    stores = f", {word_of(row, 'stores')} stores" if "stores" in row.params else ""
    return f"{word_of(row, 'kernel')}{stores}, {threads_text(row)}"


def _chase(row: Row) -> str:
    size = row.params.get("working_set_bytes")
    place = f" of {format_bytes(size)}" if isinstance(size, int) else ""
    pages = f", {word_of(row, 'pages')} pages" if "pages" in row.params else ""
    return f"one load{place}{pages}"


HEADLINES: Final = (
    Rule("memory", "memory_bandwidth", _is_stream, lambda row: row.params["kernel"], _stream),
    Rule("memory", "access_time", _is_chase, lambda row: row.metric, _chase),
    Rule(
        "memory",
        "update_rate",
        _is_in_memory,
        lambda row: row.metric,
        lambda row: f"random updates, {threads_text(row)}",
    ),
)
