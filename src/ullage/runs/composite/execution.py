# SPDX-License-Identifier: Apache-2.0
"""Run the parts one after the other, or go on with those that are not complete. One that fails does not stop others."""

import time
from collections.abc import Callable

from ullage.errors import EXIT_ABORTED, EXIT_OK, UserError
from ullage.model.parts import PartOutcome
from ullage.results.folder import ResultFolder
from ullage.runs.composite.prepare import PreparedParts, ReadyPart, prepare_own
from ullage.runs.lifecycle import freeze_system
from ullage.runs.session import Session
from ullage.runs.summary import build_summary


def execute(prepared: PreparedParts, session: Session, now: Callable[[], float] = time.monotonic) -> int:
    """The worst exit code of all parts. ``now``: a clock in s."""
    outcomes = {outcome.suite: outcome for outcome in session.result.read_outcomes()}
    for number, part in enumerate(prepared.parts, start=1):
        if (known := outcomes.get(part.suite)) is not None and known.began and known.code == EXIT_OK:
            continue
        session.progress.say(f"part {number} of {len(prepared.parts)}: {part.suite}")
        inner = session.within(session.result.part(part.suite))
        outcome = _measure(part, inner, now)
        outcomes[part.suite] = outcome
        session.result.write_outcomes(list(outcomes.values()))
        session.messages += [f"{part.suite}: {message}" for message in inner.messages]
        if inner.was_stopped:
            session.was_stopped = True
            return EXIT_ABORTED
    return max((outcome.code for outcome in outcomes.values()), default=EXIT_OK)


def _measure(part: ReadyPart, session: Session, now: Callable[[], float]) -> PartOutcome:
    ready = _begun(part, session)
    if ready.prepared is None or ready.request is None:
        code = EXIT_OK if ready.refusal is None else ready.refusal.code
        return PartOutcome(suite=part.suite, code=code, began=False, reason=ready.reason)
    began = now()
    try:
        _open(session.result, ready)
        freeze_system(session.result, ready.request, session.engine_context)
        code, reason = ready.prepared.run(session), ""
    except UserError as error:
        # What a suite finds out only by measuring, such as a disk without the room for what it chose.
        code, reason = error.code, str(error)
    _conclude(session.result)
    reasons = [*([reason] if reason else []), *session.messages]
    return PartOutcome(suite=part.suite, code=code, began=True, seconds=now() - began, reason="; ".join(reasons))


def _begun(part: ReadyPart, session: Session) -> ReadyPart:
    """What was settled in an earlier beginning of this part stays settled."""
    if not (session.result.path / "request.json").is_file():
        return part
    return prepare_own(session.result.read_request(), session.engine_context)


def _open(result: ResultFolder, part: ReadyPart) -> None:
    if part.prepared is not None and not (result.path / "request.json").is_file():
        ResultFolder.create(result.path, part.prepared.request)


def _conclude(result: ResultFolder) -> None:
    """So that a part is a whole result by itself. Without any record there is nothing to say."""
    try:
        result.write_summary(build_summary(result))
    except UserError:
        return
