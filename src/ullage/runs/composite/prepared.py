# SPDX-License-Identifier: Apache-2.0
"""A run made of others that was checked against engine and machine. A part that is refused does not stop the others.

The parts run one after the other; a run that is gone on with makes those that are not complete.
"""

import contextlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from ullage.errors import EXIT_ABORTED, EXIT_ENVIRONMENT, EXIT_OK, NotInThisEngineError, UserError
from ullage.model.plan import Plan
from ullage.model.request import Request
from ullage.model.summary import PartOutcome
from ullage.quantity import listing
from ullage.results.folder import ResultFolder
from ullage.runs.composite.options import PartRequest, PartsOptions
from ullage.runs.composite.steps import Step, seconds_for, steps_of
from ullage.runs.composite.summarise import Build
from ullage.runs.execution import Deadline
from ullage.runs.inputs import EngineContext
from ullage.runs.jobtime import Work, joined
from ullage.runs.options.reading import read_options
from ullage.runs.room import freeze_system
from ullage.runs.session import Session
from ullage.runs.suite import Explanation, Prepared, find_suite
from ullage.units import format_time

_LONGEST_ID: Final = 64
# When the time of the whole is over, a launch has so long to end by itself.
_GRACE_S: Final = 15.0


@dataclass(frozen=True)
class ReadyPart:
    """A part that is prepared, or why it is not.

    ``prepared``: None where engine, machine or the words of it refuse; ``refusal`` then says why.
    """

    suite: str
    request: Request | None
    prepared: Prepared | None
    refusal: UserError | None = None

    @property
    def reason(self) -> str:
        """Why a part is not available; empty where it is."""
        return "" if self.refusal is None else str(self.refusal)


@dataclass(frozen=True)
class PreparedParts:
    """See ``Prepared``. ``build`` makes the summary of a part."""

    request: Request
    engine_context: EngineContext
    parts: Sequence[ReadyPart]
    build: Build

    @property
    def unsettled(self) -> str:
        commands = (f"`ullage run {part.suite} --launcher script`" for part in self.parts if part.prepared is not None)
        return f"each part its own: {', '.join(commands)}"

    def explain(self) -> Explanation:
        found = [(part.suite, part.prepared.explain()) for part in self.parts if part.prepared is not None]
        head = [f"{len(found)} parts, one after the other.", *self._where()]
        missing = [f"Not available: {part.suite}: {part.reason}." for part in self.parts if part.prepared is None]
        return Explanation(head, [], [], missing, found)

    def work(self) -> Work:
        return joined([(part.suite, part.prepared) for part in self.parts if part.prepared is not None])

    def _where(self) -> list[str]:
        """Return lines on which parts all named hosts are for, and which measure this node."""
        if not self.request.hosts:
            return []
        ready = [part for part in self.parts if part.request is not None]
        far = [part.suite for part in ready if part.request is not None and part.request.hosts]
        near = [part.suite for part in ready if part.suite not in far]
        between = [f"Between the hosts {listing(self.request.hosts)}: {listing(far)}."] if far else []
        return [*between, *([f"On this node alone: {listing(near, len(near))}."] if near else [])]

    def plans(self, result: ResultFolder) -> list[Plan]:
        """See ``Prepared``: those of all parts, whose records lie in the results of the parts."""
        prepared = [(part.suite, part.prepared) for part in self.parts if part.prepared is not None]
        return [plan for suite, part in prepared for plan in part.plans(result.part(suite))]

    def run(self, session: Session, now: Callable[[], float] = time.monotonic) -> int:
        """Run the parts in turn, without those that ended well before; return the worst exit code of all.

        The parts share the time of the session or, unless the run is gone on with, of the request: first those that
        stand for a part of the machine, then the others, as far as they fit. ``now``: a clock in s.
        """
        outcomes = {outcome.suite: outcome for outcome in session.result.read_outcomes()}
        # Whoever goes on with a run, and says nothing of time, wants all that is left.
        asked_s = None if session.result.parts() else self.request.options.get("time_s")
        limit_s = asked_s if session.seconds is None else session.seconds
        deadline = Deadline(now() + limit_s, now) if isinstance(limit_s, (int, float)) else None
        if deadline is not None:
            session.progress.whole(deadline.left_s)
        parts = {
            part.suite: part
            for part in self.parts
            if not ((known := outcomes.get(part.suite)) and known.began and known.code == EXIT_OK and not known.lacks)
        }
        steps = [
            step
            for name, part in parts.items()
            for step in steps_of(name, part.prepared, part.request, session.result.part(name))
        ]
        steps.sort(key=lambda step: not step.is_headline)
        spent_s = dict.fromkeys(parts, 0.0)
        if self.request.hosts and steps:
            # A host that refuses ends the run before the other parts have taken their time.
            session.try_hosts(1, max((plan.layout.nodes or 1 for plan in self.plans(session.result)), default=1))
        for index, step in enumerate(steps):
            part = parts[step.suite]
            session.progress.part(f"part {index + 1} of {len(steps)}: {step.text}")
            seconds = None if deadline is None else seconds_for(steps[index:], deadline)
            if deadline is not None and seconds is None and part.prepared is not None:
                outcome = _left_out(step, deadline, outcomes.get(step.suite))
                session.progress.say(f"{step.suite}: {outcome.reason}")
            else:
                inner = _inner(session, part, step, seconds, deadline)
                outcome = _measure(part, inner, self.build, now, before_s=spent_s[step.suite])
                spent_s[step.suite] = outcome.seconds
                session.was_stopped = inner.was_stopped
            outcomes[part.suite] = outcome
            if session.was_stopped or all(later.suite != step.suite for later in steps[index + 1 :]):
                session.result.write_outcomes(list(outcomes.values()))
                if outcome.reason and (outcome.began or outcome.code != EXIT_OK):
                    session.messages.append(f"{part.suite}: {outcome.reason}")
            if session.was_stopped:
                return EXIT_ABORTED
        return max((outcome.code for outcome in outcomes.values()), default=EXIT_OK)


def prepare_parts(request: Request, engine_context: EngineContext, build: Build) -> PreparedParts:
    """Prepare the parts; raise ``UserError`` only where none can be had at all.

    ``build`` makes the summary of a part.
    """
    if "recheck" in request.options:
        raise UserError(
            "applies to a single suite", "--recheck", "name the result of a part, such as RESULT/parts/sweep"
        )
    options = read_options(PartsOptions, request)
    parts = [prepare_part(part, request, engine_context) for part in options.parts]
    if all(part.prepared is None for part in parts):
        right = "; ".join(f"{part.suite}: {part.reason}" for part in parts) or "this engine has none of its workloads"
        raise UserError("no part of the suite can run here", request.suite, right, EXIT_ENVIRONMENT)
    return PreparedParts(request, engine_context, parts, build)


def prepare_part(part: PartRequest, request: Request, engine_context: EngineContext) -> ReadyPart:
    """Prepare a part with a fresh request of its own, unless its ``why_not`` says why it cannot run."""
    if part.why_not:
        return ReadyPart(part.suite, None, None, UserError(part.why_not, code=0))
    own = Request(
        run_id=part_run_id(request.run_id, part.suite),
        suite=part.suite,
        created=request.created,
        command=request.command,
        targets=part.targets,
        hosts=request.hosts if part.on_hosts else [],
        options=part.options,
        versions=request.versions,
    )
    return prepare_own(own, engine_context)


def prepare_own(request: Request, engine_context: EngineContext) -> ReadyPart:
    """Prepare a part by its own request, also that of an earlier beginning of it; keep why it is refused.

    What the engine was built without is no failure of the run.
    """
    try:
        return ReadyPart(request.suite, request, find_suite(request.suite).prepare(request, engine_context))
    except NotInThisEngineError as error:
        return ReadyPart(request.suite, None, None, UserError(str(error), code=EXIT_OK))
    except UserError as error:
        return ReadyPart(request.suite, request, None, error)


def part_run_id(run_id: str, suite: str) -> str:
    """Return the run id of a part, since each has its own run folder at a target."""
    end = f".{suite}"
    return run_id[: _LONGEST_ID - len(end)] + end


def is_part_of(run_id: str, whole: str) -> bool:
    """Tell whether ``run_id`` is that of a part of the run ``whole``."""
    name, dot, _ = run_id.rpartition(".")
    return bool(dot and name) and whole.startswith(name)


def _inner(session: Session, part: ReadyPart, step: Step, seconds: float | None, deadline: Deadline | None) -> Session:
    """Return the session of a step, whose launches are gone soon after the whole run has to end."""
    has_hosts = part.request is not None and bool(part.request.hosts)
    inner = session.within(
        session.result.part(part.suite),
        None if step.is_fixed else seconds,
        on_this_node=not has_hosts,
        ends_at=None if deadline is None else time.monotonic() + max(0.0, deadline.left_s) + _GRACE_S,
    )
    inner.needed = step.needed
    return inner


def _left_out(step: Step, deadline: Deadline, known: PartOutcome | None) -> PartOutcome:
    """Return what comes of a step that does not fit. ``known``: of the part's headlines, where these were measured."""
    needs, left = format_time(round(step.needs_s)), format_time(round(max(0.0, deadline.left_s)))
    why = f"left out: it takes about {needs}, and {left} of the time were left; give more --time"
    outcome = known or PartOutcome(suite=step.suite, code=EXIT_OK, began=False)
    return outcome.model_copy(update={"reason": why, "lacks": True})


def _measure(
    part: ReadyPart, session: Session, build: Build, now: Callable[[], float], *, before_s: float = 0.0
) -> PartOutcome:
    """Measure a part as it was begun earlier, if it was: what was settled then stays settled.

    ``before_s``: what an earlier step of it has taken.
    """
    result = session.result
    is_begun = (result.path / "request.json").is_file()
    ready = prepare_own(result.read_request(), session.engine_context) if is_begun else part
    if ready.prepared is None or ready.request is None:
        code = EXIT_OK if ready.refusal is None else ready.refusal.code
        return PartOutcome(suite=part.suite, code=code, began=False, reason=ready.reason)
    began = now()
    try:
        if not is_begun:
            ResultFolder.create(result.path, ready.prepared.request)
        freeze_system(result, ready.request, session.engine_context)
        code, reason = ready.prepared.run(session), ""
    except UserError as error:
        # A suite finds some faults only by measuring, such as a disk without the room for what it chose.
        code, reason = error.code, str(error)
    # With a summary a part is a whole result by itself. Without any record there is none.
    with contextlib.suppress(UserError):
        result.write_summary(build(result))
    reasons = [*([reason] if reason else []), *session.messages]
    return PartOutcome(
        suite=part.suite, code=code, began=True, seconds=before_s + now() - began, reason="; ".join(reasons)
    )
