# SPDX-License-Identifier: Apache-2.0
"""A run made of others that was checked against engine and machine. A part that is refused does not stop the others."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ullage.errors import EXIT_ENVIRONMENT, UserError
from ullage.model.plan import Plan
from ullage.model.request import Request
from ullage.results.folder import ResultFolder
from ullage.runs.composite.options import PartRequest, PartsOptions
from ullage.runs.options.reading import read_options
from ullage.runs.session import Session
from ullage.runs.suite import EngineContext, Explanation, Prepared, find_suite

_LONGEST_ID: Final = 64
_RECHECK: Final = "recheck"


@dataclass(frozen=True)
class ReadyPart:
    """``prepared``: None where engine, machine or the words of it refuse; ``refusal`` then says why."""

    suite: str
    request: Request | None
    prepared: Prepared | None
    refusal: UserError | None = None

    @property
    def reason(self) -> str:
        """Of a part that is not available."""
        return "" if self.refusal is None else str(self.refusal)


@dataclass(frozen=True)
class PreparedParts:
    """See ``Prepared``."""

    request: Request
    engine_context: EngineContext
    parts: Sequence[ReadyPart]

    @property
    def unsettled(self) -> str:
        """See ``Prepared``."""
        commands = (f"`ullage run {part.suite} --launcher script`" for part in self.parts if part.prepared is not None)
        return f"each part its own: {', '.join(commands)}"

    def explain(self) -> Explanation:
        """See ``Prepared``."""
        found = [(part.suite, part.prepared.explain()) for part in self.parts if part.prepared is not None]
        missing = [f"Not available: {part.suite}: {part.reason}." for part in self.parts if part.prepared is None]
        return Explanation([f"{len(found)} parts, one after the other."], [], [], missing, found)

    def plans(self, result: ResultFolder) -> list[Plan]:
        """See ``Prepared``: those of all parts, whose records lie in the results of the parts."""
        prepared = [(part.suite, part.prepared) for part in self.parts if part.prepared is not None]
        return [plan for suite, part in prepared for plan in part.plans(result.part(suite))]

    def run(self, session: Session) -> int:
        """See ``Prepared``."""
        from ullage.runs.composite.execution import execute

        return execute(self, session)


def prepare_parts(request: Request, engine_context: EngineContext) -> PreparedParts:
    """``UserError`` only where no part can be had at all: the first one's."""
    if _RECHECK in request.options:
        raise UserError("is of one suite", "--recheck", "name the result of a part, such as RESULT/parts/sweep")
    options = read_options(PartsOptions, request)
    parts = [prepare_part(part, request, engine_context) for part in options.parts]
    if all(part.prepared is None for part in parts):
        right = "; ".join(f"{part.suite}: {part.reason}" for part in parts) or "this engine has none of its workloads"
        raise UserError("no part of it can be run here", request.suite, right, EXIT_ENVIRONMENT)
    return PreparedParts(request, engine_context, parts)


def prepare_part(part: PartRequest, request: Request, engine_context: EngineContext) -> ReadyPart:
    """A part with a fresh request of its own."""
    if part.why_not:
        return ReadyPart(part.suite, None, None, UserError(part.why_not, code=0))
    own = Request(
        run_id=part_run_id(request.run_id, part.suite),
        suite=part.suite,
        created=request.created,
        command=request.command,
        targets=part.targets,
        options=part.options,
        versions=request.versions,
    )
    return prepare_own(own, engine_context)


def prepare_own(request: Request, engine_context: EngineContext) -> ReadyPart:
    """A part by its own request, also that of an earlier beginning of it."""
    try:
        return ReadyPart(request.suite, request, find_suite(request.suite).prepare(request, engine_context))
    except UserError as error:
        return ReadyPart(request.suite, request, None, error)


def part_run_id(run_id: str, suite: str) -> str:
    """Each part has its own run folder at a target."""
    end = f".{suite}"
    return run_id[: _LONGEST_ID - len(end)] + end
