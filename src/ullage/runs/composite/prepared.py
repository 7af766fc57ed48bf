# SPDX-License-Identifier: Apache-2.0
"""A run made of others that was checked against engine and machine. A part that is refused does not stop the others.

The parts run one after the other; a run that is gone on with makes those that are not complete.
"""

import contextlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from ullage.errors import EXIT_ABORTED, EXIT_ENVIRONMENT, EXIT_OK, UserError
from ullage.model.plan import Plan
from ullage.model.request import Request
from ullage.model.summary import PartOutcome
from ullage.quantity import listing
from ullage.results.folder import ResultFolder
from ullage.runs.composite.options import PartRequest, PartsOptions
from ullage.runs.composite.summarise import Build
from ullage.runs.execution import Deadline, share_out
from ullage.runs.inputs import EngineContext
from ullage.runs.jobtime import Costed, Work, joined
from ullage.runs.options.reading import read_options
from ullage.runs.room import freeze_system
from ullage.runs.session import Session
from ullage.runs.suite import Explanation, Prepared, find_suite

_LONGEST_ID: Final = 64
_RECHECK: Final = "recheck"
# A part that says neither how long it may take nor how long it takes counts as one of so many seconds.
_ASSUMED_S: Final = 30.0


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
        """See ``Prepared``."""
        commands = (f"`ullage run {part.suite} --launcher script`" for part in self.parts if part.prepared is not None)
        return f"each part its own: {', '.join(commands)}"

    def explain(self) -> Explanation:
        """See ``Prepared``."""
        found = [(part.suite, part.prepared.explain()) for part in self.parts if part.prepared is not None]
        head = [f"{len(found)} parts, one after the other.", *self._where()]
        missing = [f"Not available: {part.suite}: {part.reason}." for part in self.parts if part.prepared is None]
        return Explanation(head, [], [], missing, found)

    def work(self) -> Work:
        """See ``Costed``."""
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

    def run(self, session: Session) -> int:
        """See ``Prepared``."""
        return execute(self, session)


def prepare_parts(request: Request, engine_context: EngineContext, build: Build) -> PreparedParts:
    """Prepare the parts; raise ``UserError`` only where none can be had at all.

    ``build`` makes the summary of a part.
    """
    if _RECHECK in request.options:
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
    """Prepare a part by its own request, also that of an earlier beginning of it; keep why it is refused."""
    try:
        return ReadyPart(request.suite, request, find_suite(request.suite).prepare(request, engine_context))
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


def execute(prepared: PreparedParts, session: Session, now: Callable[[], float] = time.monotonic) -> int:
    """Run the parts in turn, without those that ended well before; return the worst exit code of all.

    The parts share the time of the session, where it has one. ``now``: a clock in s.
    """
    outcomes = {outcome.suite: outcome for outcome in session.result.read_outcomes()}
    deadline = None if session.seconds is None else Deadline(now() + session.seconds, now)
    to_do = [
        part
        for part in prepared.parts
        if not ((known := outcomes.get(part.suite)) and known.began and known.code == EXIT_OK)
    ]
    weights_s = [] if deadline is None else [_weight_s(part) for part in to_do]
    for index, part in enumerate(to_do):
        number = prepared.parts.index(part) + 1
        session.progress.part(f"part {number} of {len(prepared.parts)}: {part.suite}")
        has_hosts = part.request is not None and bool(part.request.hosts)
        seconds = None if deadline is None else share_out(deadline.left_s, weights_s[index:])
        inner = session.within(session.result.part(part.suite), seconds, on_this_node=not has_hosts)
        outcome = _measure(part, inner, prepared.build, now)
        outcomes[part.suite] = outcome
        session.result.write_outcomes(list(outcomes.values()))
        if outcome.reason and (outcome.began or outcome.code != EXIT_OK):
            session.messages.append(f"{part.suite}: {outcome.reason}")
        if inner.was_stopped:
            session.was_stopped = True
            return EXIT_ABORTED
    return max((outcome.code for outcome in outcomes.values()), default=EXIT_OK)


def _weight_s(part: ReadyPart) -> float:
    """Return how long the part would take by itself, in s: its limit, else its minimum, else an assumed time."""
    if part.prepared is None or part.request is None:
        return 0.0
    limit_s = part.request.options.get("time_s")
    if isinstance(limit_s, (int, float)):
        return float(limit_s)
    if not isinstance(part.prepared, Costed):
        return _ASSUMED_S
    return sum(case.all_s for launch in part.prepared.work().launches for case in launch)


def _measure(part: ReadyPart, session: Session, build: Build, now: Callable[[], float]) -> PartOutcome:
    """Measure a part as it was begun earlier, if it was: what was settled then stays settled."""
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
    return PartOutcome(suite=part.suite, code=code, began=True, seconds=now() - began, reason="; ".join(reasons))
