# SPDX-License-Identifier: Apache-2.0
"""A sweep that was checked against engine and machine, ready to be explained or run.

It runs volume, minimum, narrowing, edges, outliers, within the time.
"""

import math
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from ullage.errors import EXIT_BAD_INPUT, UserError
from ullage.launch.base import fewest_nodes
from ullage.model.plan import Limits, Plan
from ullage.model.request import Request
from ullage.model.summary import Finding
from ullage.results.folder import ResultFolder
from ullage.runs.cells.costs import Basis, Costs, ProbeError, assumed, run_probe
from ullage.runs.cells.one_folder import check_one_folder
from ullage.runs.cells.passes import CellExecution
from ullage.runs.cells.planning import Cell, Way, by_layout, each_once
from ullage.runs.cells.prepared import (
    MINIMUM_SHARE,
    RunEstimate,
    explain,
    inexact_volumes,
    planned_cells,
    plans_of_layouts,
    work_of,
)
from ullage.runs.cells.volume import Shape, check_room, choose_volume, most_to_choose
from ullage.runs.execution import LAUNCHES, Deadline, read_progress
from ullage.runs.inputs import EngineContext
from ullage.runs.jobtime import Work
from ullage.runs.options.reading import read_options
from ullage.runs.room import Machine, check_places, this_machine
from ullage.runs.session import Session
from ullage.runs.suite import Explanation
from ullage.suites.sweep.cells import (
    beyond_the_rim,
    make_cells,
    make_layout,
    odd_cells,
    probe_cells,
    segments_of,
    ways,
)
from ullage.suites.sweep.options import SweepOptions
from ullage.units import format_volume

Findings = Callable[[ResultFolder], list[Finding]]
_RECHECK_SHARE: Final = 0.1


@dataclass(frozen=True)
class PreparedSweep:
    """See ``Prepared``."""

    request: Request
    options: SweepOptions
    engine_context: EngineContext
    machine: Machine

    @property
    def limits(self) -> Limits:
        """The limits that the plans state."""
        return Limits(space_bytes=self.options.space)

    @property
    def unsettled(self) -> str:
        """See ``Prepared``."""
        return "--volume" if self.options.volume is None else ""

    def shape(self) -> Shape:
        """Return what a volume has to be divided by, and the room for it."""
        segments = {segments_of(way) for way in self._ways()}
        # The smallest case on one node limits a volume that all cases have; a larger one has more disks.
        nodes = fewest_nodes(make_layout(ranks, self.options, self.machine.cores) for ranks in self.options.ranks)
        most = most_to_choose(self.machine.places, self.limits, self.machine.memory, nodes)
        if self.options.keep:
            most //= max(1, len(self._ways()) * len(self.options.blocks))
        return Shape(self.options.ranks, self.options.blocks, math.lcm(*segments), self.options.weak, most)

    def _ways(self) -> list[Way]:
        return ways(self.options, self.request.targets, self.engine_context.description)

    def cells(self, volume_bytes: int) -> list[Cell]:
        """Return all cells, with that volume."""
        description, cores = self.engine_context.description, self.machine.cores
        return make_cells(self.options, self.request.targets, description, volume_bytes, cores)

    def assumed(self, cells: Sequence[Cell]) -> Basis:
        """Return the costs before anything was measured."""
        return assumed(cells, self.machine.places)

    def choose_volume(self, basis: Basis) -> int:
        """Return the volume with which the minimum fits into its share of the time by ``basis``."""

        def seconds_of(volume_bytes: int) -> float:
            cells, costs = self.cells(volume_bytes), Costs(basis)
            launches_s = (LAUNCHES + 2) * sum(costs.launch_s(layout.ranks) for layout in by_layout(cells))
            return launches_s + self.options.min_repetitions * sum(costs.repetition_s(cell) for cell in cells)

        share = MINIMUM_SHARE * (1 - self.options.reserved_share)
        return choose_volume(self.shape(), seconds_of, share * self.options.time_s)

    def with_volume(self, volume_bytes: int) -> "PreparedSweep":
        """Return the same with the volume settled; request.json then states it."""
        options = self.options.model_copy(update={"volume": volume_bytes})
        request = self.request.model_copy(update={"options": options.model_dump(mode="json")})
        return replace(self, options=options, request=request)

    def check(self, cells: Sequence[Cell]) -> None:
        """Raise ``UserError`` where the engine would refuse: for want of room (exit code 3), or of one folder."""
        check_one_folder(cells, "use --file per-process")
        check_room(cells, self.machine.places, self.limits, self.machine.memory, self.options)

    def _settled(self) -> tuple[int, str, Basis]:
        """Return the volume, how it was found, and the costs; nothing is measured for it."""
        given = self.options.volume
        of_what = "for each rank" if self.options.weak else "for every case"
        smallest = self.shape().smallest
        basis = self.assumed(self.cells(given or smallest))
        if given is not None:
            return given, f"volume {format_volume(given)} {of_what}, as asked", basis
        volume = self.choose_volume(basis)
        return (
            volume,
            f"volume about {format_volume(volume)} {of_what}: a probe of a few seconds would choose it",
            basis,
        )

    def explain(self) -> Explanation:
        """See ``Prepared``."""
        volume, text, basis = self._settled()
        cells = self.cells(volume)
        notes = sweep_notes(self.options, cells, volume)
        return explain(RunEstimate(self.options, cells, Costs(basis), self.machine, text, notes))

    def work(self) -> Work:
        """See ``Costed``."""
        volume, _, basis = self._settled()
        return work_of(self.options, self.cells(volume), Costs(basis))

    def plans(self, result: ResultFolder) -> list[Plan]:
        """See ``Prepared``."""
        volume, _, basis = self._settled()
        return plans_of_layouts(self.request, self.options, self.cells(volume), Costs(basis), result)

    def run(self, session: Session) -> int:
        """See ``Prepared``."""
        return execute(self, session)


def prepare_sweep(request: Request, engine_context: EngineContext) -> PreparedSweep:
    """Check everything that can be checked without starting anything."""
    options = _options(request)
    machine = this_machine(request.targets)
    prepared = PreparedSweep(request, options, engine_context, machine)
    if options.cache == "drop" and os.geteuid() != 0 and "read" in options.access:
        raise UserError("only root may drop all caches", "--cache drop", "use --cache advise", EXIT_BAD_INPUT)
    cells = prepared.cells(options.volume or prepared.shape().smallest)
    check_places(machine.places)
    prepared.check(cells)
    return prepared


def _options(request: Request) -> SweepOptions:
    options = read_options(SweepOptions, request)
    ranks, blocks = list(options.ranks), list(options.blocks)
    # One value has no neighbour to be compared with, and so would never seem to lie at a rim.
    if "ranks" in options.extend and len(ranks) == 1:
        ranks.append(2 * ranks[0])
    if "block" in options.extend and len(blocks) == 1:
        blocks.append(2 * blocks[0])
    return options.model_copy(update={"ranks": ranks, "blocks": blocks})


def sweep_notes(options: SweepOptions, cells: Sequence[Cell], volume_bytes: int) -> list[str]:
    """Return the notes on cases, volumes and caches that a reader may not expect."""
    lines: list[str] = []
    if "write" not in options.access:
        lines.append(f"Each case writes first what it reads; only {', '.join(options.access)} become rows.")
    asked = [volume_bytes * (cell.layout.ranks if options.weak else 1) for cell in cells]
    lines += inexact_volumes(cells, asked)
    if options.cache == "none" and "read" in options.access:
        lines.append("Nothing is done about caches before reads: expect the verdict warm.")
    if options.extend:
        lines.append(
            f"While the best lies at the rim of {' or '.join(options.extend)} and still grows, doubled values come."
        )
    return lines


def execute(
    prepared: PreparedSweep,
    session: Session,
    findings: Findings | None = None,
    now: Callable[[], float] = time.monotonic,
) -> int:
    """Run the sweep and return the exit code.

    ``findings`` reads those of the result so far, usually of its summary; ``now``: a clock in s.
    """
    began = Deadline(now(), now)
    progress = read_progress(session)
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
    cells = each_once([*prepared.cells(volume), *cells])
    prepared.check(cells)
    run = CellExecution(session, progress, prepared.request, prepared.options, Costs(basis, progress), cells)
    deadline = run.begin(began)
    _Passes(prepared, run, findings or read_findings).follow(deadline)
    return run.code


def read_findings(result: ResultFolder) -> list[Finding]:
    """Return the findings of the records so far."""
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
class _Passes:
    """The order in which time is spent."""

    prepared: PreparedSweep
    run: CellExecution
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
        """Give new cells their minimum one after the other, because each decides whether there is a next."""
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
        """Tell whether ``cell`` has room: with a volume for each rank, more ranks need more."""
        try:
            self.prepared.check([cell])
        except UserError:
            return False
        return True


def describe_choice(volume_bytes: int, options: SweepOptions, basis: Basis) -> str:
    """Say in one line which volume was chosen, and how."""
    of_what = "each rank" if options.weak else "every case"
    return f"volume {format_volume(volume_bytes)} for {of_what} ({basis.text})"
