# SPDX-License-Identifier: Apache-2.0
"""Suite ``stepfile``: its cases (places, ranks, layouts and orders of states), and what a run does."""

import itertools
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from math import comb
from typing import Final

from ullage.engine import find_registered
from ullage.errors import UserError
from ullage.launch.base import with_helpers
from ullage.model.describe import Describe
from ullage.model.plan import Layout, Parameters, Target
from ullage.model.request import Request
from ullage.model.system import Place
from ullage.runs.cells.backends import storage_backends
from ullage.runs.cells.costs import Basis, assumed_besides, seconds_of_files
from ullage.runs.cells.planning import Cell, Sizing, cell_of, each_once
from ullage.runs.cells.prepared import PreparedCells, plan_columns
from ullage.runs.inputs import EngineContext
from ullage.runs.options.reading import read_options
from ullage.runs.room import checked_machine
from ullage.runs.session import Note
from ullage.suites.stepfile.options import CASES, LAYOUTS, ORDERS, SYNCS, StepfileOptions, parameters_of, scale_text
from ullage.units import format_bytes

WORKLOAD: Final = "stepfile"
_FILE_THREADS: Final = "file_threads="  # the capability
_MOST_HELPERS: Final = 64


def steps_of(cell: Cell) -> int:
    """Return the steps of a rank."""
    return cell.values.count("steps")


def kept_of(cell: Cell) -> int:
    """Return the states of a rank that are kept at once."""
    revolves = cell.values["order"] == "revolve"
    return min(steps_of(cell), cell.values.count("checkpoints")) if revolves else steps_of(cell)


SIZING: Final = Sizing(
    "layout order checkpoints compute_s steps cache",
    lambda values: values.count("state_bytes"),
    lambda _values: ("forward", "adjoint"),
)


def make_cells(
    options: StepfileOptions, targets: Sequence[Target], description: Describe, cores: int | None
) -> list[Cell]:
    """Return every combination that means something, each once; raise ``UserError`` for what the engine would refuse.

    Order revolve overwrites states, so it is combined with no log and nothing is removed early.
    """
    layouts = [_placed(n, options, cores) for n in options.ranks]
    cells = [
        _cell(target, backend, layout, options, words, description, targets[1:] if options.spill else ())
        for layout in layouts
        for target in (targets[:1] if options.spill else targets)
        for backend in backends_of(target, options, description)
        for words in itertools.product(options.layouts, options.orders)
        if not (words[0] == "log" and (options.spill or words[1].startswith("revolve")))
    ]
    if not cells:
        raise UserError("order revolve overwrites states, which layout log cannot", "--layout", "add a layout")
    return each_once(cells)


def _placed(ranks: int, options: StepfileOptions, cores: int | None) -> Layout:
    """Place ``ranks``. One with helper threads is bound to as many cores as are its own, where it has two at least.

    On a single core its threads would only work when it does not compute. So it is not bound there.
    """
    layout = options.place(ranks, cores)
    helpers = _helpers(options)
    return layout if helpers == 0 else with_helpers(layout, 1 + helpers, cores, options.bind)


def _helpers(options: StepfileOptions) -> int:
    """Return the most helper threads of a rank at once, as the engine starts them. A log has one."""
    depth = max(options.write_behind, options.prefetch)
    return min(depth, 1 if options.layouts == ["log"] else _MOST_HELPERS)


def backends_of(target: Target, options: StepfileOptions, description: Describe) -> list[str]:
    """Return the backends for ``target``; raise ``UserError`` for one that uses no storage there."""
    found = storage_backends(target, options.backends, description)
    for backend in found:
        if _helpers(options) and not any(word.startswith(_FILE_THREADS) for word in backend.capabilities):
            asked = "--prefetch" if options.prefetch else "--write-behind"
            what = f"backend '{backend.name}' has no threads with files of their own"
            raise UserError(what, asked, "use posix or uring")
    return [backend.name for backend in found]


def _cell(
    target: Target,
    backend: str,
    layout: Layout,
    options: StepfileOptions,
    words: tuple[str, str],
    description: Describe,
    spill: Sequence[Target],
) -> Cell:
    holds_data = "data" in find_registered(description, "backend", backend).capabilities
    is_log, revolves = words[0] == "log", words[1].startswith("revolve")
    given: Parameters = {
        **options.of_engine(),
        **parameters_of("layout", words[0], LAYOUTS),
        **parameters_of("order", words[1], ORDERS),
        **parameters_of("sync", options.sync, SYNCS),
        "remove_read": options.delete and holds_data and not is_log and not revolves,
        "cache": options.cache if holds_data else "none",
        "verify": "full" if holds_data else "none",
    }
    return cell_of(target, layout, (backend, {}), (WORKLOAD, given), description, spill)


def seconds_besides_bytes(cell: Cell) -> float:
    """Return the assumed time of a repetition that does not grow with the bytes."""
    computed_s, steps, kept = 2 * steps_of(cell) * cell.values.number("compute_s"), steps_of(cell), kept_of(cell)
    if kept < steps:
        computed_s *= (2 * steps + recomputations(steps, kept)) / (2 * steps)
    return computed_s + seconds_of_files(cell)


COLUMNS: Final = plan_columns(
    "target backend ranks layout order states data files",
    states=lambda cell: f"{kept_of(cell)} of {format_bytes(cell.block_bytes)}",
    files=lambda cell: str(cell.files),
)


def costs_of(cells: Sequence[Cell], places: Iterable[Place]) -> Basis:
    """Assume that computation and files take their time too."""
    return assumed_besides(cells, places, seconds_besides_bytes)


def prepare_stepfile(request: Request, engine_context: EngineContext) -> PreparedCells:
    """Check everything that can be checked without starting anything."""
    options = read_options(StepfileOptions, request)
    machine = checked_machine(request.targets)
    kinds = SIZING.by(engine_context.engine)
    cells = kinds(make_cells(options, request.targets, engine_context.description, machine.cores))
    text = f"{options.steps} steps, {format_bytes(options.state_bytes)} a rank and step"
    notes = scale_notes(options, machine.memory.total_bytes)
    lines = [
        "The forward phase computes each step and writes its state. The adjoint reads the states again and computes."
    ]
    for kept, steps in {kept_of(cell): steps_of(cell) for cell in cells if kept_of(cell) < steps_of(cell)}.items():
        again = recomputations(steps, kept)
        lines.append(f"revolve:{kept} keeps {kept} of {steps} states and computes {again} steps again on each rank.")
    if options.delete and any(kept_of(cell) < steps_of(cell) or cell.values["layout"] == "log" for cell in cells):
        lines.append("Nothing is removed early with layout log or order revolve.")
    return PreparedCells(
        request, options, machine, cells, kinds, text, lines, notes, COLUMNS, costing=costs_of
    ).checked()


def scale_notes(options: StepfileOptions, memory_bytes: int | None) -> list[Note]:
    """Return a note on the scale of a published case, where one was asked for."""
    case = CASES.get(str(options.like))
    if case is None:
        return []
    ranks = max(options.ranks)
    sentences = scale_text(case, ranks, options.steps, options.state_bytes, memory_bytes)
    text = " ".join(sentences).rstrip(".")
    return [Note("scaled-down", text, "measure at the real number of ranks and files before you rely on it")]


def repetitions(steps: int, checkpoints: int) -> int:
    """Return how often at most a step is computed: the least r with C(checkpoints + r, checkpoints) >= steps."""
    found = 0
    while comb(checkpoints + found, checkpoints) < steps:
        found += 1
    return found


def recomputations(steps: int, checkpoints: int) -> int:
    """Return the steps that are computed again when ``steps`` are reversed with ``checkpoints`` states kept."""
    often = repetitions(steps, checkpoints)
    advances = 0 if often == 0 else often * steps - comb(checkpoints + often, often - 1)
    return advances - (steps - 1)


def fewest_kept(steps: int, step_s: float, budget_s: float) -> int:
    """Return the fewest states to keep so that computing the others again takes no longer than ``budget_s``."""

    def is_enough(kept: int) -> bool:
        return recomputations(steps, kept) * step_s <= budget_s

    return 1 + bisect_left(range(1, steps), x=True, key=is_enough)
