# SPDX-License-Identifier: Apache-2.0
"""Peers that need a server: it is started, waited for, and ended with its client.

Both are here, or each is on a host of its own, where a launcher of MPI starts them as it starts ranks there.
"""

import contextlib
import os
import random
import select
import socket
import subprocess
import time
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Final, TypeAlias

from ullage.peers import Installed, PeerError, ServedJob, ToolJob, Transport
from ullage.peers.started import answer, failure
from ullage.processes.supervised import Supervised
from ullage.processes.supervisor import Ending, descendants

HostCommand: TypeAlias = Callable[[Sequence[str]], list[str]]
LOOPBACK: Final = "127.0.0.1"
LOOPBACK_6: Final = "::1"
_READY_S: Final = 5.0
_LOOK_S: Final = 0.01
_TRIES: Final = 5
_LISTENS: Final = "0A"
_STATES: Final[Mapping[Transport, str]] = {"tcp": _LISTENS, "udp": "07"}
# A launcher has to reach the other host first.
_READY_THERE_S: Final = 30.0
# A launcher that was asked to end has so long to end what it has started there.
_GRACE_S: Final = 5.0
# These are below the ports that systems give to programs which ask for any.
_PORTS_THERE: Final = range(20000, 32768)
# served.sh, which runs there, prints these.
_SERVES: Final = b"ullage: serving"


@dataclass(frozen=True, slots=True)
class HostCommands:
    """How commands start at client and server; None: here. ``environment``: besides ours. ``host``: the server's."""

    client: HostCommand | None = None
    server: HostCommand | None = None
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    host: str = ""

    def answer(self, command: Sequence[str], limit_s: float) -> str:
        """Return the standard output of a client; raise ``PeerError`` as ``started.answer`` does."""
        if self.client is None:
            return answer(command, limit_s)
        return answer(self.client(command), limit_s + _READY_THERE_S, self.environment)


HERE: Final = HostCommands()


def run_job(program: Installed, job: ToolJob, hosts: HostCommands = HERE, limit_s: float = 60.0) -> dict[str, float]:
    """Do ``job``, with its server if any; return values by metric, or raise ``PeerError``, also after ``limit_s``."""
    if not isinstance(job, ServedJob):
        return job.values(hosts.answer(job.command(program, 0), limit_s))
    with served(lambda port: job.server(program, port), job.address, job.listens_by, limit_s, hosts) as port:
        return job.values(hosts.answer(job.command(program, port), limit_s))


def free_port(address: str, transport: Transport) -> int:
    """Return a port that nobody has now; raise ``PeerError`` where there is no such address."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    kind = socket.SOCK_STREAM if transport == "tcp" else socket.SOCK_DGRAM
    try:
        with socket.socket(family, kind) as probe:
            probe.bind((address, 0))
            return int(probe.getsockname()[1])
    except OSError as error:
        raise PeerError(f"no port on {address}: {error.strerror}") from error


def is_own(host: str) -> bool:
    """Tell whether a name or an address is one of this host."""
    try:
        addresses = {str(place[0]) for *_, place in socket.getaddrinfo(host, None)}
    except OSError:
        return False
    for address in addresses:
        with contextlib.suppress(PeerError):
            return free_port(address, "udp") > 0
    return False


def served(
    command: Callable[[int], Sequence[str]], address: str, transport: Transport, limit_s: float, hosts: HostCommands
) -> contextlib.AbstractContextManager[int]:
    """Run the server ``command(port)`` during the block, ``limit_s`` at most, where ``hosts`` say; give the port."""
    if hosts.server is None:
        return serving(command, address, transport)
    return serving_there(command, hosts, transport, limit_s)


@contextlib.contextmanager
def serving(
    command: Callable[[int], Sequence[str]],
    address: str,
    transport: Transport,
    choose: Callable[[str, Transport], int] = free_port,
) -> Generator[int, None, None]:
    """Run the server ``command(port)`` while the block does; give the port once the server has it.

    Where somebody else takes it first, another one is tried. Raise ``PeerError`` when the server ends at once or takes
    no port within seconds.
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
    """Wait for ``server`` to get ``port``; return False when it has ended, raise ``PeerError`` after seconds."""
    deadline = time.monotonic() + _READY_S
    while server.poll() is None:
        if _sockets_at(port, transport) & _sockets_of([server.pid, *descendants(server.pid)]):
            return True
        if time.monotonic() > deadline:
            raise PeerError(f"the server of {name} was not ready after {_READY_S:g} s")
        time.sleep(_LOOK_S)
    return False


@contextlib.contextmanager
def serving_there(
    command: Callable[[int], Sequence[str]], hosts: HostCommands, transport: Transport, limit_s: float
) -> Generator[int, None, None]:
    """Do as ``serving``, on another host. Raise ``PeerError`` when that host lacks the program or cannot be reached."""
    said = name = ""
    for port in random.sample(_PORTS_THERE, _TRIES):
        words = list(command(port))
        name = Path(words[0]).name
        with _started_there(words, port, hosts, transport, limit_s) as server:
            said, is_ready = _hear(server, name, hosts.host)
            if is_ready:
                yield port
                return
            if "ullage: absent" in said:
                raise PeerError(f"not available: {name} is not installed on {hosts.host}; install it there, too")
    raise failure(f"the server of {name} on {hosts.host}", "it ended at once", said)


@contextlib.contextmanager
def _started_there(
    words: Sequence[str], port: int, hosts: HostCommands, transport: Transport, limit_s: float
) -> Generator[Supervised, None, None]:
    left_s = round(limit_s + _READY_THERE_S)
    script = resources.files("ullage.peers").joinpath("served.sh").read_text(encoding="utf-8")
    there = ["sh", "-c", script, "server", transport, _STATES[transport], f"{port:04X}", str(left_s), *words]
    command = there if hosts.server is None else hosts.server(there)
    try:
        server = Supervised.start(
            command,
            Ending(grace_s=_GRACE_S),
            environment={**os.environ, **hosts.environment},
            out=subprocess.PIPE,
            err=subprocess.STDOUT,
        )
    except OSError as error:
        raise PeerError(f"{command[0]} cannot be started: {error.strerror}") from error
    try:
        yield server
    finally:
        server.end()


def _hear(server: Supervised, name: str, host: str) -> tuple[str, bool]:
    """Read what is said until the server has its port (True), or all has ended (False)."""
    stream = server.process.stdout
    deadline = time.monotonic() + _READY_THERE_S
    said = b""
    while stream is not None and (left_s := deadline - time.monotonic()) > 0:
        if not select.select([stream], [], [], left_s)[0]:
            continue
        said += (more := os.read(stream.fileno(), 4096))
        if _SERVES in said:
            return said.decode("utf-8", "replace"), True
        if not more:
            return said.decode("utf-8", "replace"), False
    raise PeerError(f"the server of {name} on {host} was not ready after {_READY_THERE_S:g} s")


def _sockets_at(port: int, transport: Transport) -> set[str]:
    """Return the inodes of the sockets that listen at ``port``, on any address."""
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
    found: set[str] = set()
    for pid in pids:
        with contextlib.suppress(OSError):
            for entry in Path(f"/proc/{pid}/fd").iterdir():
                with contextlib.suppress(OSError):
                    found.add(os.readlink(entry).removeprefix("socket:[").removesuffix("]"))  # noqa: PTH115 - no path
    return found
