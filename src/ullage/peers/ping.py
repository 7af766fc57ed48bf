# SPDX-License-Identifier: Apache-2.0
"""ping (iputils) beside echoes: ICMP to one host, one each few ms, where ours follow each other at once.

It tells each time in us at best; the median is of what it prints.
"""

import re
from dataclasses import dataclass
from functools import partial
from typing import Final

from ullage.analysis.statistics import median
from ullage.peers import Installed, PeerError, PeerTool
from ullage.peers.served import HERE, LOOPBACK, HostCommands
from ullage.peers.started import find_installed

# iputils lets only root have a shorter interval.
INTERVAL_S: Final = 0.002
_BEYOND_S: Final = 10.0
_VERSION: Final = re.compile(r"iputils[- ](\S+)")
# Only the ping of iputils states such a version.
installed: Final = partial(find_installed, "ping", "-V", _VERSION)
_TIME: Final = re.compile(r"\btime=([\d.]+) ms")


@dataclass(frozen=True, slots=True)
class PingJob:
    """Work for ping.

    ``count`` echoes of ``payload_bytes``; a time stamp needs 16. ``source``: the address they come from, or any.
    """

    count: int
    payload_bytes: int = 56
    address: str = LOOPBACK
    source: str = ""

    def __post_init__(self) -> None:
        if self.count < 1 or self.payload_bytes < 16:
            raise PeerError("ping: an echo at least, and 16 bytes, so that it tells times")


def ping_command(program: Installed, job: PingJob) -> list[str]:
    """Return the words that run ``job``."""
    size = ["-s", str(job.payload_bytes)]
    source = ["-I", job.source] if job.source else []
    return [str(program.path), "-n", "-c", str(job.count), "-i", str(INTERVAL_S), *size, *source, job.address]


def run_ping(program: Installed, job: PingJob, hosts: HostCommands = HERE) -> dict[str, float]:
    """Return values by metric name; raise ``PeerError`` when nobody answers."""
    out = hosts.answer(ping_command(program, job), job.count * 10 * INTERVAL_S + _BEYOND_S)
    times = [float(match[1]) * 1e-3 for match in _TIME.finditer(out)]
    if not times:
        raise PeerError("ping's answer has no times")
    return {"latency_p50": median(times), "latency_max": max(times)}


PEER = PeerTool(
    name="ping",
    doc="ICMP echoes",
    compared_on="echoes: median and longest round trip",
    installed=installed,
)
