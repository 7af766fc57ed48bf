# SPDX-License-Identifier: Apache-2.0
"""The tables of a memory run: copies of blocks beside peers, kernels, levels, access times, cores, load, updates."""

from collections.abc import Sequence
from typing import Final

from ullage.model.summary import Row
from ullage.report.contents import Content, Section
from ullage.report.data import ReportData
from ullage.report.quantity import format_quantity
from ullage.suites.memory.report import bandwidth, latency
from ullage.suites.memory.report.rows import MEMORY_LEVEL, SUITE, own_rows

_PEERS: Final = "mbw, sysbench and HPC Challenge's STREAM"


def tables(data: ReportData) -> Content | None:
    """None for other suites, and where nothing was measured."""
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
    peers = sorted({f"{row.peer.tool} {row.peer.version}" for row in rows if row.peer is not None})
    notes = [f"Peers, after our own work on the same machine: {', '.join(peers)}."] if peers else []
    if not peers:
        notes.append(
            f"No peer was run beside: of {_PEERS} none is installed that does the same work, or none was asked."
        )
    notes += _ceilings(rows)
    return notes


def _ceilings(rows: Sequence[Row]) -> list[str]:
    memory = next(
        (
            row.ceiling
            for row in rows
            if row.unit == "B/s" and row.ceiling is not None and row.params.get("level") == MEMORY_LEVEL
        ),
        None,
    )
    if memory is None:
        return ["No set was beyond all caches, so memory has no ceiling here."]
    words = f"Ceiling of memory: {format_quantity(memory.value, 'B/s')} ({memory.kind}: {memory.source})."
    belongs = "It belongs to the device: one thread is held against the same ceiling as all."
    if memory.kind != "declared":
        belongs += " A machine file (--machine) that states channels and transfers takes its place."
    return [words, belongs]


SECTION: Final = Section(
    name="memory",
    title="Memory",
    doc="RWS copies blocks in order, RWR in random order. Application bytes are counted as STREAM does, bytes on the "
    "bus with the lines that ordinary stores fetch before they write them. Access time is that of dependent loads.",
    order=3,
    build=tables,
    suite=SUITE,
)
