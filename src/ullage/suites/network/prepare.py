# SPDX-License-Identifier: Apache-2.0
"""A network run that was checked against engine and machine: who its ranks are, and who measures in turn."""

import os
from collections.abc import Mapping
from typing import Final

from ullage.errors import UserError
from ullage.model.request import Request
from ullage.runs.kernels.prepared import PreparedKernels
from ullage.runs.notes import Note
from ullage.runs.options.reading import read_options
from ullage.runs.suite import EngineContext
from ullage.suites.network.cases import HEADERS, cases_of
from ullage.suites.network.options import NetworkOptions
from ullage.suites.network.peer_runs import peers_for
from ullage.system.cpu import usable_cores

_NODES_OF_A_JOB: Final = "SLURM_JOB_NUM_NODES"


def prepare_network(
    request: Request,
    engine_context: EngineContext,
    environment: Mapping[str, str] = os.environ,
    cores: int | None = None,
) -> PreparedKernels:
    """``UserError`` where engine or nodes cannot do it. ``cores``: usable ones of this node; None: they are counted."""
    options = read_options(NetworkOptions, request)
    if options.nodes is None:
        options = options.model_copy(update={"nodes": _nodes(len(request.hosts), environment)})
        request = request.model_copy(update={"options": options.model_dump(mode="json")})
    cases = cases_of(options, engine_context.description, usable_cores() if cores is None else cores)
    return PreparedKernels(request, options, HEADERS, cases, peers_for(options, cases), _notes(options))


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
