# SPDX-License-Identifier: Apache-2.0
"""A sweep that was checked against engine and machine, ready to be explained or run."""

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from ullage.errors import EXIT_BAD_INPUT, UserError
from ullage.model.plan import Case, Layout, Limits, Plan, Target
from ullage.model.request import Request
from ullage.model.system import Memory, Place
from ullage.results.folder import ResultFolder
from ullage.runs.cells.costs import Basis, Costs, assumed
from ullage.runs.cells.explain import Scene, explain, sweep_notes
from ullage.runs.cells.planning import Cell, LaunchSpec, by_layout, make_cells, make_plan
from ullage.runs.cells.room import check_places, check_room, most_to_choose
from ullage.runs.cells.settings import Way, ways
from ullage.runs.cells.volume import Shape, choose_volume
from ullage.runs.options.reading import read_options
from ullage.runs.session import Session
from ullage.runs.suite import EngineContext, Explanation
from ullage.suites.sweep.options import RunOptions, SweepOptions
from ullage.units import format_volume

# Of the time, for the minimum of all cells when we choose the volume: the rest narrows intervals and covers surprises.
MINIMUM_SHARE: Final = 0.6


@dataclass(frozen=True)
class Machine:
    """What of the machine counts in planning. ``cores``: usable ones of a node, None when not known."""

    cores: int | None
    places: Sequence[Place]
    memory: Memory


@dataclass(frozen=True)
class PreparedSweep:
    """See ``Prepared``."""

    request: Request
    options: SweepOptions
    engine_context: EngineContext
    machine: Machine

    @property
    def limits(self) -> Limits:
        """As in the plans."""
        return Limits(space_bytes=self.options.space)

    @property
    def unsettled(self) -> str:
        """See ``Prepared``."""
        return "--volume" if self.options.volume is None else ""

    def shape(self) -> Shape:
        """What a volume has to be divided by, and the room for it."""
        segments = {_segments(way.workload.get("segments", 1)) for way in self._ways()}
        most = most_to_choose(self.machine.places, self.limits, self.machine.memory)
        if self.options.keep:
            most //= max(1, len(self._ways()) * len(self.options.blocks))
        return Shape(self.options.ranks, self.options.blocks, math.lcm(*segments), self.options.weak, most)

    def _ways(self) -> list[Way]:
        return ways(self.options, self.request.targets, self.engine_context.description)

    def cells(self, volume_bytes: int) -> list[Cell]:
        """All cells, with that volume."""
        description, cores = self.engine_context.description, self.machine.cores
        return make_cells(self.options, self.request.targets, description, volume_bytes, cores)

    def assumed(self, cells: Sequence[Cell]) -> Basis:
        """Costs before anything was measured."""
        return assumed(cells, self.machine.places)

    def choose_volume(self, basis: Basis) -> int:
        """The volume with which the minimum fits into its share of the time by ``basis``."""

        def seconds_of(volume_bytes: int) -> float:
            cells, costs = self.cells(volume_bytes), Costs(basis)
            launches_s = 3 * sum(costs.launch_s(layout.ranks) for layout in by_layout(cells))
            return launches_s + self.options.min_repetitions * sum(costs.repetition_s(cell) for cell in cells)

        share = MINIMUM_SHARE * (1 - self.options.reserved_share)
        return choose_volume(self.shape(), seconds_of, share * self.options.time_s)

    def with_volume(self, volume_bytes: int) -> "PreparedSweep":
        """The same with the volume settled; request.json then says it."""
        options = self.options.model_copy(update={"volume": volume_bytes})
        request = self.request.model_copy(update={"options": options.model_dump(mode="json")})
        return replace(self, options=options, request=request)

    def check(self, cells: Sequence[Cell]) -> None:
        """``UserError`` (exit code 3) where the engine would refuse for want of room."""
        check_room(cells, self.machine.places, self.limits, self.machine.memory, keep=self.options.keep)

    def _settled(self) -> tuple[int, str, Basis]:
        """Volume, how it was found, and costs; nothing is measured for it."""
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
        machine, cells = self.machine, self.cells(volume)
        notes = sweep_notes(self.options, cells, volume)
        return explain(Scene(self.options, cells, Costs(basis), machine.places, machine.memory, text, notes))

    def plans(self, result: ResultFolder) -> list[Plan]:
        """See ``Prepared``."""
        volume, _, basis = self._settled()
        return plans_of_layouts(self.request, self.options, self.cells(volume), Costs(basis), result)

    def run(self, session: Session) -> int:
        """See ``Prepared``."""
        from ullage.suites.sweep.execution import execute

        return execute(self, session)


def plans_of_layouts(
    request: Request, options: RunOptions, cells: Sequence[Cell], costs: Costs, result: ResultFolder
) -> list[Plan]:
    """One plan a layout, each with its part of the time by ``costs``."""
    groups = by_layout(cells)
    expected = [sum(costs.repetition_s(cell) for cell in group) for group in groups.values()]
    plans: list[Plan] = []
    for number, (group, share) in enumerate(zip(groups.values(), expected, strict=True), start=1):
        seconds = options.time_s * share / sum(expected)
        turn = LaunchSpec(0, options.min_repetitions, options.max_repetitions, seconds)
        plans.append(make_plan(request, options, group, turn, str(result.records_path(number))))
    return plans


def _segments(value: object) -> int:
    return value if isinstance(value, int) else 1


def prepare_sweep(request: Request, engine_context: EngineContext) -> PreparedSweep:
    """Check everything that can be checked without starting anything."""
    options = _options(request)
    machine = read_machine(request.targets, options.nodes)
    prepared = PreparedSweep(request, options, engine_context, machine)
    if options.cache == "drop" and os.geteuid() != 0 and "read" in options.access:
        raise UserError("only root may drop all caches", "--cache drop", "use --cache advise", EXIT_BAD_INPUT)
    prepared.cells(options.volume or prepared.shape().smallest)
    check_places(machine.places)
    if options.volume is not None:
        prepared.check(prepared.cells(options.volume))
    else:
        prepared.check(prepared.cells(prepared.shape().smallest))
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


def read_machine(targets: list[Target], nodes: int | None) -> Machine:
    """Of the machine we are on. ``nodes``: of every case, where they are given."""
    from ullage.launch.base import is_one_node
    from ullage.system.cpu import usable_cores
    from ullage.system.memory import read_memory
    from ullage.system.storage import read_places

    here = is_one_node(Layout(ranks=1, nodes=nodes))
    return Machine(usable_cores() if here else None, read_places(targets), read_memory())


def planned_cells(result: ResultFolder) -> list[Cell]:
    """All cells that any plan of ``result`` holds, each once."""
    found: dict[str, Cell] = {}
    for number in result.launches():
        plan = result.read_plan(number)
        targets = {target.name: target for target in plan.targets}
        for case in plan.cases:
            bare: Case = case.model_copy(update={"prior_elapsed_ns": {}})
            found.setdefault(case.id, Cell(bare, targets[case.target], plan.layout))
    return list(found.values())
