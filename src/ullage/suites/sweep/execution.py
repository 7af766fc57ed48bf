# SPDX-License-Identifier: Apache-2.0
"""Run a sweep, or go on with one: volume, minimum, narrowing, edges, outliers, within the time."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from ullage.errors import UserError
from ullage.model.summary import Finding
from ullage.results.folder import ResultFolder
from ullage.runs.case_progress import RunProgress
from ullage.runs.cells.costs import Basis, Costs
from ullage.runs.cells.deadline import Deadline
from ullage.runs.cells.passes import Run
from ullage.runs.cells.planning import Cell
from ullage.runs.cells.prepare import PreparedSweep, planned_cells
from ullage.runs.cells.probe import ProbeError, describe_choice, probe_cells, run_probe
from ullage.runs.cells.room import most_to_choose
from ullage.runs.session import Session
from ullage.suites.sweep.edges import beyond_the_rim, odd_cells

Findings = Callable[[ResultFolder], list[Finding]]
_RECHECK_SHARE: Final = 0.1


def execute(
    prepared: PreparedSweep,
    session: Session,
    findings: Findings | None = None,
    now: Callable[[], float] = time.monotonic,
) -> int:
    """The exit code. ``findings`` reads those of the result so far, usually of its summary; ``now``: a clock in s."""
    began = Deadline(now(), now)
    tally = RunProgress(file.records for file in session.result.read_records())
    tally.forgive()
    cells = planned_cells(session.result)
    basis = prepared.assumed(prepared.cells(prepared.options.volume or prepared.shape().smallest))
    if prepared.options.volume is None:
        session.progress.stage("probe", 0, prepared.options.time_s)
        try:
            prepared, basis = _probe(prepared, session, basis)
        except ProbeError as error:
            session.messages.append(error.ended.message)
            return error.ended.code
    volume = prepared.options.volume or 0
    cells = list({cell.case.id: cell for cell in [*prepared.cells(volume), *cells]}.values())
    prepared.check(cells)
    run = Run(prepared.request, prepared.options, session, Costs(basis, tally), cells)
    run.costs = run.costs.correct(cells)
    run.write_plans(cells)
    _Course(prepared, run, findings or read_findings).follow(run.deadline(began))
    return run.code


def read_findings(result: ResultFolder) -> list[Finding]:
    """What the records say so far."""
    from ullage.runs.summary import build_summary

    return build_summary(result).findings


def _probe(prepared: PreparedSweep, session: Session, basis: Basis) -> tuple[PreparedSweep, Basis]:
    machine, options = prepared.machine, prepared.options
    most = most_to_choose(machine.places, prepared.limits, machine.memory)
    cells = probe_cells(options, prepared.cells(prepared.shape().smallest), machine.cores, most)
    measured = run_probe(session, prepared.request, options, cells, basis)
    volume = prepared.choose_volume(measured)
    settled = prepared.with_volume(volume)
    session.result.write_request(settled.request)
    session.progress.say(describe_choice(volume, options, measured))
    return settled, measured


@dataclass(frozen=True)
class _Course:
    """The order in which time is spent."""

    prepared: PreparedSweep
    run: Run
    findings: Findings

    def follow(self, deadline: Deadline) -> None:
        run, options = self.run, self.prepared.options
        run.give_minimum(run.cells, deadline)
        reserved_s = options.reserved_share * options.time_s
        run.narrow(run.cells, deadline.earlier(reserved_s))
        if options.extend:
            self._extend(deadline.earlier(_RECHECK_SHARE * options.time_s if options.recheck else 0.0))
        if options.recheck and run.may_go_on:
            run.repeat(odd_cells(self.findings(run.session.result), run.cells), deadline)
        run.narrow(run.cells, deadline)
        run.note_lacking()

    def _extend(self, deadline: Deadline) -> None:
        """New cells get their minimum one after the other, because each decides whether there is a next."""
        while self.run.may_go_on and deadline.left_s > 0 and (new := self._new_cells()):
            self.run.cells.extend(new)
            self.run.write_plans(new)
            self.run.give_minimum(new, deadline)
            if self.run.lacking(new):
                return

    def _new_cells(self) -> list[Cell]:
        run = self.run
        options = self.prepared.options
        findings, volume = self.findings(run.session.result), options.volume or 0
        cores = self.prepared.machine.cores
        return [cell for cell in beyond_the_rim(findings, run.cells, options, volume, cores) if self._has_room(cell)]

    def _has_room(self, cell: Cell) -> bool:
        """With a volume for each rank, more ranks need more room."""
        try:
            self.prepared.check([cell])
        except UserError:
            return False
        return True
