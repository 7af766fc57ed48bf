# SPDX-License-Identifier: Apache-2.0
"""The table of a matrix: each of IOzone's tests with its best and its median cell, and what was really measured."""

from collections import Counter
from collections.abc import Sequence
from statistics import median
from typing import Final

from ullage.model.summary import Row
from ullage.report.contents import Content, Grid, Heading, Section
from ullage.report.data import ReportData
from ullage.report.quantity import DASH, format_quantity, significant
from ullage.report.table import Cell, number_cell, peer_ratio
from ullage.report.verdicts import headword
from ullage.report.view import best_of
from ullage.suites.matrix.findings import shape_of
from ullage.suites.matrix.tests import LABELS
from ullage.units import format_bytes

_SUITE: Final = "matrix"
_HEADS: Final = (
    Heading("test"),
    Heading("-i", is_number=True),
    Heading("cells", is_number=True),
    Heading("best", is_number=True),
    Heading("at file / record"),
    Heading("median of cells", is_number=True),
    Heading("least", is_number=True),
    Heading("really measured"),
)
_PEER: Final = Heading("median ratio to peer", is_number=True)
_UNITS: Final = (
    "A number counts bytes over the time of the transfers and of the fsync behind them, without opening and closing "
    "the file."
)
_NO_PEER: Final = "No peer was run beside: `ullage import FILE` shows what `iozone -a -R` has printed in the same way."
_SHORT: Final = "too-short"


def build(data: ReportData) -> Content | None:
    """A table for each target; None for other suites, and where nothing was measured."""
    rows = data.rows_of(_SUITE)
    if not rows:
        return None
    targets = list(dict.fromkeys(row.target for row in rows))
    several = len(targets) > 1
    grids = [_grid(target if several else "", [row for row in rows if row.target == target]) for target in targets]
    return Content(notes=_notes(rows), grids=grids)


def _grid(title: str, rows: Sequence[Row]) -> Grid:
    by_test = {label: [row for row in rows if row.params.get("test") == label] for label in LABELS}
    has_peer = any(row.peer for row in rows)
    heads = [*_HEADS, _PEER] if has_peer else list(_HEADS)
    lines = [_line(label, found, has_peer=has_peer) for label, found in by_test.items() if found]
    return Grid(title, heads, lines)


def _line(label: str, rows: Sequence[Row], *, has_peer: bool) -> list[Cell]:
    best, unit = best_of(rows), rows[0].unit
    shape = DASH if best is None else " / ".join(format_bytes(size) for size in shape_of(best))
    verdicts = Counter(headword(row) for row in rows).most_common()
    ratios = [ratio for row in rows if (ratio := peer_ratio(row)) is not None]
    cells = [
        Cell(label),
        number_cell(str(rows[0].params.get("iozone", DASH))),
        number_cell(str(len(rows))),
        number_cell(DASH if best is None else format_quantity(best.median, unit)),
        Cell(shape),
        number_cell(format_quantity(median(row.median for row in rows), unit)),
        number_cell(format_quantity(min(row.median for row in rows), unit)),
        Cell(", ".join(f"{count} {word}" for word, count in verdicts)),
    ]
    return [*cells, number_cell(significant(median(ratios)) if ratios else DASH)] if has_peer else cells


def _notes(rows: Sequence[Row]) -> list[str]:
    short = sum(_SHORT in row.flags for row in rows)
    peers = sorted({f"{row.peer.tool} {row.peer.version}" for row in rows if row.peer is not None})
    is_imported = all(not row.case for row in rows)
    notes = [] if is_imported else [_UNITS]
    if not is_imported:
        notes.append(f"Peer: {', '.join(peers)}." if peers else _NO_PEER)
    if short:
        notes.append(
            f"{short} of {len(rows)} numbers come from phases below 10 ms: small files are over before much is known."
        )
    return notes


SECTION: Final = Section(
    name="matrix",
    title="IOzone's tests",
    doc="Each test over all files and records. Which cell is how fast stands in the maps; what answered, the target or "
    "a cache, stands beside each number.",
    order=9,
    build=build,
    suite=_SUITE,
)
