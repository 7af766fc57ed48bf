# SPDX-License-Identifier: Apache-2.0
"""sockperf's ping-pong beside requests over the loopback: one message to and fro, blocking, by TCP or UDP.

Its messages have a header of 14 bytes, so nothing shorter can be measured. It is asked for whole round trips, which is
what our latencies are. It has percentiles of its own (no 95 %), warms up for 0.4 s of its time, and takes whole seconds
only.
"""

import re
from dataclasses import dataclass
from typing import Final

from ullage.peers import Installed, PeerError, PeerTool
from ullage.peers.started import LOOPBACK, Transport, answer, find_installed, serving

LEAST_BYTES: Final = 14
_MOST_BYTES: Final = 65507
_BEYOND_S: Final = 15.0
_VERSION: Final = re.compile(r"sockperf, version (\S+?)(?:-no\.git)?$", re.MULTILINE)
_VALID: Final = re.compile(r"\[Valid Duration\] RunTime=([\d.]+) sec; SentMessages=\d+; ReceivedMessages=(\d+)")
_PERCENTILE: Final = re.compile(r"percentile (\d+\.\d+) =\s+([\d.]+)")
_LARGEST: Final = re.compile(r"<MAX> observation =\s+([\d.]+)")
_IS_ROUND_TRIP: Final = "Round trip is"
_NAMES: Final = {"50.000": "latency_p50", "99.000": "latency_p99", "99.900": "latency_p999"}


@dataclass(frozen=True, slots=True)
class SockperfJob:
    """``seconds`` are whole. ``PeerError`` for a message that has no room for its header."""

    transport: Transport
    message_bytes: int
    seconds: int
    address: str = LOOPBACK

    def __post_init__(self) -> None:
        if not LEAST_BYTES <= self.message_bytes <= _MOST_BYTES:
            raise PeerError(f"sockperf: a message has {LEAST_BYTES} to {_MOST_BYTES} bytes")
        if self.seconds < 1:
            raise PeerError("sockperf: a second at least")


def installed() -> Installed | None:
    """The sockperf of the PATH; None when there is none or it does not say its version."""
    return find_installed("sockperf", "--version", _VERSION)


def server_command(program: Installed, job: SockperfJob, port: int) -> list[str]:
    """It serves until it is ended."""
    return [str(program.path), "server", *_place(job, port)]


def sockperf_command(program: Installed, job: SockperfJob, port: int) -> list[str]:
    """The words of the client."""
    what = ["-m", str(job.message_bytes), "-t", str(job.seconds), "--full-rtt"]
    return [str(program.path), "ping-pong", *_place(job, port), *what]


def _place(job: SockperfJob, port: int) -> list[str]:
    return ["-i", job.address, "-p", str(port), *(["--tcp"] if job.transport == "tcp" else [])]


def run_sockperf(program: Installed, job: SockperfJob) -> dict[str, float]:
    """Values by metric name. ``PeerError`` when it fails, or says no number."""
    with serving(lambda port: server_command(program, job, port), job.address, job.transport) as port:
        return read_answer(answer(sockperf_command(program, job, port), job.seconds + _BEYOND_S))


def read_answer(out: str) -> dict[str, float]:
    """Its times are us."""
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
    compared_on="requests over the loopback from 14 bytes on, TCP and UDP: percentiles of the round trip, rate",
    installed=installed,
)
