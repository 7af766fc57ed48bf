# SPDX-License-Identifier: Apache-2.0
"""A run of every node by itself, ready to be explained or run."""

import time
from dataclasses import dataclass

from ullage.errors import EXIT_ABORTED, EXIT_ENVIRONMENT, EXIT_OK, UserError
from ullage.launch.hosts import parse_hosts
from ullage.launch.stopping import stop_signals
from ullage.model.plan import Plan
from ullage.model.request import Request
from ullage.model.summary import PartOutcome
from ullage.quantity import listing, plural
from ullage.results.folder import ResultFolder
from ullage.runs.inputs import EngineContext
from ullage.runs.members.members import Member, Members, MemberSpec, Starter
from ullage.runs.nodes.requests import is_of_each_node, nodes_of, request_of_node, with_nodes
from ullage.runs.session import Session
from ullage.runs.suite import Explanation, Prepared, Suite
from ullage.system.allocation import allocation, node_names


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
        """See ``Prepared``."""
        known = {outcome.suite: outcome for outcome in session.result.read_outcomes()}
        names = nodes_of(self.request)
        done = {name for name in names if name in known and known[name].code == EXIT_OK}
        specs = [self._spec(session.result, name, index) for index, name in enumerate(names) if name not in done]
        session.progress.part(f"{self.suite.name} on each of {plural(len(specs), 'node')}")
        caught: list[int] = []
        members = Members(
            Starter(session.launcher, self.engine_context.engine, self.launcher), session.progress, caught
        )
        began = time.monotonic()
        with stop_signals(caught.append):
            members.measure(specs)
        found = {**known, **{member.spec.name: _outcome(member, began) for member in members.members}}
        session.result.write_outcomes([found[name] for name in names if name in found])
        session.messages += [f"{one.suite}: {one.reason}" for one in found.values() if one.reason]
        session.was_stopped = bool(caught)
        return EXIT_ABORTED if caught else max((one.code for one in found.values()), default=EXIT_OK)

    def _spec(self, result: ResultFolder, name: str, index: int) -> MemberSpec:
        part = result.part(name)
        if not (part.path / "request.json").is_file():
            ResultFolder.create(part.path, request_of_node(self.request, index))
        return MemberSpec(name, index, part, result.path / "nodes" / f"{name}.stderr")


def _outcome(member: Member, began: float) -> PartOutcome:
    return PartOutcome(
        suite=member.spec.name,
        code=EXIT_ABORTED if member.code is None else member.code,
        began=member.heard > 0,
        seconds=max(0.0, member.ended - began),
        reason="; ".join(member.messages),
    )
