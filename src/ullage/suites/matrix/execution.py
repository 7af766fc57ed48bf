# SPDX-License-Identifier: Apache-2.0
"""Run known cells, or go on with them: the minimum of every cell, then narrowing, within the time."""

import time
from collections.abc import Callable, Sequence

from ullage.runs.case_progress import RunProgress
from ullage.runs.cells.costs import Costs
from ullage.runs.cells.deadline import Deadline
from ullage.runs.cells.passes import Run, launches_with_records
from ullage.runs.cells.planning import Cell
from ullage.runs.cells.prepare import planned_cells
from ullage.runs.session import Session
from ullage.suites.disk.prepare import Note
from ullage.suites.matrix.prepare import PreparedCells


def execute(prepared: PreparedCells, session: Session, now: Callable[[], float] = time.monotonic) -> int:
    """The exit code. ``now``: a clock in s."""
    began = Deadline(now(), now)
    tally = RunProgress(file.records for file in session.result.read_records())
    tally.forgive()
    cells = _all_cells(prepared, session)
    prepared.check(cells)
    run = Run(prepared.request, prepared.options, session, Costs(prepared.costs(cells).basis, tally), cells)
    run.costs = run.costs.correct(cells)
    run.write_plans(cells)
    deadline = run.deadline(began)
    run.give_minimum(cells, deadline)
    run.narrow(cells, deadline)
    run.note_lacking()
    note_once(prepared.notes, session)
    return run.code


def _all_cells(prepared: PreparedCells, session: Session) -> list[Cell]:
    """Those of the plans that exist, and those of the request."""
    planned = prepared.kinds(planned_cells(session.result))
    return list({cell.case.id: cell for cell in [*planned, *prepared.cells]}.values())


def note_once(notes: Sequence[Note], session: Session) -> None:
    """As events of the first launch, however often the run is gone on with."""
    launches = launches_with_records(session.result)
    if not launches:
        return
    known = {event.text for file in session.result.read_records() for event in file.events}
    for note in notes:
        if note.text not in known:
            session.note(launches[0], "warning", note.code, note.text, note.advice)
