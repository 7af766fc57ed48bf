# SPDX-License-Identifier: Apache-2.0
"""What command lines would do as a plan, for people: every case, its volume, about how long, and how much room."""

from collections.abc import Mapping, Sequence
from typing import Final

from ullage.command_lines.planning import Bound, Work
from ullage.model.system import Place
from ullage.runs.suite import Explanation
from ullage.units import format_bytes, format_time, format_volume

_HEADERS: Final = ["line", "dataset", "phases", "target", "backend", "data", "items", "each takes about", "case"]
# Rates assumed for a phase before anything was measured: what the storage of an ordinary node is good for.
_ASSUMED_RATE: Final = 5e8
_ASSUMED_OPERATIONS: Final = 1e4
_TREE_PHASES: Final = ("tree-create", "tree-remove")


def explain(work: Work, places: Sequence[Place], rooms: Mapping[str, int]) -> Explanation:
    """``rooms``: bytes that may be taken of each target. Pure."""
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
    """Each phase at the assumed rates, ended by the wall where there is one."""
    operations = item.items if item.draft.workload.name == "metadata" else 0
    once_s = item.dataset_bytes / _ASSUMED_RATE
    total_s = 0.0
    for phase in item.phases or [item.case.workload.name]:
        moves = item.draft.workload.name != "metadata" or phase in ("create", "read")
        seconds = 0.0 if phase in _TREE_PHASES else operations / _ASSUMED_OPERATIONS + (once_s if moves else 0.0)
        total_s += min(seconds, item.wall_s) if item.wall_s else seconds
    return total_s


def total_seconds(work: Work) -> float:
    """The assumed time of all rounds."""
    return work.translation.repetitions * sum(_seconds(item) for item in work.bound)


def _tail(work: Work, rooms: Mapping[str, int]) -> list[str]:
    total_s = total_seconds(work)
    basis = f"assumed, not measured: {format_bytes(int(_ASSUMED_RATE))} B/s and {_ASSUMED_OPERATIONS:g} operations/s"
    lines = [f"About {format_time(total_s)} in all ({basis}; a wall ends a phase)."]
    for name in dict.fromkeys(item.target.name for item in work.bound):
        if name in rooms:
            needed = needed_bytes(work.bound, name, keep=work.translation.keep or work.options.keep)
            may = format_volume(rooms[name])
            lines.append(f"Space on {name}: {format_volume(needed)} at a time; {may} may be taken.")
    return lines


def needed_bytes(bound: Sequence[Bound], target: str, *, keep: bool) -> int:
    """Most that lies at ``target`` at a time: all shared datasets, and the largest of the others, or all when kept."""
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
