# SPDX-License-Identifier: Apache-2.0
"""iperf3, sockperf and ping beside the cases that they can do just as they are."""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Final, TypeAlias

from ullage.launch.base import Launcher
from ullage.model.plan import Layout, Parameters
from ullage.model.record import PhaseRecord
from ullage.parameters import count_of
from ullage.peers import Installed, PeerError, Transport
from ullage.peers.network import PEERS, Iperf3Job, PingJob, SockperfJob
from ullage.peers.served import HERE, LOOPBACK, LOOPBACK_6, HostCommands, is_own, run_job
from ullage.quantity import listing
from ullage.results.folder import ResultFolder
from ullage.runs.kernels.prepared import KernelCase, KernelPeers
from ullage.runs.peer_runs import PeerJob, PeerNumbers
from ullage.runs.session import Note, Session
from ullage.suites.network.findings import Link, link_of
from ullage.suites.network.options import DEFAULTS, WORKLOAD, NetworkOptions

Job: TypeAlias = Iperf3Job | SockperfJob | PingJob
Do: TypeAlias = Callable[[Installed, Job, HostCommands, float], dict[str, float]]
# Takes a case and its job; returns that job with its addresses, and how both ends are started.
Placed: TypeAlias = Callable[[str, Job], tuple[Job, HostCommands]]
# One client and one server are on so many nodes.
_PAIR: Final = 2
# A job that failed so often without a number is not tried again.
_MOST_FAILURES: Final = 2
_MOST_ECHOES: Final = 200
_ECHOES_A_SECOND: Final = 100
_START_S: Final = 1.5
# A tool may take twice the time that it is asked for, and so much more.
_BEYOND_S: Final = 16.0


def peers_for(
    options: NetworkOptions,
    cases: Sequence[KernelCase],
    hosts: Sequence[str] = (),
    installed: Mapping[str, Installed | None] | None = None,
    do: Do = run_job,
) -> KernelPeers | None:
    """Return the peers' jobs, or None where none is asked for, none is installed, or none can do the same work.

    They run in turn with ours, or once after all of ours where time is short. ``do`` stands in for the real programs.
    """
    if not options.peer or not_available(options, hosts) is not None:
        return None
    programs, works = (
        _programs(installed),
        [(case.case.id, job_of(case.case.workload.parameters, options)) for case in cases],
    )
    found = [(case, job, program) for case, job in works if job and (program := programs.get(job.tool.name))]
    if not found:
        return None
    in_turn = not options.quick and options.time_s is None and options.repetitions > 1
    how = "in turn, repetition by repetition" if in_turn else "once, after ours"
    counts = Counter(job.tool.name for _, job, _ in found)
    lines = tuple(f"{tool} runs beside {count} cases, {how}." for tool, count in counts.items())

    def jobs(session: Session) -> list[PeerJob]:
        placed = _between_nodes(session) if (options.nodes or 1) > 1 else _here
        return [_peer_job(*one, options.seconds, placed, do) for one in found]

    return KernelPeers(jobs, lines, in_turn)


def _programs(installed: Mapping[str, Installed | None] | None) -> Mapping[str, Installed | None]:
    return {peer.name: peer.installed() for peer in PEERS} if installed is None else installed


def notes_on_peers(
    options: NetworkOptions, hosts: Sequence[str], installed: Mapping[str, Installed | None] | None = None
) -> tuple[Note, ...]:
    """Return a note on installed peers that cannot run beside this suite."""
    if not options.peer or (why := not_available(options, hosts)) is None:
        return ()
    names = [name for name, program in _programs(installed).items() if program is not None]
    if not names:
        return ()
    text, advice = why
    return (Note("peer-not-available", f"not available: {listing(names)} {text}", advice),)


def not_available(options: NetworkOptions, hosts: Sequence[str]) -> tuple[str, str] | None:
    """Return why no peer runs beside this suite and what to do about it, or None where they can.

    ``hosts``: those that are named.
    """
    nodes = options.nodes or 1
    if nodes == 1 and options.interface:
        return "with --interface on one node", "leave --interface out, or name two hosts (--hosts a,b)"
    if nodes > _PAIR:
        return f"beside {nodes} nodes, because they measure one pair", "name two hosts to compare them (--hosts a,b)"
    if nodes == _PAIR and len(hosts) < nodes:
        return "between nodes without names, because their servers start on named hosts", "name both with --hosts a,b"
    return None


def _peer_job(case: str, job: Job, program: Installed, seconds: float, placed: Placed, do: Do) -> PeerJob:
    def run(_limit_s: float | None) -> Iterable[PeerNumbers]:
        there, hosts = placed(case, job)
        values = do(program, there, hosts, 2 * seconds + _BEYOND_S)
        yield PeerNumbers(case, WORKLOAD, values, program.version, there.command(program, 0))

    stage = "iperf3, sockperf and ping beside"
    return PeerJob(job.tool.name, (case,), run, _START_S + seconds, stage=stage, max_failures=_MOST_FAILURES)


def _here(_case: str, job: Job) -> tuple[Job, HostCommands]:
    return job, HERE


def _between_nodes(session: Session) -> Placed:
    """Place a job on the addresses that our own ranks had, so that both measure the same link."""

    def placed(case: str, job: Job) -> tuple[Job, HostCommands]:
        link = _link_of(session.result, case)
        if link is None:
            raise PeerError("our own ranks have not measured that link")
        far = replace(job, address=link.peer_address, source=link.address)
        return far, roads_between(session.launcher, link.address)

    return placed


def _link_of(result: ResultFolder, case: str) -> Link | None:
    """Return the link that our last repetition of ``case`` measured, or None without one."""
    phases = (one for file in result.read_records() for one in file.records if isinstance(one, PhaseRecord))
    links = [link for phase in phases if phase.case == case and (link := link_of(phase)) is not None]
    return links[-1] if links else None


def roads_between(launcher: Launcher, own_address: str, is_here: Callable[[str], bool] = is_own) -> HostCommands:
    """Return how to start client and server on the first two hosts of ``launcher``.

    ``own_address``: of rank 0, which sends; it shows which of them that rank is on.

    Some launchers begin with the host that they are on, wherever it is named.
    """
    names = launcher.hosts.names[:_PAIR]
    # Where none of them is this host, ranks are placed in the order of the names.
    here = next((name for name in names if is_here(name)), None)
    sends_here = is_here(own_address)
    client = here if sends_here and here else next(name for name in names if name != here)
    server = next(name for name in names if name != client)
    settings = launcher.environment(Layout(ranks=_PAIR, nodes=_PAIR, ranks_per_node=1))
    return HostCommands(
        client=None if sends_here else partial(launcher.on_host, client),
        server=partial(launcher.on_host, server),
        # A variable that the user has set takes precedence.
        environment={name: value for name, value in settings.items() if name not in os.environ},
        host=server,
    )


def job_of(parameters: Parameters, options: NetworkOptions) -> Job | None:
    """Return the job of the tool that does such work; None where none can do just that."""
    parameters = {**DEFAULTS, **parameters}
    size, streams = count_of(parameters, "block_bytes", 1), count_of(parameters, "streams", 1)
    transport: Transport = "udp" if parameters.get("protocol") == "udp" else "tcp"
    address = LOOPBACK_6 if options.ipv6 else LOOPBACK
    whole_s = max(1, round(options.seconds))
    try:
        if parameters.get("mode") == "stream":
            no_delay, both = parameters.get("no_delay") is True, parameters.get("direction") == "both"
            job = Iperf3Job(transport, streams, size, whole_s, no_delay, both, options.window, address)
            return None if parameters.get("zero_copy") is True else job
        if parameters.get("protocol") == "icmp":
            return PingJob(min(_MOST_ECHOES, max(10, round(_ECHOES_A_SECOND * options.seconds))), size, address)
        return SockperfJob(transport, size, whole_s, address) if streams == 1 else None
    except PeerError:
        return None
