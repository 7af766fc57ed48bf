# SPDX-License-Identifier: Apache-2.0
"""iperf3's, sockperf's and ping's words and answers, against programs that only pretend, and once for real."""

import json
import socket
import sys
from pathlib import Path

import pytest

from ullage.peers import Installed, PeerError, Transport, load_peers
from ullage.peers.network import IPERF3, PING, SOCKPERF, Iperf3Job, PingJob, SockperfJob
from ullage.peers.served import LOOPBACK, free_port, run_job, serving

PROGRAM = Installed(Path("/usr/bin/tool"), "3")
ANSWER = {
    "end": {
        "sum_received": {"seconds": 2.0, "bytes": 4e9, "lost_percent": 2.5, "jitter_ms": 0.0014},
        "cpu_utilization_percent": {"host_total": 60.0, "remote_total": 40.0},
    }
}
ROUND_TRIPS = """sockperf: [Total Run] RunTime=1.000 sec; SentMessages=101829; ReceivedMessages=101828
sockperf: [Valid Duration] RunTime=0.500 sec; SentMessages=70653; ReceivedMessages=70650
sockperf: Summary: Round trip is 7.779 usec
sockperf: ---> <MAX> observation = 2247.199
sockperf: ---> percentile 99.900 = 1862.746
sockperf: ---> percentile 99.000 =    5.399
sockperf: ---> percentile 50.000 =    3.836
"""


def program(folder: Path, name: str, body: str) -> Installed:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return Installed(path, "3")


def test_iperf3_counts_what_was_received() -> None:
    values = Iperf3Job("udp", 1, 1024, 1).values(json.dumps(ANSWER))
    assert values == pytest.approx(
        {"network_bandwidth": 2e9, "network_cpu": 1.0, "bandwidth_per_core": 2e9, "loss_share": 0.025, "jitter": 1.4e-6}
    )
    assert "loss_share" not in Iperf3Job("tcp", 1, 1024, 1).values(json.dumps(ANSWER))


@pytest.mark.parametrize(
    ("out", "message"),
    [("no json", "no JSON"), ("{}", "no number 'seconds'"), ('{"end": {"sum_received": {"seconds": 0}}}', "no time")],
)
def test_iperf3_that_says_no_number_says_why(out: str, message: str) -> None:
    with pytest.raises(PeerError, match=message):
        Iperf3Job("tcp", 1, 1024, 1).values(out)


def test_iperf3_is_asked_for_the_same_job() -> None:
    words = Iperf3Job("tcp", 4, 1024, 2, no_delay=True, window_bytes=4096).command(PROGRAM, 5001)
    assert " ".join(words) == ("/usr/bin/tool -c 127.0.0.1 -p 5001 -J -P 4 -l 1024 -t 2 -w 4096 -O 1 -N")
    words = Iperf3Job("udp", 1, 1024, 2).command(PROGRAM, 5001)
    assert words[-3:] == ["-u", "-b", "0"]
    assert "-O" not in words


@pytest.mark.parametrize(
    "make",
    [
        lambda: Iperf3Job("tcp", 129, 1024, 1),
        lambda: Iperf3Job("tcp", 1, 1024, 0),
        lambda: Iperf3Job("udp", 1, 8, 1),
        lambda: Iperf3Job("tcp", 1, 1 << 21, 1),
        lambda: Iperf3Job("tcp", 1, 1024, 1, both=True),
        lambda: SockperfJob("udp", 13, 1),
        lambda: SockperfJob("udp", 14, 0),
        lambda: PingJob(0),
        lambda: PingJob(1, 15),
    ],
)
def test_what_they_cannot_do_is_refused(make: object) -> None:
    assert callable(make)
    with pytest.raises(PeerError):
        make()


def test_sockperf_tells_round_trips() -> None:
    assert SockperfJob("udp", 14, 1).values(ROUND_TRIPS) == pytest.approx(
        {
            "message_rate": 141300.0,
            "latency_p50": 3.836e-6,
            "latency_p99": 5.399e-6,
            "latency_p999": 1.862746e-3,
            "latency_max": 2.247199e-3,
        }
    )
    for spoiled in ("Round trip", "percentile 50", "Valid Duration", "<MAX>"):
        with pytest.raises(PeerError):
            SockperfJob("udp", 14, 1).values(ROUND_TRIPS.replace(spoiled, "other"))
    words = SockperfJob("tcp", 14, 2).command(PROGRAM, 5001)
    assert " ".join(words) == "/usr/bin/tool ping-pong -i 127.0.0.1 -p 5001 --tcp -m 14 -t 2 --full-rtt"


def test_ping_tells_the_median_of_its_lines(tmp_path: Path) -> None:
    lines = [f"64 bytes from 127.0.0.1: icmp_seq=1 ttl=64 time={time} ms" for time in ("0.030", "0.010", "0.500")]
    said = "\n".join(lines)
    assert run_job(program(tmp_path, "ping", f"cat <<END\n{said}\nEND"), PingJob(3)) == pytest.approx(
        {"latency_p50": 30e-6, "latency_max": 500e-6}
    )
    with pytest.raises(PeerError, match="no times"):
        run_job(program(tmp_path, "ping", "true"), PingJob(3))
    assert " ".join(PingJob(3).command(PROGRAM, 0)) == "/usr/bin/tool -n -c 3 -i 0.002 -s 56 127.0.0.1"


def test_versions_are_their_own_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    program(tmp_path, "iperf3", "echo 'iperf 3.12 (cJSON 1.7.15)'")
    program(tmp_path, "sockperf", "echo 'sockperf, version 3.7-no.git'")
    program(tmp_path, "ping", "echo 'ping from iputils 20221126'")
    found = [peer.installed() for peer in (IPERF3, SOCKPERF, PING)]
    assert [one and one.version for one in found] == ["3.12", "3.7", "20221126"]
    for name in ("iperf3", "sockperf", "ping"):
        program(tmp_path, name, "echo another program")
    assert [peer.installed() for peer in (IPERF3, SOCKPERF, PING)] == [None, None, None]
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    assert [peer.installed() for peer in (IPERF3, SOCKPERF, PING)] == [None, None, None]
    assert {"iperf3", "sockperf", "ping"} <= set(load_peers())


def test_a_server_that_does_not_come_up_is_an_error(tmp_path: Path) -> None:
    gone = program(tmp_path, "gone", "exit 3")
    with pytest.raises(PeerError, match="ended at once"), serving(lambda _: [str(gone.path)], LOOPBACK, "tcp"):
        pass
    with pytest.raises(PeerError, match="cannot be started"), serving(lambda _: [str(tmp_path / "x")], LOOPBACK, "tcp"):
        pass
    with pytest.raises(PeerError, match="no port"):
        free_port("192.0.2.250", "udp")


LISTENER = "import socket, sys, time; s = socket.socket(); s.bind(('127.0.0.1', int(sys.argv[1]))); s.listen()"


def test_a_port_that_a_stranger_has_is_left_to_him() -> None:
    with socket.create_server((LOOPBACK, 0)) as stranger:
        theirs = int(stranger.getsockname()[1])
        offered = [theirs]

        def choose(address: str, transport: Transport) -> int:
            return offered.pop() if offered else free_port(address, transport)

        words = [sys.executable, "-c", f"{LISTENER}; time.sleep(300)"]
        with serving(lambda port: [*words, str(port)], LOOPBACK, "tcp", choose) as port:
            assert port != theirs
        assert offered == []
        stranger.settimeout(0.1)
        with pytest.raises(TimeoutError):
            stranger.accept()


def test_the_real_iperf3_and_sockperf_give_numbers() -> None:
    streams, requests = IPERF3.installed(), SOCKPERF.installed()
    if streams is None or requests is None:
        pytest.skip("iperf3 or sockperf is not installed")
    values = run_job(streams, Iperf3Job("udp", 2, 1024, 1))
    assert values["network_bandwidth"] > 0
    assert 0 <= values["loss_share"] <= 1
    values = run_job(requests, SockperfJob("udp", 14, 1))
    assert 0 < values["latency_p50"] <= values["latency_p999"] <= values["latency_max"]
