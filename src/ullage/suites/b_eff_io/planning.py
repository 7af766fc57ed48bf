# SPDX-License-Identifier: Apache-2.0
"""The plans of a b_eff_io run, what they leave to the machine, and the lines that explain them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ullage.analysis.findings.phrasing import crowded
from ullage.errors import EXIT_ENVIRONMENT, UserError
from ullage.launch.base import ranks_on_a_node
from ullage.model.plan import Layout, Limits, Plan, Target
from ullage.model.request import Request
from ullage.results.folder import ResultFolder
from ullage.runs.execution import LaunchSpec
from ullage.runs.listed import listed_plan
from ullage.runs.room import NO_LIMIT, Machine, room_at
from ullage.runs.suite import Explanation
from ullage.suites.b_eff_io.cases import (
    CaseMaker,
    dataset_bytes,
    launches_of,
    needed_bytes,
    needed_files,
    nodes_of,
    pattern_s,
    round_s,
    type_s,
    unit_s,
    watchdog_s,
)
from ullage.suites.b_eff_io.measured import CellKey
from ullage.suites.b_eff_io.options import VALID_S, BEffIoOptions
from ullage.suites.b_eff_io.patterns import PATTERNS, SMALLEST_LMAX, Pattern, lmax_of, patterns_of
from ullage.suites.b_eff_io.values import reasons_of_options
from ullage.units import format_bytes, format_time, format_volume


@dataclass(frozen=True)
class PlannedBEffIo:
    """Everything of a prepared run but how it is carried out.

    ``node_memory``: all that a node's processes may have; None: not known.
    """

    request: Request
    options: BEffIoOptions
    cases: CaseMaker
    machine: Machine
    node_memory: int | None

    @property
    def unsettled(self) -> str:
        """See ``Prepared``: nothing is measured to make the plans."""
        return ""

    @property
    def watchdog_s(self) -> float:
        """The watchdog's limit for every launch."""
        nodes = nodes_of(self.cases.layouts.values())
        memory = self.node_memory
        return watchdog_s(self.options, None if memory is None or nodes is None else memory * nodes)

    @property
    def launches(self) -> list[list[CellKey]]:
        """The cells of each launch of one round on all targets."""
        return [keys for target in self.request.targets for keys in launches_of(self.options, target)]

    def plans(self, result: ResultFolder) -> list[Plan]:
        """See ``Prepared``: as a run goes in which nothing hangs and nothing fails."""
        found: list[Plan] = []
        for number in range(self.options.repetitions):
            for target in self.request.targets:
                launches = launches_of(self.options, target)
                for index, keys in enumerate(launches):
                    records = str(result.records_path(len(found) + 1))
                    spec = self.spec(number, records, continues=index > 0, is_last=index == len(launches) - 1)
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
            self.cases.layouts[next(iter(cells)).ranks],
            target,
            [self.cases.case(key, skip) for key, skip in cells.items()],
            watchdog_s=self.watchdog_s,
            space=self.options.space,
            resumable=self.options.resumable,
        )

    def explain(self) -> Explanation:
        """See ``Prepared``: schedule, space and doubts, every case, and every pattern."""
        rows = [_case_row(self, number, key) for number, keys in enumerate(self.launches, start=1) for key in keys]
        patterns = [_pattern_row(pattern, self.options) for pattern in PATTERNS]
        parts = [
            ("every case", Explanation([], list(_HEADERS), rows)),
            ("every pattern", Explanation([], list(_PATTERN_HEADERS), patterns)),
        ]
        return Explanation(_head(self), [], [], [*_time(self), *_space(self), *_notes(self)], parts)


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
    memory, total, nodes = options.memory, options.memory_total, nodes_of(layouts.values())
    if total is None and memory is not None:
        total = memory * options.ranks
    elif total is None and available is not None and nodes is not None:
        total = available * nodes
    if options.lmax is not None:
        return options.model_copy(update={"memory_total": total})
    if memory is None:
        if available is None:
            raise UserError("the kernel does not say how much memory there is", "", "give --memory or --lmax")
        memory = available // (largest.ranks_per_node or largest.ranks)
    return options.model_copy(update={"lmax": lmax_of(memory), "memory": memory, "memory_total": total})


def with_room(options: BEffIoOptions, machine: Machine, nodes: int | None = 1) -> BEffIoOptions:
    """Return ``options`` with the room of every target, found once: a run that goes on makes the same plans.

    ``nodes``: that every partition is on at least, None when not known: each may have a disk of its own there.

    ``UserError`` (exit code 3) where not every pattern could be done even once.
    """
    room = dict(options.room)
    needed, files, apart = needed_bytes(options), needed_files(options), "or the sets of hints one by one"
    for place in (place for place in machine.places if place.target not in room):
        most = room_at(place, Limits(space_bytes=options.space), machine.memory, nodes)
        where = f"target '{place.target}' ({place.path})"
        if needed > most.bytes:
            what = f"needs {format_volume(needed)}, but only {format_volume(most.bytes)} may be used"
            raise UserError(what, where, f"a smaller --lmax, fewer --partitions, {apart}", EXIT_ENVIRONMENT)
        if files > most.files:
            what = f"needs {files:,} files, but only {most.files:,} may be made"
            raise UserError(what, where, f"fewer --partitions, {apart}", EXIT_ENVIRONMENT)
        room[place.target] = most.bytes
    return options.model_copy(update={"room": room})


_HEADERS: Final = ("launch", "target", "access", "processes", "hints", "type", "patterns", "scheduled", "case")
_PATTERN_HEADERS: Final = ("pattern", "type", "chunk l", "call L", "units", "scheduled in each access")


def _case_row(run: PlannedBEffIo, launch: int, key: CellKey) -> list[str]:
    return [
        str(launch),
        key.target,
        key.access,
        str(key.ranks),
        run.options.hint_sets[key.hints].name,
        key.type,
        str(len(patterns_of(key.type))),
        format_time(type_s(key.type, run.options)),
        run.cases.case(key).id,
    ]


def _pattern_row(pattern: Pattern, options: BEffIoOptions) -> list[str]:
    lmax = options.lmax or SMALLEST_LMAX
    chunk, call = pattern.chunk(lmax), pattern.call(lmax)
    return [
        f"{pattern.number} {pattern.size}",
        pattern.type,
        "what is left of the segment" if chunk is None else format_bytes(chunk),
        "" if call is None else format_bytes(call),
        str(pattern.units),
        format_time(pattern_s(pattern, options)) if pattern.units else "once",
    ]


def _head(run: PlannedBEffIo) -> list[str]:
    options = run.options
    counts = ", ".join(str(count) for count in options.partitions)
    rewrite = "all pattern types" if options.rewrite else "type scatter only (--rewrite: all)"
    times = "once" if options.repetitions == 1 else f"{options.repetitions} times"
    basis = ", as given"
    if options.memory is not None:
        basis = f", 1/128 of {format_volume(options.memory)} of memory of each process (2M at least)"
    each = f"{format_time(options.partition_s)} for each partition, {format_time(unit_s(options))} for each unit"
    lines = [
        f"b_eff_io 2.1 with partitions of {counts} processes; first write, rewrite and read, all of it {times}.",
        f"T = {format_time(options.time_s)} for each target, set of hints and repetition: {each}.",
        f"Largest chunk: {format_bytes(options.lmax or SMALLEST_LMAX)}{basis}. Rewritten: {rewrite}.",
    ]
    places = {place.target: place for place in run.machine.places}
    for target in run.request.targets:
        place = places.get(target.name)
        kind = f" ({place.file_system or 'file system unknown'})" if place is not None else ""
        lines.append(f"Target {target.name}: {target.uri}{kind}, by {run.cases.backends[target.name].name}.")
    for number, hints in enumerate(options.hint_sets):
        lines.append(f"Hints {number}: {hints.name}, {len(hints.lines)} given.")
    # What makes the result not valid before anything has run.
    reasons, cores = reasons_of_options(options), run.machine.cores
    on_a_node = ranks_on_a_node(run.cases.layouts[options.partitions[-1]])
    if cores is not None and on_a_node is not None and on_a_node > cores:
        reasons.append(crowded(on_a_node, cores))
    lines += [f"NOT VALID: {reason}." for reason in reasons]
    if options.partition_s < VALID_S:
        enough_s = VALID_S * len(options.partitions)
        lines.append(f"A valid result takes --time {format_time(enough_s).replace(' ', '')}.")
    return lines


def _time(run: PlannedBEffIo) -> list[str]:
    options, launches = run.options, len(run.launches) * run.options.repetitions
    total_s = round_s(options) * len(run.request.targets) * options.repetitions
    limit = f"for {options.overtime:g} times their schedule at most" if options.overtime else "as long as it takes"
    return [
        f"Scheduled: {format_time(total_s)} in {launches} launch{'' if launches == 1 else 'es'}.",
        f"First writes of scatter, shared and separated keep to it; all else repeats their counts, {limit}.",
        "Starting, opening, syncing, closing and checking come on top: the report says how much that was.",
    ]


def _space(run: PlannedBEffIo) -> list[str]:
    options, lines = run.options, list[str]()
    written = [key for keys in run.launches for key in keys if key.access == "write"]
    for name in (place.target for place in run.machine.places):
        room, keys = options.room.get(name, NO_LIMIT), [key for key in written if key.target == name]
        used = format_volume(sum(dataset_bytes(options, room, key.ranks, key.type) for key in keys))
        lines.append(f"Space on {name}: {used} and {needed_files(options):,} files at most, at the same time.")
    if lines:
        lines.append("A pattern that fills its part of this space ends early, and the result is then not valid.")
    return lines


def _notes(run: PlannedBEffIo) -> list[str]:
    options, lines = run.options, list[str]()
    if options.memory_total is not None:
        lines.append(
            f"What is written is held against {format_volume(options.memory_total)} of memory: where it is less than "
            "that, caches may be what is measured."
        )
    if (options.nodes or options.hosts or 1) == 1:
        lines.append("On a single node every process reads back what its own node wrote.")
    for hints in [] if options.rewrite else options.hint_sets:
        unused = [line for line in hints.lines if line.access == "rewrite" and line.type not in ("all", "scatter")]
        if unused:
            lines.append(f"Hints {hints.name} say {len(unused)} times what is for a rewrite that only --rewrite has.")
    return lines
