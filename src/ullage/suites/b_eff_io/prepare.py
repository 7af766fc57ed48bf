# SPDX-License-Identifier: Apache-2.0
"""A b_eff_io run that was checked against engine and machine, ready to be explained or run.

It runs round by round, target by target, a launch for each access and partition. A pattern that hangs ends its launch
by the watchdog. What the launch still lacks is done by another one without that pattern, and so on, until everything
else is there.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ullage.engine import find_registered
from ullage.errors import EXIT_CASE_FAILED, EXIT_ENVIRONMENT, UserError
from ullage.launch.base import fewest_nodes
from ullage.model.plan import Layout, Limits, Plan, Target
from ullage.model.request import Request
from ullage.results.folder import ResultFolder
from ullage.runs.case_progress import RunProgress
from ullage.runs.cells.one_folder import check_all_of
from ullage.runs.execution import Execution, LaunchSpec
from ullage.runs.inputs import EngineContext
from ullage.runs.listed import datasets_there, listed_plan
from ullage.runs.options.reading import read_options
from ullage.runs.remains import remove_left
from ullage.runs.room import Machine, check_places, room_at, this_machine
from ullage.runs.session import Ended, Session
from ullage.runs.suite import Explanation
from ullage.suites.b_eff_io.cases import (
    CaseMaker,
    backend_of,
    keys_of,
    layouts_of,
    needed_bytes,
    needed_files,
    nodes_of,
    stages_of,
    type_s,
    watchdog_s,
)
from ullage.suites.b_eff_io.explain import Explained, explain
from ullage.suites.b_eff_io.measured import WORKLOAD, Attempt, CellKey, read_launch, read_run
from ullage.suites.b_eff_io.options import BEffIoOptions
from ullage.suites.b_eff_io.patterns import lmax_of
from ullage.suites.b_eff_io.rounds import Rest, Skips, again_text, given_up_text, hang_text, rest_of, runnable
from ullage.units import format_volume

if TYPE_CHECKING:
    from ullage.results.records import AnyRecord


@dataclass(frozen=True)
class PreparedBEffIo(Explained):
    """See ``Prepared``. ``node_memory``: all that a node's processes may have; None: not known."""

    node_memory: int | None

    @property
    def unsettled(self) -> str:
        """See ``Prepared``: nothing is measured to make the plans."""
        return ""

    @property
    def layouts(self) -> Mapping[int, Layout]:
        """The layouts by partition."""
        return self.cases.layouts

    @property
    def watchdog_s(self) -> float:
        """The watchdog's limit for every launch."""
        nodes = nodes_of(self.layouts.values())
        memory = self.node_memory
        return watchdog_s(self.options, None if memory is None or nodes is None else memory * nodes)

    def explain(self) -> Explanation:
        """See ``Prepared``."""
        return explain(self)

    def plans(self, result: ResultFolder) -> list[Plan]:
        """See ``Prepared``: as a run goes in which nothing hangs and nothing fails."""
        found: list[Plan] = []
        for number in range(self.options.repetitions):
            for target in self.request.targets:
                stages = stages_of(self.options, target)
                for index, stage in enumerate(stages):
                    keys = keys_of(self.options, target, stage)
                    records = str(result.records_path(len(found) + 1))
                    spec = self.spec(number, records, continues=index > 0, is_last=index == len(stages) - 1)
                    found.append(self.plan(target, spec, {key: [] for key in keys}))
        return found

    def spec(self, number: int, records: str, *, continues: bool, is_last: bool) -> LaunchSpec:
        """Say what a launch of a round is told; the round's last keeps no data, unless that was asked for."""
        return LaunchSpec(number, records, continues=continues, keep=self.options.keep or not is_last)

    def plan(self, target: Target, spec: LaunchSpec, cells: Mapping[CellKey, Sequence[int]]) -> Plan:
        """Make the plan of one launch. ``cells``: what is measured, each with the patterns to leave out."""
        return listed_plan(
            self.request,
            spec,
            self.layouts[next(iter(cells)).ranks],
            target,
            [self.cases.case(key, skip) for key, skip in cells.items()],
            watchdog_s=self.watchdog_s,
            space=self.options.space,
            resumable=self.options.resumable,
        )

    def run(self, session: Session) -> int:
        """See ``Prepared``."""
        return execute(self, session)


def prepare_b_eff_io(request: Request, engine_context: EngineContext) -> PreparedBEffIo:
    """Check everything that can be checked without starting anything, and find what was left to the machine."""
    options = read_options(BEffIoOptions, request)
    find_registered(engine_context.description, "workload", WORKLOAD)
    backends = {target.name: backend_of(target, engine_context.description) for target in request.targets}
    machine, memory = this_machine(request.targets), node_memory()
    check_places(machine.places)
    layouts = layouts_of(options, machine.cores)
    check_all_of(request.targets, layouts.values())
    options = with_room(with_memory(options, layouts, memory), machine, fewest_nodes(layouts.values()))
    targets = {target.name: target for target in request.targets}
    settled = request.model_copy(update={"options": options.model_dump(mode="json")})
    cases = CaseMaker(options, engine_context.description, targets, backends, layouts)
    prepared = PreparedBEffIo(settled, options, cases, machine, memory)
    for target in request.targets:
        for stage in stages_of(options, target):
            for key in keys_of(options, target, stage):
                cases.case(key)
    return prepared


def node_memory() -> int | None:
    """Return the bytes that all processes of a node may have, or None when not known.

    These are all that the node has, but no more than the control group allows.
    """
    from ullage.system.hardware import read_memory
    from ullage.system.limits import read_limits

    found = [size for size in (read_memory().total_bytes, read_limits().memory_bytes) if size]
    return min(found, default=None)


def with_memory(options: BEffIoOptions, layouts: Mapping[int, Layout], available: int | None) -> BEffIoOptions:
    """Return ``options`` with the largest chunk, and the memory that volumes are compared with.

    ``available``: bytes of a node, None when not known. ``UserError`` when it is needed for the largest chunk and None.
    """
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


def with_room(options: BEffIoOptions, machine: Machine, nodes: int | None = 1) -> BEffIoOptions:
    """Return ``options`` with the room of every target, found once: a run that goes on makes the same plans.

    ``nodes``: that every partition is on at least, None when not known: each may have a disk of its own there.

    ``UserError`` (exit code 3) where not every pattern could be done even once.
    """
    room = dict(options.room)
    limits = Limits(space_bytes=options.space)
    for place in machine.places:
        if place.target in room:
            continue
        most, needed, files = (
            room_at(place, limits, machine.memory, nodes),
            needed_bytes(options),
            needed_files(options),
        )
        where = f"target '{place.target}' ({place.path})"
        if needed > most.bytes:
            what = f"needs {format_volume(needed)}, but only {format_volume(most.bytes)} may be used"
            right = "a smaller --lmax, fewer --partitions, or the sets of hints one by one"
            raise UserError(what, where, right, EXIT_ENVIRONMENT)
        if files > most.files:
            what = f"needs {files:,} files, but only {most.files:,} may be made"
            raise UserError(what, where, "fewer --partitions, or the sets of hints one by one", EXIT_ENVIRONMENT)
        room[place.target] = most.bytes
    return options.model_copy(update={"room": room})


def execute(prepared: PreparedBEffIo, session: Session) -> int:
    """Run everything that is left of the run, and return the exit code.

    The texts of the original lie in the result afterwards, whatever became of the run.
    """
    run = _Rounds(session, RunProgress(), prepared)
    try:
        run.follow()
    finally:
        run.tidy()
        run.write_texts()
    return run.code


@dataclass
class _Rounds(Execution):
    """A run under way. ``is_whole``: nothing is lacking but what failed."""

    prepared: PreparedBEffIo
    is_whole: bool = False
    _done: set[tuple[int, CellKey]] = field(default_factory=set[tuple[int, CellKey]])
    _skips: Skips = field(default_factory=Skips)
    _has_data: bool = False
    _ahead_s: float = 0.0

    @property
    def _options(self) -> BEffIoOptions:
        return self.prepared.options

    def follow(self) -> None:
        """Measure everything that no launch so far has done well, round by round and target by target."""
        if self.session.seconds is not None:
            self.session.progress.say("the scheduled time of b_eff_io is part of its value: --time changes nothing")
        targets = self.prepared.request.targets
        io_run = read_run(self.session.result, self._options, [target.name for target in targets])
        for attempt in (attempt for launch in io_run.launches for attempt in launch.attempts):
            self._skips.note(attempt)
            if attempt.is_whole:
                self._done.add((attempt.round, attempt.key))
        rounds = [(number, target) for number in range(self._options.repetitions) for target in targets]
        self._ahead_s = sum(
            type_s(key.type, self._options) for number, target in rounds for key in self._lacking(number, target)
        )
        self.is_whole = all(self._round(number, target) for number, target in rounds)

    def _keys(self, target: Target) -> list[CellKey]:
        return [key for stage in stages_of(self._options, target) for key in keys_of(self._options, target, stage)]

    def _lacking(self, number: int, target: Target) -> list[CellKey]:
        return [key for key in self._keys(target) if (number, key) not in self._done]

    def _there(self, target: Target) -> set[str]:
        return datasets_there(target, self.prepared.request.run_id) if self._has_data else set()

    def _rest(self, number: int, target: Target) -> Rest:
        """Find what is left of a round.

        Data that lies there is this round's if any launch of it has written something to the end.
        """
        keys = self._keys(target)
        done = {key for key in keys if (number, key) in self._done}
        self._has_data = bool(done)
        there = self._there(target)
        self._has_data = bool(there)
        return rest_of(keys, done, {key for key in keys if self._skips.is_given_up(key)}, there)

    def _round(self, number: int, target: Target) -> bool:
        """Measure what is left of a round on one target, and tell whether the run may go on after it."""
        rest = self._rest(number, target)
        if rest.again:
            self.session.progress.say(again_text(rest.again))
        stages = [keys_of(self._options, target, stage) for stage in stages_of(self._options, target)]
        lacking = [wanted for keys in stages if (wanted := [key for key in keys if key in rest.wanted])]
        return all(
            self._stage(number, target, keys, is_last=index == len(lacking) - 1) for index, keys in enumerate(lacking)
        )

    def _stage(self, number: int, target: Target, keys: Sequence[CellKey], *, is_last: bool) -> bool:
        """Measure the cells of one launch, with a further launch after each hang; tell whether the run may go on."""
        left = [key for key in keys if not self._skips.is_given_up(key)]
        while chosen := runnable(left, self._there(target)):
            launch = self.session.result.next_launch()
            plan = self._plan(launch, number, target, chosen, is_last=is_last)
            ended, attempts = self._launch_cells(launch, plan, chosen)
            if ended.may_go_on:
                self.take(ended)
                return True
            hung = self._hang_of(ended, attempts)
            if hung is None:
                self.take(ended)
                return False
            self._go_on_without(launch, plan, ended, hung)
            over = {attempt.key for attempt in attempts if attempt is not hung}
            left = [key for key in left if key not in over and not self._skips.is_given_up(key)]
        return True

    def _plan(self, launch: int, number: int, target: Target, keys: Sequence[CellKey], *, is_last: bool) -> Plan:
        records = str(self.session.result.records_path(launch))
        spec = self.prepared.spec(number, records, continues=self._has_data, is_last=is_last)
        return self.prepared.plan(target, spec, {key: self._skips.of(key) for key in keys})

    def _launch_cells(self, launch: int, plan: Plan, keys: Sequence[CellKey]) -> tuple[Ended, list[Attempt]]:
        accesses = "/".join(dict.fromkeys(key.access for key in keys))
        repetitions = self._options.repetitions
        rounds = f"round {plan.seed} of {repetitions}, " if repetitions > 1 else ""
        text = f"{rounds}{plan.targets[0].name}: {accesses}, {plan.layout.ranks} processes"
        self.session.progress.stage(text, len(keys), self._ahead_s)
        records: list[AnyRecord] = []
        self._has_data = True
        ended = self.attempt(launch, plan, records.append)
        self._ahead_s -= sum(type_s(key.type, self._options) for key in keys)
        found = read_launch(plan, launch, records)
        attempts = [] if found is None else list(found.attempts)
        self._done.update((attempt.round, attempt.key) for attempt in attempts if attempt.is_whole)
        return ended, attempts

    def _hang_of(self, ended: Ended, attempts: Sequence[Attempt]) -> Attempt | None:
        """Return the attempt that a hang has ended, or None.

        None also stands for a run that was stopped, and for a hang that was known before: leaving out its pattern did
        not help.
        """
        last = attempts[-1] if attempts else None
        if last is None or ended.was_stopped or not self._skips.note(last):
            return None
        return last

    def _go_on_without(self, launch: int, plan: Plan, ended: Ended, hung: Attempt) -> None:
        self.code = EXIT_CASE_FAILED
        if ended.message in self.session.messages:
            self.session.messages.remove(ended.message)
        hints = self._options.hint_sets
        where = f" with hints {hints[hung.key.hints].name}" if len(hints) > 1 else ""
        texts = [("pattern-timeout", hang_text(hung, plan.watchdog_s, where))]
        if self._skips.is_given_up(hung.key):
            texts.append(("type-given-up", given_up_text(hung.key, self._skips.of(hung.key), where)))
        for code, text in texts:
            self.session.note(launch, "warning", code, text, "the result is NOT VALID")
            self.session.progress.say(text)

    def tidy(self) -> None:
        """Remove what launches have left for others that will not come any more."""
        if self._options.keep or (self._options.resumable and not self.is_whole):
            return
        remove_left(self.session, self.prepared.request.targets, self.prepared.request.run_id)

    def write_texts(self) -> None:
        """Write the texts of the original, as far as anything was measured."""
        from ullage.suites.b_eff_io.texts import write_texts

        if not self.session.result.launches():
            return
        try:
            write_texts(self.session.result)
        except UserError as error:
            self.session.messages.append(str(error))
