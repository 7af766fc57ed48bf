# SPDX-License-Identifier: Apache-2.0
"""A b_eff_io run that was checked against engine and machine, and how it is carried out.

It goes round by round, target by target, a launch for each access and partition.

A pattern that hangs ends its launch by the watchdog. What the launch still lacks is done by another one without that
pattern, and so on, until everything else is there. What is lacking may have to be written again because the data of an
earlier launch is gone.

A pattern that hung is left out from then on, in all accesses and rounds of the same type, partition, set of hints and
target. Where two patterns of a type hung the others would too, and each would cost the patience of the watchdog: the
type is given up there.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar, Final

from ullage.engine import find_registered
from ullage.errors import EXIT_CASE_FAILED, UserError
from ullage.launch.base import fewest_nodes
from ullage.model.plan import Plan, Target
from ullage.model.request import Request
from ullage.quantity import listing, processes
from ullage.runs.case_progress import RunProgress
from ullage.runs.cells.planning import check_all_of
from ullage.runs.execution import Execution
from ullage.runs.inputs import EngineContext
from ullage.runs.listed import datasets_there
from ullage.runs.options.reading import read_options
from ullage.runs.remains import remove_left
from ullage.runs.room import check_places, this_machine
from ullage.runs.session import Ended, Session
from ullage.suites.b_eff_io.cases import CaseMaker, backend_of, dataset_of, launches_of, layouts_of, type_s
from ullage.suites.b_eff_io.measured import WORKLOAD, Attempt, CellKey, read_launch, read_run
from ullage.suites.b_eff_io.options import BEffIoOptions
from ullage.suites.b_eff_io.patterns import PATTERNS
from ullage.suites.b_eff_io.planning import PlannedBEffIo, node_memory, with_memory, with_room
from ullage.suites.b_eff_io.values import HANGS_TO_GIVE_UP, makers_of

if TYPE_CHECKING:
    from ullage.results.records import AnyRecord

_MOST_CELLS: Final = 4


class PreparedBEffIo(PlannedBEffIo):
    """See ``Prepared``. ``is_fixed``: its scheduled time is part of its value, so it has that time or is left out."""

    is_fixed: ClassVar[bool] = True

    def run(self, session: Session) -> int:
        """See ``Prepared``. The texts of the original lie in the result afterwards, whatever became of the run."""
        run = _Rounds(session, RunProgress(), self)
        try:
            run.follow()
        finally:
            run.tidy()
            run.write_texts()
        return run.code


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
    for key in (key for keys in prepared.launches for key in keys):
        cases.case(key)
    return prepared


def rest_of(
    keys: Sequence[CellKey], done: Collection[CellKey], given_up: Collection[CellKey], there: Collection[str]
) -> tuple[set[CellKey], list[CellKey]]:
    """Find what is left of all ``keys`` of a round. ``there``: datasets that are still in place.

    The second part went well before, and only makes its data anew.
    """
    wanted = {key: None for key in keys if key not in done and key not in given_up}
    to_look_at = list(wanted)
    again: set[CellKey] = set()
    while to_look_at:
        for maker in makers_of(to_look_at.pop()):
            if dataset_of(maker) not in there and maker not in wanted and maker not in given_up:
                wanted[maker] = None
                again.add(maker)
                to_look_at.append(maker)
    return set(wanted), [key for key in keys if key in again]


def runnable(keys: Sequence[CellKey], there: Collection[str]) -> list[CellKey]:
    """Return the cells that can run: the dataset that they need is ``there``, or made before them in the launch.

    Segments take their counts from the datasets of other types, as far as there are any.
    """
    made = set(there)
    found: list[CellKey] = []
    for key in keys:
        makers = makers_of(key)
        if makers and not any(dataset_of(maker) in made for maker in makers):
            continue
        if key.access == "write":
            made.add(dataset_of(key))
        found.append(key)
    return found


@dataclass
class _Rounds(Execution):
    """A run under way. ``is_whole``: nothing is lacking but what failed."""

    prepared: PreparedBEffIo
    is_whole: bool = False
    _done: set[tuple[int, CellKey]] = field(default_factory=set[tuple[int, CellKey]])
    _hung: dict[CellKey, set[int]] = field(default_factory=dict[CellKey, set[int]])
    """The patterns that hung, by the write of their type."""
    _has_data: bool = False
    _ahead_s: float = 0.0

    @property
    def _options(self) -> BEffIoOptions:
        return self.prepared.options

    def follow(self) -> None:
        """Measure everything that no launch so far has done well, round by round and target by target."""
        if self.session.seconds is not None:
            self.session.progress.say("the scheduled time of b_eff_io is part of its value: --time changes nothing")
        io_run = read_run(self.session.result, self._options)
        for attempt in (attempt for launch in io_run.launches for attempt in launch.attempts):
            self._note_hang(attempt)
            if attempt.is_whole:
                self._done.add((attempt.round, attempt.key))
        targets, repetitions = self.prepared.request.targets, range(self._options.repetitions)
        every = [(number, key) for number in repetitions for keys in self.prepared.launches for key in keys]
        self._ahead_s = sum(type_s(key.type, self._options) for number, key in every if (number, key) not in self._done)
        self.is_whole = all(self._round(number, target) for number in repetitions for target in targets)

    def _note_hang(self, attempt: Attempt) -> bool:
        """Note the hang of ``attempt``, if any, and tell whether it was not known before."""
        known = self._hung.setdefault(replace(attempt.key, access="write"), set())
        is_new = attempt.hung is not None and attempt.hung not in known
        known |= {attempt.hung} if attempt.hung is not None else set()
        return is_new

    def _left_out(self, key: CellKey) -> list[int]:
        """Return the numbers of the patterns to leave out of a cell, rising."""
        return sorted(self._hung.get(replace(key, access="write"), ()))

    def _is_given_up(self, key: CellKey) -> bool:
        return len(self._left_out(key)) >= HANGS_TO_GIVE_UP

    def _there(self, target: Target) -> set[str]:
        return datasets_there(target, self.prepared.request.run_id) if self._has_data else set()

    def _round(self, number: int, target: Target) -> bool:
        """Measure what is left of a round on one target, and tell whether the run may go on after it."""
        launches = launches_of(self._options, target)
        keys = [key for of_launch in launches for key in of_launch]
        done = {key for key in keys if (number, key) in self._done}
        # Data that lies there is this round's if any launch of it has written something to the end.
        self._has_data = bool(done)
        there = self._there(target)
        self._has_data = bool(there)
        wanted, again = rest_of(keys, done, {key for key in keys if self._is_given_up(key)}, there)
        if again:
            cells = listing([_cell_text(key) for key in again], _MOST_CELLS)
            self.session.progress.say(f"run again for the data that is gone: {cells}; the first value counts")
        lacking = [left for of_launch in launches if (left := [key for key in of_launch if key in wanted])]
        return all(
            self._stage(number, target, left, is_last=index == len(lacking) - 1) for index, left in enumerate(lacking)
        )

    def _stage(self, number: int, target: Target, keys: Sequence[CellKey], *, is_last: bool) -> bool:
        """Measure the cells of one launch, with a further launch after each hang; tell whether the run may go on."""
        left = [key for key in keys if not self._is_given_up(key)]
        while chosen := runnable(left, self._there(target)):
            launch = self.session.result.next_launch()
            records = str(self.session.result.records_path(launch))
            spec = self.prepared.spec(number, records, continues=self._has_data, is_last=is_last)
            plan = self.prepared.plan(target, spec, {key: self._left_out(key) for key in chosen})
            ended, attempts = self._launch_cells(launch, plan, chosen)
            last = attempts[-1] if attempts else None
            # A hang that was known before ends the run: leaving out its pattern did not help.
            if ended.may_go_on or last is None or ended.was_stopped or not self._note_hang(last):
                self.take(ended)
                return ended.may_go_on
            self._go_on_without(launch, plan, ended, last)
            over = {attempt.key for attempt in attempts if attempt is not last}
            left = [key for key in left if key not in over and not self._is_given_up(key)]
        return True

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

    def _go_on_without(self, launch: int, plan: Plan, ended: Ended, hung: Attempt) -> None:
        self.code = EXIT_CASE_FAILED
        if ended.message in self.session.messages:
            self.session.messages.remove(ended.message)
        hints, key = self._options.hint_sets, hung.key
        where = f" with hints {hints[key.hints].name}" if len(hints) > 1 else ""
        number = hung.hung if hung.hung is not None else -1
        size = PATTERNS[number].size if 0 <= number < len(PATTERNS) else "unknown"
        text = (
            f"pattern {number} ({size}) made no progress for {plan.watchdog_s:g} s in the {_cell_text(key, where)} on "
            f"{key.target}: the run goes on without it"
        )
        texts = [("pattern-timeout", text)]
        if self._is_given_up(key):
            numbers = listing(list(map(str, self._left_out(key))))
            place = f"{processes(key.ranks)}{where} on {key.target}"
            text = f"patterns {numbers} of type {key.type} hung with {place}: the rest of the type is given up there"
            texts.append(("type-given-up", text))
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


def _cell_text(key: CellKey, where: str = "") -> str:
    return f"{key.access} of type {key.type} by {processes(key.ranks)}{where}"
