# SPDX-License-Identifier: Apache-2.0
"""A run of suite ``loader`` that was checked against engine and machine, ready to be explained or run.

A launch of all ranks makes the training set of a target. Further launches read it, one for each number of accelerators
and turn. Which number comes next may depend on what was measured.
"""

from dataclasses import dataclass
from typing import Final, cast

from ullage.errors import EXIT_ENVIRONMENT, UserError
from ullage.model.plan import Limits, Plan
from ullage.model.request import Request
from ullage.results.folder import ResultFolder
from ullage.runs.cells.one_folder import refuse
from ullage.runs.execution import LaunchSpec
from ullage.runs.inputs import EngineContext
from ullage.runs.options.reading import read_options
from ullage.runs.room import NO_LIMIT, Machine, checked_machine, room_at
from ullage.runs.session import Note, Session
from ullage.runs.suite import Explanation
from ullage.suites.loader.cases import (
    CellMaker,
    LoaderCell,
    fewest_samples,
    files_of,
    fitted_samples,
    most_that_fit,
    samples_a_file,
    set_bytes,
    usual_samples,
)
from ullage.suites.loader.options import LoaderOptions
from ullage.suites.loader.presets import RULE_MEMORIES, RULE_STEPS, rule_samples
from ullage.suites.loader.running import LoaderWork, execute
from ullage.units import format_time, format_volume
from ullage.uri import words_of_path

_HEADERS: Final = ["target", "backend", "accelerators", "ranks", "samples", "data", "files", "an epoch", "case"]


@dataclass(frozen=True)
class PreparedLoader(LoaderWork):
    """See ``Prepared``."""

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
        """See ``Prepared``."""
        options, samples = self.options, self.cells.samples
        size = format_volume(set_bytes(options, samples))
        mean, each = format_volume(options.mean_bytes), samples_a_file(options)
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
        """See ``Prepared``."""
        return execute(self, session)


def _row(options: LoaderOptions, cell: LoaderCell) -> list[str]:
    steps = cell.samples / options.batch_samples / cell.accelerators
    return [
        cell.target.name,
        " ".join([cell.case.backend.name, *(f"{key}={value}" for key, value in cell.case.backend.parameters.items())]),
        str(cell.accelerators),
        str(cell.layout.ranks),
        str(cell.samples),
        format_volume(cell.samples * options.mean_bytes),
        str(files_of(options, cell.samples)),
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
    cells = CellMaker(options, engine_context.description, cast("int", options.samples), machine.cores)
    prepared = PreparedLoader(settled, options, machine, cells, _notes(options, cells, machine))
    _check(prepared, machine)
    return prepared


def _settled(options: LoaderOptions, machine: Machine) -> LoaderOptions:
    """Return the options with the number of samples: by the rule, as far as there is room."""
    if options.samples is not None:
        return options
    nodes = options.nodes or options.hosts or 1
    wanted = usual_samples(options, (machine.memory.total_bytes or 0) * nodes)
    if not machine.places:  # nothing is kept anywhere: as many as the steps need
        return options.model_copy(update={"samples": usual_samples(options, 0)})
    rooms = [room_at(place, Limits(space_bytes=options.space), machine.memory, nodes) for place in machine.places]
    least, fewest = min(room.bytes for room in rooms), min(room.files for room in rooms)
    return options.model_copy(update={"samples": max(fitted_samples(options, wanted, least, fewest), 1)})


def _check(prepared: PreparedLoader, machine: Machine) -> None:
    """Raise ``UserError`` where there is no room (exit code 3), no folder for all, or not two steps of the fewest."""
    # All read samples of others, and later launches look for the set at the very path.
    for target in prepared.request.targets:
        if words_of_path(target):
            refuse(target)
    options, samples = prepared.options, prepared.cells.samples
    for place in machine.places:
        room = room_at(place, Limits(space_bytes=options.space), machine.memory, prepared.cells.unit)
        needed, where = set_bytes(options, samples), f"target '{place.target}' ({place.path})"
        if needed > room.bytes:
            what = f"needs {format_volume(needed)}, but only {format_volume(room.bytes)} may be used"
            raise UserError(what, where, "fewer --samples, or a smaller --sample", EXIT_ENVIRONMENT)
        if room.files < NO_LIMIT and files_of(options, samples) > room.files:
            what = f"needs {files_of(options, samples):,} files, but only {room.files:,} may be made"
            raise UserError(what, where, "fewer --samples, or more --samples-per-file", EXIT_ENVIRONMENT)
    if samples < fewest_samples(options) or prepared.most < prepared.cells.unit:
        what = f"{samples} samples are not two batches of {options.batch_samples} for each accelerator"
        raise UserError(what, "--samples", "give more samples, more room, or a smaller --batch", EXIT_ENVIRONMENT)
    for target in prepared.request.targets:
        for number in prepared.numbers():
            prepared.cells.reads(target, number)


def _notes(options: LoaderOptions, cells: CellMaker, machine: Machine) -> list[Note]:
    """Return notes on what is smaller than in a published run, and who may answer instead of the storage."""
    notes: list[Note] = []
    memory = (machine.memory.total_bytes or 0) * cells.unit
    most = min(options.most_accelerators, max(most_that_fit(options, cells.samples), 1))
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
    return notes
