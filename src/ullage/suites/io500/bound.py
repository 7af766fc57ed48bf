# SPDX-License-Identifier: Apache-2.0
"""The bound of the phases that work on names: the same calls by the same ranks on tmpfs, right after a round.

What the kernel does for a name in memory it does for a name on any device too. The launches lie in ``probe/`` of the
result and give no rows: only ceilings of the rows of the targets.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from ullage.analysis.ceilings.measured import Bound, with_measured
from ullage.errors import UserError
from ullage.grouping import grouped
from ullage.identity import case_id
from ullage.model.plan import Case, Layout, Plan, Target
from ullage.model.summary import Row
from ullage.reading import read_bytes
from ullage.results.folder import PROBE, ResultFolder
from ullage.results.records import read_records
from ullage.results.rows import RowContext
from ullage.runs.execution import LaunchSpec
from ullage.runs.no_device import NAME, find_tmpfs
from ullage.runs.remains import folders_of
from ullage.runs.room import Room
from ullage.runs.session import Ended, Session
from ullage.suites.io500.explain import Explained
from ullage.suites.io500.options import Io500Options, Sizes
from ullage.suites.io500.phases import BY_NAME, OfficialPhase, phases_of
from ullage.suites.io500.planning import SMALL_FILE_BYTES, Step, make_plan, make_steps
from ullage.suites.io500.rounds import Attempt, attempts_of, phase_rows

# Each phase has so many samples in a launch, on datasets of its own.
SETS: Final = 3
# Names of all ranks together in each dataset, or of each where there are many.
_ITEMS: Final = 3_000
_ITEMS_OF_A_RANK: Final = 100
# A launch takes about this long. The bounds may add this share to the time of the round.
_LAUNCH_S: Final = 1.0
_SHARE: Final = 0.1
_MOST_LAUNCHES: Final = 2
_PATIENCE_S: Final = 60.0
_INODE_BYTES: Final = 2048
_WORKLOADS: Final = ("metadata", "find")
_FOLDER: Final = "no-device"
_WHY: Final = (
    "The same ranks made the same calls on a file system in memory, and what the kernel does for a name there it does "
    "on every device too."
)


def bounded_phases(options: Io500Options) -> list[OfficialPhase]:
    """Return the phases that work on names alone, with what they need, in official order."""
    return [
        phase
        for phase in phases_of(options.mode)
        if phase.workload in _WORKLOADS and phase.name not in options.config.skipped
    ]


def why_not(run: Explained) -> str:
    """Return why the same calls cannot be made on a tmpfs of all ranks; nothing where they can."""
    options = run.options
    if (run.layout.nodes or 1) > 1 or options.hosts:
        return "ranks on several nodes have no file system in memory in common"
    if not any(phase.scored for phase in bounded_phases(options)):
        return "no phase works on names"
    own = options.config.apis
    apis = {own[phase.name].backend for phase in bounded_phases(options) if phase.name in own}
    return f"the phases go through {', '.join(sorted(apis))}" if apis - {"posix"} else ""


def measure_bound(run: Explained, session: Session, target: Target, seconds: float) -> Ended | None:
    """Measure what the calls of a round on ``target`` give without a device; ``seconds``: of that round.

    Return the end of a launch that was stopped, and None of others: what goes wrong here is a note alone.
    """
    options, own = run.options, next((one for one in run.machine.places if one.target == target.name), None)
    if _SHARE * seconds < _LAUNCH_S or (own is not None and own.is_memory):
        return None
    if why := why_not(run):
        return _note(session, why)
    items = max(_ITEMS // options.ranks, _ITEMS_OF_A_RANK)
    names = 2 * items * options.ranks
    place = find_tmpfs(run.machine.memory, Room(names * (_INODE_BYTES + SMALL_FILE_BYTES), names))
    if isinstance(place, str):
        return _note(session, place)
    left_s, ended = _SHARE * seconds, None
    for _ in range(_MOST_LAUNCHES):
        if left_s < (_LAUNCH_S if ended is None else ended.seconds):
            break
        ended = _launch(run, session, target, Path(place.path), items, left_s)
        left_s -= ended.seconds
        if ended.was_stopped:
            return ended
        if not ended.may_go_on:
            return _note(session, ended.message or "the launch failed")
    return None


def _note(session: Session, why: str) -> None:
    launches = session.result.launches()
    text = f"the bound of work on names is not available: {why}"
    if launches:
        session.note(launches[-1], "info", "no-bound", text)


def _launch(run: Explained, session: Session, target: Target, path: Path, items: int, seconds: float) -> Ended:
    folder = _next_folder(session.result, target)
    place = Target(name=NAME, uri=f"posix:{path}")
    steps = bound_steps(run.options, place, run.layout, session, items)
    spec = LaunchSpec(0, str(folder / "records.ndjson"), seconds)
    asked = run.options.model_copy(update={"keep": False, "resumable": False, "space": None})
    plan = make_plan(run.request, asked, steps, run.layout, spec)
    run_id = folders_of(run.request.run_id)[1]
    session.progress.stage("names without a device", 0, _LAUNCH_S)
    return session.launch_apart(folder, plan.model_copy(update={"run_id": run_id, "watchdog_s": _PATIENCE_S}))[0]


def _next_folder(result: ResultFolder, target: Target) -> Path:
    top = result.path / PROBE / _FOLDER
    known = len(list(top.glob(f"{target.name}-*"))) if top.is_dir() else 0
    return top / f"{target.name}-{known + 1:03}"


def bound_steps(options: Io500Options, place: Target, layout: Layout, session: Session, items: int) -> list[Step]:
    """Return the steps of all sets, one set after the other, so that a find meets the names of its own set alone."""
    wanted = {phase.name for phase in bounded_phases(options)}
    skipped = sorted(phase.name for phase in phases_of(options.mode) if phase.name not in wanted)
    config = options.config.model_copy(update={"skipped": skipped, "files_per_directory": None})
    reduced = options.model_copy(update={"config": config, "stonewall_s": _PATIENCE_S})
    sizes = Sizes(block_bytes=config.transfer_bytes, segments=1, easy_items=items, hard_items=items)
    steps = make_steps(reduced, place, sizes, layout, session.engine_context.description, _PATIENCE_S)
    return [_of_set(step, layout, number) for number in range(1, SETS + 1) for step in steps]


def _of_set(step: Step, layout: Layout, number: int) -> Step:
    """Return ``step`` on the datasets of set ``number``."""
    case = step.case
    workload = case.workload
    if within := workload.parameters.get("within"):
        workload = workload.model_copy(update={"parameters": {**workload.parameters, "within": f"{within}-{number}"}})
    dataset = f"{case.dataset}-{number}" if case.dataset else ""
    made = case.model_copy(
        update={
            "id": case_id(case.backend, workload, step.target, layout, dataset),
            "workload": workload,
            "dataset": dataset,
        }
    )
    return Step(step.phase, made, step.target, step.is_first)


# -- from its records to ceilings --------------------------------------------------------------------------------------


def under_bounds(rows: Sequence[Row], result: ResultFolder, target: str, context: RowContext) -> list[Row]:
    """Return ``rows`` of ``target`` in their order, those of names under what the same calls gave without a device."""
    bounds = list(_bound_rows(result, target, context))
    if not bounds:
        return list(rows)
    at, giving = bounds[0][0], [row for _, row in bounds]
    rule = Bound(
        "operation_rate",
        lambda row: row.target != NAME and row.word("phase") in BY_NAME,
        lambda row: row.target == NAME,
        lambda row: row.word("phase"),
        lambda row: f"the same calls by {row.ranks} ranks on tmpfs",
        _WHY,
    )
    return with_measured([*rows, *giving], [rule], at)[: len(rows)]


def _bound_rows(result: ResultFolder, target: str, context: RowContext) -> Iterator[tuple[str, Row]]:
    """Yield the rates without a device, a row for each phase, and when they were measured."""
    top = result.path / PROBE / _FOLDER
    attempts = [one for folder in sorted(top.glob(f"{target}-*")) for one in _attempts(folder)]
    for name, some in grouped((one.phase.name, one) for one in attempts).items():
        for row in phase_rows(BY_NAME[name], some, context):
            if row.metric == "operation_rate":
                yield some[0].run.started, row.model_copy(update={"target": NAME})


def _attempts(folder: Path) -> list[Attempt]:
    """Read what a launch measured. The sets are samples of one case, which the name of the phase stands for."""
    try:
        plan = Plan.model_validate_json(read_bytes(folder / "plan.json"))
        records = read_records(folder / "records.ndjson").records
    except (OSError, UserError, ValueError):
        return []
    plain = plan.model_copy(update={"cases": [_plain(case) for case in plan.cases]})
    return [_as_phase(one) for one in attempts_of(plain, records)]


def _plain(case: Case) -> Case:
    """Return ``case`` on the datasets that its phase has in a round."""
    parameters: Mapping[str, object] = case.workload.parameters
    within = str(parameters.get("within", "")).rpartition("-")[0]
    workload = case.workload
    if within:
        workload = workload.model_copy(update={"parameters": {**workload.parameters, "within": within}})
    return case.model_copy(update={"dataset": case.dataset.rpartition("-")[0], "workload": workload})


def _as_phase(attempt: Attempt) -> Attempt:
    name = attempt.phase.name
    case = attempt.case.model_copy(update={"case": name, "target": NAME})
    phases = tuple(one.model_copy(update={"case": name}) for one in attempt.phases)
    return Attempt(attempt.phase, attempt.run, case, phases)
