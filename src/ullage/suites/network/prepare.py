# SPDX-License-Identifier: Apache-2.0
"""From the options to the cases of a network run, checked against engine and machine, and who measures in turn.

Cases are streams by protocol, block and number; requests; echoes. iperf3, sockperf and ping do the work of those that
they can do just as they are.
"""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from ullage.errors import UserError
from ullage.launch.base import choose_binding, nodes_of_job
from ullage.model.describe import Describe
from ullage.model.plan import Layout, Parameters
from ullage.model.request import Request
from ullage.peers import Installed, PeerError, iperf3, ping, sockperf
from ullage.peers.iperf3 import Iperf3Job
from ullage.peers.ping import PingJob
from ullage.peers.sockperf import SockperfJob
from ullage.peers.started import LOOPBACK, LOOPBACK_6
from ullage.runs.inputs import EngineContext
from ullage.runs.kernels.prepared import KernelCase, KernelPeers, PreparedKernels, kernel_case
from ullage.runs.options.reading import read_options
from ullage.runs.peer_runs import PeerJob, PeerNumbers
from ullage.runs.session import Note
from ullage.suites.network.options import LINK, NetworkOptions
from ullage.system.hardware import usable_cores
from ullage.units import format_bytes

WORKLOAD: Final = "sockets"
HEADERS: Final = ("what", "protocol", "size", "streams", "how")
ECHO_BYTES: Final = 56
REQUEST_BYTES: Final = 1
# The engine's, which stand in no plan (docs/contract.md), of what tells cases from each other.
DEFAULTS: Final[Mapping[str, bool | int | str]] = {
    "mode": "stream",
    "protocol": "tcp",
    "block_bytes": 32768,
    "streams": 1,
    "direction": "forward",
    "no_delay": False,
    "zero_copy": False,
}
_WARM_UP: Final = 0.25
_LONGEST_WARM_UP_S: Final = 0.5
_AROUND_S: Final = 0.1


@dataclass(frozen=True)
class Work:
    """Parameters of one case, and the words that tell it from others."""

    parameters: Parameters
    words: tuple[str, ...]


def cases_of(options: NetworkOptions, description: Describe, cores: int | None) -> list[KernelCase]:
    """``cores``: usable ones of a node, None when not known. ``UserError`` for what the engine would refuse."""
    layout = layout_of(options, cores)
    shared = _shared(options)
    seconds = options.seconds + warm_up_s(options.seconds) + _AROUND_S
    return [
        kernel_case(
            WORKLOAD, {**work.parameters, **shared}, LINK, work.words, description, seconds=seconds, layout=layout
        )
        for work in works(options)
    ]


def layout_of(options: NetworkOptions, cores: int | None) -> Layout:
    """A rank on each of several nodes; two on one."""
    nodes = options.nodes or 1
    on_a_node = 1 if nodes > 1 else 2
    is_bound = options.bind and cores is not None
    binding = choose_binding(on_a_node, 1, cores or 1) if is_bound else "none"
    return Layout(ranks=nodes * on_a_node, nodes=nodes, ranks_per_node=on_a_node, binding=binding)


def warm_up_s(seconds: float) -> float:
    """The warm-up of a case that measures for ``seconds``."""
    return round(min(_LONGEST_WARM_UP_S, _WARM_UP * seconds), 4)


def _shared(options: NetworkOptions) -> Parameters:
    shared: Parameters = {"seconds": options.seconds, "warm_up_s": warm_up_s(options.seconds)}
    if options.interface:
        shared["interface"] = options.interface
    if options.ipv6:
        shared["ip"] = "6"
    return shared


def _buffers(options: NetworkOptions) -> Parameters:
    if options.window is None:
        return {}
    return {"send_buffer_bytes": options.window, "receive_buffer_bytes": options.window}


def works(options: NetworkOptions) -> list[Work]:
    """Streams first, as they stand in the table; each once."""
    return [*_streams(options), *_variants(options), *_requests(options), _echo()]


def _streams(options: NetworkOptions) -> Iterator[Work]:
    both: Parameters = {**({"direction": "both"} if options.both_ways else {}), **_buffers(options)}
    for protocol in options.protocols:
        for block in options.blocks:
            for count in options.streams:
                yield _stream(protocol, block, count, both, "both ways" if options.both_ways else "")


def _stream(protocol: str, block: int, count: int, more: Parameters, how: str) -> Work:
    parameters: Parameters = {"mode": "stream", "protocol": protocol, "block_bytes": block, "streams": count, **more}
    return Work(parameters, ("stream", protocol, format_bytes(block), str(count), how))


def _variants(options: NetworkOptions) -> Iterator[Work]:
    """What an application might set: no waiting for small blocks, no copies of large ones."""
    if options.small or "tcp" not in options.protocols:
        return
    buffers = _buffers(options)
    yield _stream("tcp", options.blocks[0], 1, {"no_delay": True, **buffers}, "TCP_NODELAY")
    yield _stream("tcp", options.blocks[-1], 1, {"zero_copy": True, **buffers}, "MSG_ZEROCOPY")


def _requests(options: NetworkOptions) -> Iterator[Work]:
    for protocol in options.protocols:
        for count in options.streams if not options.small else options.streams[:1]:
            yield _request(protocol, REQUEST_BYTES, count)
        if options.peer or not options.small:
            yield _request(protocol, sockperf.LEAST_BYTES, 1)


def _request(protocol: str, size: int, count: int) -> Work:
    own: Parameters = {"no_delay": True} if protocol == "tcp" else {}
    parameters: Parameters = {"mode": "request", "protocol": protocol, "block_bytes": size, "streams": count, **own}
    return Work(parameters, ("request", protocol, format_bytes(size), str(count), ""))


def _echo() -> Work:
    parameters: Parameters = {"mode": "request", "protocol": "icmp", "block_bytes": ECHO_BYTES, "streams": 1}
    return Work(parameters, ("echo", "icmp", format_bytes(ECHO_BYTES), "1", ""))


# -- the run -----------------------------------------------------------------------------------------------------------


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
    nodes = hosts or nodes_of_job(environment)
    if nodes % 2 and nodes > 1:
        raise UserError(f"{nodes} nodes, and they work in pairs", "--hosts", "name an even number of them")
    return nodes


def _notes(options: NetworkOptions) -> tuple[Note, ...]:
    if (options.nodes or 1) > 1:
        return ()
    text = "both ranks are on this node: packets never leave its kernel, and its cores are what is measured"
    return (Note("loopback", text, "name two nodes (--hosts a,b) to measure a network"),)


# -- peers in turn with ours -------------------------------------------------------------------------------------------


Job: TypeAlias = Iperf3Job | SockperfJob | PingJob
Do: TypeAlias = Callable[[Installed, Job], dict[str, float]]
# What failed so often without a number will not give one.
_MOST_FAILURES: Final = 2
_MOST_ECHOES: Final = 200
_ECHOES_A_SECOND: Final = 100
_START_S: Final = 1.5


def peers_for(
    options: NetworkOptions,
    cases: Sequence[KernelCase],
    installed: Mapping[str, Installed | None] | None = None,
    do: Do | None = None,
) -> KernelPeers | None:
    """None where nobody wants them, none is here, or the pair is not one of the loopback: they have no server there.

    In turn with ours; where time is short they come once, after all of ours. ``do`` stands in for the real programs.
    """
    if not options.peer or (options.nodes or 1) > 1 or options.interface:
        return None
    programs = {peer.name: peer.installed() for peer in PEERS} if installed is None else installed
    found: list[PeerJob] = []
    for case in cases:
        tool, job = job_of(case.case.workload.parameters, options)
        program = programs.get(tool)
        if job is not None and program is not None:
            found.append(_peer_job(case.case.id, tool, program, job, options, do or run_job))
    if not found:
        return None
    in_turn = not options.quick and options.time_s is None and options.repetitions > 1
    how = "in turn, repetition by repetition" if in_turn else "once, after ours"
    counts = Counter(job.tool for job in found)
    lines = tuple(f"{tool} runs beside {count} cases, {how}." for tool, count in counts.items())
    return KernelPeers(lambda _: found, lines, in_turn)


def _peer_job(case: str, tool: str, program: Installed, job: Job, options: NetworkOptions, do: Do) -> PeerJob:
    def run(_limit_s: float | None) -> Iterable[PeerNumbers]:
        yield PeerNumbers(case, WORKLOAD, do(program, job), program.version, command_of(program, job))

    stage, seconds = "iperf3, sockperf and ping beside", _START_S + options.seconds
    return PeerJob(tool, (case,), run, seconds, stage=stage, patience=_MOST_FAILURES)


PEERS: Final = (iperf3.PEER, sockperf.PEER, ping.PEER)


def job_of(parameters: Parameters, options: NetworkOptions) -> tuple[str, Job | None]:
    """The tool that does such work, and its job; None where it cannot do just that."""
    parameters = {**DEFAULTS, **parameters}
    size, streams = _count(parameters, "block_bytes"), _count(parameters, "streams")
    transport = "udp" if parameters.get("protocol") == "udp" else "tcp"
    address = LOOPBACK_6 if options.ipv6 else LOOPBACK
    whole_s = max(1, round(options.seconds))
    try:
        if parameters.get("mode") == "stream":
            if parameters.get("zero_copy") is True:
                return "iperf3", None
            no_delay, both = parameters.get("no_delay") is True, parameters.get("direction") == "both"
            return "iperf3", Iperf3Job(transport, streams, size, whole_s, no_delay, both, options.window, address)
        if parameters.get("protocol") == "icmp":
            count = min(_MOST_ECHOES, max(10, round(_ECHOES_A_SECOND * options.seconds)))
            return "ping", PingJob(count, size, address)
        if streams > 1:
            return "sockperf", None
        return "sockperf", SockperfJob(transport, size, whole_s, address)
    except PeerError:
        return "", None


def _count(parameters: Parameters, name: str) -> int:
    value = parameters.get(name)
    return value if isinstance(value, int) else 1


def run_job(program: Installed, job: Job) -> dict[str, float]:
    """By the tool that the job is of."""
    match job:
        case Iperf3Job():
            return iperf3.run_iperf3(program, job)
        case SockperfJob():
            return sockperf.run_sockperf(program, job)
        case PingJob():
            return ping.run_ping(program, job)


def command_of(program: Installed, job: Job) -> list[str]:
    """The client's words; the port, which differs each time, is 0."""
    match job:
        case Iperf3Job():
            return iperf3.iperf3_command(program, job, 0)
        case SockperfJob():
            return sockperf.sockperf_command(program, job, 0)
        case PingJob():
            return ping.ping_command(program, job)
