# SPDX-License-Identifier: Apache-2.0
"""What a run would do, for people: every case, what it moves, how long all of it takes and how much room it needs."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ullage.model.plan import Limits
from ullage.model.system import Place
from ullage.runs.cells.costs import Costs
from ullage.runs.cells.planning import Cell, by_layout
from ullage.runs.cells.volume import needed_bytes
from ullage.runs.options.groups import RunOptions
from ullage.runs.room import Machine, most_bytes
from ullage.runs.suite import Explanation
from ullage.units import format_bytes, format_time, format_volume

_HEADERS = ["target", "backend", "ranks", "block", "phases", "data", "files", "each takes about", "case"]


@dataclass(frozen=True)
class Outlook:
    """What a run would do. ``volume_text`` says how the volume was found, ``notes`` what else."""

    options: RunOptions
    cells: Sequence[Cell]
    costs: Costs
    machine: Machine
    volume_text: str
    notes: Sequence[str]


def explain(outlook: Outlook) -> Explanation:
    """The whole of it. Pure."""
    rows = [_row(cell, outlook.costs) for cell in outlook.cells]
    return Explanation([*_head(outlook), *outlook.notes], list(_HEADERS), rows, [*_totals(outlook), *_space(outlook)])


def _row(cell: Cell, costs: Costs) -> list[str]:
    parameters = {**cell.case.backend.parameters}
    backend = " ".join([cell.case.backend.name, *(f"{key}={value}" for key, value in parameters.items())])
    return [
        cell.target.name,
        backend,
        str(cell.layout.ranks),
        format_bytes(cell.block_bytes),
        " ".join(cell.phases),
        format_volume(cell.dataset_bytes),
        str(cell.files),
        format_time(costs.repetition_s(cell)),
        cell.case.id,
    ]


def _head(outlook: Outlook) -> list[str]:
    options = outlook.options
    layouts = len(by_layout(outlook.cells))
    repeated = (
        f"Each is repeated {options.min_repetitions} to {options.max_repetitions} times, until its median is known to "
        f"+-{options.interval:.1%}, in {format_time(options.time_s)} in all; order shuffled with seed {options.seed}."
    )
    lines = [f"Cases: {len(outlook.cells)}, in {layouts} launches at least; {outlook.volume_text}.", repeated]
    places = {place.target: place for place in outlook.machine.places}
    lines += [
        f"Target {target.name}: {target.uri} ({_nature(places.get(target.name))})."
        for target in {cell.target.name: cell.target for cell in outlook.cells}.values()
    ]
    return lines


def _nature(place: Place | None) -> str:
    if place is None:
        return "no storage"
    if place.is_memory:
        return f"{place.file_system}: memory, not storage"
    kind = place.file_system or "file system unknown"
    return f"{kind} on {place.source or 'an unknown source'}{', remote' if place.is_remote else ''}"


def inexact_volumes(cells: Sequence[Cell], asked: Sequence[int]) -> list[str]:
    """A line where cells do not move the bytes ``asked`` of them."""
    inexact = [cell for cell, wanted in zip(cells, asked, strict=True) if cell.dataset_bytes != wanted]
    if not inexact:
        return []
    what = f"{len(inexact)} cases move another volume: each rank moves whole blocks, one at least"
    return [f"{what}: their true bytes are below."]


def _totals(outlook: Outlook) -> list[str]:
    fewest, most = outlook.options.min_repetitions, outlook.options.max_repetitions
    once_s = sum(outlook.costs.repetition_s(cell) for cell in outlook.cells)
    launches_s = sum(outlook.costs.launch_s(layout.ranks) for layout in by_layout(outlook.cells))
    written = sum(cell.dataset_bytes * _count(cell, ("write", "rewrite")) for cell in outlook.cells)
    read = sum(cell.dataset_bytes * _count(cell, ("read", "reread")) for cell in outlook.cells)
    least_s = launches_s + fewest * once_s
    moved = (
        f"Written {format_volume(fewest * written)} to {format_volume(most * written)}, "
        f"read {format_volume(fewest * read)} to {format_volume(most * read)}."
    )
    lasts = (
        f"The minimum takes about {format_time(round(least_s, 1))} ({outlook.costs.basis.text}); "
        f"the run ends when all is known well enough, after {format_time(outlook.options.time_s)} at the latest."
    )
    lines = [moved, lasts]
    if least_s > outlook.options.time_s:
        lines.append("That is more than the time allows: some cells would get fewer repetitions, and be flagged.")
    return lines


def _count(cell: Cell, phases: Iterable[str]) -> int:
    return sum(phase in cell.phases for phase in phases)


def _space(outlook: Outlook) -> list[str]:
    limits = Limits(space_bytes=outlook.options.space)
    lines: list[str] = []
    for place in outlook.machine.places:
        needed = needed_bytes(outlook.cells, place.target, keep=outlook.options.keep)
        free = "unknown" if place.free_bytes is None else format_volume(place.free_bytes)
        allowed = format_volume(most_bytes(place, limits, outlook.machine.memory))
        lines.append(
            f"Space on {place.target}: {format_volume(needed)} at a time; {free} free, of which {allowed} may be taken."
        )
    return lines
