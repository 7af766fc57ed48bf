# SPDX-License-Identifier: Apache-2.0
"""What a b_eff_io run would do, for people: every case and pattern, their time and room, and what will not count."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from ullage.analysis.findings.phrasing import crowded
from ullage.launch.base import ranks_on_a_node
from ullage.model.request import Request
from ullage.runs.room import NO_LIMIT, Machine
from ullage.runs.suite import Explanation
from ullage.suites.b_eff_io.cases import (
    CaseMaker,
    dataset_bytes,
    keys_of,
    layouts_of,
    needed_files,
    pattern_s,
    round_s,
    stages_of,
    type_s,
    unit_s,
)
from ullage.suites.b_eff_io.measured import CellKey
from ullage.suites.b_eff_io.options import VALID_S, BEffIoOptions
from ullage.suites.b_eff_io.patterns import PATTERNS, SMALLEST_LMAX, Pattern, patterns_of
from ullage.suites.b_eff_io.validity import reasons_of_options
from ullage.units import format_bytes, format_time, format_volume

_HEADERS: Final = ["launch", "target", "access", "processes", "hints", "type", "patterns", "scheduled", "case"]
_PATTERN_HEADERS: Final = ["pattern", "type", "chunk l", "call L", "units", "scheduled in each access"]


@dataclass(frozen=True)
class Explained:
    """A run as far as it can be explained before anything was started. Its targets stand in ``request``."""

    request: Request
    options: BEffIoOptions
    cases: CaseMaker
    machine: Machine


def explain(run: Explained) -> Explanation:
    """Explain the whole run: its schedule, space and doubts, every case, and every pattern. Pure."""
    rows = [_row(run, number, key) for number, keys in enumerate(_launches(run), start=1) for key in keys]
    patterns = Explanation([], list(_PATTERN_HEADERS), [_pattern_row(pattern, run.options) for pattern in PATTERNS])
    parts = [("every case", Explanation([], list(_HEADERS), rows)), ("every pattern", patterns)]
    return Explanation(_head(run), [], [], [*_time(run), *_space(run), *_notes(run)], parts)


def _launches(run: Explained) -> list[list[CellKey]]:
    """Return the cells of each launch of one round."""
    return [
        keys_of(run.options, target, stage)
        for target in run.request.targets
        for stage in stages_of(run.options, target)
    ]


def _row(run: Explained, launch: int, key: CellKey) -> list[str]:
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
        "once" if pattern.is_once else format_time(pattern_s(pattern, options)),
    ]


def _head(run: Explained) -> list[str]:
    options = run.options
    counts = ", ".join(str(count) for count in options.partitions)
    rewrite = "all pattern types" if options.rewrite else "type scatter only (--rewrite: all)"
    times = "once" if options.repetitions == 1 else f"{options.repetitions} times"
    scheduled = (
        f"T = {format_time(options.time_s)} for each target, set of hints and repetition: "
        f"{format_time(options.partition_s)} for each partition, {format_time(unit_s(options))} for each unit."
    )
    lines = [
        f"b_eff_io 2.1 with partitions of {counts} processes; first write, rewrite and read, all of it {times}.",
        scheduled,
        f"Largest chunk: {format_bytes(options.lmax or SMALLEST_LMAX)}{_basis(options)}. Rewritten: {rewrite}.",
    ]
    places = {place.target: place for place in run.machine.places}
    for target in run.request.targets:
        place = places.get(target.name)
        kind = f" ({place.file_system or 'file system unknown'})" if place is not None else ""
        lines.append(f"Target {target.name}: {target.uri}{kind}, by {run.cases.backends[target.name].name}.")
    for number, hints in enumerate(options.hint_sets):
        lines.append(f"Hints {number}: {hints.name}, {len(hints.lines)} given.")
    return [*lines, *_doubts(run)]


def _basis(options: BEffIoOptions) -> str:
    if options.memory is None:
        return ", as given"
    return f", 1/128 of {format_volume(options.memory)} of memory of each process (2M at least)"


def _doubts(run: Explained) -> list[str]:
    """Say what makes the result not valid before anything has run, and the ``--time`` that a valid one takes."""
    options, cores = run.options, run.machine.cores
    found = reasons_of_options(options)
    on_a_node = ranks_on_a_node(layouts_of(options, cores)[options.partitions[-1]])
    if cores is not None and on_a_node is not None and on_a_node > cores:
        found.append(crowded(on_a_node, cores))
    lines = [f"NOT VALID: {reason}." for reason in found]
    if options.partition_s < VALID_S:
        enough_s = VALID_S * len(options.partitions)
        lines.append(f"A valid result takes --time {format_time(enough_s).replace(' ', '')}.")
    return lines


def _time(run: Explained) -> list[str]:
    options = run.options
    each_s = round_s(options)
    total_s = each_s * len(run.request.targets) * options.repetitions
    launches = len(_launches(run)) * options.repetitions
    over = options.overtime
    limit = f"for {over:g} times their schedule at most" if over else "as long as it takes"
    plural = "" if launches == 1 else "es"
    return [
        f"Scheduled: {format_time(total_s)} in {launches} launch{plural}.",
        f"First writes of scatter, shared and separated keep to it; all else repeats their counts, {limit}.",
        "Starting, opening, syncing, closing and checking come on top: the report says how much that was.",
    ]


def _space(run: Explained) -> list[str]:
    options, lines = run.options, list[str]()
    for place in run.machine.places:
        room = options.room.get(place.target, NO_LIMIT)
        used = sum(
            dataset_bytes(options, room, key.ranks, key.type)
            for keys in _launches(run)
            for key in keys
            if key.target == place.target and key.access == "write"
        )
        files = needed_files(options)
        lines.append(f"Space on {place.target}: {format_volume(used)} and {files:,} files at most, at the same time.")
    if lines:
        lines.append("A pattern that comes to its part of that ends early, and the result is then not valid.")
    return lines


def _notes(run: Explained) -> list[str]:
    options, lines = run.options, list[str]()
    if options.memory_total is not None:
        lines.append(
            f"What is written is held against {format_volume(options.memory_total)} of memory: where it is less than "
            "that, caches may be what is measured."
        )
    if (options.nodes or options.hosts or 1) == 1:
        lines.append("On a single node every process reads back what its own node wrote.")
    unknown = unused_hints(options)
    lines += [f"Hints {name} say {text}." for name, text in unknown.items()]
    return lines


def unused_hints(options: BEffIoOptions) -> Mapping[str, str]:
    """Find the sets of hints that have lines for a rewrite that this run does not make."""
    if options.rewrite:
        return {}
    found: dict[str, str] = {}
    for hints in options.hint_sets:
        lines = [line for line in hints.lines if line.access == "rewrite" and line.type not in ("all", "scatter")]
        if lines:
            found[hints.name] = f"{len(lines)} times what is for a rewrite that only --rewrite has"
    return found
