# SPDX-License-Identifier: Apache-2.0
"""The run on one node: what ``ullage run`` does there, told by lines when to begin and when to end.

A member and the run it belongs to talk through the launcher that has started it. A member writes lines of JSON after a
mark, since launchers and libraries write to the same stream. It reads ``go STAGE``. The end of its input asks it to
end: nobody has to be on its node for that, and nothing has to be polled.
"""

import contextlib
import json
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, MutableMapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal, TextIO, TypeAlias, cast

from pydantic import Field, TypeAdapter, ValidationError

from ullage.errors import EXIT_ABORTED, EXIT_ENVIRONMENT, EXIT_OK, UserError
from ullage.model.base import Strict
from ullage.model.request import Request
from ullage.model.summary import Summary
from ullage.results.folder import ResultFolder
from ullage.runs.progress import Progress

if TYPE_CHECKING:
    from ullage.runs.session import Session
    from ullage.runs.suite import Prepared

MARK: Final = "ullage-member "
GO: Final = "go "
START: Final = "start"
"""The first stage: the member has checked all it was asked for, and has measured nothing."""


BEAT_S: Final = 15.0
SILENCE_S: Final = 120.0
"""A member that says nothing for this time counts as lost."""


class StageReached(Strict):
    """It waits for the others."""

    kind: Literal["at"] = "at"
    stage: str


class Alive(Strict):
    """It is there; said every ``BEAT_S``, so that a node that is gone is missed."""

    kind: Literal["alive"] = "alive"


class Printed(Strict):
    """A line for people."""

    kind: Literal["said"] = "said"
    text: str


class NextWork(Strict):
    """What it does next, for about so many seconds."""

    kind: Literal["doing"] = "doing"
    text: str
    left_s: float


class Refused(Strict):
    """It cannot measure what it was asked for, and has not begun."""

    kind: Literal["refused"] = "refused"
    text: str
    code: int


class Ended(Strict):
    """It has ended. ``code``: that of ``ullage run``."""

    kind: Literal["ended"] = "ended"
    code: int
    messages: list[str]


MemberMessage: TypeAlias = Annotated[
    StageReached | Alive | Printed | NextWork | Refused | Ended, Field(discriminator="kind")
]
_WORD: Final[TypeAdapter[MemberMessage]] = TypeAdapter(MemberMessage)


def line_of(word: MemberMessage) -> str:
    """Return the line that says ``word``."""
    return f"{MARK}{json.dumps(word.model_dump(mode='json'))}\n"


def message_of(line: str) -> MemberMessage | None:
    """Return what a line says; None for one of somebody else, or a damaged one."""
    _, mark, text = line.partition(MARK)
    if not mark:
        return None
    try:
        return _WORD.validate_json(text)
    except ValidationError:
        return None


Build: TypeAlias = Callable[[ResultFolder], Summary]
# Inside, a node is a machine by itself: nothing is left that would make an MPI or us part of a job, or of the launcher
# that has started us.
_OF_JOBS: Final = (
    "SLURM_",
    "PBS_",
    "LSB_",
    "LSF_",
    "FLUX_",
    "COBALT_",
    "PMI_",
    "PMIX_",
    "PALS_",
    "ALPS_",
    "JSM_",
    "HYDI_",
    "PRTE_",
)
# These begin the names of settings, too, which people make; those are named to us.
_OF_MPI: Final = ("OMPI_", "HYDRA_", "MPIR_", "MPIEXEC_")
# By these Open MPI tells its ranks who they are.
_OF_RANKS: Final = ("OMPI_COMM_WORLD_", "OMPI_UNIVERSE_", "OMPI_MCA_orte_", "OMPI_MCA_ess", "OMPI_MCA_pmix")
_NAMES: Final = frozenset({"JOB_ID", "PMIX_RANK"})


def settings(environment: MutableMapping[str, str]) -> list[str]:
    """Return the names of the settings of MPI that people have made, for the members."""
    return sorted(name for name in environment if name.startswith(_OF_MPI) and not name.startswith(_OF_RANKS))


def leave_job(environment: MutableMapping[str, str], kept: list[str]) -> None:
    """Remove from ``environment`` what makes us part of a job; ``kept``: settings of MPI that stay."""
    for name in list(environment):
        if name in _NAMES or name.startswith(_OF_JOBS) or (name.startswith(_OF_MPI) and name not in kept):
            del environment[name]


def localised(request: Request, host: str, index: int) -> Request:
    """Return ``request`` with {host} and {node} replaced in the places of all targets, also those of its parts."""
    words = {"{host}": host, "{node}": str(index)}
    return Request.model_validate(_replaced(request.model_dump(mode="json"), words))


def _replaced(value: object, words: dict[str, str], key: str = "") -> object:
    if isinstance(value, dict):
        return {name: _replaced(item, words, name) for name, item in cast("dict[str, object]", value).items()}
    if isinstance(value, list):
        return [_replaced(item, words, key) for item in cast("list[object]", value)]
    if isinstance(value, str) and key == "uri":
        for word, text in words.items():
            value = value.replace(word, text)
    return value


class Line(Progress):
    """The line to the run that we are a member of; also the ``Meeting`` of a session, and its ``Progress``.

    Records are in the result; the run looks at none of them.

    The end of ``heard`` asks this process to end, once.
    """

    def __init__(self, told: TextIO, heard: TextIO) -> None:
        self._told, self._heard = told, heard
        self._stages: set[str] = set()
        self._news = threading.Condition()
        self._telling = threading.Lock()
        self._is_over = False

    def listen(self) -> None:
        """Hear from now on, and say now and then that we are there, in threads of their own."""
        for act in (self._listen, self._beat):
            threading.Thread(target=act, daemon=True).start()

    def _beat(self) -> None:
        while not self._is_over:
            time.sleep(BEAT_S)
            self.tell(Alive())

    def _listen(self) -> None:
        for line in self._heard:
            if line.startswith(GO):
                with self._news:
                    self._stages.add(line.removeprefix(GO).strip())
                    self._news.notify_all()
        if not self._is_over:
            os.kill(os.getpid(), signal.SIGTERM)

    def tell(self, word: MemberMessage) -> None:
        """Say ``word``."""
        # Whoever listened may be gone, and has then asked us to end.
        with self._telling, contextlib.suppress(OSError):
            self._told.write(line_of(word))
            self._told.flush()

    def end(self, word: MemberMessage) -> None:
        """Say the last word."""
        self._is_over = True
        self.tell(word)

    def await_others(self, stage: str) -> None:
        self.tell(StageReached(stage=stage))
        with self._news:
            # A wait without a limit would not be interrupted by signals in time.
            while stage not in self._stages:
                self._news.wait(0.5)

    def part(self, text: str) -> None:
        self.tell(NextWork(text=text, left_s=0.0))

    def stage(self, text: str, repetitions: int, left_s: float) -> None:  # noqa: ARG002 - how many follows from the time
        self.tell(NextWork(text=text, left_s=max(0.0, left_s)))

    def say(self, text: str) -> None:
        self.tell(Printed(text=text))


def measure_here(folder: Path, engine: Path, launcher: str, index: int, build: Build) -> int:
    """Measure what the request in ``folder`` asks for on this node, and return the exit code.

    ``index``: the number of this node among those of the run, from 0. ``build`` makes the summary.
    """
    line = Line(sys.stdout, sys.stdin)
    line.listen()
    result = ResultFolder(folder)
    try:
        prepared, session = _prepare(result, engine, launcher, index, line)
    except UserError as error:
        line.end(Refused(text=str(error), code=error.code))
        return error.code
    try:
        code, messages = _run(prepared, session, line, build)
    except KeyboardInterrupt:
        code, messages = EXIT_ABORTED, ["interrupted"]
    except UserError as error:
        code, messages = error.code, [str(error)]
    line.end(Ended(code=code, messages=messages))
    return code


def _prepare(result: ResultFolder, engine: Path, launcher: str, index: int, line: Line) -> "tuple[Prepared, Session]":
    from ullage.runs.inputs import EngineContext
    from ullage.runs.lifecycle import launcher_for
    from ullage.runs.session import Session
    from ullage.runs.suite import find_suite

    context = EngineContext.of(engine)
    request = localised(result.read_request(), socket.gethostname(), index)
    prepared = find_suite(request.suite).prepare(request, context)
    result.write_request(prepared.request)
    chosen = launcher_for(context, launcher)
    session = Session(result, context, chosen, line)
    session.meeting = line
    return prepared, session


def _run(prepared: "Prepared", session: "Session", line: Line, build: Build) -> tuple[int, list[str]]:
    """Run from the common start to the summary; return the exit code and why it is not 0."""
    from ullage.runs.lifecycle import run_to_end
    from ullage.runs.room import freeze_system
    from ullage.runs.session import terminable

    # Nobody else measures into it: the run that we are a member of holds the lock of the whole result.
    freeze_system(session.result, prepared.request, session.engine_context)
    with terminable():
        line.await_others(START)
    code = run_to_end(prepared, session)
    try:
        session.result.write_summary(build(session.result))
    except UserError as error:
        if code == EXIT_OK:
            return EXIT_ENVIRONMENT, [*session.messages, str(error)]
    return code, session.messages
