# SPDX-License-Identifier: Apache-2.0
"""Tools beside sockets: iperf3 for streams, sockperf for requests, and the ping of iputils for echoes.

What is the same as ours, and what is not, stands at the job of each.
"""

import re
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import Final

from ullage.peers import Installed, PeerError, PeerTool, ServedJob, ToolJob, Transport
from ullage.peers.served import LOOPBACK
from ullage.peers.started import find_installed, member, number
from ullage.reading import parse_json

_MOST_STREAMS: Final = 128
_LEAST_UDP: Final = 16
_MOST_UDP: Final = 65507
_MOST_BLOCK: Final = 1 << 20
WARM_UP_S: Final = 1

IPERF3: Final = PeerTool(
    "iperf3",
    "throughput of TCP and UDP",
    "streams, TCP and UDP: bytes received, processor time, loss",
    partial(find_installed, "iperf3", "--version", re.compile(r"^iperf (3\.\S+)", re.MULTILINE)),
)


@dataclass(frozen=True, slots=True)
class Iperf3Job(ServedJob):
    """As many streams, the same block for its calls, as many whole ``seconds``.

    The same as ours: what counts is what the receiver has got, after a warm-up that is left out (``-O``, tcp only: for
    udp it would leave the packets in its count of losses). Not the same: before 3.16 all streams of a side are served
    by one thread; a udp block is a call each, where ours hands the kernel many at once. ``address`` is the server's,
    ``source`` the client's, empty: any. ``PeerError`` for what iperf3 refuses.
    """

    tool = IPERF3
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

    def server(self, program: Installed, port: int, /) -> list[str]:
        """Return the words of a server for one client."""
        return [str(program.path), "-s", "-1", "-B", self.address, "-p", str(port)]

    def command(self, program: Installed, port: int, /) -> list[str]:
        words = [str(program.path), "-c", self.address, "-p", str(port), "-J"]
        if self.source:
            words += ["-B", self.source]
        words += ["-P", str(self.streams), "-l", str(self.block_bytes), "-t", str(self.seconds)]
        if self.window_bytes is not None:
            words += ["-w", str(self.window_bytes)]
        if self.transport == "udp":
            return [*words, "-u", "-b", "0"]
        return [*words, "-O", str(WARM_UP_S), *(["-N"] if self.no_delay else [])]

    def values(self, out: str) -> dict[str, float]:
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
        if self.transport == "udp":
            values["loss_share"] = number("iperf3", received, "lost_percent") / 100
            values["jitter"] = number("iperf3", received, "jitter_ms") / 1e3
        return values


LEAST_BYTES: Final = 14
_VALID: Final = re.compile(r"\[Valid Duration\] RunTime=([\d.]+) sec; SentMessages=\d+; ReceivedMessages=(\d+)")
_PERCENTILE: Final = re.compile(r"percentile (\d+\.\d+) =\s+([\d.]+)")
_LARGEST: Final = re.compile(r"<MAX> observation =\s+([\d.]+)")
_NAMES: Final = {"50.000": "latency_p50", "99.000": "latency_p99", "99.900": "latency_p999"}

SOCKPERF: Final = PeerTool(
    "sockperf",
    "latency of TCP and UDP messages",
    "requests from 14 bytes on, TCP and UDP: percentiles of the round trip, rate",
    partial(
        find_installed, "sockperf", "--version", re.compile(r"sockperf, version (\S+?)(?:-no\.git)?$", re.MULTILINE)
    ),
)


@dataclass(frozen=True, slots=True)
class SockperfJob(ServedJob):
    """Its ping-pong: one message to and fro, blocking, by TCP or UDP, for whole ``seconds``.

    Its messages have a header of 14 bytes, so nothing shorter can be measured. It is asked for whole round trips, which
    is what our latencies are. It has percentiles of its own (no 95 %), and warms up for 0.4 s of its time. ``address``
    is the server's, ``source`` the client's, empty: any.
    """

    tool = SOCKPERF
    transport: Transport
    message_bytes: int
    seconds: int
    address: str = LOOPBACK
    source: str = ""

    def __post_init__(self) -> None:
        if not LEAST_BYTES <= self.message_bytes <= _MOST_UDP:
            raise PeerError(f"sockperf: a message has {LEAST_BYTES} to {_MOST_UDP} bytes")
        if self.seconds < 1:
            raise PeerError("sockperf: a second at least")

    @property
    def listens_by(self) -> Transport:
        return self.transport

    def server(self, program: Installed, port: int, /) -> list[str]:
        """Return the words of a server that serves until it is ended."""
        return [str(program.path), "server", *self._place(port)]

    def command(self, program: Installed, port: int, /) -> list[str]:
        what = ["-m", str(self.message_bytes), "-t", str(self.seconds), "--full-rtt"]
        source = ["--client_ip", self.source] if self.source else []
        return [str(program.path), "ping-pong", *self._place(port), *source, *what]

    def _place(self, port: int, /) -> list[str]:
        return ["-i", self.address, "-p", str(port), *(["--tcp"] if self.transport == "tcp" else [])]

    def values(self, out: str) -> dict[str, float]:
        """Read rate, percentiles and longest round trip; sockperf prints its times in us."""
        if "Round trip is" not in out:
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


# iputils lets only root have a shorter interval.
INTERVAL_S: Final = 0.002
_TIME: Final = re.compile(r"\btime=([\d.]+) ms")

# Only the ping of iputils states such a version.
PING: Final = PeerTool(
    "ping",
    "ICMP echoes",
    "echoes: median and longest round trip",
    partial(find_installed, "ping", "-V", re.compile(r"iputils[- ](\S+)")),
)


@dataclass(frozen=True, slots=True)
class PingJob(ToolJob):
    """``count`` echoes of ``payload_bytes`` to one host, one each few ms, where ours follow each other at once.

    A time stamp needs 16 bytes. ``source``: the address they come from, or any. It tells each time in us at best; the
    median is of what it prints.
    """

    tool = PING
    count: int
    payload_bytes: int = 56
    address: str = LOOPBACK
    source: str = ""

    def __post_init__(self) -> None:
        if self.count < 1 or self.payload_bytes < 16:
            raise PeerError("ping: an echo at least, and 16 bytes, so that it tells times")

    def command(self, program: Installed, _port: int, /) -> list[str]:
        size = ["-s", str(self.payload_bytes)]
        source = ["-I", self.source] if self.source else []
        return [str(program.path), "-n", "-c", str(self.count), "-i", str(INTERVAL_S), *size, *source, self.address]

    def values(self, out: str) -> dict[str, float]:
        """Read the times that it prints; raise ``PeerError`` when nobody answers."""
        times = [float(match[1]) * 1e-3 for match in _TIME.finditer(out)]
        if not times:
            raise PeerError("ping's answer has no times")
        return {"latency_p50": median(times), "latency_max": max(times)}


PEERS: Final = (IPERF3, SOCKPERF, PING)
