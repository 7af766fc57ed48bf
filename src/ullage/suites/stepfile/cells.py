# SPDX-License-Identifier: Apache-2.0
"""The cases of a stepfile: places, backends, ranks, layouts and orders. Pure."""

import itertools
from collections.abc import Sequence
from typing import Final

from ullage.engine import find_registered
from ullage.errors import UserError
from ullage.launch.base import with_helpers
from ullage.model.describe import Describe
from ullage.model.plan import Layout, Parameters, Target
from ullage.parameters import count_of
from ullage.runs.cells.planning import Cell, Sizes, cell_of, each_once, sized
from ullage.suites.stepfile.options import LAYOUTS, ORDERS, SYNCS, StepfileOptions, parameters_of
from ullage.uri import target_path, target_scheme

WORKLOAD: Final = "stepfile"
# As the engine has them.
_STEPS: Final = 100
_STATE_BYTES: Final = 4 << 20
_CHECKPOINTS: Final = 10
_FILE_THREADS: Final = "file_threads="  # the capability
_MOST_HELPERS: Final = 64
# What sets the cost of cases at one place apart.
_OF_COST: Final = ("layout", "order", "checkpoints", "compute_s", "steps", "cache")


def steps_of(cell: Cell) -> int:
    """Return the steps of a rank."""
    return count_of(cell.parameters, "steps", _STEPS)


def kept_of(cell: Cell) -> int:
    """Return the states of a rank that are kept at once."""
    if cell.parameters.get("order") != "revolve":
        return steps_of(cell)
    return min(steps_of(cell), count_of(cell.parameters, "checkpoints", _CHECKPOINTS))


def compute_s_of(cell: Cell) -> float:
    """Return the computation of both phases on one rank, without what revolve computes again."""
    each = cell.parameters.get("compute_s", 0.0)
    return 2 * steps_of(cell) * (float(each) if isinstance(each, (int, float)) else 0.0)


def _sizes(cell: Cell) -> Sizes:
    """Return the sizes of the states of a case."""
    ranks, kept, state_bytes = cell.layout.ranks, kept_of(cell), count_of(cell.parameters, "state_bytes", _STATE_BYTES)
    words = [f"{key}={cell.parameters[key]}" for key in _OF_COST if key in cell.parameters]
    return Sizes(
        kind=" ".join([f"{ranks} ranks", *words]),
        block_bytes=state_bytes,
        dataset_bytes=ranks * kept * state_bytes,
        files=ranks * (1 if cell.parameters.get("layout") == "log" else kept),
        phases=["forward", "adjoint"],
        needs_one_folder=False,
    )


with_sizes: Final = sized(_sizes)


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
    return with_sizes(each_once(cells))


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
    names = options.backends if target_path(target) is not None and options.backends else [target_scheme(target)]
    for name in names:
        found = find_registered(description, "backend", name)
        if target_path(target) is not None and "path" not in found.capabilities:
            raise UserError(f"backend '{name}' uses no storage", "--backend", f"use --target NAME={name}:")
        if _helpers(options) and not any(word.startswith(_FILE_THREADS) for word in found.capabilities):
            asked = "--prefetch" if options.prefetch else "--write-behind"
            raise UserError(f"backend '{name}' has no threads with files of their own", asked, "use posix or uring")
    return names


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
        "steps": options.steps,
        "state_bytes": options.state_bytes,
        **parameters_of("layout", words[0], LAYOUTS),
        **parameters_of("order", words[1], ORDERS),
        **parameters_of("sync", options.sync, SYNCS),
        "compute_s": options.compute_s,
        "jitter": options.jitter or 0.0,
        "imbalance": options.imbalance or 0.0,
        "write_behind": options.write_behind,
        "prefetch": options.prefetch,
        "remove_read": options.delete and holds_data and not is_log and not revolves,
        "cache": options.cache if holds_data else "none",
        "verify": "full" if holds_data else "none",
    }
    return cell_of(target, layout, (backend, {}), (WORKLOAD, given), description, spill)
