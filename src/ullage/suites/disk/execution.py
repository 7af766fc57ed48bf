# SPDX-License-Identifier: Apache-2.0
"""Run a disk suite, or go on with one: volumes, the minimum of every cell with fio in turn, then narrowing, in time."""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from ullage.peers.fio import run_fio
from ullage.runs.case_progress import RunProgress
from ullage.runs.cells.costs import Basis, Costs
from ullage.runs.cells.deadline import Deadline
from ullage.runs.cells.passes import Run, launches_with_records
from ullage.runs.cells.planning import Cell
from ullage.runs.cells.prepare import planned_cells
from ullage.runs.cells.probe import ProbeError, run_probe
from ullage.runs.session import Session
from ullage.suites.disk.cells import with_kinds
from ullage.suites.disk.peer_runs import PHASES, START_S, Do, FioBeside
from ullage.suites.disk.prepare import PreparedDisk
from ullage.units import format_volume

if TYPE_CHECKING:
    from ullage.peers import Installed


def execute(
    prepared: PreparedDisk,
    session: Session,
    now: Callable[[], float] = time.monotonic,
    fio: Do | None = None,
) -> int:
    """The exit code. ``now``: a clock in s; ``fio`` runs a job in the place of the real one."""
    began = Deadline(now(), now)
    peer = prepared.peer()
    tally = RunProgress(file.records for file in session.result.read_records())
    tally.forgive()
    basis = prepared.assumed(prepared.smallest_cells())
    if prepared.options.volume is None or prepared.options.small_volume is None:
        try:
            prepared, basis = _settle(prepared, session, basis, peer)
        except ProbeError as error:
            session.messages.append(error.ended.message)
            return error.ended.code
    cells = _all_cells(prepared, session)
    prepared.check(cells)
    # What an earlier part of the run had and this one has not is assumed anew.
    costs = {**prepared.assumed(cells).places, **basis.places}
    run = Run(prepared.request, prepared.options, session, Costs(replace(basis, places=costs), tally), cells)
    run.costs = run.costs.correct(cells)
    run_id = prepared.request.run_id
    beside = None if peer is None else FioBeside(session, run_id, peer, lambda: run.costs, fio or run_fio, now)
    run.beside = beside
    run.write_plans(cells)
    _follow(run, beside, run.deadline(began))
    _note(prepared, session)
    return run.code


def _settle(
    prepared: PreparedDisk, session: Session, basis: Basis, peer: "Installed | None"
) -> tuple[PreparedDisk, Basis]:
    """The volumes; by a probe, where they were not given."""
    options = prepared.options
    if options.volume is None:
        session.progress.stage("probe", 0, options.time_s)
        cells = prepared.planner.probes(prepared.most_bytes)
        probed = run_probe(
            session, prepared.request, options, cells, prepared.assumed([*cells, *prepared.smallest_cells()])
        )
        basis = Basis(probed.places, probed.launch_s, "probed with 1 rank")
    volume, small = prepared.volumes(basis, 0.0 if peer is None else len(PHASES) * START_S)
    settled = prepared.with_volumes(volume, small)
    session.result.write_request(settled.request)
    session.progress.say(
        f"volume {format_volume(volume)} for every case with blocks, {format_volume(small)} with small requests "
        f"({basis.text})"
    )
    return settled, basis


def _all_cells(prepared: PreparedDisk, session: Session) -> list[Cell]:
    """Those of the plans that exist, and those of the request."""
    options = prepared.options
    planned = with_kinds(planned_cells(session.result), options.smalls)
    cells = [*prepared.cells(options.volume or 0, options.small_volume or 0), *planned]
    return list({cell.case.id: cell for cell in cells}.values())


def _follow(run: Run, beside: FioBeside | None, deadline: Deadline) -> None:
    """The order in which time is spent."""
    run.give_minimum(run.cells, deadline)
    if beside is not None and run.may_go_on:
        measured = [cell for cell in run.cells if run.tally.of(cell.case.id).counted]
        beside.measure(beside.lacking(measured), deadline)
    run.narrow(run.cells, deadline)
    run.note_lacking()


def _note(prepared: PreparedDisk, session: Session) -> None:
    """As events of the first launch, once, however often the run is gone on with."""
    launches = launches_with_records(session.result)
    if not launches:
        return
    known = {event.text for file in session.result.read_records() for event in file.events}
    for note in prepared.notes():
        if note.text not in known:
            session.note(launches[0], "warning", note.code, note.text, note.advice)
