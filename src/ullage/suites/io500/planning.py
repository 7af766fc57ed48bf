# SPDX-License-Identifier: Apache-2.0
"""From options and sizes to the case of every official phase, and to the plan of one round. Pure.

The numbers are the official ones: ior-easy writes 2 MiB transfers, a file each; ior-hard 47,008 bytes into one shared
file; mdtest-easy makes empty files in a directory of each rank, mdtest-hard files of 3,901 bytes in a single one. What
is read, looked at or removed is another node's.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from ullage.engine import find_registered, validate_parameters
from ullage.errors import UserError
from ullage.identity import case_id
from ullage.launch.base import binding_of
from ullage.model.describe import Describe
from ullage.model.plan import Case, Layout, Named, Parameters, Plan, Target
from ullage.model.request import Request
from ullage.parameters import count_of
from ullage.runs.execution import LaunchSpec
from ullage.runs.listed import listed_plan
from ullage.runs.room import SECTOR_BYTES
from ullage.suites.io500.ini import Api
from ullage.suites.io500.options import Io500Options, Sizes
from ullage.suites.io500.phases import OfficialPhase, phases_of
from ullage.units import format_time

HARD_BYTES: Final = 47008
SMALL_FILE_BYTES: Final = 3901
RANDOM_BYTES: Final = 4096
MOST_RANDOM_READS: Final = 10_000_000
WORKBENCH_SETS: Final = 10
_TWICE: Final = "mdworkbench-bench"
# This seed sets the first iteration apart from the second: in its order of operations nothing is drawn by it.
_FIRST_SEED: Final = 0
# Easy seeks every matching name in mdtest-easy. Hard and whole ones must besides be newer than the timestamp and have
# the size of small files.
_EASY: Final[Parameters] = {"within": "mdtest-easy", "name": "*01*"}
_WHOLE: Final[Parameters] = {"within": "", "name": "*01*", "newer": True, "size": f"{SMALL_FILE_BYTES}c"}
_FINDS: Final[Mapping[str, Parameters]] = {
    "timestamp": {},
    "find-easy": _EASY,
    "find-hard": {**_WHOLE, "within": "mdtest-hard"},
    "find": _WHOLE,
}
# A launch without progress for so long is a timeout. The engine gives a stage more by what it moves in one call.
_PATIENCE_S: Final = 120.0


@dataclass(frozen=True)
class Step:
    """One official phase on one target, and the case that does its work.

    ``is_first``: the first of two iterations, of which the rules count the second.
    """

    phase: OfficialPhase
    case: Case
    target: Target
    is_first: bool = False


@dataclass(frozen=True)
class _Bound:
    phase: OfficialPhase
    options: Io500Options
    sizes: Sizes
    wear_out_limit_s: float
    is_first: bool = False

    @property
    def wall(self) -> Parameters:
        return {"stonewall_s": self.options.stonewall_s, "wear_out": True, "wear_out_limit_s": self.wear_out_limit_s}

    @property
    def of_others(self) -> Parameters:
        """Read what another node has written, as the official -C -Q 1."""
        return {"read_back": "other-node", "read_shift": 1}


def make_layout(options: Io500Options, cores: int | None) -> Layout:
    """Choose the layout, with as many ranks on each node; raise ``UserError`` when they do not fill the nodes, or fit.

    ``cores`` is the number of usable cores of a node, None when it is not known.
    """
    placed = options.place(options.ranks, cores)
    if placed.nodes is None:
        return placed
    on_a_node = -(-options.ranks // placed.nodes)
    binding = binding_of(on_a_node, cores, options.bind)
    return placed.model_copy(update={"ranks_per_node": on_a_node, "binding": binding})


def _run_phases(options: Io500Options) -> list[OfficialPhase]:
    return [phase for phase in phases_of(options.mode) if phase.name not in options.config.skipped]


def wear_out_limit_s(options: Io500Options, targets: int) -> float:
    """Return how long a phase may go on after its wall: as long again, or its part of what walls leave of ``--time``.

    Raise ``UserError`` when they leave nothing.
    """
    if options.time_s is None:
        return options.stonewall_s
    walls = sum(phase.has_wall for phase in _run_phases(options)) * options.repeat * targets
    left_s = options.time_s - walls * options.stonewall_s
    if left_s <= 0:
        text = format_time(walls * options.stonewall_s)
        what = f"the {walls} phases that write until the wall alone take {text}"
        raise UserError(what, "--time", "give more, or leave it out")
    return left_s / max(walls, 1)


def make_steps(
    options: Io500Options, target: Target, sizes: Sizes, layout: Layout, description: Describe, limit_s: float
) -> list[Step]:
    """Return every phase that is run, in official order; raise ``UserError`` for what the engine would refuse."""
    found: list[Step] = []
    for phase in _run_phases(options):
        bound = _Bound(phase, options, sizes, limit_s)
        if phase.name == _TWICE:
            found.append(_make_step(replace(bound, is_first=True), target, layout, description))
        found.append(_make_step(bound, target, layout, description))
    return found


def _make_step(bound: _Bound, target: Target, layout: Layout, description: Describe) -> Step:
    phase = bound.phase
    backend = _backend(bound, description)
    known = {parameter.name for parameter in find_registered(description, "workload", phase.workload).parameters}
    # They are stated also where they are the engine's default, as a plan's case is known again by them.
    phases: Parameters = {"phases": [*phase.engine_phases]} if "phases" in known else {}
    given = {**_PARAMETERS[phase.workload](bound), **phases}
    parameters = validate_parameters(description, "workload", phase.workload, given)
    workload = Named(name=phase.workload, parameters={**parameters, **phases})
    case = Case(
        id=case_id(backend, workload, target, layout, phase.dataset),
        target=target.name,
        backend=backend,
        workload=workload,
        dataset=phase.dataset,
    )
    return Step(phase, case, target, bound.is_first)


def _backend(bound: _Bound, description: Describe) -> Named:
    phase, config = bound.phase, bound.options.config
    api = config.apis.get(phase.name, Api())
    given = dict(api.parameters)
    hints = {**bound.options.hints.get("", {}), **bound.options.hints.get(phase.name, {})}
    if api.backend == "mpiio":
        of_file = given.get("hints", {})
        merged = {**(of_file if isinstance(of_file, dict) else {}), **hints}
        given |= {"hints": merged} if merged else {}
        given |= {"collective": True} if phase.name in config.collective else {}
    elif phase.name in config.collective:
        raise UserError("collective operations need API = MPIIO", f"[{phase.name}] collective", "set both, or none")
    elif phase.name in bound.options.hints:
        raise UserError("MPI hints need API = MPIIO", f"--hint {phase.name}", "set it in --config")
    if given.get("direct") and _transfer_bytes(bound) % SECTOR_BYTES:
        what = f"O_DIRECT cannot move {_transfer_bytes(bound):,} bytes"
        raise UserError(what, f"[{phase.name}] API", f"only multiples of {SECTOR_BYTES}: leave --posix.odirect out")
    return Named(name=api.backend, parameters=validate_parameters(description, "backend", api.backend, given))


def _transfer_bytes(bound: _Bound) -> int:
    if bound.phase.workload == "mixed-transfer":
        return RANDOM_BYTES
    return HARD_BYTES if bound.phase.dataset == "ior-hard" else bound.options.config.transfer_bytes


def _shape(bound: _Bound) -> Parameters:
    """Return how the files of a bandwidth dataset are cut, which is the same for all phases that use it."""
    config = bound.options.config
    if bound.phase.dataset == "ior-hard":
        return {
            "transfer_bytes": HARD_BYTES,
            "block_bytes": HARD_BYTES,
            "segments": bound.sizes.segments,
            "file_mode": "shared",
        }
    return {
        "transfer_bytes": config.transfer_bytes,
        "block_bytes": bound.sizes.block_bytes,
        "file_mode": "per-process" if config.file_per_process else "shared",
        "directory_per_process": config.directory_per_process,
    }


def _transfer(bound: _Bound) -> Parameters:
    if bound.phase.scored_phase == "write":
        return {**_shape(bound), "sync": "close", **bound.wall}
    options = bound.options
    return {**_shape(bound), **bound.of_others, "cache": options.cache, "verify": options.verify}


def _metadata(bound: _Bound) -> Parameters:
    options, sizes = bound.options, bound.sizes
    is_hard = bound.phase.dataset == "mdtest-hard"
    shape: Parameters = {"items": sizes.easy_items, "unique_directory": True, "leaf_only": True}
    if is_hard:
        shape = {"items": sizes.hard_items, "write_bytes": SMALL_FILE_BYTES, "read_bytes": SMALL_FILE_BYTES}
        if on_each := options.config.files_per_directory:
            directories = -(-sizes.hard_items // on_each)
            shape |= {"items_per_directory": on_each, "depth": 1, "branching": directories, "leaf_only": True}
    shape |= {"item": "file", "stride": 1, "verify": options.verify}
    if bound.phase.scored_phase == "create":
        return {**shape, "sync": "filesystem", **bound.wall}
    return {**shape, "cache": "drop" if options.cache == "drop" else "none"}


def _mixed_transfer(bound: _Bound) -> Parameters:
    options = bound.options
    parameters: Parameters = {
        "transfer_bytes": RANDOM_BYTES,
        "operations": MOST_RANDOM_READS,
        "read_share": 1.0,
        "pick": "random",
        **bound.of_others,
        "cache": options.cache,
        "verify": "none" if options.verify == "none" else "kept",
        **bound.wall,
    }
    # The official tool goes a node further than the sequential read where each rank has its own file.
    return {**parameters, "read_shift": 2} if options.config.file_per_process else parameters


def _mixed_metadata(bound: _Bound) -> Parameters:
    config, objects = bound.options.config, bound.sizes.workbench_objects
    parameters: Parameters = {
        "sets": WORKBENCH_SETS,
        "objects": objects,
        "object_bytes": SMALL_FILE_BYTES,
        "verify": bound.options.verify,
    }
    if bound.phase.name != _TWICE:
        return parameters
    first: Parameters = {"order_seed": _FIRST_SEED} if bound.is_first else {}
    bench: Parameters = {"stride": 1, "rounds": config.workbench_rounds or objects}
    return {**parameters, **bench, "waiting_factor": config.waiting_factor, **first}


_PARAMETERS: Final[Mapping[str, Callable[[_Bound], Parameters]]] = {
    "transfer": _transfer,
    "metadata": _metadata,
    "find": lambda bound: _FINDS[bound.phase.name],
    "mixed-transfer": _mixed_transfer,
    "mixed-metadata": _mixed_metadata,
}


def make_plan(
    request: Request,
    options: Io500Options,
    steps: Sequence[Step],
    layout: Layout,
    spec: LaunchSpec,
    prepared: Sequence[str] = (),
) -> Plan:
    """Make the plan of one launch over ``steps``, which are of one target; ``spec.turn`` is its round.

    ``prepared`` names the folders at the target from which the datasets of these names take their layout.
    """
    keep = options.keep and spec.turn == options.repeat - 1
    plan = listed_plan(
        request,
        replace(spec, keep=keep),
        layout,
        steps[0].target,
        [step.case for step in steps],
        watchdog_s=options.watchdog_s or _PATIENCE_S,
        space=options.space,
        resumable=options.resumable,
    )
    return plan.model_copy(update={"prepared": list(prepared)})


def dataset_amounts(step: Step, ranks: int) -> tuple[int, int]:
    """Return the most bytes and files that the case leaves at the target, none where it only uses what others made."""
    parameters = step.case.workload.parameters
    match step.phase.workload:
        case "transfer":
            of_a_rank = count_of(parameters, "segments", 1) * count_of(parameters, "block_bytes", 1 << 20)
            return ranks * of_a_rank, ranks if parameters.get("file_mode") == "per-process" else 1
        case "metadata":
            files = ranks * count_of(parameters, "items", 1)
            return files * count_of(parameters, "write_bytes", 0), files
        case "mixed-metadata":
            files = ranks * WORKBENCH_SETS * count_of(parameters, "objects", 1)
            return files * SMALL_FILE_BYTES, files
        case _:
            return 0, 0


def phase_of_case(case: Case, phases: Iterable[OfficialPhase]) -> OfficialPhase | None:
    """Return the official phase whose value ``case`` of a plan gives; None for a first iteration, which gives none."""
    if case.workload.name == "mixed-metadata" and case.workload.parameters.get("order_seed") == _FIRST_SEED:
        return None
    within = case.workload.parameters.get("within", "")
    wanted = {"find-easy": "mdtest-easy", "find-hard": "mdtest-hard"}
    for phase in phases:
        is_its = phase.workload == case.workload.name and phase.dataset == case.dataset
        is_search = phase.workload != "find" or within == wanted.get(phase.name, "")
        # A workload of a single phase has no such parameter.
        phases_of_it = case.workload.parameters.get("phases", [*phase.engine_phases])
        if is_its and is_search and phases_of_it == [*phase.engine_phases]:
            return phase
    return None
