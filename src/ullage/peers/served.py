# SPDX-License-Identifier: Apache-2.0
"""Peers that need a server of their own on this host: it is started, waited for, and ended with its client."""

import contextlib
import socket
import time
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Final, Literal

from ullage.peers import PeerError
from ullage.processes.supervised import Supervised

Transport = Literal["tcp", "udp"]
LOOPBACK: Final = "127.0.0.1"
LOOPBACK_6: Final = "::1"
_READY_S: Final = 5.0
_LOOK_S: Final = 0.01


def free_port(address: str, transport: Transport) -> int:
    """A port that nobody has just now. ``PeerError`` where there is no such address."""
    try:
        with _socket(address, transport) as probe:
            probe.bind((address, 0))
            return int(probe.getsockname()[1])
    except OSError as error:
        raise PeerError(f"no port on {address}: {error.strerror}") from error


@contextlib.contextmanager
def serving(command: Sequence[str], address: str, port: int, transport: Transport) -> Generator[None, None, None]:
    """``command`` runs while the block does. ``PeerError`` when it does not take its port within seconds."""
    name = Path(command[0]).name
    try:
        process = Supervised.start(command)
    except OSError as error:
        raise PeerError(f"{name} cannot be started: {error.strerror}") from error
    try:
        deadline = time.monotonic() + _READY_S
        while not _is_taken(address, port, transport):
            if (code := process.poll()) is not None:
                raise PeerError(f"the server of {name} ended at once (exit code {code})")
            if time.monotonic() > deadline:
                raise PeerError(f"the server of {name} was not ready after {_READY_S:g} s")
            time.sleep(_LOOK_S)
        yield
    finally:
        process.end()


def _socket(address: str, transport: Transport) -> socket.socket:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    return socket.socket(family, socket.SOCK_STREAM if transport == "tcp" else socket.SOCK_DGRAM)


def _is_taken(address: str, port: int, transport: Transport) -> bool:
    """Whether somebody has the port, without a word to whoever it is."""
    try:
        with _socket(address, transport) as probe:
            probe.bind((address, port))
    except OSError:
        return True
    return False
