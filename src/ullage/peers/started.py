# SPDX-License-Identifier: Apache-2.0
"""Peers as programs we start: alone, or with a server of their own that is waited for and ended with its client."""

import contextlib
import os
import re
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, cast

from ullage.errors import one_line
from ullage.peers import Installed, PeerError
from ullage.processes.supervised import Ending, Supervised
from ullage.processes.supervisor import descendants

VERSION_S: Final = 10
_STOP_S: Final = 5
_NOWHERE: Final = Path("/")


@dataclass(frozen=True, slots=True)
class Ended:
    """How a program ended, and what it has said."""

    code: int
    out: str
    err: str


def run_to_end(command: Sequence[str], folder: Path, environment: Mapping[str, str], limit_s: float) -> Ended:
    """Run ``command`` in ``folder`` with ``environment`` besides our own. Whatever ends this call ends all of it too.

    ``PeerError`` when it cannot be started or takes longer than ``limit_s``.
    """
    name = Path(command[0]).name
    try:
        started = Supervised.start(
            command,
            Ending(grace_s=_STOP_S),
            folder=folder,
            environment={**os.environ, **environment},
            out=subprocess.PIPE,
            err=subprocess.PIPE,
        )
    except OSError as error:
        raise PeerError(f"{name} cannot be started: {error.strerror}") from error
    with started:
        try:
            # Both pipes are closed by all of it when the command itself has ended.
            out, err = started.process.communicate(timeout=limit_s)
        except subprocess.TimeoutExpired as error:
            raise PeerError(f"{name} was not done after {limit_s:g} s and was ended") from error
        finally:
            started.end()
        code = started.poll()
    return Ended(0 if code is None else code, out.decode("utf-8", "replace"), err.decode("utf-8", "replace"))


def answer(command: Sequence[str], limit_s: float) -> str:
    """Standard output of a peer that needs no files. ``PeerError`` when it fails or takes longer than ``limit_s``."""
    ended = run_to_end(command, _NOWHERE, {}, limit_s)
    if ended.code != 0:
        raise failure(Path(command[0]).name, f"exit code {ended.code}", f"{ended.err}\n{ended.out}")
    return ended.out


def failure(tool: str, reason: str, said: str) -> PeerError:
    """``tool`` failed for ``reason``, and the first line of what it has ``said``."""
    first = next((line for line in said.splitlines() if line.strip()), "")
    return PeerError(f"{tool} failed ({reason})" + (f": {one_line(first, 120)}" if first else ""))


def find_installed(tool: str, option: str, version: re.Pattern[str]) -> Installed | None:
    """The program of that name in the PATH, with the version that it says to ``option``; None where it says none."""
    path = shutil.which(tool)
    if path is None:
        return None
    try:
        said = version.search(answer([path, option], VERSION_S))
    except PeerError:
        return None
    return Installed(Path(path), said[1]) if said else None


def member(value: object, key: str) -> object:
    """What an object of JSON has under ``key``; None where it is no object, or has none."""
    return cast("dict[str, object]", value).get(key) if isinstance(value, dict) else None


def number(tool: str, value: object, key: str) -> float:
    """The number that ``tool`` gives under ``key``; ``PeerError`` where there is none."""
    found = member(value, key)
    if isinstance(found, bool) or not isinstance(found, (int, float)):
        raise PeerError(f"{tool}'s answer has no number '{key}'")
    return float(found)


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
