# SPDX-License-Identifier: Apache-2.0
"""A file system in memory, on which the same calls show what the kernel does without a device.

It is used for a bound and never as a target: few names, little data, in a marked folder that is removed.
"""

import os
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from ullage.analysis.ceilings.measured import Bound, with_measured
from ullage.analysis.verdicts.grades import row_grade
from ullage.errors import UserError
from ullage.grouping import grouped
from ullage.identity import case_id
from ullage.model.plan import Case, Layout, Limits, Named, Parameters, Plan, Target
from ullage.model.summary import Row
from ullage.model.system import Memory, Place
from ullage.parameters import count_of
from ullage.quantity import plural
from ullage.reading import read_bytes
from ullage.results.folder import PROBE, ResultFolder
from ullage.results.records import read_records
from ullage.results.rows import RowContext, build_rows
from ullage.runs.remains import folders_of
from ullage.runs.room import Room, room_at
from ullage.runs.session import Ended, Session

NAME: Final = "no-device"
"""The name of that target in plans and records."""
_TMPFS: Final = "tmpfs"
# What is made there takes no more than this part of the room.
_SHARE: Final = 0.05


def find_tmpfs(memory: Memory, needed: Room) -> Place | str:
    """Return a tmpfs of this node with room for ``needed``, or why there is none."""
    from ullage.system.storage import read_places

    said: list[str] = []
    # Other mounts of tmpfs belong to somebody.
    found = ["/dev/shm", os.environ.get("XDG_RUNTIME_DIR", ""), "/tmp"]  # noqa: S108 - looked at, and used if it is tmpfs
    for path in dict.fromkeys(path for path in found if path.startswith("/")):
        (place,) = read_places([Target(name=NAME, uri=f"posix:{path}")])
        why = _why_not(place, memory, needed)
        if not why:
            return place
        said.append(f"{path} {why}")
    return "; ".join(said)


def _why_not(place: Place, memory: Memory, needed: Room) -> str:
    if not place.exists:
        return "does not exist"
    if place.file_system != _TMPFS or not place.is_memory:
        return "is no tmpfs"
    if not os.access(place.path, os.W_OK | os.X_OK) or not Path(place.path).is_dir():
        return "cannot be written to"
    room = room_at(place, Limits(), memory)
    has_room = needed.bytes <= _SHARE * room.bytes and needed.files <= _SHARE * room.files
    return "" if has_room else "has too little room"


FOLDER: Final = "no-device"
"""The folder of these launches in ``probe/`` of a result."""
SAMPLES: Final = 6
PATIENCE_S: Final = 60.0
_LINES: Final = "lines"
# Names of all ranks together, of which tmpfs makes, queries and removes as many in a tenth of a second; a run that is
# shorter than this would take much longer for it.
_MOST_ITEMS: Final = 4_000
_LEAST_RUN_S: Final = 1.0
# Launches, of a second each, until one is not disturbed.
_MOST_TRIES: Final = 3
_ABOUT_S: Final = 1.0
_INODE_BYTES: Final = 2048
_MOST_FILE_BYTES: Final = 4096
_METRIC: Final = "operation_rate"
_WHY: Final = (
    "The same ranks made the same calls on a file system in memory. What the kernel does for a name there it does "
    "on every device too."
)


def next_folder(result: ResultFolder, name: str) -> Path:
    """Return the folder of the next launch of ``name``."""
    top = result.path / PROBE / FOLDER
    known = len(list(top.glob(f"{name}-*"))) if top.is_dir() else 0
    return top / f"{name}-{known + 1:03}"


def note_missing(session: Session, why: str) -> None:
    """Say in the result why there is no such bound."""
    if launches := session.result.launches():
        session.note(launches[-1], "info", "no-bound", f"the bound of work on names is not available: {why}")


def names_bound(key: Callable[[Row], Hashable]) -> Bound:
    """Return the rule by which rows of target ``NAME`` bound those of other targets with the same ``key``."""
    return Bound(
        _METRIC,
        # Trees have few directories, which are made in no time.
        lambda row: row.target != NAME and not row.access.startswith("tree-"),
        lambda row: row.target == NAME,
        key,
        lambda row: f"the same calls by {plural(row.ranks, 'rank')} on tmpfs",
        _WHY,
    )


def is_of_names(case: Case) -> bool:
    """Tell whether a case works on names, and moves little data or none."""
    is_small = count_of(case.workload.parameters, "write_bytes", 0) <= _MOST_FILE_BYTES
    return case.workload.name == "metadata" and case.backend.name == "posix" and is_small


def measure_names(
    plan: Plan, session: Session, places: Sequence[Place], memory: Memory, seconds: float
) -> Ended | None:
    """Make the calls on names of ``plan``, which took ``seconds``, on a tmpfs as well.

    Return the end of a launch that was stopped; what else goes wrong is a note of the result.
    """
    cases = [case for case in plan.cases if is_of_names(case)]
    if not cases or seconds < _LEAST_RUN_S or all(place.is_memory for place in places):
        return None
    if (plan.layout.nodes or 1) > 1:
        return note_missing(session, "ranks on several nodes have no file system in memory in common")
    most = max(1, _MOST_ITEMS // plan.layout.ranks)
    names = len(cases) * most * plan.layout.ranks
    place = find_tmpfs(memory, Room(names * (_INODE_BYTES + _MOST_FILE_BYTES), names))
    if isinstance(place, str):
        return note_missing(session, place)
    target = Target(name=NAME, uri=f"posix:{place.path}")
    there = [_there(case, target, plan.layout, most) for case in cases]
    if any(case is None for case in there):
        return note_missing(session, "the trees have too many names")
    own: dict[str, object] = {"run_id": folders_of(plan.run_id)[1], "targets": [target], "cases": there, "keep": False}
    rule = Named(name="fixed", parameters={"count": SAMPLES})
    limits: dict[str, object] = {"stop_rule": rule, "time_budget_s": None, "watchdog_s": PATIENCE_S, "limits": Limits()}
    session.progress.stage("names without a device", 0, _ABOUT_S)
    return _launch_until_clean(plan.model_copy(update={**own, **limits}), session)


def _launch_until_clean(plan: Plan, session: Session) -> Ended | None:
    """Launch ``plan``, again while other work disturbed it, a few times at most; see ``measure_names``."""
    for _ in range(_MOST_TRIES):
        folder = next_folder(session.result, _LINES)
        records = folder / "records.ndjson"
        ended = session.launch_apart(folder, plan.model_copy(update={"records": str(records)}))[0]
        if ended.was_stopped:
            return ended
        if not ended.may_go_on:
            return note_missing(session, ended.message or "the launch failed")
        if not _is_disturbed(records):
            break
    return None


def _is_disturbed(records: Path) -> bool:
    """Tell whether other work took part of the cores in all repetitions of a phase, which bounds nothing then."""
    try:
        phases = read_records(records).phases
    except (OSError, UserError):
        return False
    same = grouped(((phase.case, phase.phase), phase) for phase in phases)
    return any(row_grade(repetitions) == "C" for repetitions in same.values())


def _there(case: Case, target: Target, layout: Layout, most: int) -> Case | None:
    """Return ``case`` at ``target`` with at most so many items of a rank; None where these make a larger tree."""
    workload, items = case.workload, count_of(case.workload.parameters, "items", 1)
    if items > most:
        if count_of(workload.parameters, "items_per_directory", items) != items:
            return None
        fewer: Parameters = {**workload.parameters, "items": most}
        if "items_per_directory" in workload.parameters:
            fewer["items_per_directory"] = most
        workload = Named(name=workload.name, parameters=fewer)
    identity = case_id(case.backend, workload, target, layout, case.dataset)
    update: dict[str, object] = {"id": identity, "target": target.name, "workload": workload, "prior_elapsed_ns": {}}
    return case.model_copy(update=update)


def under_names(rows: Sequence[Row], result: ResultFolder, context: RowContext) -> list[Row]:
    """Return ``rows`` in their order, those on names under what ``measure_names`` found, where it was asked."""
    folders = sorted((result.path / PROBE / FOLDER).glob(f"{_LINES}-*"))
    if not folders or not result.launches():
        return list(rows)
    cases = [case.id for case in result.read_plan(result.launches()[0]).cases if is_of_names(case)]
    giving: list[Row] = []
    for folder in folders:
        try:
            plan = Plan.model_validate_json(read_bytes(folder / "plan.json"))
            records = read_records(folder / "records.ndjson").records
        except (OSError, UserError, ValueError):
            continue
        known = dict(zip((case.id for case in plan.cases), cases, strict=False))
        found = build_rows([records], replace(context, accesses=(), metrics=(_METRIC,)))
        giving += [row.model_copy(update={"case": known.get(row.case, ""), "target": NAME}) for row in found]
    rule = names_bound(lambda row: (row.case, row.access))
    return with_measured([*rows, *giving], [rule], result.read_request().created)[: len(rows)]
