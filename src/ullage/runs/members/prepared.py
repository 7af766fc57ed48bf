# SPDX-License-Identifier: Apache-2.0
"""A run of every node by itself: start the members, let them begin together, hear them, and end them when asked.

Nothing of it takes a core's time.
"""

import contextlib
import os
import selectors
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Final

from ullage.errors import EXIT_ABORTED, EXIT_ENVIRONMENT, EXIT_OK, UserError
from ullage.launch.hosts import parse_hosts
from ullage.launch.stopping import stop_signals
from ullage.model.plan import Layout, Plan
from ullage.model.request import Request
from ullage.model.summary import PartOutcome
from ullage.processes.supervised import Supervised
from ullage.processes.supervisor import Ending
from ullage.quantity import listing, plural
from ullage.reading import end_of
from ullage.results.folder import ResultFolder
from ullage.results.start_errors import telling_lines
from ullage.runs.inputs import EngineContext
from ullage.runs.members.member import (
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
    settings,
)
from ullage.runs.nodes import SKIP_REFUSING, is_of_each_node, nodes_of, request_of_node, with_nodes
from ullage.runs.session import Session
from ullage.runs.suite import Explanation, Prepared, Suite
from ullage.system.allocation import allocation, node_names

_START_PATIENCE_S: Final = 300.0
_STOP_GRACE_S: Final = 45.0
_POLL_S: Final = 0.5
_CHUNK: Final = 1 << 16
_MOST_SAYING: Final = 8


def _program() -> list[str]:
    """Return the words after the interpreter that run this program again, however it was started."""
    script = Path(sys.argv[0])
    return [str(script.absolute())] if script.suffix == ".py" and script.name != "__main__.py" else ["-m", "ullage"]


@dataclass
class Member:
    """A member under way on the node ``name``. ``code`` is None until it has ended."""

    name: str
    stderr: Path
    process: Supervised
    began: float
    code: int | None = None
    messages: list[str] = field(default_factory=list[str])
    refused: UserError | None = None
    has_answered: bool = False
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
    """All members of a run, from their start to their end.

    ``named``: the launcher of the ranks on each node, as people named it. ``caught``: signals that ask for the end.
    ``skips``: the others go on without nodes that refuse.
    """

    def __init__(self, session: Session, named: str, caught: Sequence[int], *, skips: bool = False) -> None:
        self._session, self._named, self._caught, self._skips = session, named, caught, skips
        self._progress = session.progress
        self.members: list[Member] = []
        self._selector = selectors.DefaultSelector()
        self._stages = Stages([], _START_PATIENCE_S)
        self._asked_at = 0.0
        self._has_begun = False

    def measure(self, nodes: Mapping[int, str]) -> list[Member]:
        """Measure on all nodes, and return how each ended. Raise ``UserError`` where one refuses what is asked.

        ``nodes``: by their numbers among all nodes of the run.
        """
        self._stages = Stages(nodes.values(), _START_PATIENCE_S)
        try:
            for index, name in nodes.items():
                self._start(index, name)
            while any(member.is_running for member in self.members):
                self._turn()
            return self.members
        finally:
            for member in self.members:
                member.process.kill()
            self._selector.close()

    def _start(self, index: int, name: str) -> None:
        launcher, result = self._session.launcher, self._session.result
        stderr_path = result.path / "nodes" / f"{name}.stderr"
        stderr_path.parent.mkdir(parents=True, exist_ok=True)
        engine, kept = self._session.engine_context.engine, ",".join(settings(os.environ))
        own = [sys.executable, *_program(), "member", str(result.part(name).path), "--engine", str(engine)]
        more = ["--launcher", self._named, "--index", str(index), "--keep", kept]
        command = launcher.on_host(name, [*own, *more])
        # With more than one node an MPI looks for the others beyond this one.
        nodes = min(2, len(launcher.hosts.names) or 2)
        with stderr_path.open("ab") as stderr:
            try:
                process = Supervised.start(
                    command,
                    Ending(grace_s=_STOP_GRACE_S),
                    environment={**launcher.environment(Layout(ranks=nodes, nodes=nodes)), **os.environ},
                    into=subprocess.PIPE,
                    out=subprocess.PIPE,
                    err=stderr,
                )
            except OSError as error:
                what = f"the launcher cannot be started: {error.strerror}"
                raise UserError(what, command[0], "name another with --launcher", EXIT_ENVIRONMENT) from error
        member = Member(name, stderr_path, process, time.monotonic())
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
        else:
            by_name = {member.name: member for member in self.members}
            for name, stage in self._stages.released(now):
                self._has_begun = self._has_begun or stage == START
                by_name[name].let_go(stage)

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
                member.has_answered = True
                self._stages.arrive(member.name, stage, member.heard)
            case Printed(text=text):
                if len(self.members) <= _MOST_SAYING:
                    self._progress.say(f"{member.name}: {text}")
            case NextWork(text=text, left_s=left_s):
                count = f"{sum(one.is_running for one in self.members)} of {len(self.members)} nodes"
                self._progress.stage(f"{count}  {member.name}: {text}", 0, left_s)
            case Refused(text=text, code=code):
                member.refused = UserError(text, member.name, code=code)
                self._leave(member, code, [text])
            case Ended(code=code, messages=messages):
                self._leave(member, code, messages)

    def _leave(self, member: Member, code: int, messages: list[str]) -> None:
        member.code, member.messages, member.ended = code, messages, time.monotonic()
        self._stages.leave(member.name)

    def _lost(self, member: Member, why: str = "") -> None:
        """Take note that nothing will be heard of a member any more. ``why``: else what its launcher has said."""
        if not member.is_running:
            return
        said = why or " / ".join(telling_lines(end_of(member.stderr)))
        self._leave(member, EXIT_ABORTED, [f"the node was lost: {said}" if said else "the node was lost"])
        if not self._caught:
            self._progress.say(f"{member.name}: {member.messages[0]}")

    def _check_refusals(self) -> None:
        """Raise what all nodes refuse, once each has answered and as long as none has begun."""
        refused = [member.refused for member in self.members if member.refused is not None]
        if not refused or self._has_begun or any(one.is_running and not one.has_answered for one in self.members):
            return
        if self._skips and len(refused) < len(self.members):
            return
        first, *others = refused
        named = "".join(f"; {one.where}: {one.what}" for one in others)
        right = "nothing was measured; put it right there, or give --skip-refusing to go on without"
        raise UserError(f"{first.what}{named}", first.where, right, first.code)

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


def prepare_run(suite: Suite, request: Request, engine_context: EngineContext, launcher: str = "auto") -> Prepared:
    """Prepare a run of ``suite``, on every node by itself where that is asked for.

    ``launcher``: as people named it.
    """
    if not is_of_each_node(request):
        return suite.prepare(request, engine_context)
    return PreparedNodes(_with_nodes(request), suite, engine_context, launcher)


def _with_nodes(request: Request) -> Request:
    """Return ``request`` with the nodes that are named, else those of the job; raise ``UserError`` without any."""
    if nodes_of(request):
        return request
    job = allocation()
    names = list(request.hosts) or node_names()
    if not names:
        what = "no nodes are known: this is no batch job that names its nodes"
        raise UserError(what, "--each-node", "start it inside a job, or name nodes with --hosts", EXIT_ENVIRONMENT)
    return with_nodes(request, parse_hosts(",".join(names)), None if request.hosts or job is None else job.scheduler)


@dataclass(frozen=True)
class PreparedNodes:
    """See ``Prepared``. ``launcher``: as people named it."""

    request: Request
    suite: Suite
    engine_context: EngineContext
    launcher: str

    @property
    def unsettled(self) -> str:
        """See ``Prepared``: each node settles its own."""
        return ""

    def explain(self) -> Explanation:
        """See ``Prepared``: what this node would do."""
        names = nodes_of(self.request)
        head = f"{plural(len(names), 'node')} at the same time, each by itself: {listing(names)}. On this node:"
        found = self.suite.prepare(request_of_node(self.request, 0), self.engine_context).explain()
        return Explanation([head, *found.head], found.headers, found.rows, found.tail, found.parts)

    def plans(self, result: ResultFolder) -> list[Plan]:
        """See ``Prepared``: those of this node; others may find another machine."""
        prepared = self.suite.prepare(request_of_node(self.request, 0), self.engine_context)
        return prepared.plans(result.part(nodes_of(self.request)[0]))

    def run(self, session: Session) -> int:
        known = {outcome.suite: outcome for outcome in session.result.read_outcomes()}
        names = nodes_of(self.request)
        done = {name for name in names if name in known and known[name].code == EXIT_OK}
        left = {index: name for index, name in enumerate(names) if name not in done}
        for index, name in left.items():
            part = session.result.part(name)
            if not (part.path / "request.json").is_file():
                ResultFolder.create(part.path, request_of_node(self.request, index))
        session.progress.part(f"{self.suite.name} on each of {plural(len(left), 'node')}")
        caught: list[int] = []
        members = Members(session, self.launcher, caught, skips=bool(self.request.options.get(SKIP_REFUSING)))
        began = time.monotonic()
        with stop_signals(caught.append):
            members.measure(left)
        found = {**known, **{member.name: _outcome(member, began) for member in members.members}}
        session.result.write_outcomes([found[name] for name in names if name in found])
        session.messages += [f"{one.suite}: {one.reason}" for one in found.values() if one.reason]
        session.was_stopped = bool(caught)
        skipped = {member.name for member in members.members if member.refused is not None}
        codes = [one.code for name, one in found.items() if name not in skipped]
        return EXIT_ABORTED if caught else max(codes, default=EXIT_OK)


def _outcome(member: Member, began: float) -> PartOutcome:
    return PartOutcome(
        suite=member.name,
        code=EXIT_ABORTED if member.code is None else member.code,
        began=member.heard > 0,
        seconds=max(0.0, member.ended - began),
        reason="; ".join(member.messages),
    )
