# SPDX-License-Identifier: Apache-2.0
"""iperf3 beside streams: as many streams, the same block for its calls, as many whole seconds.

The same as ours: what counts is what the receiver has got, after a warm-up that is left out (``-O``, tcp only: for udp
it would leave the packets in its count of losses). Not the same: before 3.16 all streams of a side are served by one
thread; a udp block is a call each, where ours hands the kernel many at once; its seconds are whole.
"""

import re
from dataclasses import dataclass
from functools import partial
from typing import Final

from ullage.peers import Installed, PeerError, PeerTool
from ullage.peers.served import HERE, LOOPBACK, HostCommands, Transport, served
from ullage.peers.started import find_installed, member, number
from ullage.reading import parse_json

_VERSION: Final = re.compile(r"^iperf (3\.\S+)", re.MULTILINE)
installed: Final = partial(find_installed, "iperf3", "--version", _VERSION)
_MOST_STREAMS: Final = 128
_LEAST_UDP: Final = 16
_MOST_UDP: Final = 65507
_MOST_BLOCK: Final = 1 << 20
_BEYOND_S: Final = 15.0
WARM_UP_S: Final = 1


@dataclass(frozen=True, slots=True)
class Iperf3Job:
    """Work for iperf3.

    ``seconds`` are whole; ``address`` is the server's, ``source`` the client's, empty: any.

    ``PeerError`` for what iperf3 refuses.
    """

    transport: Transport
    streams: int
    block_bytes: int
    seconds: int
    no_delay: bool = False
    both: bool = False
    window_bytes: int | None = None
    address: str = LOOPBACK
    source: str = ""

    def __post_init__(self) -> None:
        if not 1 <= self.streams <= _MOST_STREAMS or self.seconds < 1:
            raise PeerError(f"iperf3: 1 to {_MOST_STREAMS} streams, and a second at least")
        least, most = (1, _MOST_BLOCK) if self.transport == "tcp" else (_LEAST_UDP, _MOST_UDP)
        if not least <= self.block_bytes <= most:
            raise PeerError(f"iperf3: a {self.transport} block has {least} to {most} bytes")
        if self.both:
            raise PeerError("iperf3: its numbers of both ways at once are of one of them only")


def server_command(program: Installed, job: Iperf3Job, port: int) -> list[str]:
    """Return the words of a server for one client."""
    return [str(program.path), "-s", "-1", "-B", job.address, "-p", str(port)]


def iperf3_command(program: Installed, job: Iperf3Job, port: int) -> list[str]:
    """Return the words of the client."""
    words = [str(program.path), "-c", job.address, "-p", str(port), "-J"]
    if job.source:
        words += ["-B", job.source]
    words += ["-P", str(job.streams), "-l", str(job.block_bytes), "-t", str(job.seconds)]
    if job.window_bytes is not None:
        words += ["-w", str(job.window_bytes)]
    if job.transport == "udp":
        return [*words, "-u", "-b", "0"]
    return [*words, "-O", str(WARM_UP_S), *(["-N"] if job.no_delay else [])]


def run_iperf3(program: Installed, job: Iperf3Job, hosts: HostCommands = HERE) -> dict[str, float]:
    """Run server and client; return values by metric name, or raise ``PeerError`` where there is none."""
    limit_s = job.seconds + WARM_UP_S + _BEYOND_S
    with served(lambda port: server_command(program, job, port), job.address, "tcp", limit_s, hosts) as port:
        out = hosts.answer(iperf3_command(program, job, port), limit_s)
    return read_answer(out, job.transport)


def read_answer(out: str, transport: Transport) -> dict[str, float]:
    """Read what its document says of the receiver, and of the processors of both sides."""
    try:
        document = parse_json(out)
    except ValueError as error:
        raise PeerError("iperf3's answer is no JSON") from error
    end = member(document, "end")
    received = member(end, "sum_received")
    seconds = number("iperf3", received, "seconds")
    if seconds <= 0:
        raise PeerError("iperf3 has measured no time")
    used = member(end, "cpu_utilization_percent")
    cores = (number("iperf3", used, "host_total") + number("iperf3", used, "remote_total")) / 100
    rate = number("iperf3", received, "bytes") / seconds
    values = {"network_bandwidth": rate, "network_cpu": cores}
    if cores > 0:
        values["bandwidth_per_core"] = rate / cores
    if transport == "udp":
        values["loss_share"] = number("iperf3", received, "lost_percent") / 100
        values["jitter"] = number("iperf3", received, "jitter_ms") / 1e3
    return values


PEER = PeerTool(
    name="iperf3",
    doc="throughput of TCP and UDP",
    compared_on="streams, TCP and UDP: bytes received, processor time, loss",
    installed=installed,
)
