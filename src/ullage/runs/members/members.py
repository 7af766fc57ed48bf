# SPDX-License-Identifier: Apache-2.0
"""Start the members, let them begin together, hear them, and end them when asked. Nothing of it takes a core's time."""

import contextlib
import os
import selectors
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Final

from ullage.errors import EXIT_ABORTED, EXIT_ENVIRONMENT, UserError
from ullage.launch.base import Launcher
from ullage.model.plan import Layout
from ullage.processes.supervised import Ending, Supervised
from ullage.reading import end_of
from ullage.results.folder import ResultFolder
from ullage.results.start_errors import telling_lines
from ullage.runs.members.member import settings
from ullage.runs.members.protocol import (
    GO,
    SILENCE_S,
    START,
    Alive,
    Ended,
    MemberMessage,
    NextWork,
    Printed,
    Refused,
    StageReached,
    message_of,
)
from ullage.runs.progress import Progress

_START_PATIENCE_S: Final = 300.0
_STOP_GRACE_S: Final = 45.0
_POLL_S: Final = 0.5
_CHUNK: Final = 1 << 16
_MOST_SAYING: Final = 8


@dataclass(frozen=True)
class MemberSpec:
    """A node to measure. ``index``: its number among all nodes of the run; ``part``: the result that it makes."""

    name: str
    index: int
    part: ResultFolder
    stderr: Path


@dataclass(frozen=True)
class Starter:
    """What all members are started with. ``launcher``: as people named it, for the ranks on each node."""

    launcher: Launcher
    engine: Path
    named: str

    def command(self, spec: MemberSpec) -> list[str]:
        """Return the words that start a member on its node."""
        own = [sys.executable, *_program(), "member", str(spec.part.path), "--engine", str(self.engine)]
        more = ["--launcher", self.named, "--index", str(spec.index), "--keep", ",".join(settings(os.environ))]
        return self.launcher.on_host(spec.name, [*own, *more])

    def environment(self) -> dict[str, str]:
        """Return what the launcher itself needs, with what the user has set."""
        # With more than one node an MPI looks for the others beyond this one.
        nodes = min(2, len(self.launcher.hosts.names) or 2)
        return {**self.launcher.environment(Layout(ranks=nodes, nodes=nodes)), **os.environ}


def _program() -> list[str]:
    """Return the words after the interpreter that run this program again, however it was started."""
    script = Path(sys.argv[0])
    return [str(script.absolute())] if script.suffix == ".py" and script.name != "__main__.py" else ["-m", "ullage"]


@dataclass
class Member:
    """A member under way. ``code`` is None until it has ended; ``why``: of a node that was lost."""

    spec: MemberSpec
    process: Supervised
    began: float
    code: int | None = None
    messages: list[str] = field(default_factory=list[str])
    refused: UserError | None = None
    ended: float = 0.0
    heard: float = 0.0
    rest: bytes = b""

    @property
    def is_running(self) -> bool:
        """Whether it has not said its last word, and its launcher is there."""
        return self.code is None

    def let_go(self, stage: str) -> None:
        """Let it go on at ``stage``."""
        with contextlib.suppress(OSError, ValueError):
            _stdin(self.process).write(f"{GO}{stage}\n".encode())
            _stdin(self.process).flush()

    def ask_to_end(self) -> None:
        """Ask it to end after what it does just now."""
        with contextlib.suppress(OSError, ValueError):
            _stdin(self.process).close()


def _stdin(process: Supervised) -> IO[bytes]:
    stream = process.process.stdin
    assert stream is not None  # noqa: S101 - it was asked for
    return stream


class Members:
    """All members of a run, from their start to their end."""

    def __init__(self, starter: Starter, progress: Progress, caught: Sequence[int]) -> None:
        self._starter, self._progress, self._caught = starter, progress, caught
        self.members: list[Member] = []
        self._selector = selectors.DefaultSelector()
        self._stages: Stages | None = None
        self._asked_at = 0.0
        self._has_begun = False

    def measure(self, specs: Sequence[MemberSpec]) -> list[Member]:
        """Measure on all nodes, and return how each ended. Raise ``UserError`` where one refuses what is asked."""
        self._stages = Stages([spec.name for spec in specs], _START_PATIENCE_S)
        try:
            for spec in specs:
                self._start(spec)
            while any(member.is_running for member in self.members):
                self._turn()
            return self.members
        finally:
            for member in self.members:
                member.process.kill()
            self._selector.close()

    def _start(self, spec: MemberSpec) -> None:
        spec.stderr.parent.mkdir(parents=True, exist_ok=True)
        command = self._starter.command(spec)
        with spec.stderr.open("ab") as stderr:
            try:
                process = Supervised.start(
                    command,
                    Ending(grace_s=_STOP_GRACE_S),
                    environment=self._starter.environment(),
                    into=subprocess.PIPE,
                    out=subprocess.PIPE,
                    err=stderr,
                )
            except OSError as error:
                what = f"the launcher cannot be started: {error.strerror}"
                raise UserError(what, command[0], "name another with --launcher", EXIT_ENVIRONMENT) from error
        member = Member(spec, process, time.monotonic())
        self.members.append(member)
        stream = process.process.stdout
        assert stream is not None  # noqa: S101 - it was asked for
        os.set_blocking(stream.fileno(), False)
        self._selector.register(stream, selectors.EVENT_READ, member)

    def _turn(self) -> None:
        for key, _ in self._selector.select(_POLL_S):
            self._read(key.data)
        now = time.monotonic()
        self._check_refusals()
        self._miss(now)
        if self._caught:
            self._ask(now)
        elif self._stages is not None:
            for name, stage in self._stages.released(now):
                self._has_begun = self._has_begun or stage == START
                self._member(name).let_go(stage)

    def _miss(self, now: float) -> None:
        """Give up members that say nothing any more, or have said nothing at all."""
        for member in self.members:
            limit_s = SILENCE_S if member.heard else _START_PATIENCE_S
            if member.is_running and now - (member.heard or member.began) > limit_s:
                self._lost(member, f"it said nothing for {limit_s:g} s")

    def _read(self, member: Member) -> None:
        stream = member.process.process.stdout
        data = b"" if stream is None else os.read(stream.fileno(), _CHUNK)
        if not data:
            if stream is not None:
                self._selector.unregister(stream)
            self._lost(member)
            return
        *lines, member.rest = (member.rest + data).split(b"\n")
        for line in lines:
            word = message_of(line.decode("utf-8", "replace"))
            if word is not None:
                self._hear(member, word)

    def _hear(self, member: Member, word: MemberMessage) -> None:
        member.heard = time.monotonic()
        match word:
            case Alive():
                pass
            case StageReached(stage=stage):
                if self._stages is not None:
                    self._stages.arrive(member.spec.name, stage, time.monotonic())
            case Printed(text=text):
                if len(self.members) <= _MOST_SAYING:
                    self._progress.say(f"{member.spec.name}: {text}")
            case NextWork(text=text, left_s=left_s):
                self._progress.stage(f"{self._count()}  {member.spec.name}: {text}", 0, left_s)
            case Refused(text=text, code=code):
                member.refused = UserError(text, member.spec.name, code=code)
                self._leave(member, code, [text])
            case Ended(code=code, messages=messages):
                self._leave(member, code, messages)

    def _count(self) -> str:
        running = sum(member.is_running for member in self.members)
        return f"{running} of {len(self.members)} nodes"

    def _leave(self, member: Member, code: int, messages: list[str]) -> None:
        member.code, member.messages, member.ended = code, messages, time.monotonic()
        if self._stages is not None:
            self._stages.leave(member.spec.name)

    def _lost(self, member: Member, why: str = "") -> None:
        """Take note that nothing will be heard of a member any more. ``why``: else what its launcher has said."""
        if not member.is_running:
            return
        said = why or " / ".join(telling_lines(end_of(member.spec.stderr)))
        self._leave(member, EXIT_ABORTED, [f"the node was lost: {said}" if said else "the node was lost"])
        if not self._caught:
            self._progress.say(f"{member.spec.name}: {member.messages[0]}")

    def _check_refusals(self) -> None:
        """Raise what a node refuses, as long as none has begun."""
        refused = [member.refused for member in self.members if member.refused is not None]
        if refused and not self._has_begun:
            right = "nothing was measured; put it right on that node, or leave the node out"
            raise UserError(refused[0].what, refused[0].where, right, refused[0].code)

    def _ask(self, now: float) -> None:
        """Ask all to end, and after a second request or too long a time end them."""
        if not self._asked_at:
            self._asked_at = now
            for member in self.members:
                member.ask_to_end()
        if len(self._caught) > 1 or now - self._asked_at > _STOP_GRACE_S:
            for member in self.members:
                if member.is_running:
                    self._leave(member, EXIT_ABORTED, ["interrupted"])

    def _member(self, name: str) -> Member:
        return next(member for member in self.members if member.spec.name == name)


# -- where the members of a run meet -----------------------------------------------------------------------------------


class Stages:
    """All nodes of a run, and how far each is.

    A stage comes after all that were reached before it by anybody. Nodes wait ``patience_s`` for each other at most,
    from the arrival of the first.
    """

    def __init__(self, nodes: Iterable[str], patience_s: float) -> None:
        self._reached = dict.fromkeys(nodes, -1)
        self._waiting: dict[str, str] = {}
        self._order: list[str] = []
        self._first: dict[str, float] = {}
        self._patience_s = patience_s

    def arrive(self, node: str, stage: str, now: float) -> None:
        """Take note that ``node`` waits at ``stage``."""
        if stage not in self._order:
            self._order.append(stage)
        self._first.setdefault(stage, now)
        if node in self._reached:
            self._reached[node] = max(self._reached[node], self._order.index(stage))
            self._waiting[node] = stage

    def leave(self, node: str) -> None:
        """Take note that nobody waits for ``node`` any more."""
        self._reached.pop(node, None)
        self._waiting.pop(node, None)

    def released(self, now: float) -> list[tuple[str, str]]:
        """Return the nodes that may go on, each with its stage, and forget that they wait."""
        found = [(node, stage) for node, stage in self._waiting.items() if self._may_go(stage, now)]
        for node, _ in found:
            del self._waiting[node]
        return found

    def _may_go(self, stage: str, now: float) -> bool:
        place = self._order.index(stage)
        if now - self._first[stage] >= self._patience_s:
            return True
        return all(reached >= place for reached in self._reached.values())
