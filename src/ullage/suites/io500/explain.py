# SPDX-License-Identifier: Apache-2.0
"""What an IO500 run would do, for people: every phase, what it moves and makes, how long it takes, how much room."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from ullage.model.plan import Layout, Limits, Target
from ullage.model.request import Request
from ullage.runs.inputs import EngineContext
from ullage.runs.room import Machine, Room, room_at
from ullage.runs.suite import Explanation
from ullage.suites.io500.options import Io500Options, Sizes
from ullage.suites.io500.planning import Step, dataset_amounts, make_layout, make_steps, wear_out_limit_s
from ullage.suites.io500.sizing import Rates, assumed_rates, choose_sizes
from ullage.units import format_bytes, format_time, format_volume

_HEADERS: Final = ["phase", "counts in", "target", "API", "what", "at most", "files", "lasts", "case"]


_MORE_ROOM: Final = "it needs more space or inodes (--space, another target)"


@dataclass(frozen=True)
class Explained:
    """A run as far as it can be explained before anything was started."""

    request: Request
    options: Io500Options
    engine_context: EngineContext
    machine: Machine
    folders: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    """Lists the folders that were prepared at each target."""

    @property
    def layout(self) -> Layout:
        """The layout of every launch."""
        return make_layout(self.options, self.machine.cores)

    @property
    def wear_out_limit_s(self) -> float:
        """How long a phase may go on after its wall."""
        return wear_out_limit_s(self.options, len(self.request.targets))

    def room(self, target: Target) -> Room:
        """Return what may be taken of ``target``."""
        place = next(place for place in self.machine.places if place.target == target.name)
        return room_at(place, Limits(space_bytes=self.options.space), self.machine.memory, self.layout.nodes)

    def sizes(self, target: Target, rates: Rates | None = None) -> Sizes:
        """Return the sizes by ``rates``; without these the settled ones, else those by what is assumed."""
        settled = self.options.sizes.get(target.name)
        if settled is not None and rates is None:
            return settled
        return choose_sizes(self.options, rates or assumed_rates(self.options.ranks), self.room(target))

    def steps(self, target: Target) -> list[Step]:
        """Return every phase on ``target``, in official order."""
        description = self.engine_context.description
        return make_steps(self.options, target, self.sizes(target), self.layout, description, self.wear_out_limit_s)


def explain(run: Explained) -> Explanation:
    """Return the whole explanation of a run. Pure."""
    rows = [_row(step, run) for target in run.request.targets for step in run.steps(target)]
    return Explanation(_head(run), list(_HEADERS), rows, [*_time(run), *_space(run), *_notes(run)])


def _row(step: Step, run: Explained) -> list[str]:
    phase, backend = step.phase, step.case.backend
    wall = f"{format_time(run.options.stonewall_s)} and {format_time(run.wear_out_limit_s)} of wear-out at most"
    bytes_, files = dataset_amounts(step, run.options.ranks)
    return [
        phase.name,
        "pilot" if phase.pilot else {"BW": "bandwidth", "MD": "metadata", "none": "nothing"}[phase.kind],
        step.target.name,
        " ".join([backend.name, *(f"{key}={value}" for key, value in backend.parameters.items())]),
        _what(step),
        format_volume(bytes_) if bytes_ else "",
        f"{files:,}" if files else "",
        wall if phase.has_wall else "as long as the work",
        step.case.id,
    ]


def _what(step: Step) -> str:
    parameters = step.case.workload.parameters
    match step.phase.workload:
        case "transfer":
            size = parameters.get("transfer_bytes", 262144)
            transfers = f"transfers of {format_bytes(size) if isinstance(size, int) else size}"
            shared = "a file each" if parameters.get("file_mode") == "per-process" else "one shared file"
            return f"{step.phase.scored_phase}, {transfers}, {shared}"
        case "metadata":
            what = step.phase.scored_phase
            files = f"files of {parameters['write_bytes']:,} B" if "write_bytes" in parameters else "empty files"
            return f"{what}, {files}, {'a directory each' if parameters.get('unique_directory') else 'one directory'}"
        case "find":
            criteria = [f"{key} {value}" for key in ("within", "name", "size") if (value := parameters.get(key))]
            newer = ["newer than the timestamp"] if parameters.get("newer") else []
            return ", ".join([step.case.workload.parameters["phases"][0], *criteria, *newer])  # type: ignore[index]
        case "mixed-transfer":
            return "random reads of 4K of what ior-easy wrote"
        case _:
            which = ", the first of two: not counted" if step.is_first else ""
            return f"{step.phase.engine_phases[0]} of md-workbench{which}"


def _head(run: Explained) -> list[str]:
    options = run.options
    rounds = "once" if options.repeat == 1 else f"{options.repeat} times"
    head = f"IO500, {options.mode} mode, {options.ranks} ranks, {rounds}; the phases in their official order."
    lines = [f"{head} Writing phases are cut by the stonewall at {format_time(options.stonewall_s)}."]
    places = {place.target: place for place in run.machine.places}
    for target in run.request.targets:
        place = places.get(target.name)
        kind = (place.file_system if place else None) or "file system unknown"
        lines.append(f"Target {target.name}: {target.uri} ({kind}{', memory' if place and place.is_memory else ''}).")
        lines.append(f"Sizes on {target.name}: {_sizes(run.sizes(target))}.")
        if folders := run.folders.get(target.name):
            shown = ", ".join(folders)
            lines.append(
                f"Prepared on {target.name}: {shown}. The datasets of these names get the layout of the folder."
            )
    lines += [f"INVALID by the rules: {reason}." for reason in options.conditions.reasons]
    return lines


def _sizes(sizes: Sizes) -> str:
    return (
        f"each rank writes {format_volume(sizes.block_bytes)} easily and {sizes.segments:,} segments hard, and makes "
        f"{sizes.easy_items:,} and {sizes.hard_items:,} files, at most ({sizes.basis or 'as given'})"
    )


def _time(run: Explained) -> list[str]:
    options = run.options
    walls = sum(step.phase.has_wall for target in run.request.targets for step in run.steps(target)) * options.repeat
    least_s = walls * options.stonewall_s
    # What was written until the wall is read again, and what was made is looked at twice and removed.
    about_s = 2 * least_s
    text = f"{walls} phases go on until the wall: {format_time(least_s)}, about {format_time(about_s)} with all else"
    budget = "" if options.time_s is None else f"; no phase is begun after {format_time(options.time_s)}"
    return [f"{text}{budget}."]


def _space(run: Explained) -> list[str]:
    lines: list[str] = []
    options = run.options
    for target in run.request.targets:
        makers = [step for step in run.steps(target) if step.phase.has_wall]
        amounts, room = [dataset_amounts(step, options.ranks) for step in makers], run.room(target)
        bytes_, files = format_volume(sum(one for one, _ in amounts)), sum(one for _, one in amounts)
        lines.append(
            f"Space on {target.name}: {bytes_} and {files:,} files at most, all at the same time; "
            f"{format_volume(room.bytes)} and {room.files:,} files may be taken."
        )
        lines += [f"{sentence}." for sentence in too_short(run.sizes(target), options)]
    return lines


def too_short(sizes: Sizes, options: Io500Options) -> list[str]:
    """Name each writing phase that ends before its wall by the known rates, say why, and what would be right."""
    config = options.config
    given = {
        "ior-easy-write": config.block_bytes is not None and "blockSize",
        "ior-hard-write": config.segments is not None and "segmentCount",
        "mdtest-easy-write": config.easy_items is not None and "n",
        "mdtest-hard-write": config.hard_items is not None and "n",
    }
    wall, lasting = format_time(options.stonewall_s), zip(sizes.short, sizes.short_s, strict=False)
    known = re.split("[:,]", sizes.basis)[0]
    found = [(phase, format_time(seconds), given[phase]) for phase, seconds in lasting]
    return [
        f"{phase} has work for about {seconds} of the {wall} until its wall (rate {known}), and does not count then: "
        f"{f'raise {key} in {config.file}, or leave it out' if key else _MORE_ROOM}"
        for phase, seconds, key in found
    ]


def _notes(run: Explained) -> list[str]:
    options = run.options
    lines = [f"{options.config.file}: {note}." for note in options.config.notes]
    if (options.nodes or options.hosts or 1) == 1:
        lines.append("On a single node every rank reads back what its own node wrote: expect caches in the reads.")
    if options.cache == "none":
        lines.append("Nothing is done about caches before reads: expect the verdict warm.")
    return lines
