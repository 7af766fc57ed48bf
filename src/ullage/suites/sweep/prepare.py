# SPDX-License-Identifier: Apache-2.0
"""A sweep that was checked against engine and machine, ready to be explained or run.

It runs volume, minimum, narrowing, edges, outliers, within the time.
"""

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Self

from ullage.errors import EXIT_BAD_INPUT, UserError
from ullage.launch.base import fewest_nodes
from ullage.model.request import Request
from ullage.model.summary import Finding
from ullage.results.folder import ResultFolder
from ullage.runs.cells.costs import Basis, Costs
from ullage.runs.cells.passes import CellExecution
from ullage.runs.cells.planning import Cell, Way, check_one_folder
from ullage.runs.cells.prepared import MINIMUM_SHARE, RunEstimate, explain, inexact_volumes
from ullage.runs.cells.probed import ProbedCells
from ullage.runs.cells.volume import Shape, check_room, choose_volume, most_to_choose
from ullage.runs.execution import LAUNCHES, Deadline
from ullage.runs.inputs import EngineContext
from ullage.runs.options.reading import read_options
from ullage.runs.room import check_places, this_machine
from ullage.runs.suite import Explanation
from ullage.suites.sweep.cells import (
    SweepOptions,
    beyond_the_rim,
    make_cells,
    odd_cells,
    probe_cells,
    segments_of,
    ways,
)
from ullage.units import format_volume

_RECHECK_SHARE: Final = 0.1


@dataclass(frozen=True)
class PreparedSweep(ProbedCells[SweepOptions]):
    """See ``Prepared``."""

    @property
    def unsettled(self) -> str:
        return "--volume" if self.options.volume is None else ""

    # -- volumes and cells ---------------------------------------------------------------------------------------------

    def shape(self) -> Shape:
        """Return what a volume has to be divided by, and the room for it."""
        segments = {segments_of(way) for way in self._ways()}
        # The smallest case on one node limits a volume that all cases have; a larger one has more disks.
        nodes = fewest_nodes(self.options.place(ranks, self.machine.cores) for ranks in self.options.ranks)
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

    def stated_cells(self) -> list[Cell]:
        return self.cells(self.options.volume or self.shape().smallest)

    def probe_cells(self) -> list[Cell]:
        most = most_to_choose(self.machine.places, self.limits, self.machine.memory)
        return probe_cells(self.options, self.cells(self.shape().smallest), self.machine.cores, most)

    def settled(self, basis: Basis) -> Self:
        return self.with_options(volume=self.options.volume or self._chosen(Costs(basis)))

    def _chosen(self, costs: Costs) -> int:
        def seconds_of(volume_bytes: int) -> float:
            return self.minimum_s(self.cells(volume_bytes), costs, LAUNCHES + 2)

        share = MINIMUM_SHARE * (1 - self.options.reserved_share)
        return choose_volume(self.shape(), seconds_of, share * self.options.time_s)

    def choice_text(self, basis: Basis) -> str:
        of_what = "each rank" if self.options.weak else "every case"
        return f"volume {format_volume(self.options.volume or 0)} for {of_what} ({basis.text})"

    def check(self, cells: Sequence[Cell]) -> None:
        """Raise ``UserError`` where the engine would refuse: for want of room (exit code 3), or of one folder."""
        check_one_folder(cells, "use --file per-process")
        check_room(cells, self.machine.places, self.limits, self.machine.memory, self.options)

    def explain(self) -> Explanation:
        settled, costs = self.estimated()
        volume, of_what = settled.options.volume or 0, "for each rank" if self.options.weak else "for every case"
        text = f"volume {format_volume(volume)} {of_what}, as asked"
        if self.unsettled:
            text = f"volume about {format_volume(volume)} {of_what}: a probe of a few seconds would choose it"
        cells = settled.stated_cells()
        notes = _sweep_notes(self.options, cells, volume)
        return explain(RunEstimate(self.options, cells, costs, self.machine, text, notes))

    # -- the order in which time is spent ------------------------------------------------------------------------------

    def follow(self, run: CellExecution, deadline: Deadline) -> None:
        options = self.options
        run.give_minimum(run.cells, deadline)
        reserved_s = options.reserved_share * options.time_s
        run.narrow(run.cells, deadline.earlier(reserved_s))
        if options.extend:
            self._extend(run, deadline.earlier(_RECHECK_SHARE * options.time_s if options.recheck else 0.0))
        if options.recheck and run.may_go_on:
            run.repeat(odd_cells(_read_findings(run.session.result), run.cells), deadline)
        run.narrow(run.cells, deadline)
        run.note_lacking()

    def _extend(self, run: CellExecution, deadline: Deadline) -> None:
        """Give new cells their minimum one after the other, because each decides whether there is a next."""
        while run.may_go_on and deadline.left_s > 0 and (new := self._new_cells(run)):
            run.cells.extend(new)
            run.write_plans(new)
            run.give_minimum(new, deadline)
            if run.lacking(new):
                return

    def _new_cells(self, run: CellExecution) -> list[Cell]:
        findings, volume = _read_findings(run.session.result), self.options.volume or 0
        new = beyond_the_rim(findings, run.cells, self.options, volume, self.machine.cores)
        return [cell for cell in new if self._has_room(cell)]

    def _has_room(self, cell: Cell) -> bool:
        """Tell whether ``cell`` has room: with a volume for each rank, more ranks need more."""
        try:
            self.check([cell])
        except UserError:
            return False
        return True


def prepare_sweep(request: Request, engine_context: EngineContext) -> PreparedSweep:
    """Check everything that can be checked without starting anything."""
    options = _options(request)
    machine = this_machine(request.targets)
    prepared = PreparedSweep(request, options, engine_context, machine)
    if options.cache == "drop" and os.geteuid() != 0 and "read" in options.access:
        raise UserError("only root may drop all caches", "--cache drop", "use --cache advise", EXIT_BAD_INPUT)
    cells = prepared.stated_cells()
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


def _sweep_notes(options: SweepOptions, cells: Sequence[Cell], volume_bytes: int) -> list[str]:
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


def _read_findings(result: ResultFolder) -> list[Finding]:
    from ullage.runs.summary import build_summary

    return build_summary(result).findings
