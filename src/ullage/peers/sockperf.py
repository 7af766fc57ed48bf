# SPDX-License-Identifier: Apache-2.0
"""sockperf's ping-pong beside requests: one message to and fro, blocking, by TCP or UDP.

Its messages have a header of 14 bytes, so nothing shorter can be measured. It is asked for whole round trips, which is
what our latencies are. It has percentiles of its own (no 95 %), warms up for 0.4 s of its time, and takes whole seconds
only.
"""

import re
from dataclasses import dataclass
from functools import partial
from typing import Final

from ullage.peers import Installed, PeerError, PeerTool
from ullage.peers.served import HERE, LOOPBACK, HostCommands, Transport, served
from ullage.peers.started import find_installed

LEAST_BYTES: Final = 14
_MOST_BYTES: Final = 65507
_BEYOND_S: Final = 15.0
_VERSION: Final = re.compile(r"sockperf, version (\S+?)(?:-no\.git)?$", re.MULTILINE)
installed: Final = partial(find_installed, "sockperf", "--version", _VERSION)
_VALID: Final = re.compile(r"\[Valid Duration\] RunTime=([\d.]+) sec; SentMessages=\d+; ReceivedMessages=(\d+)")
_PERCENTILE: Final = re.compile(r"percentile (\d+\.\d+) =\s+([\d.]+)")
_LARGEST: Final = re.compile(r"<MAX> observation =\s+([\d.]+)")
_IS_ROUND_TRIP: Final = "Round trip is"
_NAMES: Final = {"50.000": "latency_p50", "99.000": "latency_p99", "99.900": "latency_p999"}


@dataclass(frozen=True, slots=True)
class SockperfJob:
    """Work for sockperf.

    ``seconds`` are whole; ``address`` is the server's, ``source`` the client's, empty: any.

    ``PeerError`` for a message that has no room for its header.
    """

    transport: Transport
    message_bytes: int
    seconds: int
    address: str = LOOPBACK
    source: str = ""

    def __post_init__(self) -> None:
        if not LEAST_BYTES <= self.message_bytes <= _MOST_BYTES:
            raise PeerError(f"sockperf: a message has {LEAST_BYTES} to {_MOST_BYTES} bytes")
        if self.seconds < 1:
            raise PeerError("sockperf: a second at least")


def server_command(program: Installed, job: SockperfJob, port: int) -> list[str]:
    """Return the words of a server that serves until it is ended."""
    return [str(program.path), "server", *_place(job, port)]


def sockperf_command(program: Installed, job: SockperfJob, port: int) -> list[str]:
    """Return the words of the client."""
    what = ["-m", str(job.message_bytes), "-t", str(job.seconds), "--full-rtt"]
    source = ["--client_ip", job.source] if job.source else []
    return [str(program.path), "ping-pong", *_place(job, port), *source, *what]


def _place(job: SockperfJob, port: int) -> list[str]:
    return ["-i", job.address, "-p", str(port), *(["--tcp"] if job.transport == "tcp" else [])]


def run_sockperf(program: Installed, job: SockperfJob, hosts: HostCommands = HERE) -> dict[str, float]:
    """Run server and client; return values by metric name, or raise ``PeerError`` where there is none."""
    limit_s = job.seconds + _BEYOND_S
    with served(lambda port: server_command(program, job, port), job.address, job.transport, limit_s, hosts) as port:
        return read_answer(hosts.answer(sockperf_command(program, job, port), limit_s))


def read_answer(out: str) -> dict[str, float]:
    """Read rate, percentiles and longest round trip; sockperf prints its times in us."""
    if _IS_ROUND_TRIP not in out:
        raise PeerError("sockperf's answer has no round trips")
    valid, largest = _VALID.search(out), _LARGEST.search(out)
    found = {match[1]: float(match[2]) * 1e-6 for match in _PERCENTILE.finditer(out)}
    if valid is None or largest is None or float(valid[1]) <= 0 or any(name not in found for name in _NAMES):
        raise PeerError("sockperf's answer lacks its percentiles or its time")
    return {
        "message_rate": float(valid[2]) / float(valid[1]),
        **{metric: found[name] for name, metric in _NAMES.items()},
        "latency_max": float(largest[1]) * 1e-6,
    }


PEER = PeerTool(
    name="sockperf",
    doc="latency of TCP and UDP messages",
    compared_on="requests from 14 bytes on, TCP and UDP: percentiles of the round trip, rate",
    installed=installed,
)
