# SPDX-License-Identifier: Apache-2.0
"""Command lines that were checked against engine and machine, ready to be explained or run."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ullage.command_lines.options import LineOptions
from ullage.command_lines.planning import Bound, Work, bind, fit, make_layout, make_plan
from ullage.errors import EXIT_ENVIRONMENT, EXIT_OK, UserError
from ullage.model.plan import Limits, Plan, Target
from ullage.model.request import Request
from ullage.model.system import Memory, Place
from ullage.results.folder import ResultFolder
from ullage.results.records import AnyRecord
from ullage.runs.case_progress import RunProgress
from ullage.runs.inputs import EngineContext
from ullage.runs.options.reading import read_options
from ullage.runs.room import NO_LIMIT, check_places, most_bytes, most_files
from ullage.runs.session import Session
from ullage.runs.suite import Explanation
from ullage.units import format_operations, format_rate, format_time, format_volume
from ullage.uri import target_path

_HEADERS: Final = ["line", "dataset", "phases", "target", "backend", "data", "items", "each takes about", "case"]
# These rates are assumed before anything was measured: the storage of an ordinary node reaches them.
_ASSUMED_RATE: Final = 5e8
_ASSUMED_OPERATIONS: Final = 1e4
_TREE_PHASES: Final = ("tree-create", "tree-remove")


def explain(work: Work, places: Sequence[Place], rooms: Mapping[str, int]) -> Explanation:
    """Describe the work in lines and a table. ``rooms``: bytes that may be taken of each target. Pure."""
    lines = [f"Line {number}: {text}" for number, text in enumerate(work.options.lines, start=1)]
    ranks, repetitions = work.layout.ranks, work.translation.repetitions
    many = f"{ranks} rank{'s' if ranks > 1 else ''}"
    times = f"{repetitions} times, each time in this order" if repetitions > 1 else "once, in this order"
    head = [*lines, f"Cases: {len(work.bound)}, with {many}, {times}."]
    head += [f"Target {place.target}: {place.path} ({place.file_system or 'file system unknown'})." for place in places]
    head += [f"Note: {note}." for note in work.notes]
    return Explanation(head, list(_HEADERS), [_row(item) for item in work.bound], _tail(work, rooms))


def _row(item: Bound) -> list[str]:
    backend = item.case.backend
    return [
        str(item.draft.line),
        item.case.dataset or "its own",
        " ".join(item.phases) or item.case.workload.name,
        item.target.name,
        " ".join([backend.name, *(f"{key}={value}" for key, value in backend.parameters.items())]),
        format_volume(item.dataset_bytes),
        str(item.items),
        format_time(_seconds(item)),
        item.case.id,
    ]


def _seconds(item: Bound) -> float:
    """Return the seconds of all phases at the assumed rates; a wall ends a phase."""
    operations = item.items if item.draft.workload.name == "metadata" else 0
    once_s = item.dataset_bytes / _ASSUMED_RATE
    total_s = 0.0
    for phase in item.phases or [item.case.workload.name]:
        moves = item.draft.workload.name != "metadata" or phase in ("create", "read")
        seconds = 0.0 if phase in _TREE_PHASES else operations / _ASSUMED_OPERATIONS + (once_s if moves else 0.0)
        total_s += min(seconds, item.wall_s) if item.wall_s else seconds
    return total_s


def total_seconds(work: Work) -> float:
    """Return the assumed seconds of all rounds."""
    return work.translation.repetitions * sum(_seconds(item) for item in work.bound)


def _tail(work: Work, rooms: Mapping[str, int]) -> list[str]:
    total_s = total_seconds(work)
    basis = f"assumed, not measured: {format_rate(_ASSUMED_RATE)} and {format_operations(_ASSUMED_OPERATIONS)}"
    lines = [f"About {format_time(total_s)} in all ({basis}; a wall ends a phase)."]
    for name in dict.fromkeys(item.target.name for item in work.bound):
        if name in rooms:
            needed = needed_bytes(work.bound, name, keep=work.translation.keep or work.options.keep)
            may = format_volume(rooms[name])
            lines.append(f"Space on {name}: {format_volume(needed)} at a time; {may} may be taken.")
    return lines


def needed_bytes(bound: Sequence[Bound], target: str, *, keep: bool) -> int:
    """Return the most bytes that lie at ``target`` at a time.

    These are all shared datasets, and the largest of the others, or all when kept.
    """
    named: dict[str, int] = {}
    own: list[int] = [0]
    for item in bound:
        if item.target.name != target or not item.makes:
            continue
        if item.case.dataset:
            named[item.case.dataset] = max(item.dataset_bytes, named.get(item.case.dataset, 0))
        else:
            own.append(item.dataset_bytes)
    return sum(named.values()) + (sum(own) if keep else max(own))


def needed_files(bound: Sequence[Bound], target: str, *, keep: bool) -> int:
    """Return the most files that are at ``target`` at a time, counted as in ``needed_bytes``."""
    named: dict[str, int] = {}
    own: list[int] = [0]
    for item in bound:
        if item.target.name == target and item.makes:
            if item.case.dataset:
                named[item.case.dataset] = max(item.items, named.get(item.case.dataset, 0))
            else:
                own.append(item.items)
    return sum(named.values()) + (sum(own) if keep else max(own))


def check_room(work: Work, places: Sequence[Place], rooms: Mapping[str, int]) -> None:
    """Raise ``UserError`` (exit code 3) where the engine would: for more bytes or files than a run may take."""
    keep = work.translation.keep or work.options.keep
    for place in places:
        files, most = needed_files(work.bound, place.target, keep=keep), most_files(place, Limits())
        bytes_, room = needed_bytes(work.bound, place.target, keep=keep), rooms.get(place.target, NO_LIMIT)
        if bytes_ > room:
            what = f"the lines need {format_volume(bytes_)}, but only {format_volume(room)} may be used"
            right = "smaller -b, -s, -n or -w, --space, or another target"
            raise UserError(what, f"target '{place.target}' ({place.path})", right, EXIT_ENVIRONMENT)
        if files > most:
            what = f"the lines make {files:,} files, but only {most:,} are allowed"
            raise UserError(
                what, f"target '{place.target}' ({place.path})", "fewer items, or another target", EXIT_ENVIRONMENT
            )


# -- running -----------------------------------------------------------------------------------------------------------

_STAGE: Final = "command lines"


@dataclass(frozen=True)
class PreparedLines:
    """See ``Prepared``. ``rooms``: bytes that may be taken of each target where that is known."""

    work: Work
    places: Sequence[Place]
    rooms: Mapping[str, int]

    @property
    def request(self) -> Request:
        """See ``Prepared``."""
        return self.work.request

    @property
    def unsettled(self) -> str:
        """See ``Prepared``: nothing is measured to make the plan."""
        return ""

    def explain(self) -> Explanation:
        """See ``Prepared``."""
        return explain(self.work, self.places, self.rooms)

    def plans(self, result: ResultFolder) -> list[Plan]:
        """See ``Prepared``."""
        return [make_plan(self.work, str(result.records_path(1)), {})]

    def run(self, session: Session) -> int:
        """See ``Prepared``. A result to go on with gets the rounds it lacks: a round is made whole or again."""
        progress = RunProgress(file.records for file in session.result.read_records())
        prior, rounds = self._whole_rounds(progress)
        if rounds >= self.work.translation.repetitions:
            return EXIT_OK
        missing = (self.work.translation.repetitions - rounds) * len(self.work.bound)
        session.progress.stage(_STAGE, missing, self.work.translation.time_s or total_seconds(self.work))
        number = session.result.next_launch()
        plan = make_plan(self.work, str(session.result.records_path(number)), prior)
        return session.launch(number, progress.numbered(plan), _hear_nothing).code

    def _whole_rounds(self, progress: RunProgress) -> tuple[dict[str, dict[str, list[int]]], int]:
        """Return elapsed times of the rounds in which every case went well, and how many those are.

        A case uses what another one of its round has made, so a round that lacks one case is made again.
        """
        counted = {item.case.id: progress.of(item.case.id).counted for item in self.work.bound}
        rounds = min(map(len, counted.values()))
        prior: dict[str, dict[str, list[int]]] = {identity: {} for identity in counted}
        for identity, whole in counted.items():
            for sample in whole[:rounds]:
                for phase, elapsed_ns in sample.items():
                    prior[identity].setdefault(phase, []).append(elapsed_ns)
        return prior, rounds


def _hear_nothing(record: AnyRecord) -> None:
    del record


def prepare_lines(request: Request, engine_context: EngineContext, model: type[LineOptions]) -> PreparedLines:
    """Check everything that can be checked without starting anything."""
    from ullage.system.hardware import read_memory, usable_cores
    from ullage.system.storage import read_places

    options = read_options(model, request)
    translation = options.translation()
    places = read_places(request.targets)
    check_places(places)
    is_new = options.rooms is None
    if is_new:
        options = options.model_copy(update={"rooms": _rooms(places, read_memory(), options)})
        request = request.model_copy(update={"options": options.model_dump(mode="json")})
    rooms = options.rooms or {}
    by_place = {place: rooms[name] for place, name in options.places.items() if name in rooms}
    fitted, cuts = fit(translation, by_place)
    layout = make_layout(fitted, usable_cores(), options.hosts)
    bound = bind(fitted, layout, options, request.targets, engine_context.description)
    work = Work(
        request, options, fitted, layout, bound, [*translation.notes, *_made_folders(options, request.targets), *cuts]
    )
    if is_new:
        check_room(work, places, rooms)
    return PreparedLines(work, places, rooms)


def _made_folders(options: LineOptions, targets: Sequence[Target]) -> list[str]:
    """Note the folders that a tool would make, where another one is measured instead."""
    paths = {target.name: target_path(target) for target in targets}
    return [
        f"{place} is not there: the run works in a folder of its own in {paths[name]}"
        for place, name in options.places.items()
        if place and not os.path.lexists(place) and paths.get(name) == Path(place).absolute().parent
    ]


def _rooms(places: Sequence[Place], memory: Memory, options: LineOptions) -> dict[str, int]:
    """Return the bytes that may be taken of each target where that is known."""
    limits = Limits(space_bytes=options.space)
    nodes = make_layout(options.translation(), None, options.hosts).nodes
    known = {place.target: most_bytes(place, limits, memory, nodes) for place in places}
    return {name: room for name, room in known.items() if room < NO_LIMIT}
