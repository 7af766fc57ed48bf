# SPDX-License-Identifier: Apache-2.0
"""What launches that were killed have left, at targets and of MPI on this node, and its removal."""

import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ullage.cleaning import find_run_folders, remove
from ullage.errors import EXIT_OK, UserError
from ullage.launch.base import is_one_node
from ullage.launch.running import LEDGER
from ullage.model.plan import Case, Named, Parameters, Plan, Target
from ullage.model.record import EventRecord
from ullage.processes.supervisor import remove_noted
from ullage.reading import open_regular, read_bytes
from ullage.results.folder import PROBE, ResultFolder
from ullage.results.records import read_records
from ullage.runs.nodes import is_of_each_node
from ullage.runs.session import LEFT_BEHIND, Note, Session, note_once
from ullage.uri import target_path, words_of_path

_REMOVAL: Final = "removal"
_MOST_LEDGER: Final = 1 << 20
_OF_PROBE: Final = 58


def folders_of(run_id: str) -> tuple[str, str]:
    """Return the run ids of the folders that a run makes at its targets: its own, and that of its probe."""
    return run_id, f"{run_id[:_OF_PROBE]}-probe"


def remove_remains(targets: Sequence[Target], is_one: Callable[[str], bool], engine: Path) -> list[str]:
    """Remove the run folders whose run id ``is_one`` accepts; return a reason for each that was left."""
    left: list[str] = []
    for target in targets:
        path = target_path(target)
        try:
            folders = [] if path is None else find_run_folders(path)
        except UserError as error:
            if not isinstance(error.__cause__, FileNotFoundError):
                left.append(str(error))
            continue
        left += [
            f"data was left in {folder.path}: {why.removeprefix(f'{folder.path}: ')}"
            for folder in folders
            if is_one(folder.run_id) and (why := folder.refused or remove(engine, folder)) is not None
        ]
    return left


def remove_left(session: Session, targets: Sequence[Target], run_id: str) -> None:
    """Remove what launches have left at the targets for others that will not come any more."""
    session.messages += remove_remains(targets, lambda found: found == run_id, session.engine_context.engine)


def was_begun(result: ResultFolder) -> bool:
    """Tell whether an earlier process has launched anything into ``result``."""
    return bool(result.launches() or result.parts() or (result.path / PROBE).is_dir())


def remove_earlier(session: Session, *, is_over: bool = False) -> None:
    """Finish the removal that earlier launches of the run, and of its parts, did not come to.

    What was to be kept stays. So does what a later launch goes on with, until the run ``is_over``. What cannot be
    removed is named in the messages, and in the events of the result.
    """
    # Each node removes its own.
    parts = [] if is_of_each_node(session.result.read_request()) else session.result.parts()
    for result in (session.result, *parts):
        inner = session.within(result)
        _remove_of_mpi(inner)
        left = [text for last in _last_launches(result) for text in _remove_of(last, inner, is_over=is_over)]
        left += _remove_of_bounds(inner)
        session.messages += [text for text in left if text not in session.messages]
        if left:
            note_once([Note(LEFT_BEHIND, text, "`ullage clean` removes it") for text in left], inner)


def name_remains(session: Session) -> None:
    """Name what a run that was ended early has left at its targets, with the command that removes it.

    What a later launch goes on with is left on purpose, and not named.
    """
    if is_of_each_node(session.result.read_request()):
        return
    for result in (session.result, *session.result.parts()):
        notes = [note for last in _last_launches(result) for note in _left_by(last, result)]
        session.messages += [f"{note.text}; {note.advice}" for note in notes]
        note_once(notes, session.within(result))


def _left_by(last: "_Last", result: ResultFolder) -> list[Note]:
    path = target_path(last.target)
    own, probe = folders_of(result.read_request().run_id)
    names = (probe,) if last.leaves(is_over=False) else (own, probe)
    try:
        folders = [] if path is None else find_run_folders(path)
    except UserError:
        return []
    return [
        Note(
            LEFT_BEHIND,
            f"data was left in {folder.path}",
            f"`ullage clean {shlex.quote(str(path))} --run {folder.run_id} --yes` removes it",
        )
        for folder in folders
        if folder.run_id in names
    ]


@dataclass(frozen=True)
class _Last:
    """A target, and the last plan for it; None where nothing but a probe was launched there."""

    target: Target
    plan: Plan | None = None
    records: Path | None = None

    def leaves(self, *, is_over: bool) -> bool:
        """Tell whether that launch was to leave its data."""
        plan = self.plan
        if plan is None:
            return False
        goes_on = not is_over and (plan.keep_when_interrupted or any(case.dataset for case in plan.cases))
        return plan.keep or goes_on

    @property
    def may_be_elsewhere(self) -> bool:
        """Tell whether it was killed, and its data may lie in folders that the target's path does not name here."""
        if self.plan is None or self.records is None or not self.records.exists():
            return False
        is_elsewhere = words_of_path(self.target) or not is_one_node(self.plan.layout)
        return bool(is_elsewhere) and read_records(self.records).truncated


def _last_launches(result: ResultFolder) -> Iterator[_Last]:
    launches, targets = list(reversed(result.launches())), result.read_request().targets
    if not was_begun(result):
        return
    for target in targets:
        for number in launches:
            plan = result.read_plan(number)
            if target in plan.targets:
                yield _Last(target, plan, result.records_path(number))
                break
        else:
            yield _Last(target)


def _remove_of(last: _Last, session: Session, *, is_over: bool) -> list[str]:
    own, probe = folders_of(session.result.read_request().run_id)
    names = (probe,) if last.leaves(is_over=is_over) else (own, probe)
    left = remove_remains([last.target], lambda found: found in names, session.engine_context.engine)
    if left or own not in names or last.plan is None or not last.may_be_elsewhere:
        return left
    return _remove_elsewhere(last.plan, last.target, session)


def _remove_of_bounds(session: Session) -> list[str]:
    """Remove what launches have left that measured a bound, at places that are no targets of the run."""
    places: dict[str, Target] = {}
    for path in (session.result.path / PROBE).glob("*/*/plan.json"):
        try:
            plan = Plan.model_validate_json(read_bytes(path))
        except (OSError, ValueError):
            continue
        places |= {target.uri: target for target in plan.targets}
    _, probe = folders_of(session.result.read_request().run_id)
    return remove_remains(list(places.values()), lambda found: found == probe, session.engine_context.engine)


def _remove_elsewhere(plan: Plan, target: Target, session: Session) -> list[str]:
    """Let a launch with the layout of ``plan`` remove what lies in the folders of all its ranks.

    The engine removes what a launch of the same run has left before it makes its folder. The case moves nothing.
    """
    folder = session.result.path / _REMOVAL
    words: Parameters = {"transfer_bytes": 8, "block_bytes": 8, "file_mode": "per-process", "phases": ["write"]}
    nothing = Named(name="transfer", parameters=words)
    case = Case(id="0" * 16, target=target.name, backend=Named(name="null"), workload=nothing)
    off = dict.fromkeys(("keep", "continues", "keep_when_interrupted"), False)
    own: dict[str, object] = {"records": str(folder / "records.ndjson"), "targets": [target], "cases": [case]}
    rule = Named(name="fixed", parameters={"count": 1})
    once: dict[str, object] = {"stop_rule": rule, "time_budget_s": None, "warmups": 0, "prepared": []}
    ended, records = session.launch_apart(folder, plan.model_copy(update={**off, **own, **once}))
    if ended.was_stopped:
        raise KeyboardInterrupt
    if ended.code != EXIT_OK:
        return [f"data may be left in folders of target '{target.name}': {ended.message or 'the removal failed'}"]
    return [record.text for record in records if isinstance(record, EventRecord) and record.code == LEFT_BEHIND]


def _remove_of_mpi(session: Session) -> None:
    """Remove what MPI has left on this node of launches that were killed together with their supervisor."""
    remains = session.launcher.remains
    folders = (session.result.path / name for name in ("engine", PROBE, _REMOVAL))
    for ledger in sorted(path for folder in folders for path in folder.glob(f"**/*{LEDGER}")):
        try:
            if ledger.is_symlink():
                continue
            with open_regular(ledger) as stream:
                text = stream.read(_MOST_LEDGER).decode("utf-8", "replace")
            if remove_noted(text, remains.folders, remains.segments):
                ledger.unlink()
        except OSError:
            continue
