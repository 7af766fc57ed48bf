# SPDX-License-Identifier: Apache-2.0
"""A run of suite ``loader`` that was checked against engine and machine, ready to be explained or run.

A launch of all ranks makes the training set of a target. Further launches read it, one for each number of accelerators
and turn. Which number comes next may depend on what was measured.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, cast

from ullage.analysis.metrics.programs import accelerator_use
from ullage.errors import EXIT_ENVIRONMENT, UserError
from ullage.model.plan import Limits, Plan, Target
from ullage.model.request import Request
from ullage.quantity import plural
from ullage.results.folder import ResultFolder
from ullage.results.records import AnyRecord
from ullage.results.rows import join
from ullage.runs.cells.planning import refuse
from ullage.runs.cells.prepared import backend_text
from ullage.runs.execution import Execution, LaunchSpec, read_progress
from ullage.runs.inputs import EngineContext
from ullage.runs.listed import datasets_there, listed_plan
from ullage.runs.options.reading import read_options
from ullage.runs.remains import remove_left
from ullage.runs.room import NO_LIMIT, Machine, checked_machine, room_at
from ullage.runs.session import Note, Session, note_once
from ullage.runs.suite import Explanation
from ullage.suites.loader import cases
from ullage.suites.loader.options import RULE_MEMORIES, RULE_STEPS, LoaderOptions, rule_samples
from ullage.units import format_time, format_volume
from ullage.uri import words_of_path

_HEADERS: Final = ["target", "backend", "accelerators", "ranks", "samples", "data", "files", "an epoch", "case"]
# A launch without progress for so long is a timeout; the engine allows more for what is read at once.
_PATIENCE_S: Final = 120.0
# A launch in less than this measures nothing.
_SHORTEST_S: Final = 0.5


@dataclass(frozen=True)
class PreparedLoader:
    """See ``Prepared``."""

    request: Request
    options: LoaderOptions
    machine: Machine
    cells: cases.CellMaker
    notes: Sequence[Note]

    @property
    def most(self) -> int:
        """The largest number of accelerators that is measured: there are two steps for each."""
        return min(self.options.most_accelerators, cases.most_that_fit(self.options, self.cells.samples))

    def numbers(self) -> list[int]:
        """Return the numbers that are measured for certain: the listed ones, or the first of a search."""
        if self.options.accelerators is not None:
            return [n for n in self.options.accelerators if n <= self.most]
        return [self.cells.unit]

    def plan(self, cell: cases.LoaderCell, spec: LaunchSpec) -> Plan:
        """Return the plan of a launch of one case."""
        options = self.options
        return listed_plan(
            self.request,
            spec,
            cell.layout,
            cell.target,
            [cell.case],
            watchdog_s=options.watchdog_s or _PATIENCE_S,
            space=options.space,
            resumable=options.resumable,
        )

    @property
    def unsettled(self) -> str:
        """See ``Prepared``: of a search the numbers are not known, but none of them has to be given."""
        return ""

    def plans(self, result: ResultFolder) -> list[Plan]:
        """See ``Prepared``: of a search, the first number alone."""
        found: list[Plan] = []
        for target in self.request.targets:
            made = [self.cells.makes(target)] if self.cells.lasts(target) else []
            for cell in [*made, *(self.cells.reads(target, number) for number in self.numbers())]:
                times = 1 if cell.accelerators == 0 else self.options.repetitions
                records = str(result.records_path(len(found) + 1))
                spec = LaunchSpec(0, records, self.options.time_s, (times, times), continues=bool(found), keep=True)
                found.append(self.plan(cell, spec))
        return found

    def explain(self) -> Explanation:
        options, samples = self.options, self.cells.samples
        size = format_volume(cases.set_bytes(options, samples))
        mean, each = format_volume(options.mean_bytes), cases.samples_a_file(options)
        pace, limit = f"{format_time(options.pace_s)} a step", f"AU of {100 * options.least_use:g} %"
        named = f"preset {options.preset}: " if options.is_of_preset_samples else ""
        head = [
            f"{named}{samples} samples of {mean} on average, {each} a file, {size} at most",
            f"batches of {options.batch_samples}, {pace}, {options.epochs} epochs, passes from an {limit} on",
        ]
        if options.accelerators is None:
            head.append(f"the largest number of accelerators that passes is searched, up to {self.most}")
        rows = [
            _row(options, self.cells.reads(target, number))
            for target in self.request.targets
            for number in self.numbers()
        ]
        return Explanation(head, list(_HEADERS), rows, [f"note: {note.text}" for note in self.notes])

    def run(self, session: Session) -> int:
        run = _Loading(session, read_progress(session), self)
        try:
            run.follow()
        finally:
            if not self.options.keep and (run.is_whole or not self.options.resumable):
                remove_left(session, self.request.targets, self.request.run_id)
        note_once([*self.notes, *run.notes], session)
        run.check_any(self.options.time_s, "or fewer --samples or --epochs")
        return run.code


def _row(options: LoaderOptions, cell: cases.LoaderCell) -> list[str]:
    steps = cell.samples / options.batch_samples / cell.accelerators
    return [
        cell.target.name,
        backend_text(cell),
        str(cell.accelerators),
        str(cell.layout.ranks),
        str(cell.samples),
        format_volume(cell.samples * options.mean_bytes),
        str(cases.files_of(options, cell.samples)),
        f"at least {format_time(steps * options.pace_s)}",
        cell.case.id,
    ]


def prepare_loader(request: Request, engine_context: EngineContext) -> PreparedLoader:
    """Check everything that can be checked without starting anything, and settle the number of samples."""
    asked = read_options(LoaderOptions, request)
    machine = checked_machine(request.targets)
    options = _settled(asked, machine)
    # The room of the moment decides, so a resumed run must find the samples of its first launch in the request.
    settled = request.model_copy(update={"options": options.model_dump(mode="json")})
    cells = cases.CellMaker(options, engine_context.description, cast("int", options.samples), machine.cores)
    notes: list[Note] = []
    memory = (machine.memory.total_bytes or 0) * cells.unit
    most = min(options.most_accelerators, max(cases.most_that_fit(options, cells.samples), 1))
    fewest = rule_samples(options.mean_bytes, options.batch_samples, most, memory)
    if machine.places and cells.samples_of(most) < fewest:
        text = (
            f"{cells.samples_of(most)} samples are fewer than a published run has: {RULE_STEPS} steps of "
            f"{most} accelerators, and {RULE_MEMORIES} times the memory of the nodes, are {fewest}"
        )
        advice = "read the cached share of each epoch: memory may hold what later epochs read"
        notes.append(Note("fewer-samples", text, advice))
    if options.cache == "none":
        text = "nothing was done about caches before the first epoch"
        notes.append(Note("cache-kept", text, "use --cache advise, or read the verdicts"))
    prepared = PreparedLoader(settled, options, machine, cells, notes)
    _check(prepared)
    return prepared


def _settled(options: LoaderOptions, machine: Machine) -> LoaderOptions:
    if options.samples is not None:
        return options
    nodes = options.nodes or options.hosts or 1
    wanted = cases.usual_samples(options, (machine.memory.total_bytes or 0) * nodes)
    if not machine.places:  # nothing is kept anywhere: as many as the steps need
        return options.model_copy(update={"samples": cases.usual_samples(options, 0)})
    rooms = [room_at(place, Limits(space_bytes=options.space), machine.memory, nodes) for place in machine.places]
    least, fewest = min(room.bytes for room in rooms), min(room.files for room in rooms)
    return options.model_copy(update={"samples": max(cases.fitted_samples(options, wanted, least, fewest), 1)})


def _check(prepared: PreparedLoader) -> None:
    """Raise ``UserError`` where there is no room (exit code 3), no folder for all, or not two steps of the fewest."""
    # All read samples of others, and later launches look for the set at the very path.
    for target in prepared.request.targets:
        if words_of_path(target):
            refuse(target)
    options, machine, samples = prepared.options, prepared.machine, prepared.cells.samples
    for place in machine.places:
        room = room_at(place, Limits(space_bytes=options.space), machine.memory, prepared.cells.unit)
        needed, where = cases.set_bytes(options, samples), f"target '{place.target}' ({place.path})"
        if needed > room.bytes:
            what = f"needs {format_volume(needed)}, but only {format_volume(room.bytes)} may be used"
            raise UserError(what, where, "fewer --samples, or a smaller --sample", EXIT_ENVIRONMENT)
        if room.files < NO_LIMIT and cases.files_of(options, samples) > room.files:
            what = f"needs {cases.files_of(options, samples):,} files, but only {room.files:,} may be made"
            raise UserError(what, where, "fewer --samples, or more --samples-per-file", EXIT_ENVIRONMENT)
    if samples < cases.fewest_samples(options) or prepared.most < prepared.cells.unit:
        what = f"{samples} samples are not two batches of {options.batch_samples} for each accelerator"
        raise UserError(what, "--samples", "give more samples, more room, or a smaller --batch", EXIT_ENVIRONMENT)
    for target in prepared.request.targets:
        for number in prepared.numbers():
            prepared.cells.reads(target, number)


def trials_of(launches: Iterable[Iterable[AnyRecord]], numbers: dict[str, int], epochs: int) -> dict[int, list[float]]:
    """Return the lower of the uses of all epochs together and of the first, one for each repetition.

    They stand by the accelerators of their case.
    """
    first: dict[tuple[str, int, int], float] = {}
    found: dict[int, list[float]] = {}
    for item in join([list(launch) for launch in launches]):
        key, name = (item.case.case, id(item.run), item.phase.repetition), item.phase.phase
        if name == "epoch-1" and (use := accelerator_use(item.phase)) is not None:
            first[key] = use
        use = accelerator_use(item.phase, "all_")
        if use is not None and item.case.case in numbers and name == f"epoch-{epochs}":
            found.setdefault(numbers[item.case.case], []).append(min(use, first.get(key, use)))
    return found


@dataclass
class _Loading(Execution):
    """``is_whole``: nothing is lacking but what failed."""

    prepared: PreparedLoader
    is_whole: bool = False
    notes: list[Note] = field(default_factory=list[Note])

    def follow(self) -> None:
        self.is_whole = all(self._measure(target) for target in self.prepared.request.targets)

    def _measure(self, target: Target) -> bool:
        """Measure one target; False where something is left to do."""
        failed: set[int] = set()
        while (wanted := self._next(target, failed)) is not None:
            number, repetitions = wanted
            cell = self.prepared.cells.reads(target, number)
            left = self._left_s()
            if left is not None and left < max(_SHORTEST_S, self._cost_s(cell)):
                self._too_short(target)
                return False
            if not self._has_samples(target):
                if not self._launch(self.prepared.cells.makes(target), 1):
                    return False
                # Making them may have taken all of the time.
                continue
            before = self.progress.of(cell.case.id)
            done, wrong = len(before.counted), before.has_failed
            if not self._launch(cell, repetitions):
                return False
            after = self.progress.of(cell.case.id)
            if after.has_failed and not wrong:
                failed.add(number)
            elif len(after.counted) == done:
                self._too_short(target)
                return False
        return True

    def _next(self, target: Target, failed: set[int]) -> tuple[int, int] | None:
        prepared, options = self.prepared, self.prepared.options
        if options.accelerators is not None:
            # Counted, not by their use: accelerators that compute nothing have none.
            left = [number for number in prepared.numbers() if number not in failed]
            done = {n: len(self.progress.of(prepared.cells.reads(target, n).case.id).counted) for n in left}
            return cases.next_listed(done, options.repetitions)
        # What cannot run cannot pass.
        seen: cases.Trials = {**self._trials(target), **dict.fromkeys(failed, [0.0] * options.repetitions)}
        return cases.Search(prepared.cells.unit, prepared.most, options.least_use, options.repetitions).next(seen)

    def _trials(self, target: Target) -> dict[int, list[float]]:
        prepared = self.prepared
        numbers = range(prepared.cells.unit, prepared.most + 1, prepared.cells.unit)
        by_case = {prepared.cells.reads(target, number).case.id: number for number in numbers}
        files = self.session.result.read_records()
        return trials_of([file.records for file in files], by_case, prepared.options.epochs)

    def _has_samples(self, target: Target) -> bool:
        there = datasets_there(target, self.prepared.request.run_id)
        return not self.prepared.cells.lasts(target) or cases.DATASET in there

    def _launch(self, cell: cases.LoaderCell, repetitions: int) -> bool:
        """Run one case; False where the run must not go on."""
        session, number = self.session, self.session.result.next_launch()
        begun = self.progress.of(cell.case.id).begun
        spec = LaunchSpec(
            0,
            str(session.result.records_path(number)),
            self._left_s(),
            (repetitions, repetitions),
            continues=bool(datasets_there(cell.target, self.prepared.request.run_id)),
            keep=True,
        )
        # Data is known by its dataset's own key, so repetitions may be numbered on, also of samples made again.
        numbered = cell.case.model_copy(update={"first_repetition": begun})
        plan = self.prepared.plan(replace(cell, case=numbered), spec)
        what = plural(cell.accelerators, "accelerator") if cell.accelerators else "making the samples"
        session.progress.stage(f"{cell.target.name}: {what}", repetitions, self._cost_s(cell) * repetitions)
        self.launch(number, plan)
        made = cell.accelerators > 0 or self._has_samples(cell.target)
        return self.may_go_on and made

    def _cost_s(self, cell: cases.LoaderCell) -> float:
        """Return what a repetition takes: as measured, else the time of its computation."""
        known = self.progress.of(cell.case.id).seconds
        if known:
            return max(known)
        if cell.accelerators == 0:
            return 0.0
        options = self.prepared.options
        return options.epochs * cell.samples / options.batch_samples / cell.accelerators * options.pace_s

    def _left_s(self) -> float | None:
        return self.seconds_left(self.prepared.options.time_s, _SHORTEST_S / 2, self.progress.seconds)

    def _too_short(self, target: Target) -> None:
        time_s = self.prepared.options.time_s if self.session.seconds is None else self.session.seconds
        text = f"the time of {format_time(time_s)} was too short to settle what passes on {target.name}"
        self.notes.append(Note("time-too-short", text, "give more --time, fewer --steps or fewer --epochs"))
