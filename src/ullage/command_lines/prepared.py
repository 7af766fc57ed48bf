# SPDX-License-Identifier: Apache-2.0
"""Command lines that were checked against engine and machine: their cases, ready to be explained or run."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from ullage.command_lines.options import LineOptions
from ullage.command_lines.translation import Draft, Translation
from ullage.engine import Kind, validate_parameters
from ullage.errors import EXIT_ENVIRONMENT, EXIT_OK, UserError
from ullage.identity import case_id
from ullage.launch.base import choose_binding, place_ranks
from ullage.model.describe import Describe
from ullage.model.plan import Case, Layout, Limits, Named, Parameters, Plan, Target
from ullage.model.request import Request
from ullage.model.system import Place
from ullage.parameters import count_of
from ullage.results.folder import ResultFolder
from ullage.runs.case_progress import RunProgress
from ullage.runs.inputs import EngineContext
from ullage.runs.options.reading import read_options
from ullage.runs.room import NO_LIMIT, SECTOR_BYTES, check_places, most_bytes, most_files
from ullage.runs.session import Session
from ullage.runs.suite import Explanation
from ullage.units import format_operations, format_rate, format_time, format_volume
from ullage.uri import target_path

# A run may take this share of the room: what is free changes until the engine looks.
_CAUTION: Final = 0.9
_TRANSFER: Final = "transfer"
# What a rank moves, and how much of it at a time; of other workloads blocks in segments.
_VOLUMES: Final = {"metadata": ("items", "write_bytes"), "mixed-transfer": ("operations", "transfer_bytes")}


@dataclass(frozen=True)
class Bound:
    """What a command line asks for, at its target, with the bytes that it moves over all ranks."""

    draft: Draft
    case: Case
    target: Target
    ranks: int

    @property
    def parameters(self) -> Parameters:
        """Parameters of the workload, also those that equal their defaults."""
        return self.draft.workload.parameters

    @property
    def phases(self) -> list[str]:
        """The phases in the order of execution."""
        words = self.parameters.get("phases", [])
        return words if isinstance(words, list) else []

    @property
    def makes(self) -> bool:
        """Whether it makes the dataset, and does not use one that is there."""
        return bool(self.phases) and self.phases[0] in ("write", "tree-create")

    @property
    def dataset_bytes(self) -> int:
        """What the case leaves at the target at most; of a use of another case's dataset, what it touches."""
        if self.draft.leaves is not None:
            return self.draft.leaves
        amount, size = _VOLUMES.get(self.draft.workload.name, ("segments", "block_bytes"))
        return self.ranks * count_of(self.parameters, amount) * count_of(self.parameters, size)

    @property
    def items(self) -> int:
        """Files or directories, over all ranks."""
        if self.draft.leaves is not None:
            return 1
        if self.draft.workload.name == "metadata":
            return self.ranks * count_of(self.parameters, "items")
        return self.ranks if self.parameters.get("file_mode") == "per-process" else 1

    @property
    def wall_s(self) -> float:
        """0 without a wall."""
        wall = self.parameters.get("stonewall_s", 0.0)
        return float(wall) if isinstance(wall, (int, float)) else 0.0


def make_layout(translation: Translation, cores: int | None, hosts: int = 0) -> Layout:
    """Make the layout of the lines on so many named ``hosts``. ``cores``: usable ones of a node, None: not known."""
    if hosts:
        return place_ranks(translation.ranks, translation.nodes, translation.ranks_per_node, cores, hosts)
    on_a_node = translation.ranks_per_node
    binding = "none" if cores is None else choose_binding(on_a_node or translation.ranks, 1, cores)
    return Layout(ranks=translation.ranks, nodes=translation.nodes, ranks_per_node=on_a_node, binding=binding)


def bind(
    translation: Translation, layout: Layout, options: LineOptions, targets: Sequence[Target], description: Describe
) -> list[Bound]:
    """Bind all cases and check them against the engine; raise ``UserError`` for what it would refuse."""
    by_name = {target.name: target for target in targets}
    bound: dict[str, Bound] = {}
    for draft in translation.drafts:
        name = options.places.get(draft.place, "null") if draft.needs_path else "null"
        found = _bind(draft, by_name[name], layout, description)
        if (before := bound.setdefault(found.case.id, found)) is not found:
            what = f"line {draft.line} does again what line {before.draft.line} does"
            raise UserError(what, "command lines", "request repetitions with -i")
    return list(bound.values())


def _bind(draft: Draft, target: Target, layout: Layout, description: Describe) -> Bound:
    backend = _checked("backend", draft.backend, description)
    workload = _checked("workload", draft.workload, description)
    transfer = count_of(workload.parameters, "transfer_bytes")
    if backend.parameters.get("direct") and transfer % SECTOR_BYTES:
        what = f"line {draft.line}: O_DIRECT cannot move {transfer:,} bytes"
        raise UserError(what, "-t", f"only multiples of {SECTOR_BYTES}: change -t, or leave --posix.odirect out")
    identity = case_id(backend, workload, target, layout, draft.dataset)
    case = Case(id=identity, target=target.name, backend=backend, workload=workload, dataset=draft.dataset)
    return Bound(draft, case, target, layout.ranks)


def _checked(kind: Kind, thing: Named, description: Describe) -> Named:
    parameters = validate_parameters(description, kind, thing.name, thing.parameters)
    return Named(name=thing.name, parameters=parameters)


def fit(translation: Translation, rooms: Mapping[str, int]) -> tuple[Translation, list[str]]:
    """Cut volumes behind a wall to the room, with notes: they are upper bounds that nobody means to reach.

    ``rooms``: bytes that may be taken at each place. What is not behind a wall is left as asked.
    """
    groups = [draft.dataset or f"#{index}" for index, draft in enumerate(translation.drafts)]
    walled = {
        (draft.place, group) for draft, group in zip(translation.drafts, groups, strict=True) if _is_walled(draft)
    }
    drafts: list[Draft] = []
    notes: list[str] = []
    for draft, group in zip(translation.drafts, groups, strict=True):
        if (draft.place, group) not in walled or draft.place not in rooms or draft.workload.name != _TRANSFER:
            drafts.append(draft)
            continue
        shares = sum(1 for place, _ in walled if place == draft.place)
        cut, said = _cut(draft, int(_CAUTION * rooms[draft.place]) // shares // translation.ranks)
        drafts.append(cut)
        notes.extend(said)
    return replace(translation, drafts=tuple(drafts)), notes


def _is_walled(draft: Draft) -> bool:
    return draft.needs_path and draft.workload.name == _TRANSFER and bool(draft.workload.parameters.get("stonewall_s"))


def _cut(draft: Draft, room: int) -> tuple[Draft, list[str]]:
    """Cut a draft to the ``room`` of one rank, segments first; return it with what a reader must know."""
    parameters = draft.workload.parameters
    block, segments, transfer = (count_of(parameters, name) for name in ("block_bytes", "segments", "transfer_bytes"))
    if block * segments <= room or room < transfer:
        return draft, []
    smaller: Parameters = {"segments": room // block}
    if block > room:
        smaller = {"segments": 1, "block_bytes": room // transfer * transfer}
    said = [f"{name} {parameters.get(name)} becomes {value}" for name, value in smaller.items()]
    changed = ", ".join(
        text for text, (name, value) in zip(said, smaller.items(), strict=True) if parameters.get(name) != value
    )
    note = f"line {draft.line}: the volume is an upper bound behind the wall, and is cut to the room: {changed}"
    workload = Named(name=draft.workload.name, parameters={**parameters, **smaller})
    return replace(draft, workload=workload), [note]


_HEADERS: Final = ["line", "dataset", "phases", "target", "backend", "data", "items", "each takes about", "case"]
# These rates are assumed before anything was measured: the storage of an ordinary node reaches them.
_ASSUMED_RATE: Final = 5e8
_ASSUMED_OPERATIONS: Final = 1e4
_TREE_PHASES: Final = ("tree-create", "tree-remove")
# Without progress for so long a launch is a timeout. The engine gives a stage more by what it moves in one call.
_PATIENCE_S: Final = 120.0


@dataclass(frozen=True)
class PreparedLines:
    """See ``Prepared``. ``notes``: to know before it is run. ``rooms``: bytes each target may take, where known."""

    request: Request
    options: LineOptions
    translation: Translation
    layout: Layout
    bound: Sequence[Bound]
    notes: Sequence[str]
    places: Sequence[Place]
    rooms: Mapping[str, int]

    @property
    def unsettled(self) -> str:
        """See ``Prepared``: nothing is measured to make the plan."""
        return ""

    @property
    def seconds(self) -> float:
        """The assumed seconds of all rounds."""
        return self.translation.repetitions * sum(map(_seconds, self.bound))

    def explain(self) -> Explanation:
        lines = [f"Line {number}: {text}" for number, text in enumerate(self.options.lines, start=1)]
        ranks, repetitions = self.layout.ranks, self.translation.repetitions
        many = f"{ranks} rank{'s' if ranks > 1 else ''}"
        times = f"{repetitions} times, each time in this order" if repetitions > 1 else "once, in this order"
        head = [*lines, f"Cases: {len(self.bound)}, with {many}, {times}."]
        head += [
            f"Target {place.target}: {place.path} ({place.file_system or 'file system unknown'})."
            for place in self.places
        ]
        head += [f"Note: {note}." for note in self.notes]
        basis = f"assumed, not measured: {format_rate(_ASSUMED_RATE)} and {format_operations(_ASSUMED_OPERATIONS)}"
        tail = [f"About {format_time(self.seconds)} in all ({basis}; a wall ends a phase)."]
        for name in dict.fromkeys(item.target.name for item in self.bound):
            if name in self.rooms:
                needed, may = self.at_a_time(name, lambda item: item.dataset_bytes), format_volume(self.rooms[name])
                tail.append(f"Space on {name}: {format_volume(needed)} at a time; {may} may be taken.")
        return Explanation(head, list(_HEADERS), [_row(item) for item in self.bound], tail)

    def at_a_time(self, target: str, amount: Callable[[Bound], int]) -> int:
        """Return the most that lies at ``target`` at a time: shared datasets, and of others the largest or all kept."""
        named: dict[str, int] = {}
        own: list[int] = [0]
        for item in self.bound:
            if item.target.name == target and item.makes:
                if item.case.dataset:
                    named[item.case.dataset] = max(amount(item), named.get(item.case.dataset, 0))
                else:
                    own.append(amount(item))
        keep = self.translation.keep or self.options.keep
        return sum(named.values()) + (sum(own) if keep else max(own))

    def plan(self, records: str, prior: Mapping[str, dict[str, list[int]]], seconds: float | None = None) -> Plan:
        """Make the plan of a launch. ``prior``: elapsed ns by case and phase of the rounds of earlier launches.

        ``seconds``: that it may take, where the lines do not say less.
        """
        limits = [limit for limit in (self.translation.time_s, seconds) if limit is not None]
        used = {item.target.name: item.target for item in self.bound}
        return Plan(
            run_id=self.request.run_id,
            suite=self.request.suite,
            records=records,
            order="listed",
            layout=self.layout,
            targets=list(used.values()),
            stop_rule=Named(name="fixed", parameters={"count": self.translation.repetitions}),
            time_budget_s=min(limits, default=None),
            watchdog_s=self.options.watchdog_s or _PATIENCE_S,
            limits=Limits(space_bytes=self.options.space),
            keep=self.translation.keep or self.options.keep,
            cases=[
                item.case.model_copy(update={"prior_elapsed_ns": prior.get(item.case.id, {})}) for item in self.bound
            ],
        )

    def plans(self, result: ResultFolder) -> list[Plan]:
        return [self.plan(str(result.records_path(1)), {})]

    def run(self, session: Session) -> int:
        """See ``Prepared``. A result to go on with gets the rounds it lacks: a round is made whole or again."""
        progress = RunProgress(file.records for file in session.result.read_records())
        prior, rounds = self._whole_rounds(progress)
        missing = self.translation.repetitions - rounds
        if missing <= 0:
            return EXIT_OK
        session.progress.stage("command lines", missing * len(self.bound), self.translation.time_s or self.seconds)
        number = session.result.next_launch()
        plan = self.plan(str(session.result.records_path(number)), prior, session.seconds)
        ended = session.launch(number, progress.numbered(plan), lambda _record: None)
        if not ended.may_go_on:
            return ended.code
        from ullage.runs.no_device import measure_names
        from ullage.system.hardware import read_memory

        stopped = measure_names(plan, session, self.places, read_memory(), ended.seconds)
        return ended.code if stopped is None else stopped.code

    def _whole_rounds(self, progress: RunProgress) -> tuple[dict[str, dict[str, list[int]]], int]:
        """Return elapsed times of rounds in which every case went well (they share data), and how many those are."""
        counted = {item.case.id: progress.of(item.case.id).counted for item in self.bound}
        rounds = min(map(len, counted.values()))
        prior: dict[str, dict[str, list[int]]] = {identity: {} for identity in counted}
        for identity, whole in counted.items():
            for sample in whole[:rounds]:
                for phase, elapsed_ns in sample.items():
                    prior[identity].setdefault(phase, []).append(elapsed_ns)
        return prior, rounds


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
        limits, nodes = Limits(space_bytes=options.space), make_layout(translation, None, options.hosts).nodes
        known = {place.target: most_bytes(place, limits, read_memory(), nodes) for place in places}
        rooms = {name: room for name, room in known.items() if room < NO_LIMIT}
        options = options.model_copy(update={"rooms": rooms})
        request = request.model_copy(update={"options": options.model_dump(mode="json")})
    rooms = options.rooms or {}
    by_place = {place: rooms[name] for place, name in options.places.items() if name in rooms}
    fitted, cuts = fit(translation, by_place)
    layout = make_layout(fitted, usable_cores(), options.hosts)
    bound = bind(fitted, layout, options, request.targets, engine_context.description)
    notes = [*translation.notes, *_made_folders(options, request.targets), *cuts]
    prepared = PreparedLines(request, options, fitted, layout, bound, notes, places, rooms)
    if is_new:
        _check_room(prepared)
    return prepared


def _check_room(run: PreparedLines) -> None:
    """Raise ``UserError`` (exit code 3) where the engine would: for more bytes or files than a run may take."""
    for place in run.places:
        where = f"target '{place.target}' ({place.path})"
        files, most = run.at_a_time(place.target, lambda item: item.items), most_files(place, Limits())
        bytes_ = run.at_a_time(place.target, lambda item: item.dataset_bytes)
        room = run.rooms.get(place.target, NO_LIMIT)
        if bytes_ > room:
            what = f"the lines need {format_volume(bytes_)}, but only {format_volume(room)} may be used"
            raise UserError(what, where, "smaller -b, -s, -n or -w, --space, or another target", EXIT_ENVIRONMENT)
        if files > most:
            what = f"the lines make {files:,} files, but only {most:,} are allowed"
            raise UserError(what, where, "fewer items, or another target", EXIT_ENVIRONMENT)


def _made_folders(options: LineOptions, targets: Sequence[Target]) -> list[str]:
    """Note the folders that a tool would make, where another one is measured instead."""
    paths = {target.name: target_path(target) for target in targets}
    return [
        f"{place} is not there: the run works in a folder of its own in {paths[name]}"
        for place, name in options.places.items()
        if place and not os.path.lexists(place) and paths.get(name) == Path(place).absolute().parent
    ]
