# SPDX-License-Identifier: Apache-2.0
"""A run of cells that all are known beforehand, checked against engine and machine, ready to be explained or run."""

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ullage.errors import EXIT_BAD_INPUT, UserError
from ullage.model.plan import Limits, Plan
from ullage.model.request import Request
from ullage.results.folder import ResultFolder
from ullage.runs.cells.costs import Costs, assumed
from ullage.runs.cells.explain import Scene, explain
from ullage.runs.cells.options import RunOptions
from ullage.runs.cells.planning import Cell
from ullage.runs.cells.prepare import Machine, plans_of_layouts, read_machine
from ullage.runs.cells.room import check_places, check_room
from ullage.runs.options.reading import read_options
from ullage.runs.session import Session
from ullage.runs.suite import EngineContext, Explanation
from ullage.suites.disk.direct import DirectIo, direct_io
from ullage.suites.disk.prepare import Note
from ullage.suites.matrix.cells import Planner, check_targets, left_out, with_kinds
from ullage.suites.matrix.options import LARGE_FILE, LEAST_RECORD_OF_LARGE, MatrixOptions
from ullage.units import format_bytes
from ullage.uri import target_path


@dataclass(frozen=True)
class PreparedCells:
    """See ``Prepared``. ``kinds`` gives cells that were read back from plans the kind they have among ``cells``.

    ``text`` says how the volumes came about, ``lines`` what else a user might not expect of the plan, ``notes`` what
    belongs into the result too.
    """

    request: Request
    options: RunOptions
    machine: Machine
    cells: Sequence[Cell]
    kinds: Callable[[Iterable[Cell]], list[Cell]]
    text: str
    lines: Sequence[str]
    notes: Sequence[Note]

    @property
    def unsettled(self) -> str:
        """See ``Prepared``: nothing is left to a probe."""
        return ""

    def check(self, cells: Sequence[Cell]) -> None:
        """``UserError`` (exit code 3) where the engine would refuse for want of room."""
        limits = Limits(space_bytes=self.options.space)
        check_room(cells, self.machine.places, limits, self.machine.memory, keep=self.options.keep)

    def costs(self, cells: Sequence[Cell]) -> Costs:
        """Before anything was measured."""
        return Costs(assumed(cells, self.machine.places))

    def explain(self) -> Explanation:
        """See ``Prepared``."""
        machine = self.machine
        lines = [*self.lines, *(f"{note.text}; {note.advice}." for note in self.notes)]
        costs = self.costs(self.cells)
        return explain(Scene(self.options, self.cells, costs, machine.places, machine.memory, self.text, lines))

    def plans(self, result: ResultFolder) -> list[Plan]:
        """See ``Prepared``."""
        return plans_of_layouts(self.request, self.options, self.cells, self.costs(self.cells), result)

    def run(self, session: Session) -> int:
        """See ``Prepared``."""
        from ullage.suites.matrix.execution import execute

        return execute(self, session)


def prepare_matrix(request: Request, engine_context: EngineContext) -> PreparedCells:
    """Check everything that can be checked without starting anything."""
    options = read_options(MatrixOptions, request)
    check_targets(request.targets, engine_context.description)
    if options.cache == "drop" and not options.direct and os.geteuid() != 0:
        raise UserError("only root may drop all caches", "--cache drop", "use --cache advise", EXIT_BAD_INPUT)
    machine = read_machine(request.targets, 1)
    check_places(machine.places)
    directs = {target.name: _direct(options, target_path(target)) for target in request.targets}
    planner = Planner(options, request.targets, directs, engine_context.description, machine.cores)

    def kinds(cells: Iterable[Cell]) -> list[Cell]:
        return with_kinds(cells, options)

    text = "files and records as asked"
    prepared = PreparedCells(request, options, machine, planner.cells(), kinds, text, _lines(options), _notes(options))
    prepared.check(prepared.cells)
    return prepared


def _direct(options: MatrixOptions, place: Path | None) -> DirectIo:
    return direct_io(place) if options.direct and place is not None else DirectIo(served=False)


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
