# SPDX-License-Identifier: Apache-2.0
"""The cases of a network run, checked against engine and machine, and iperf3, sockperf and ping beside them.

Cases are streams by protocol, block and number; requests; echoes. A tool stands beside those that it can do just as
they are.
"""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Final, TypeAlias

from ullage.errors import UserError
from ullage.launch.base import Launcher, choose_binding
from ullage.model.describe import Describe
from ullage.model.plan import Layout, Parameters
from ullage.model.record import PhaseRecord
from ullage.model.request import Request
from ullage.parameters import count_of
from ullage.peers import Installed, PeerError, Transport
from ullage.peers.network import LEAST_BYTES, PEERS, Iperf3Job, PingJob, SockperfJob
from ullage.peers.served import HERE, LOOPBACK, LOOPBACK_6, HostCommands, is_own, run_job
from ullage.quantity import listing
from ullage.runs.inputs import EngineContext
from ullage.runs.kernels.prepared import KernelCase, PreparedKernels, kernel_case
from ullage.runs.options.engine import values_of
from ullage.runs.options.reading import read_options
from ullage.runs.peer_runs import KernelPeers, PeerJob, PeerNumbers
from ullage.runs.session import Note, Session
from ullage.suites.network.findings import link_of
from ullage.suites.network.options import LINK, LOCAL, WORKLOAD, NetworkOptions
from ullage.system.allocation import nodes_of_job
from ullage.system.hardware import usable_cores
from ullage.units import format_bytes

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
    programs = _programs(installed)
    works = [(case.case.id, job_of(case.case.workload.parameters, options)) for case in cases]
    found = [(case, job, program) for case, job in works if job and (program := programs.get(job.tool.name))]
    if not found:
        return None
    in_turn = not options.quick and options.time_s is None and options.repetitions > 1
    how = "in turn, repetition by repetition" if in_turn else "once, after ours"
    counts = Counter(job.tool.name for _, job, _ in found)
    lines = tuple(f"{tool} runs beside {count} cases, {how}." for tool, count in counts.items())

    def jobs(session: Session) -> list[PeerJob]:
        is_remote = (options.nodes or 1) > 1
        placed: Placed = partial(_between_nodes, session) if is_remote else lambda _case, job: (job, HERE)
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
    def run(limit_s: float | None) -> Iterable[PeerNumbers]:
        there, hosts = placed(case, job)
        patience_s = 2 * seconds + _BEYOND_S
        values = do(program, there, hosts, patience_s if limit_s is None else min(limit_s, patience_s))
        yield PeerNumbers(case, WORKLOAD, values, program.version, there.command(program, 0))

    stage = "iperf3, sockperf and ping beside"
    return PeerJob(job.tool.name, (case,), run, _START_S + seconds, stage=stage, max_failures=_MOST_FAILURES)


def _between_nodes(session: Session, case: str, job: Job) -> tuple[Job, HostCommands]:
    """Place a job on the addresses that our own ranks had, so that both measure the same link."""
    phases = (one for file in session.result.read_records() for one in file.records if isinstance(one, PhaseRecord))
    links = [link for phase in phases if phase.case == case and (link := link_of(phase)) is not None]
    if not links:
        raise PeerError("our own ranks have not measured that link")
    far = replace(job, address=links[-1].peer_address, source=links[-1].address)
    return far, roads_between(session.launcher, links[-1].address)


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
    parameters = values_of(WORKLOAD, parameters)
    if parameters.get("protocol") in LOCAL:
        return None
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


HEADERS: Final = ("what", "protocol", "size", "streams", "how")
ECHO_BYTES: Final = 56
REQUEST_BYTES: Final = 1
_WARM_UP: Final = 0.25
_LONGEST_WARM_UP_S: Final = 0.5
_AROUND_S: Final = 0.1
# A bound is measured for this share of the time of a result.
_BOUND_SHARE: Final = 0.4


Work: TypeAlias = tuple[Parameters, tuple[str, ...]]
"""Parameters of one case, and the words that tell it from others."""


def cases_of(options: NetworkOptions, description: Describe, cores: int | None) -> list[KernelCase]:
    """Return the cases of all works; raise ``UserError`` for what the engine would refuse.

    ``cores``: usable ones of a node, None when not known.
    """
    layout = layout_of(options, cores)
    warm_up_s = round(min(_LONGEST_WARM_UP_S, _WARM_UP * options.seconds), 4)
    shared: Parameters = {"seconds": options.seconds, "warm_up_s": warm_up_s}
    shared |= {"interface": options.interface} if options.interface else {}
    shared |= {"ip": "6"} if options.ipv6 else {}
    seconds = options.seconds + warm_up_s + _AROUND_S
    made = [
        kernel_case(WORKLOAD, {**parameters, **shared}, LINK, words, description, seconds=seconds, layout=layout)
        for parameters, words in works(options)
    ]
    least = local_cases(options, layout, {**shared, "seconds": options.seconds * _BOUND_SHARE}, description)
    return [replace(case, is_windowed=True) for case in (*made, *least)]


def local_cases(options: NetworkOptions, layout: Layout, shared: Parameters, description: Describe) -> list[KernelCase]:
    """Return what bounds streams and requests on one node: the same streams without a network, and a pipe.

    Blocks are the largest: no stream is faster with smaller ones.
    """
    if layout.nodes != 1:
        return []
    given = {name: value for name, value in shared.items() if name != "interface"}
    both: Parameters = {"direction": "both"} if options.both_ways else {}
    works = [_work("stream", "unix", options.blocks[-1], count, both, what="bound") for count in options.streams]
    works.append(_work("request", "pipe", REQUEST_BYTES, 1, {}, what="bound"))
    seconds = float(str(given["seconds"])) + float(str(given["warm_up_s"])) + _AROUND_S
    return [
        kernel_case(WORKLOAD, {**parameters, **given}, LINK, words, description, seconds=seconds, layout=layout)
        for parameters, words in works
    ]


def layout_of(options: NetworkOptions, cores: int | None) -> Layout:
    """Place one rank on each of several nodes, or two on one."""
    nodes = options.nodes or 1
    on_a_node = 1 if nodes > 1 else 2
    is_bound = options.bind and cores is not None
    binding = choose_binding(on_a_node, 1, cores or 1) if is_bound else "none"
    return Layout(ranks=nodes * on_a_node, nodes=nodes, ranks_per_node=on_a_node, binding=binding)


def works(options: NetworkOptions) -> Iterator[Work]:
    """Yield all works, each once; streams come first, as in the table."""
    buffers: Parameters = {}
    if options.window is not None:
        buffers = {"send_buffer_bytes": options.window, "receive_buffer_bytes": options.window}
    both: Parameters = {**({"direction": "both"} if options.both_ways else {}), **buffers}
    for protocol, block, count in product(options.protocols, options.blocks, options.streams):
        yield _work("stream", protocol, block, count, both, how="both ways" if options.both_ways else "")
    if not options.small and "tcp" in options.protocols:
        # What an application might set: no waiting for small blocks, no copies of large ones.
        yield _work("stream", "tcp", options.blocks[0], 1, {"no_delay": True, **buffers}, how="TCP_NODELAY")
        yield _work("stream", "tcp", options.blocks[-1], 1, {"zero_copy": True, **buffers}, how="MSG_ZEROCOPY")
    for protocol in options.protocols:
        own: Parameters = {"no_delay": True} if protocol == "tcp" else {}
        for count in options.streams if not options.small else options.streams[:1]:
            yield _work("request", protocol, REQUEST_BYTES, count, own)
        if options.peer or not options.small:
            yield _work("request", protocol, LEAST_BYTES, 1, own)
    yield _work("request", "icmp", ECHO_BYTES, 1, {}, what="echo")


def _work(
    mode: str, protocol: str, size: int, streams: int, more: Parameters, *, what: str = "", how: str = ""
) -> Work:
    own: Parameters = {"mode": mode, "protocol": protocol, "block_bytes": size, "streams": streams}
    return {**own, **more}, (what or mode, protocol, format_bytes(size), str(streams), how)


def prepare_network(
    request: Request,
    engine_context: EngineContext,
    environment: Mapping[str, str] = os.environ,
    cores: int | None = None,
) -> PreparedKernels:
    """Plan the cases and their peers; raise ``UserError`` where engine or nodes cannot do it.

    ``cores``: usable ones of this node; None: they are counted.
    """
    options = read_options(NetworkOptions, request)
    if options.nodes is None:
        options = options.model_copy(update={"nodes": len(request.hosts) or nodes_of_job(environment)})
        request = request.model_copy(update={"options": options.model_dump(mode="json")})
    nodes = options.nodes or 1
    if nodes % 2 and nodes > 1:
        where = ("--hosts", "name an even number of them") if request.hosts else ("--nodes", "use an even number")
        raise UserError(f"{nodes} nodes, and they work in pairs", *where)
    cases = cases_of(options, engine_context.description, usable_cores() if cores is None else cores)
    notes = (*_notes(options), *notes_on_peers(options, request.hosts))
    return PreparedKernels(request, options, HEADERS, cases, peers_for(options, cases, request.hosts), notes)


def _notes(options: NetworkOptions) -> tuple[Note, ...]:
    if (options.nodes or 1) > 1:
        return ()
    text = "both ranks are on this node: packets never leave its kernel, and its cores are what is measured"
    return (Note("loopback", text, "name two nodes (--hosts a,b) to measure a network"),)
