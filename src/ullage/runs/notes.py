# SPDX-License-Identifier: Apache-2.0
"""What a reader of a run must know besides its numbers."""

from collections.abc import Iterable
from dataclasses import dataclass

from ullage.results.folder import ResultFolder
from ullage.runs.session import Session


@dataclass(frozen=True)
class Note:
    """Something of the run that is not as one might expect. ``code`` is stable."""

    code: str
    text: str
    advice: str = ""


def launches_with_records(result: ResultFolder) -> list[int]:
    """Where a note finds readers; of a result in which nothing was started, the launches that were planned."""
    planned = result.launches()
    return [number for number in planned if result.records_path(number).exists()] or planned


def note_once(notes: Iterable[Note], session: Session, launch: int | None = None) -> None:
    """As warnings among the events of ``launch``, else of the last one, however often the run is gone on with."""
    launches = launches_with_records(session.result)
    if not launches:
        return
    known = {event.text for file in session.result.read_records() for event in file.events}
    for note in notes:
        if note.text not in known:
            session.note(launches[-1] if launch is None else launch, "warning", note.code, note.text, note.advice)
