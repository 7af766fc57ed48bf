# SPDX-License-Identifier: Apache-2.0
"""Peers that need a server of their own on this host: it is started, waited for, and ended with its client."""

import contextlib
import os
import socket
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from pathlib import Path
from typing import Final, Literal

from ullage.peers import PeerError
from ullage.processes.supervised import Supervised
from ullage.processes.supervisor import descendants

Transport = Literal["tcp", "udp"]
LOOPBACK: Final = "127.0.0.1"
LOOPBACK_6: Final = "::1"
_READY_S: Final = 5.0
_LOOK_S: Final = 0.01
_TRIES: Final = 5
_LISTENS: Final = "0A"


def free_port(address: str, transport: Transport) -> int:
    """A port that nobody has just now. ``PeerError`` where there is no such address."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    kind = socket.SOCK_STREAM if transport == "tcp" else socket.SOCK_DGRAM
    try:
        with socket.socket(family, kind) as probe:
            probe.bind((address, 0))
            return int(probe.getsockname()[1])
    except OSError as error:
        raise PeerError(f"no port on {address}: {error.strerror}") from error


@contextlib.contextmanager
def serving(
    command: Callable[[int], Sequence[str]],
    address: str,
    transport: Transport,
    choose: Callable[[str, Transport], int] = free_port,
) -> Generator[int, None, None]:
    """``command`` of a port runs while the block does, and has that port itself. Gives the port.

    Where somebody else takes it first, another one is tried. ``PeerError`` when the server ends at once or takes no
    port within seconds.
    """
    code: int | None = None
    name = ""
    for _ in range(_TRIES):
        port = choose(address, transport)
        words = command(port)
        name = Path(words[0]).name
        try:
            server = Supervised.start(words)
        except OSError as error:
            raise PeerError(f"{name} cannot be started: {error.strerror}") from error
        try:
            if _takes(server, name, port, transport):
                yield port
                return
            code = server.poll()
        finally:
            server.end()
    raise PeerError(f"the server of {name} ended at once (exit code {code})")


def _takes(server: Supervised, name: str, port: int, transport: Transport) -> bool:
    """Whether ``server`` gets ``port``; False when it has ended instead."""
    deadline = time.monotonic() + _READY_S
    while server.poll() is None:
        if _sockets_at(port, transport) & _sockets_of([server.pid, *descendants(server.pid)]):
            return True
        if time.monotonic() > deadline:
            raise PeerError(f"the server of {name} was not ready after {_READY_S:g} s")
        time.sleep(_LOOK_S)
    return False


def _sockets_at(port: int, transport: Transport) -> set[str]:
    """Numbers of the sockets that listen at ``port``, on any address."""
    found: set[str] = set()
    for table in (transport, f"{transport}6"):
        with contextlib.suppress(OSError):
            for line in Path(f"/proc/self/net/{table}").read_text(encoding="ascii").splitlines()[1:]:
                fields = line.split()
                waits = transport == "udp" or fields[3] == _LISTENS
                if waits and int(fields[1].rpartition(":")[2], 16) == port:
                    found.add(fields[9])
    return found


def _sockets_of(pids: Iterable[int]) -> set[str]:
    """Numbers of the sockets that processes have."""
    found: set[str] = set()
    for pid in pids:
        with contextlib.suppress(OSError):
            for entry in Path(f"/proc/{pid}/fd").iterdir():
                with contextlib.suppress(OSError):
                    found.add(os.readlink(entry).removeprefix("socket:[").removesuffix("]"))  # noqa: PTH115 - no path
    return found
