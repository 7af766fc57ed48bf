# SPDX-License-Identifier: Apache-2.0
"""A pmem run that was checked against engine and machine."""

from collections.abc import Sequence

from ullage.errors import EXIT_BAD_INPUT, UserError
from ullage.model.request import Request
from ullage.runs.cells.direct import direct_at
from ullage.runs.cells.prepared import PreparedCells
from ullage.runs.inputs import EngineContext
from ullage.runs.options.reading import read_options
from ullage.runs.room import Machine, check_paths, check_places, this_machine
from ullage.suites.pmem.cells import Planner, Spot, make_spot, notes_on, numa_paths_of, why_not_path, with_kinds
from ullage.suites.pmem.options import MOST_TRANSFERS, PmemOptions
from ullage.system.statx import is_dax
from ullage.units import format_volume
from ullage.uri import target_folder


def prepare_pmem(request: Request, engine_context: EngineContext) -> PreparedCells:
    """Check everything that can be checked without starting anything."""
    options = read_options(PmemOptions, request)
    check_paths(request.targets)
    machine = this_machine(request.targets)
    check_places(machine.places)
    spots = find_spots(request, machine)
    nodes = count_numa_nodes()
    cells = Planner(options, engine_context.description, machine.cores, nodes).cells(spots)
    if not cells:
        what = "no interface of this engine suits any target"
        raise UserError(what, "--target", "name interfaces by --interface", EXIT_BAD_INPUT)
    text = f"{format_volume(options.volume)} for each rank, but at most {MOST_TRANSFERS} transfers"
    notes = [note for spot in spots for note in notes_on(spot, options, engine_context.description)]
    prepared = PreparedCells(request, options, machine, cells, with_kinds, text, _lines(spots, options, nodes), notes)
    prepared.check(cells)
    return prepared


def find_spots(request: Request, machine: Machine) -> list[Spot]:
    """Return every target with what is behind it."""
    places = {place.target: place for place in machine.places}
    found: list[Spot] = []
    for target in request.targets:
        folder = target_folder(target)
        dax = folder is not None and is_dax(folder)
        found.append(make_spot(target, places.get(target.name), direct_at(target), is_dax=dax))
    return found


def count_numa_nodes() -> int:
    """Return the NUMA nodes of this machine that have CPUs; 1 where the kernel lists none."""
    from ullage.system.hardware import read_numa

    return max(1, sum(1 for node in read_numa() if node.cpus))


def _lines(spots: Sequence[Spot], options: PmemOptions, nodes: int) -> list[str]:
    files = (
        "Each rank has a file of its own, which it writes and then reads; a write ends when its data is as durable as "
        "its interface makes it."
    )
    return [
        files,
        *(f"Target {spot.target.name}: {spot.nature}." for spot in spots),
        *(_numa_line(spot, options, nodes) for spot in spots),
    ]


def _numa_line(spot: Spot, options: PmemOptions, nodes: int) -> str:
    where = f"NUMA path at {spot.target.name}"
    if paths := numa_paths_of(spot, options, nodes):
        return f"{where}: {', '.join(paths)}."
    return f"{where}: not available: {why_not_path('remote', spot, nodes)}."
