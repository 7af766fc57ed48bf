# SPDX-License-Identifier: Apache-2.0
"""A rings run that was checked against engine and machine."""

from collections.abc import Sequence

from ullage.launch.base import is_one_node
from ullage.launch.layouts import layout_here
from ullage.model.plan import Layout
from ullage.model.request import Request
from ullage.runs.kernels.prepared import KernelPeers, PreparedKernels
from ullage.runs.options.reading import read_options
from ullage.runs.peer_runs import Hpcc, PeerJob, RunHpcc
from ullage.runs.session import Session
from ullage.runs.suite import EngineContext
from ullage.suites.rings.cases import HEADERS, RingsCase, make_cases
from ullage.suites.rings.options import RingsOptions


def prepare_rings(request: Request, engine_context: EngineContext) -> PreparedKernels:
    """``UserError`` where the engine lacks a workload, or the ranks do not fill the nodes."""
    options = read_options(RingsOptions, request)
    layout = layout_here(options.ranks, options.nodes, options.ranks_per_node)
    cases = make_cases(options, layout, engine_context.description)
    # hpcc is started on the node that we are on.
    peers = hpcc_in_turn(cases, layout) if options.peer and is_one_node(layout) else None
    return PreparedKernels(request, options, HEADERS, [case.kernel for case in cases], peers)


def hpcc_in_turn(cases: Sequence[RingsCase], layout: Layout, run: RunHpcc | None = None) -> KernelPeers:
    """``run`` stands in for the real program."""

    def jobs(session: Session) -> list[PeerJob]:
        from ullage.peers.hpcc import installed, run_hpcc
        from ullage.suites.rings.peer_runs import peer_job

        program = installed()
        return [] if program is None else [peer_job(Hpcc(program, run or run_hpcc), cases, layout, session.launcher)]

    line = "Where hpcc is installed it runs after each repetition, with as many processes."
    return KernelPeers(jobs, (line,), in_turn=True)
