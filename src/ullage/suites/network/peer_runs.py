# SPDX-License-Identifier: Apache-2.0
"""iperf3, sockperf and ping in turn with ours: which job of them does the work of a case."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, TypeAlias

from ullage.model.plan import Parameters
from ullage.peers import Installed, PeerError, iperf3, ping, sockperf
from ullage.peers.iperf3 import Iperf3Job
from ullage.peers.ping import PingJob
from ullage.peers.served import LOOPBACK, LOOPBACK_6
from ullage.peers.sockperf import SockperfJob
from ullage.runs.kernels.cases import KernelCase
from ullage.runs.kernels.prepared import KernelPeers
from ullage.runs.peer_runs import PeerJob, PeerNumbers
from ullage.suites.network.cases import DEFAULTS, WORKLOAD
from ullage.suites.network.options import NetworkOptions

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
    how = "in turn with ours, each repetition" if in_turn else "once, after ours"
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
