# SPDX-License-Identifier: Apache-2.0
"""A matrix that was checked against engine and machine."""

import os
from collections.abc import Iterable

from ullage.errors import EXIT_BAD_INPUT, UserError
from ullage.model.request import Request
from ullage.runs.cells.direct import DirectIo, direct_at
from ullage.runs.cells.planning import Cell
from ullage.runs.cells.prepared import PreparedCells
from ullage.runs.machine import this_machine
from ullage.runs.notes import Note
from ullage.runs.options.reading import read_options
from ullage.runs.room import check_places
from ullage.runs.suite import EngineContext
from ullage.suites.matrix.cells import Planner, check_targets, left_out, with_kinds
from ullage.suites.matrix.options import LARGE_FILE, LEAST_RECORD_OF_LARGE, MatrixOptions
from ullage.units import format_bytes


def prepare_matrix(request: Request, engine_context: EngineContext) -> PreparedCells:
    """Check everything that can be checked without starting anything."""
    options = read_options(MatrixOptions, request)
    check_targets(request.targets, engine_context.description)
    if options.cache == "drop" and not options.direct and os.geteuid() != 0:
        raise UserError("only root may drop all caches", "--cache drop", "use --cache advise", EXIT_BAD_INPUT)
    machine = this_machine(request.targets, 1)
    check_places(machine.places)
    directs = {
        target.name: direct_at(target) if options.direct else DirectIo(served=False) for target in request.targets
    }
    planner = Planner(options, request.targets, directs, engine_context.description, machine.cores)

    def kinds(cells: Iterable[Cell]) -> list[Cell]:
        return with_kinds(cells, options)

    text = "files and records as asked"
    prepared = PreparedCells(request, options, machine, planner.cells(), kinds, text, _lines(options), _notes(options))
    prepared.check(prepared.cells)
    return prepared


def _lines(options: MatrixOptions) -> list[str]:
    lines = ["One rank with a file of its own; each case makes its file, in sequential order, and removes it."]
    missing = left_out(options)
    if missing:
        lines.append(
            f"{missing} pairs of file and record are left out: records that do not divide their file"
            + (
                "."
                if options.all_records
                else f", and with files of {format_bytes(LARGE_FILE)} and more those below "
                f"{format_bytes(LEAST_RECORD_OF_LARGE)} (--all-records measures them)."
            )
        )
    if options.cache == "none" and not options.direct:
        lines.append("Nothing is done about caches before reads: expect the verdict warm.")
    return lines


def _notes(options: MatrixOptions) -> list[Note]:
    if not options.direct or not {6, 7} & set(options.tests):
        return []
    text = "tests 6 and 7 go through the C library's buffer and the page cache: they know no direct I/O"
    return [Note("page-cache", text, "read the verdict of their rows")]
