# SPDX-License-Identifier: Apache-2.0
"""A b_eff_io run that was checked against engine and machine, ready to be explained or run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ullage.engine import find_registered
from ullage.errors import EXIT_ENVIRONMENT, UserError
from ullage.launch.base import is_one_node
from ullage.model.plan import Layout, Limits, Plan, Target
from ullage.model.request import Request
from ullage.model.system import Place
from ullage.results.folder import ResultFolder
from ullage.runs.options.reading import read_options
from ullage.runs.session import Session
from ullage.runs.suite import EngineContext, Explanation
from ullage.suites.b_eff_io.cases import CaseMaker, backend_of, keys_of, layouts_of, nodes_of, turns_of
from ullage.suites.b_eff_io.measured import WORKLOAD, CellKey
from ullage.suites.b_eff_io.options import BEffIoOptions
from ullage.suites.b_eff_io.patterns import lmax_of
from ullage.suites.b_eff_io.planning import Terms, make_plan
from ullage.suites.b_eff_io.room import needed_bytes
from ullage.suites.b_eff_io.schedule import watchdog_s
from ullage.suites.io500.room import room_at
from ullage.units import format_volume
from ullage.uri import target_path


@dataclass(frozen=True)
class Machine:
    """What of it counts in planning. ``cores``: usable ones of a node; ``memory``: of a node; None: not known."""

    cores: int | None
    memory: int | None
    places: Sequence[Place]


@dataclass(frozen=True)
class PreparedBEffIo:
    """See ``Prepared``."""

    request: Request
    options: BEffIoOptions
    engine_context: EngineContext
    machine: Machine
    cases: CaseMaker

    @property
    def unsettled(self) -> str:
        """See ``Prepared``: nothing is measured to make the plans."""
        return ""

    @property
    def layouts(self) -> Mapping[int, Layout]:
        """By partition."""
        return self.cases.layouts

    @property
    def watchdog_s(self) -> float:
        """Of every launch."""
        nodes = nodes_of(self.layouts.values())
        memory = self.machine.memory
        return watchdog_s(self.options, None if memory is None or nodes is None else memory * nodes)

    def explain(self) -> Explanation:
        """See ``Prepared``."""
        from ullage.suites.b_eff_io.explain import Scene, explain

        return explain(Scene(self.request, self.options, self.cases, self.machine.places, self.machine.cores))

    def plans(self, result: ResultFolder) -> list[Plan]:
        """See ``Prepared``: as a run goes in which nothing hangs and nothing fails."""
        found: list[Plan] = []
        for number in range(self.options.repetitions):
            for target in self.request.targets:
                turns = turns_of(self.options, target)
                for index, turn in enumerate(turns):
                    keys = keys_of(self.options, target, turn)
                    records = str(result.records_path(len(found) + 1))
                    is_last = index == len(turns) - 1
                    terms = self.terms(target, keys, number, records, continues=index > 0, is_last=is_last)
                    found.append(self.plan(terms, {key: [] for key in keys}))
        return found

    def terms(
        self, target: Target, keys: Sequence[CellKey], number: int, records: str, *, continues: bool, is_last: bool
    ) -> Terms:
        """Of a launch of a round; its last leaves nothing, unless that was asked for."""
        return Terms(
            round=number,
            target=target,
            layout=self.layouts[keys[0].ranks],
            records=records,
            watchdog_s=self.watchdog_s,
            continues=continues,
            keep=self.options.keep or not is_last,
        )

    def plan(self, terms: Terms, cells: Mapping[CellKey, Sequence[int]]) -> Plan:
        """``cells``: what is measured, each with the patterns that are left out."""
        cases = [self.cases.case(key, skip) for key, skip in cells.items()]
        return make_plan(self.request, self.options, terms, cases)

    def run(self, session: Session) -> int:
        """See ``Prepared``."""
        from ullage.suites.b_eff_io.execution import execute

        return execute(self, session)


def prepare_b_eff_io(request: Request, engine_context: EngineContext) -> PreparedBEffIo:
    """Check everything that can be checked without starting anything, and find what was left to the machine."""
    from ullage.runs.cells.room import check_places
    from ullage.system.cpu import usable_cores
    from ullage.system.storage import read_places

    options = read_options(BEffIoOptions, request)
    find_registered(engine_context.description, "workload", WORKLOAD)
    backends = {target.name: backend_of(target, engine_context.description) for target in request.targets}
    places = read_places([target for target in request.targets if target_path(target) is not None])
    check_places(places)
    here = is_one_node(Layout(ranks=options.ranks, nodes=options.nodes))
    machine = Machine(usable_cores() if here else None, node_memory(), places)
    layouts = layouts_of(options, machine.cores)
    options = with_room(with_memory(options, layouts, machine.memory), places)
    targets = {target.name: target for target in request.targets}
    settled = request.model_copy(update={"options": options.model_dump(mode="json")})
    cases = CaseMaker(options, engine_context.description, targets, backends, layouts)
    prepared = PreparedBEffIo(settled, options, engine_context, machine, cases)
    for target in request.targets:
        for turn in turns_of(options, target):
            for key in keys_of(options, target, turn):
                cases.case(key)
    return prepared


def node_memory() -> int | None:
    """All that a node's processes may have: its own, and no more than the control group allows; None: not known."""
    from ullage.system.limits import read_limits
    from ullage.system.memory import read_memory

    found = [size for size in (read_memory().total_bytes, read_limits().memory_bytes) if size]
    return min(found, default=None)


def with_memory(options: BEffIoOptions, layouts: Mapping[int, Layout], available: int | None) -> BEffIoOptions:
    """``options`` with the largest chunk and the memory that volumes are held against. ``available``: of a node."""
    largest = layouts[max(layouts)]
    on_a_node = largest.ranks_per_node or largest.ranks
    memory, total, nodes = options.memory, options.memory_total, nodes_of(layouts.values())
    if total is None:
        if memory is not None:
            total = memory * options.ranks
        elif available is not None and nodes is not None:
            total = available * nodes
    if options.lmax is not None:
        return options.model_copy(update={"memory_total": total})
    if memory is None:
        if available is None:
            raise UserError("the kernel does not say how much memory there is", "", "give --memory or --lmax")
        memory = available // on_a_node
    return options.model_copy(update={"lmax": lmax_of(memory), "memory": memory, "memory_total": total})


def with_room(options: BEffIoOptions, places: Sequence[Place]) -> BEffIoOptions:
    """``options`` with the room of every target, found once: a run that goes on makes the same plans.

    ``UserError`` (exit code 3) where not every pattern could be done even once.
    """
    from ullage.system.memory import read_memory

    room = dict(options.room)
    limits = Limits(space_bytes=options.space)
    for place in places:
        if place.target in room:
            continue
        most = room_at(place, limits, read_memory()).bytes
        needed = needed_bytes(options)
        if needed > most:
            what = f"needs {format_volume(needed)}, may take {format_volume(most)}"
            right = "a smaller --lmax, fewer --partitions, or the sets of hints one by one"
            raise UserError(what, f"target '{place.target}' ({place.path})", right, EXIT_ENVIRONMENT)
        room[place.target] = most
    return options.model_copy(update={"room": room})
