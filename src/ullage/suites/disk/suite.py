# SPDX-License-Identifier: Apache-2.0
"""Suite ``disk``: its run, rows and findings. Volumes run first, then the minimum of every cell with fio in turn."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, Self

from ullage.analysis.findings import find_all
from ullage.analysis.findings.enough import enough_of
from ullage.analysis.findings.phrasing import finding, with_gain
from ullage.analysis.statistics.comparison import level_of_each
from ullage.analysis.verdicts.grades import sound_rows
from ullage.analysis.verdicts.physics import with_thread_flags
from ullage.grouping import grouped
from ullage.model.plan import Scalar
from ullage.model.request import Request
from ullage.model.summary import Finding, Row
from ullage.parameters import count_of
from ullage.peers import Installed
from ullage.peers.fio import run_fio
from ullage.quantity import plural
from ullage.results.events import failed_cases
from ullage.results.folder import ResultFolder
from ullage.results.rows import RowContext, threads_at_once, with_peers
from ullage.runs.ceilings import with_ceilings
from ullage.runs.cells.costs import Basis, Costs, PlaceCost
from ullage.runs.cells.direct import direct_at
from ullage.runs.cells.passes import CellExecution, CellPeers
from ullage.runs.cells.planning import Cell, each_once
from ullage.runs.cells.prepared import MINIMUM_SHARE, RunEstimate, explain, inexact_volumes, note_first
from ullage.runs.cells.probed import ProbedCells
from ullage.runs.cells.volume import Shape, check_room, choose_volume, most_to_choose
from ullage.runs.execution import LAUNCHES, Deadline
from ullage.runs.inputs import EngineContext
from ullage.runs.options.reading import read_options
from ullage.runs.peer_runs import PeerRuns
from ullage.runs.room import checked_machine
from ullage.runs.session import Note
from ullage.runs.suite import Explanation, SuiteSummary
from ullage.runs.told import Source, launches_of, told_rows
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
from ullage.units import format_bytes, format_operations, format_volume
from ullage.uri import target_path

# The share of small requests in the time for the minimum of all cells, when we choose the volumes.
_SMALL_SHARE: Final = 0.3
_SMALL_LEAST: Final = 1 << 20
_SMALL_LARGEST: Final = 1 << 30
# Where only the volume of blocks is given, small requests get it divided by this, up to so many bytes.
_SMALL_PART: Final = 64
_SMALL_MOST: Final = 16 << 20
_ASSUMED_REQUEST_S: Final = 1e-4


@dataclass(frozen=True)
class PreparedDisk(ProbedCells[DiskOptions]):
    """See ``Prepared``. ``beside_s``: of the peer's starts, for each cell; ``fio`` runs a job of it."""

    spots: Sequence[Spot]
    cpus: int
    beside_s: float = 0.0
    fio: RunFioJob = run_fio

    @property
    def unsettled(self) -> str:
        return "--volume" if self.options.volume is None else ""

    @property
    def planner(self) -> Planner:
        """What makes the cells."""
        return Planner(self.options, self.spots, self.engine_context.description, self.machine.cores, self.cpus)

    # -- volumes and cells ---------------------------------------------------------------------------------------------

    @property
    def most_bytes(self) -> int:
        """The most bytes of a case, at the tightest target."""
        most = most_to_choose(self.machine.places, self.limits, self.machine.memory)
        if self.options.keep:
            most //= 2 * len(self.spots) * (len(self.options.blocks) + len(self.options.depths))
        return most

    def shapes(self) -> tuple[Shape, Shape]:
        """Return what the volumes of blocks and of small requests have to be divided by."""
        spots, cores = self.spots, self.machine.cores or self.cpus
        blocks = sorted({spot.direct.fits(block) for spot in spots for block in self.options.blocks})
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
        basis = super().assumed(cells)
        smalls = {spot.target.name: spot.small for spot in self.spots}
        places = dict(basis.places)
        for cell in cells:
            if cell.block_bytes == smalls.get(cell.target.name):
                places[cell.place] = PlaceCost(0.01, len(cell.phases) * _ASSUMED_REQUEST_S / cell.block_bytes)
        return Basis(places, basis.launch_s, basis.text)

    def stated_cells(self) -> list[Cell]:
        large, small = self.shapes()
        return self.cells(self.options.volume or large.smallest, self.options.small_volume or small.smallest)

    def probe_cells(self) -> list[Cell]:
        return self.planner.probes(self.most_bytes)

    def with_kinds(self, cells: Iterable[Cell]) -> list[Cell]:
        return with_kinds(cells, self.options.smalls)

    def settled(self, basis: Basis) -> Self:
        volume, small = self._volumes(Costs(basis))
        return self.with_options(volume=volume, small_volume=small)

    def _volumes(self, costs: Costs) -> tuple[int, int]:
        options, planner = self.options, self.planner

        def seconds_of(cells: Sequence[Cell]) -> float:
            """Count the work of the peer, who does each case once."""
            once_s = sum(costs.repetition_s(cell) for cell in cells) if self.beside_s else 0.0
            return self.minimum_s(cells, costs, LAUNCHES + 1) + once_s + self.beside_s * len(cells)

        share_s, (large, small) = MINIMUM_SHARE * options.time_s, self.shapes()
        volume = options.volume or choose_volume(
            large, lambda size: seconds_of(planner.blocks(size)), (1 - _SMALL_SHARE) * share_s
        )
        if options.small_volume is not None:
            return volume, options.small_volume
        if options.volume is not None:
            return volume, max(small.smallest, min(volume // _SMALL_PART, _SMALL_MOST))
        return volume, choose_volume(small, lambda size: seconds_of(planner.smalls(size)), _SMALL_SHARE * share_s)

    def choice_text(self, basis: Basis) -> str:
        """See ``ProbedCells``; the rate of each depth would fill the screen."""
        volume, small = format_volume(self.options.volume or 0), format_volume(self.options.small_volume or 0)
        found = basis.text.partition(":")[0]
        return f"volume {volume} for every case with blocks, {small} with small requests ({found})"

    def check(self, cells: Sequence[Cell]) -> None:
        """Raise ``UserError`` (exit code 3) where the engine would refuse for want of room."""
        limits = self.limits
        if self.options.keep and self.options.peer:
            # What is kept lies there while the peer makes files of its own.
            largest = max(cell.dataset_bytes for cell in cells)
            limits = limits.model_copy(update={"reserve_bytes": limits.reserve_bytes + largest})
        check_room(cells, self.machine.places, limits, self.machine.memory, self.options)

    def peer(self) -> Installed | None:
        """Return the installed fio, or None where it is not asked for, not here, or no target has a place for files."""
        from ullage.peers.fio import PEER

        if self.options.backend in MAPPED:
            return None
        has_place = any(target_path(spot.target) is not None for spot in self.spots)
        return PEER.installed() if self.options.peer and has_place else None

    def notes(self) -> list[Note]:
        """Return the notes on every target."""
        return [note for spot in self.spots for note in _notes(spot, self)]

    def beside_peer(self) -> Self:
        return replace(self, beside_s=0.0 if self.peer() is None else len(PHASES) * START_S)

    def explain(self) -> Explanation:
        settled, costs = self.beside_peer().estimated()
        volume, small = settled.options.volume or 0, settled.options.small_volume or 0
        found = "estimated; a probe of a few seconds chooses them when the suite runs" if self.unsettled else "as asked"
        text = f"{format_volume(volume)} for each with blocks, {format_volume(small)} with small requests, {found}"
        cells, smalls = settled.stated_cells(), {cell.case.id for cell in self.planner.smalls(small)}
        asked = [small if cell.case.id in smalls else volume for cell in cells]
        notes = [*inexact_volumes(cells, asked), *(f"{note.text}; {note.advice}." for note in self.notes())]
        notes.append(_peer_text(self.peer(), self.options))
        return explain(RunEstimate(self.options, cells, costs, self.machine, text, notes))

    def follow(self, run: CellExecution, deadline: Deadline) -> None:
        """Spend the time: the minimum of all cells, what the peer lacks of them, then narrower intervals."""
        peer = self.peer()
        if peer is not None:

            def own_s(cell: Cell) -> float:
                return run.costs.repetition_s(cell)

            jobs = FioJobs(self.request.run_id, peer, own_s, self.fio)
            run.in_turn = CellPeers(TOOL, PeerRuns(run.session, deadline.now), jobs.job_of)
        run.give_minimum(run.cells, deadline)
        if run.in_turn is not None and run.may_go_on:
            measured = [cell for cell in run.cells if run.progress.of(cell.case.id).counted]
            run.in_turn.measure(run.in_turn.lacking(measured), deadline)
        run.narrow(run.cells, deadline)
        run.note_lacking()
        note_first(self.notes(), run.session)


def _peer_text(fio: Installed | None, options: DiskOptions) -> str:
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
        found = concurrencies(spot, options, prepared.machine.cores or prepared.cpus)
        most = max(at_once.ranks * at_once.threads for at_once in found)
        text = f"small requests at target '{name}' come from 1 to {most} threads with one in flight each ({why})"
        notes.append(Note("no-queue-depth", text, "depths need backend uring, and a kernel that allows io_uring"))
    return notes


def prepare_disk(request: Request, engine_context: EngineContext) -> PreparedDisk:
    """Check everything that can be checked without starting anything."""
    from ullage.system.hardware import usable_cpus

    options = read_options(DiskOptions, request)
    if engine_context.description.engine.mpi.family == "single":
        options = options.model_copy(update={"by": "threads"})  # one process is all there is
    machine = checked_machine(request.targets)
    spots = [make_spot(target, options, engine_context.description, direct_at(target)) for target in request.targets]
    options = options.model_copy(update={"smalls": {spot.target.name: spot.small for spot in spots}})
    request = request.model_copy(update={"options": options.model_dump(mode="json")})
    prepared = PreparedDisk(request, options, engine_context, machine, spots, len(usable_cpus()))
    prepared.check(prepared.stated_cells())
    return prepared


def summarise(result: ResultFolder, request: Request, context: RowContext) -> SuiteSummary:
    """See ``Summarising``. Rows of small requests, and no others, have a ``queue_depth``; those of threads of one rank
    have their ``threads``.
    """
    options, launches = read_options(DiskOptions, request), launches_of(result)
    own = told_rows(launches, context, partial(_tell, smalls=options.smalls))
    rows = with_ceilings(with_peers(with_thread_flags(own), result.read_peers()), request.targets, options.machine)
    found = find_all(rows, failed_cases(launches), context.level, context.settable)
    # Nothing extends the table beyond what was asked for, so a best cell at its rim needs no finding.
    findings = [one for one in found if one.kind != "edge"]
    return SuiteSummary(rows, [*findings, *saturation(sound_rows(rows), context.level)])


def _tell(row: Row, source: Source, smalls: Mapping[str, int]) -> Mapping[str, Scalar]:
    """State what is in flight in the parameters of a row where it is varied, and nowhere else."""
    params = {name: value for name, value in row.params.items() if name not in ("queue_depth", "threads")}
    if (threads := count_of(source.workload, "threads", 1)) > 1:
        params["threads"] = threads
    if row.params.get("block_bytes") == smalls.get(row.target, 0):
        params["queue_depth"] = count_of(source.workload, "queue_depth", 1)
    return params


METRIC = "operation_rate"


def in_flight(row: Row) -> int:
    """Return how many requests all threads of a row of small requests keep under way together."""
    return threads_at_once(row.params) * row.count("queue_depth", 1)


def saturation(rows: Iterable[Row], level: float) -> list[Finding]:
    """Return a finding for each target and access with more than one number of small requests in flight."""
    groups = grouped(
        ((row.target, row.access), row)
        for row in rows
        if row.metric == METRIC and "queue_depth" in row.params and (not row.is_invalid)
    )
    own = level_of_each(level, map(len, groups.values()))
    return [_saturation(sorted(line, key=in_flight), own) for line in groups.values() if len(line) > 1]


def _saturation(line: Sequence[Row], level: float) -> Finding:
    first, found = line[0], enough_of(line, level)
    target, access = first.target, str(first.params.get("access", "operation"))
    size = format_bytes(first.count("block_bytes", 0))
    what = f"{target}: random {access}s of {size}"
    said = finding(
        "queue-depth",
        found.title(what, _requests(found.row)),
        found.text(what, _requests, format_operations, " Test more in flight (--depth)."),
        target=target,
        access=access,
        in_flight=[in_flight(row) for row in line],
        operations_per_s=[row.median for row in line],
        enough=None if found.is_open else in_flight(found.row),
        best=in_flight(found.best),
    )
    many = in_flight(found.row)
    return with_gain(said, found.gain, f"iodepth={many} (fio), io_uring_queue_init({many}, ...), or as many threads")


def _requests(row: Row) -> str:
    return f"{plural(in_flight(row), 'request')} in flight"
