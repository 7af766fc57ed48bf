# SPDX-License-Identifier: Apache-2.0
"""The cases of a stepfile: places, backends, ranks, layouts and orders. Pure."""

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from ullage.engine import find_registered, validate_parameters
from ullage.errors import UserError
from ullage.identity import case_id
from ullage.launch.base import with_helpers
from ullage.model.describe import Describe
from ullage.model.plan import Case, Layout, Named, Parameters, Target
from ullage.parameters import count_of
from ullage.runs.cells.planning import Cell
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


@dataclass(frozen=True)
class StepCell(Cell):
    """A case of this suite: its sizes are those of its states."""

    @property
    def parameters(self) -> Parameters:
        """Those of the workload that are not their defaults."""
        return self.case.workload.parameters

    @property
    def block_bytes(self) -> int:
        """Bytes of a state."""
        return count_of(self.parameters, "state_bytes", _STATE_BYTES)

    @property
    def steps(self) -> int:
        """Steps of a rank."""
        return count_of(self.parameters, "steps", _STEPS)

    @property
    def kept(self) -> int:
        """States of a rank that are kept at once."""
        if self.parameters.get("order") != "revolve":
            return self.steps
        return min(self.steps, count_of(self.parameters, "checkpoints", _CHECKPOINTS))

    @property
    def dataset_bytes(self) -> int:
        """See ``Cell``."""
        return self.layout.ranks * self.kept * self.block_bytes

    @property
    def needs_one_folder(self) -> bool:
        """See ``Cell``."""
        return False

    @property
    def files(self) -> int:
        """See ``Cell``."""
        return self.layout.ranks * (1 if self.parameters.get("layout") == "log" else self.kept)

    @property
    def phases(self) -> list[str]:
        """See ``Cell``."""
        return ["forward", "adjoint"]

    @property
    def compute_s(self) -> float:
        """The computation of both phases on one rank, without what revolve computes again."""
        each = self.parameters.get("compute_s", 0.0)
        return 2 * self.steps * (float(each) if isinstance(each, (int, float)) else 0.0)


def make_cells(
    options: StepfileOptions, targets: Sequence[Target], description: Describe, cores: int | None
) -> list[StepCell]:
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
    return list({cell.case.id: cell for cell in cells}.values())


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
) -> StepCell:
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
    workload = Named(name=WORKLOAD, parameters=validate_parameters(description, "workload", WORKLOAD, given))
    named = Named(name=backend, parameters=validate_parameters(description, "backend", backend, {}))
    identity = case_id(named, workload, target, layout, spill=spill)
    names = [further.name for further in spill]
    case = Case(id=identity, target=target.name, backend=named, workload=workload, spill=names)
    return _with_kind(Cell(case, target, layout, spill=tuple(spill)))


def _with_kind(cell: Cell) -> StepCell:
    """Name what sets the cost of a case apart from that of others at its place."""
    parameters = cell.case.workload.parameters
    words = (f"{key}={parameters[key]}" for key in _OF_COST if key in parameters)
    kind = " ".join([f"{cell.layout.ranks} ranks", *words])
    return StepCell(cell.case, cell.target, cell.layout, kind, cell.spill)


def with_kinds(cells: Iterable[Cell]) -> list[Cell]:
    """Make cells of plans those of this suite."""
    return [_with_kind(cell) for cell in cells]
