# SPDX-License-Identifier: Apache-2.0
"""A network run that was checked against engine and machine: who its ranks are, and who measures beside."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from ullage.errors import EXIT_CASE_FAILED, EXIT_OK, UserError
from ullage.model.plan import Plan
from ullage.model.request import Request
from ullage.results.folder import ResultFolder
from ullage.runs.kernels.notes import Note
from ullage.runs.kernels.prepared import PreparedKernels
from ullage.runs.options.reading import read_options
from ullage.runs.session import Session
from ullage.runs.suite import EngineContext, Explanation
from ullage.suites.network.cases import HEADERS, cases_of
from ullage.suites.network.options import NetworkOptions
from ullage.suites.network.peer_runs import Beside, peers_for
from ullage.system.cpu import usable_cores

_NODES_OF_A_JOB: Final = "SLURM_JOB_NUM_NODES"


@dataclass(frozen=True)
class PreparedNetwork:
    """See ``Prepared``. ``beside``: peers that run in turn with ours; None: there are none, or nobody wants them."""

    kernels: PreparedKernels
    beside: Beside | None

    @property
    def request(self) -> Request:
        """See ``Prepared``."""
        return self.kernels.request

    @property
    def unsettled(self) -> str:
        """See ``Prepared``: nothing is measured to make the plans."""
        return ""

    @property
    def rounds(self) -> int:
        """Launches, each followed by the peers; where time is short they come once, after all of ours."""
        options = self.kernels.options
        return 1 if self.beside is None or options.quick or options.time_s is not None else options.repetitions

    def explain(self) -> Explanation:
        """See ``Prepared``."""
        explained = self.kernels.explain()
        if self.beside is None:
            return explained
        how = "once, after ours" if self.rounds == 1 else "in turn with ours, each repetition"
        lines = [f"{tool} runs beside {count} cases, {how}." for tool, count in self.beside.counts().items()]
        return replace(explained, tail=[*explained.tail, *lines])

    def plans(self, result: ResultFolder) -> list[Plan]:
        """See ``Prepared``."""
        return self.kernels.plans(result)

    def run(self, session: Session) -> int:
        """See ``Prepared``."""
        from ullage.runs.kernels.execution import execute

        code = EXIT_OK
        for number in range(1, self.rounds + 1):
            repetitions = number if self.rounds > 1 else self.kernels.options.repetitions
            options = self.kernels.options.model_copy(update={"repetitions": repetitions})
            ended = execute(replace(self.kernels, options=options), session)
            code = max(code, ended)
            if ended not in (EXIT_OK, EXIT_CASE_FAILED) or session.was_stopped:
                return ended
            if self.beside is not None:
                self.beside.measure(session, number)
        return code


def prepare_network(
    request: Request,
    engine_context: EngineContext,
    environment: Mapping[str, str] = os.environ,
    cores: int | None = None,
) -> PreparedNetwork:
    """``UserError`` where engine or nodes cannot do it. ``cores``: usable ones of this node; None: they are counted."""
    options = read_options(NetworkOptions, request)
    if options.nodes is None:
        options = options.model_copy(update={"nodes": _nodes(len(request.hosts), environment)})
        request = request.model_copy(update={"options": options.model_dump(mode="json")})
    cases = cases_of(options, engine_context.description, usable_cores() if cores is None else cores)
    kernels = PreparedKernels(request, options, HEADERS, cases, notes=_notes(options))
    beside = peers_for(options, cases)
    return PreparedNetwork(kernels, beside)


def _nodes(hosts: int, environment: Mapping[str, str]) -> int:
    """Named ones, else those of the batch job, else this one."""
    job = environment.get(_NODES_OF_A_JOB, "")
    nodes = hosts or (int(job) if job.isdecimal() and int(job) > 0 else 1)
    if nodes % 2 and nodes > 1:
        raise UserError(f"{nodes} nodes, and they work in pairs", "--hosts", "name an even number of them")
    return nodes


def _notes(options: NetworkOptions) -> tuple[Note, ...]:
    if (options.nodes or 1) > 1:
        return ()
    text = "both ranks are on this node: packets never leave its kernel, and its cores are what is measured"
    return (Note("loopback", text, "name two nodes (--hosts a,b) to measure a network"),)
