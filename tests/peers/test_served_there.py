# SPDX-License-Identifier: Apache-2.0
"""A server on another host: its shell script runs here, as a launcher would run it there."""

import contextlib
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from importlib import resources
from pathlib import Path

import pytest

from ullage.peers import PeerError
from ullage.peers.served import LOOPBACK, HostCommands, is_own, serving_there

LIMIT_S = 30.0
BIND = "import socket, sys, time; s = socket.socket(*(socket.AF_INET, socket.SOCK_{})); "
TCP = BIND.format("STREAM") + "s.bind(('127.0.0.1', int(sys.argv[1]))); s.listen(); time.sleep(300)"
UDP = BIND.format("DGRAM") + "s.bind(('127.0.0.1', int(sys.argv[1]))); time.sleep(300)"


def far(words: Sequence[str]) -> list[str]:
    return ["env", *words]


def server(body: str) -> Callable[[int], list[str]]:
    return lambda port: [sys.executable, "-c", body, str(port)]


def wait_until(happens: Callable[[], bool]) -> None:
    deadline = time.monotonic() + LIMIT_S
    while not happens():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.02)


def answers(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection((LOOPBACK, port), 1):
        return True
    return False


def test_it_has_its_port_while_the_block_runs_and_not_afterwards() -> None:
    with serving_there(server(TCP), HostCommands(server=far, host="far"), "tcp", LIMIT_S) as port:
        assert answers(port)
    wait_until(lambda: not answers(port))


def test_a_server_of_datagrams_is_waited_for_too() -> None:
    with (
        serving_there(server(UDP), HostCommands(server=far, host="far"), "udp", LIMIT_S) as port,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe,
        pytest.raises(OSError, match="in use"),
    ):
        probe.bind((LOOPBACK, port))


def test_a_program_that_the_host_lacks_is_named_with_the_remedy() -> None:
    expected = "not available: iperf9 is not installed on far; install it there, too"
    with (
        pytest.raises(PeerError, match=expected),
        serving_there(lambda _: ["/opt/iperf9"], HostCommands(server=far, host="far"), "tcp", LIMIT_S),
    ):
        pass


def test_a_program_at_another_path_there_is_found_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tool").symlink_to(sys.executable)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with serving_there(
        lambda port: ["/opt/tool", "-c", TCP, str(port)], HostCommands(server=far), "tcp", LIMIT_S
    ) as port:
        assert answers(port)


def test_a_host_that_cannot_be_reached_says_why() -> None:
    def no_road(_words: Sequence[str]) -> list[str]:
        return ["sh", "-c", "echo ------; echo ssh: no such host: far; exit 255"]

    with (
        pytest.raises(PeerError, match=r"the server of tool on far failed \(it ended at once\): ssh: no such host"),
        serving_there(lambda _: ["tool"], HostCommands(server=no_road, host="far"), "tcp", LIMIT_S),
    ):
        pass


def test_a_server_that_nobody_ends_ends_by_itself() -> None:
    """The launcher's daemon may be gone with its host, or with the network."""
    script = resources.files("ullage.peers").joinpath("served.sh").read_text(encoding="utf-8")
    with socket.create_server((LOOPBACK, 0)) as probe:
        port = int(probe.getsockname()[1])
    words = ["sh", "-c", script, "server", "tcp", "0A", f"{port:04X}", "1", *server(TCP)(port)]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=LIMIT_S)
    assert done.stdout == "ullage: serving\n"
    assert not answers(port)


def test_this_host_is_known_by_its_addresses() -> None:
    assert is_own("localhost")
    assert is_own(LOOPBACK)
    assert not is_own("192.0.2.250")  # for documents only
    assert not is_own("no-such-host.invalid")
