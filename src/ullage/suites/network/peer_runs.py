# SPDX-License-Identifier: Apache-2.0
"""iperf3, sockperf and ping on the same job, in turn with ours."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from ullage.model.peer import PeerRecord
from ullage.model.plan import Parameters
from ullage.peers import Installed, PeerError, iperf3, ping, sockperf
from ullage.peers.iperf3 import Iperf3Job
from ullage.peers.ping import PingJob
from ullage.peers.served import LOOPBACK, LOOPBACK_6
from ullage.peers.sockperf import SockperfJob
from ullage.runs.kernels.cases import KernelCase
from ullage.runs.session import Session
from ullage.suites.network.cases import DEFAULTS, WORKLOAD
from ullage.suites.network.options import NetworkOptions

Job: TypeAlias = Iperf3Job | SockperfJob | PingJob
Do: TypeAlias = Callable[[Installed, Job], dict[str, float]]
# What failed so often without a number will not give one.
_MOST_FAILURES: Final = 2
_MOST_ECHOES: Final = 200
_ECHOES_A_SECOND: Final = 100
_START_S: Final = 1.5


@dataclass(frozen=True, slots=True)
class Planned:
    """A case that a peer does too."""

    case: str
    tool: str
    program: Installed
    job: Job
    seconds: float


@dataclass
class Beside:
    """``do`` runs a job in the place of the real program."""

    planned: Sequence[Planned]
    do: Do
    _failures: dict[str, int] = field(default_factory=dict[str, int])

    def counts(self) -> Mapping[str, int]:
        """How many cases each tool does."""
        found: dict[str, int] = {}
        for one in self.planned:
            found[one.tool] = found.get(one.tool, 0) + 1
        return found

    def measure(self, session: Session, rounds: int) -> None:
        """So many numbers of each case, with those that the result has already."""
        numbers: dict[tuple[str, str], int] = {}
        for record in session.result.read_peers():
            key = record.case, record.tool
            numbers[key] = max(numbers.get(key, 0), record.repetition + 1)
        todo = [one for one in self.planned if numbers.get((one.case, one.tool), 0) < rounds]
        if todo:
            session.progress.stage("iperf3, sockperf and ping beside", 0, sum(one.seconds for one in todo))
        for one in todo:
            self._measure(session, one, numbers.get((one.case, one.tool), 0))

    def _measure(self, session: Session, one: Planned, repetition: int) -> None:
        if self._failures.get(one.tool, 0) >= _MOST_FAILURES:
            return
        try:
            values = self.do(one.program, one.job)
        except PeerError as error:
            self._failures[one.tool] = self._failures.get(one.tool, 0) + 1
            _note(session, f"{one.tool} gave no number: {error}")
            return
        self._failures[one.tool] = 0
        session.result.append_peer(
            PeerRecord(
                case=one.case,
                phase=WORKLOAD,
                tool=one.tool,
                version=one.program.version,
                repetition=repetition,
                values=values,
                command=command_of(one.program, one.job),
            )
        )


def peers_for(
    options: NetworkOptions, cases: Sequence[KernelCase], installed: Mapping[str, Installed | None] | None = None
) -> Beside | None:
    """None where nobody wants them, none is here, or the pair is not one of the loopback: they have no server there."""
    if not options.peer or (options.nodes or 1) > 1 or options.interface:
        return None
    programs = {peer.name: peer.installed() for peer in PEERS} if installed is None else installed
    planned: list[Planned] = []
    for case in cases:
        tool, job = job_of(case.case.workload.parameters, options)
        program = programs.get(tool)
        if job is not None and program is not None:
            planned.append(Planned(case.case.id, tool, program, job, _START_S + options.seconds))
    return Beside(planned, run_job) if planned else None


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


def _note(session: Session, text: str) -> None:
    launches = session.result.launches()
    if launches:
        session.note(launches[-1], "warning", "peer-failed", text)
