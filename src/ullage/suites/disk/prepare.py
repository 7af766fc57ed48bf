# SPDX-License-Identifier: Apache-2.0
"""A disk run that was checked against engine and machine, ready to be explained or run.

It runs volumes, the minimum of every cell with fio in turn, then narrowing, within the time.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from ullage.model.plan import Limits, Plan
from ullage.model.request import Request
from ullage.peers.fio import run_fio
from ullage.results.folder import ResultFolder
from ullage.runs.cells.costs import Basis, Costs, PlaceCost, ProbeError, assumed, run_probe
from ullage.runs.cells.direct import direct_at
from ullage.runs.cells.passes import CellExecution, CellPeers
from ullage.runs.cells.planning import Cell, by_layout, each_once
from ullage.runs.cells.prepared import (
    MINIMUM_SHARE,
    RunEstimate,
    explain,
    inexact_volumes,
    note_first,
    planned_cells,
    plans_of_layouts,
    work_of,
)
from ullage.runs.cells.volume import Shape, check_room, choose_volume, most_to_choose
from ullage.runs.execution import LAUNCHES, Deadline, read_progress
from ullage.runs.inputs import EngineContext
from ullage.runs.jobtime import Work
from ullage.runs.options.reading import read_options
from ullage.runs.peer_runs import PeerRuns
from ullage.runs.room import Machine, checked_machine
from ullage.runs.session import Note, Session
from ullage.runs.suite import Explanation
from ullage.suites.disk.cells import (
    MAPPED,
    PHASES,
    PLAIN,
    START_S,
    TOOL,
    FioJobs,
    Planner,
    RunFioJob,
    Spot,
    concurrencies,
    make_spot,
    why_not_deep,
    with_kinds,
)
from ullage.suites.disk.options import DiskOptions
from ullage.units import format_volume
from ullage.uri import target_path

if TYPE_CHECKING:
    from ullage.peers import Installed

# The share of small requests in the time for the minimum of all cells, when we choose the volumes.
_SMALL_SHARE: Final = 0.3
_SMALL_LEAST: Final = 1 << 20
_SMALL_LARGEST: Final = 1 << 30
# Where only the volume of blocks is given, small requests get it divided by this, up to so many bytes.
_SMALL_PART: Final = 64
_SMALL_MOST: Final = 16 << 20
_ASSUMED_REQUEST_S: Final = 1e-4


@dataclass(frozen=True)
class PreparedDisk:
    """See ``Prepared``."""

    request: Request
    options: DiskOptions
    engine_context: EngineContext
    machine: Machine
    planner: Planner

    @property
    def limits(self) -> Limits:
        """The limits that the plans state."""
        return Limits(space_bytes=self.options.space)

    @property
    def unsettled(self) -> str:
        """See ``Prepared``."""
        return "--volume" if self.options.volume is None else ""

    @property
    def most_bytes(self) -> int:
        """The most bytes of a case, at the tightest target."""
        most = most_to_choose(self.machine.places, self.limits, self.machine.memory)
        if self.options.keep:
            spots = self.planner.spots
            most //= 2 * len(spots) * (len(self.options.blocks) + len(self.options.depths))
        return most

    def shapes(self) -> tuple[Shape, Shape]:
        """Return what the volumes of blocks and of small requests have to be divided by."""
        spots, cores = self.planner.spots, self.planner.cores or self.planner.cpus
        blocks = sorted({spot.fits(block) for spot in spots for block in self.options.blocks})
        ranks = sorted({found.ranks for spot in spots for found in concurrencies(spot, self.options, cores)})
        smalls = sorted({spot.small for spot in spots})
        large = Shape(self.options.threads, blocks, 1, weak=False, most_bytes=self.most_bytes)
        return large, Shape(ranks, smalls, 1, False, self.most_bytes, _SMALL_LEAST, _SMALL_LARGEST)  # noqa: FBT003

    def cells(self, volume_bytes: int, small_bytes: int) -> list[Cell]:
        """Return all cells with these volumes, each once."""
        found = [*self.planner.blocks(volume_bytes), *self.planner.smalls(small_bytes)]
        return each_once(found)

    def assumed(self, cells: Sequence[Cell]) -> Basis:
        """Return the costs before anything was measured; a small request takes its time, however fast bytes are."""
        basis = assumed(cells, self.machine.places)
        smalls = {spot.target.name: spot.small for spot in self.planner.spots}
        places = dict(basis.places)
        for cell in cells:
            if cell.block_bytes == smalls.get(cell.target.name):
                places[cell.place] = PlaceCost(0.01, len(cell.phases) * _ASSUMED_REQUEST_S / cell.block_bytes)
        return Basis(places, basis.launch_s, basis.text)

    def smallest_cells(self) -> list[Cell]:
        """Return every cell with the least volume that it can move."""
        large, small = self.shapes()
        return self.cells(large.smallest, small.smallest)

    def volumes(self, basis: Basis, start_s: float) -> tuple[int, int]:
        """Return the bytes of a case with blocks and of one with small requests.

        They are those asked for, else those with which the minimum fits into its share of the time by ``basis``.

        ``start_s``: of the peer, for each cell; 0 without one.
        """
        options, costs = self.options, Costs(basis)
        has_peer = start_s > 0

        def seconds_of(cells: Sequence[Cell]) -> float:
            launches_s = (LAUNCHES + 1) * sum(costs.launch_s(layout.ranks) for layout in by_layout(cells))
            each_s = sum(costs.repetition_s(cell) for cell in cells)
            return launches_s + (options.min_repetitions + has_peer) * each_s + start_s * len(cells)

        share_s, (large, small) = MINIMUM_SHARE * options.time_s, self.shapes()
        volume = options.volume or choose_volume(
            large, lambda size: seconds_of(self.planner.blocks(size)), (1 - _SMALL_SHARE) * share_s
        )
        if options.small_volume is not None:
            return volume, options.small_volume
        if options.volume is not None:
            return volume, max(small.smallest, min(volume // _SMALL_PART, _SMALL_MOST))
        smalls = self.planner.smalls
        return volume, choose_volume(small, lambda size: seconds_of(smalls(size)), _SMALL_SHARE * share_s)

    def with_volumes(self, volume_bytes: int, small_bytes: int) -> "PreparedDisk":
        """Return the same with the volumes settled; request.json then states them."""
        options = self.options.model_copy(update={"volume": volume_bytes, "small_volume": small_bytes})
        request = self.request.model_copy(update={"options": options.model_dump(mode="json")})
        return replace(self, options=options, request=request, planner=replace(self.planner, options=options))

    def check(self, cells: Sequence[Cell]) -> None:
        """Raise ``UserError`` (exit code 3) where the engine would refuse for want of room."""
        limits = self.limits
        if self.options.keep and self.options.peer:
            # What is kept lies there while the peer makes files of its own.
            largest = max(cell.dataset_bytes for cell in cells)
            limits = limits.model_copy(update={"reserve_bytes": limits.reserve_bytes + largest})
        check_room(cells, self.machine.places, limits, self.machine.memory, self.options)

    def peer(self) -> "Installed | None":
        """Return the installed fio, or None where it is not asked for, not here, or no target has a place for files."""
        from ullage.peers.fio import PEER

        if self.options.backend in MAPPED:
            return None
        has_place = any(target_path(spot.target) is not None for spot in self.planner.spots)
        return PEER.installed() if self.options.peer and has_place else None

    def notes(self) -> list[Note]:
        """Return the notes on every target."""
        return [note for spot in self.planner.spots for note in _notes(spot, self)]

    def explain(self) -> Explanation:
        """See ``Prepared``."""
        fio, basis = self.peer(), self.assumed(self.smallest_cells())
        volume, small = self.volumes(basis, len(PHASES) * START_S if fio is not None else 0.0)
        cells = self.cells(volume, small)
        found = (
            "as asked"
            if self.options.volume is not None
            else "estimated; a probe of a few seconds chooses them when the suite runs"
        )
        text = f"{format_volume(volume)} for each with blocks, {format_volume(small)} with small requests, {found}"
        smalls = {cell.case.id for cell in self.planner.smalls(small)}
        asked = [small if cell.case.id in smalls else volume for cell in cells]
        notes = [*inexact_volumes(cells, asked), *(f"{note.text}; {note.advice}." for note in self.notes())]
        notes.append(_peer_text(fio, self.options))
        return explain(RunEstimate(self.options, cells, Costs(basis), self.machine, text, notes))

    def work(self) -> Work:
        """See ``Costed``."""
        basis = self.assumed(self.smallest_cells())
        return work_of(self.options, self.cells(*self.volumes(basis, 0.0)), Costs(basis))

    def plans(self, result: ResultFolder) -> list[Plan]:
        """See ``Prepared``."""
        basis = self.assumed(self.smallest_cells())
        cells = self.cells(*self.volumes(basis, 0.0))
        return plans_of_layouts(self.request, self.options, cells, Costs(basis), result)

    def run(self, session: Session) -> int:
        """See ``Prepared``."""
        return execute(self, session)


def _peer_text(fio: "Installed | None", options: DiskOptions) -> str:
    if fio is not None:
        return f"fio {fio.version} does the same work, in turn with the engine."
    if not options.peer:
        return "No other tool is run for comparison, as asked."
    if options.backend in MAPPED:
        return f"No other tool is run for comparison with {options.backend}."
    return "fio is not installed, so nothing is run for comparison."


def _notes(spot: Spot, prepared: PreparedDisk) -> list[Note]:
    name, options = spot.target.name, prepared.options
    if target_path(spot.target) is None:
        return []
    notes = [] if options.backend in MAPPED else spot.direct.notes(name, (options.small, *options.blocks))
    if spot.deepest == 1:
        asked = f"{options.backend} was asked for"
        why = asked if options.backend in (PLAIN, *MAPPED) else why_not_deep(prepared.engine_context.description)
        found = concurrencies(spot, options, prepared.planner.cores or prepared.planner.cpus)
        most = max(at_once.ranks * at_once.threads for at_once in found)
        text = f"small requests at target '{name}' come from 1 to {most} threads with one in flight each ({why})"
        notes.append(Note("no-queue-depth", text, "depths need backend uring, and a kernel that allows io_uring"))
    return notes


def prepare_disk(request: Request, engine_context: EngineContext) -> PreparedDisk:
    """Check everything that can be checked without starting anything."""
    from ullage.system.hardware import usable_cores, usable_cpus

    options = read_options(DiskOptions, request)
    machine = checked_machine(request.targets)
    spots = [make_spot(target, options, engine_context.description, direct_at(target)) for target in request.targets]
    options = options.model_copy(update={"smalls": {spot.target.name: spot.small for spot in spots}})
    request = request.model_copy(update={"options": options.model_dump(mode="json")})
    planner = Planner(options, spots, engine_context.description, usable_cores(), len(usable_cpus()))
    prepared = PreparedDisk(request, options, engine_context, machine, planner)
    large, small = prepared.shapes()
    prepared.check(prepared.cells(options.volume or large.smallest, options.small_volume or small.smallest))
    return prepared


def execute(
    prepared: PreparedDisk,
    session: Session,
    now: Callable[[], float] = time.monotonic,
    fio: RunFioJob | None = None,
) -> int:
    """Run the cells and return the exit code.

    ``now``: a clock in s; ``fio`` runs a job in the place of the real one.
    """
    began = Deadline(now(), now)
    peer, progress = prepared.peer(), read_progress(session)
    basis = prepared.assumed(prepared.smallest_cells())
    if prepared.options.volume is None or prepared.options.small_volume is None:
        try:
            prepared, basis = _settle(prepared, session, basis, peer)
        except ProbeError as error:
            session.messages.append(error.ended.message)
            return error.ended.code
    cells = _all_cells(prepared, session)
    prepared.check(cells)
    # Places that an earlier part of the run had and this probe lacks get assumed costs again.
    places = {**prepared.assumed(cells).places, **basis.places}
    costs = Costs(replace(basis, places=places), progress)
    run = CellExecution(session, progress, prepared.request, prepared.options, costs, cells)
    if peer is not None:

        def own_s(cell: Cell) -> float:
            return run.costs.repetition_s(cell)

        jobs = FioJobs(prepared.request.run_id, peer, own_s, fio or run_fio)
        run.in_turn = CellPeers(TOOL, PeerRuns(session, now), jobs.job_of)
    _follow(run, run.begin(began))
    note_first(prepared.notes(), session)
    return run.code


def _settle(
    prepared: PreparedDisk, session: Session, basis: Basis, peer: "Installed | None"
) -> tuple[PreparedDisk, Basis]:
    """Settle the volumes, by a probe where they were not given, and return them with the costs they rest on."""
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
    """Return the cells of the plans that exist and those of the request, each once."""
    options = prepared.options
    planned = with_kinds(planned_cells(session.result), options.smalls)
    cells = [*prepared.cells(options.volume or 0, options.small_volume or 0), *planned]
    return each_once(cells)


def _follow(run: CellExecution, deadline: Deadline) -> None:
    """Spend the time: the minimum of all cells, what the peer lacks of them, then narrower intervals."""
    run.give_minimum(run.cells, deadline)
    if run.in_turn is not None and run.may_go_on:
        measured = [cell for cell in run.cells if run.progress.of(cell.case.id).counted]
        run.in_turn.measure(run.in_turn.lacking(measured), deadline)
    run.narrow(run.cells, deadline)
    run.note_lacking()
