# SPDX-License-Identifier: Apache-2.0
"""A launch under way: the launcher's process and the ranks it has started on this node, found by their environment.

Launchers put their ranks into process groups of their own and may die before them; the environment a process was
started with stays, and a token in it marks those of one launch. A supervisor ends them with the launcher, and with us.
"""

import contextlib
import os
import resource
import secrets
import select
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO, Final

from ullage.errors import EXIT_ENVIRONMENT, UserError
from ullage.launch.base import Launcher, ranks_on_a_node
from ullage.model.plan import Layout, Plan
from ullage.processes.supervised import Supervised
from ullage.processes.supervisor import process_state, runs
from ullage.quantity import plural
from ullage.reading import open_regular

# No rank counts as silent before this (see engine/run/launch_watch.hpp), and the engine, whose ranks watch each other,
# gets some seconds to act first.
_SHORTEST_SILENCE_S: Final = 5.0
_AFTER_THE_ENGINE_S: Final = 10.0
_LOOK_S: Final = 1.0
_MOST_BYTES: Final = 64


def silence_of(plan: Plan) -> float:
    """Return the seconds of silence after which a launch of ``plan`` is ended; no stage makes them longer."""
    return max(plan.watchdog_s, _SHORTEST_SILENCE_S) + _AFTER_THE_ENGINE_S


class HeartbeatMonitor:
    """Watches the launch whose records go to ``records``. One that never gave a sign does not count as silent.

    ``removed_at``: when the launch was last seen to go on with the removal of its data; 0: never.
    """

    def __init__(self, records: Path) -> None:
        self._path = records.with_name(f"{records.name}.alive")
        self._seen: bytes | None = None
        self._changed = 0.0
        self._looked = 0.0
        self.removed_at = 0.0
        self.forget()

    def forget(self) -> None:
        """Remove what a launch that was killed has left."""
        try:
            self._path.unlink(missing_ok=True)
        except OSError:
            self._seen = self._read()

    @property
    def were_seen(self) -> bool:
        """Whether the launch has given a sign, at the last look."""
        return self._changed > 0

    def silent_s(self, now: float) -> float:
        """Return the seconds of silence at ``now``; of a gap between looks 2 s count, as the machine stood still."""
        if now - self._looked >= _LOOK_S:
            found = self._read()
            if found is not None and found != self._seen:
                if self._seen is not None and found.split()[1:] != self._seen.split()[1:]:
                    self.removed_at = now
                self._seen, self._changed = found, now
            elif self._changed:
                self._changed += max(0.0, now - self._looked - 2 * _LOOK_S)
            self._looked = now
        return now - self._changed if self._changed else 0.0

    def _read(self) -> bytes | None:
        try:
            with open_regular(self._path) as stream:
                return stream.read(_MOST_BYTES)
        except OSError:
            return None


def is_stopped(pid: int) -> bool:
    """Tell whether a process is there and stopped, by a signal or a debugger."""
    return process_state(pid) in ("T", "t")


# Open MPI 4.1 needs 28, and 4 for each rank of the node.
_FILES: Final = 32
_FILES_OF_EACH: Final = 4
_KILL_TIMEOUT_S: Final = 5.0
_KILL_PAUSE_S: Final = 0.02
LAUNCH_VARIABLE: Final = "ULLAGE_LAUNCH"
# Beside what a launch has said on stderr.
LEDGER: Final = ".remains"
_RANK_VARIABLES: Final = (
    *(b"ULLAGE_RANK=", b"PMI_RANK=", b"OMPI_COMM_WORLD_RANK=", b"PMIX_RANK="),
    *(b"SLURM_PROCID=", b"FLUX_TASK_RANK=", b"JSM_NAMESPACE_RANK="),
)


def allow_open_files(layout: Layout) -> None:
    """Raise the limit of open files, or mpiexec hangs at the start; raise ``UserError`` (code 3) if not allowed."""
    needed = _FILES + _FILES_OF_EACH * (ranks_on_a_node(layout) or 1)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if resource.RLIM_INFINITY not in (soft, hard) and hard < needed:
        what = (
            f"only {plural(hard, 'file')} may be open, and the launch of {plural(layout.ranks, 'rank')} needs {needed}"
        )
        raise UserError(what, "ulimit -n", "raise it", EXIT_ENVIRONMENT)
    if soft != resource.RLIM_INFINITY and soft < needed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))


class Running:
    """A command that ``start`` has started. Neither ``kill`` nor the end of this process leaves any of it on this node.

    ``first_ended``: the rank that ended before all others, None when that was not seen. Hydra names the wrong process
    when one dies, because it reads the exit codes after it has killed the others; so the ranks are watched from here.
    ``lost_host``: the host whose connection ended before all others, and before any rank of another host; empty: not
    seen. A connection is the ssh, or the like, by which a launcher has started its daemon there. Neither Open MPI 4.1
    nor Hydra names the host of a daemon that is gone.
    """

    def __init__(
        self,
        launcher: Supervised,
        token: str,
        engine: Path,
        command: list[str],
        end_elsewhere: Callable[[], None] = lambda: None,
        host_of_rank: tuple[str, ...] = (),
    ) -> None:
        self.launcher = launcher
        self.command = command
        self.first_ended: int | None = None
        self.lost_host = ""
        self.started = time.monotonic()
        self._token = token
        self._engine = engine
        self._end_elsewhere = end_elsewhere
        self._host_of_rank = host_of_rank
        self._known: set[int] = set()
        self._connections: set[int] = set()
        # An epoll hands out its events in the order in which they happened, however late it is asked.
        self._ends = select.epoll()
        self._watched: dict[int, int | str] = {}
        self._ends.register(launcher.status, select.EPOLLIN)

    @classmethod
    def start(
        cls, engine: Path, launcher: Launcher, plan_path: Path, layout: Layout, stderr: BinaryIO, grace_s: float
    ) -> "Running":
        """Start the launcher in a session of its own; all it says goes to ``stderr``. May raise ``UserError``.

        ``grace_s``: how long the ranks have to end, should this process be killed.
        """
        allow_open_files(layout)
        token = secrets.token_hex(8)
        command = launcher.argv(engine, plan_path, layout)
        try:
            supervised = Supervised.start(
                command,
                replace(launcher.remains, asked=str(engine), grace_s=grace_s, ledger=f"{stderr.name}{LEDGER}"),
                environment={**launcher.environment(layout), **os.environ},
                variables={LAUNCH_VARIABLE: token},
                out=stderr,
                err=stderr,
            )
        except OSError as error:
            what = f"the launcher cannot be started: {error.strerror}"
            raise UserError(what, command[0], "name another with --launcher", EXIT_ENVIRONMENT) from error
        try:
            return cls(supervised, token, engine, command, launcher.end_elsewhere, launcher.hosts.of_ranks(layout))
        except BaseException:
            supervised.kill()
            raise

    def _watch(self, pid: int, what: int | str) -> None:
        """Watch the end of a rank or of a connection, where the kernel (from 5.3 on) and Python can."""
        if not hasattr(os, "pidfd_open"):
            return
        try:
            handle = os.pidfd_open(pid)
        except OSError:
            return
        self._watched[handle] = what
        self._ends.register(handle, select.EPOLLIN)

    def wait(self, seconds: float) -> bool:
        """Wait for the end of a process, ``seconds`` at most; tell whether the launcher has ended."""
        for handle, _ in self._ends.poll(seconds):
            if handle == self.launcher.status:
                continue
            what = self._watched.pop(handle)
            if isinstance(what, int):
                self.first_ended = what if self.first_ended is None else self.first_ended
            elif self.first_ended is None or self._host_of_rank[self.first_ended] == what:
                self.lost_host = self.lost_host or what
            self._ends.unregister(handle)
            os.close(handle)
        return self.launcher.poll() is not None

    @property
    def ranks_seen(self) -> int:
        """How many ranks were found on this node."""
        return len(self._known)

    def learn_ranks(self) -> None:
        """Watch the ranks and the connections that have come since the last call."""
        hosts = frozenset(self._host_of_rank)
        for member in members(self._token):
            if member.rank is not None and member.pid not in self._known and member.runs(self._engine):
                self._known.add(member.pid)
                self._watch(member.pid, member.rank)
            elif member.pid not in self._connections and (host := member.connects_to(hosts, self._engine)):
                self._connections.add(member.pid)
                self._watch(member.pid, host)

    def stopped_ranks(self) -> list[int]:
        """Return the ranks of this node that a signal or a debugger has stopped."""
        found = [member.rank for member in members(self._token) if member.runs(self._engine) and is_stopped(member.pid)]
        return sorted(rank for rank in found if rank is not None)

    def ask_to_end(self, stop_file: Path | None = None) -> None:
        """Send SIGTERM to the ranks of this node, who agree with all others; without any here, to the launcher.

        Never signal both: a launcher that is told to end kills its ranks within a second. ``stop_file``: to be written
        instead of a signal to the launcher, where ranks look for one.
        """
        ranks = [member.pid for member in members(self._token) if member.runs(self._engine)]
        if not ranks and stop_file is not None:
            with contextlib.suppress(OSError):
                stop_file.touch()
                return
        for pid in ranks or [self.launcher.pid]:
            send(pid, signal.SIGTERM)

    def kill(self) -> None:
        """End whatever is left of the launch on this node. The launcher first, so that it reports no rank as lost."""
        was_running = self.launcher.poll() is None
        self.launcher.kill()
        if was_running:
            self._end_elsewhere()
        # Its supervisor leaves nothing, unless somebody has killed that.
        deadline = time.monotonic() + _KILL_TIMEOUT_S
        while (left := list(members(self._token))) and time.monotonic() < deadline:
            for member in left:
                send(member.pid, signal.SIGKILL)
            time.sleep(_KILL_PAUSE_S)
        for handle in self._watched:
            os.close(handle)
        self._watched.clear()
        self._ends.close()


@dataclass(frozen=True, slots=True)
class Member:
    """A live process of a launch. ``rank``: None for launchers and their helpers."""

    pid: int
    rank: int | None
    words: tuple[str, ...]

    def runs(self, program: Path) -> bool:
        """Tell whether it is ``program``, or an interpreter (or loader) that runs it, and not a launcher of it."""
        return runs(list(self.words), str(program))

    def connects_to(self, hosts: frozenset[str], program: Path) -> str:
        """Return the one of ``hosts`` that is a word of it, as of ssh; empty for others, and for the launcher."""
        found = hosts.intersection(self.words)
        return next(iter(found)) if self.rank is None and len(found) == 1 and str(program) not in self.words else ""


def members(token: str) -> Iterator[Member]:
    """Yield all live processes whose environment carries ``token``; the dead and those of others do not show."""
    mark = f"{LAUNCH_VARIABLE}={token}".encode()
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            environment = (entry / "environ").read_bytes().split(b"\0")
            if mark not in environment:
                continue
            words = (entry / "cmdline").read_bytes().decode("utf-8", "surrogateescape").rstrip("\0").split("\0")
        except OSError:
            continue
        yield Member(int(entry.name), _rank(environment), tuple(words))


def _rank(environment: list[bytes]) -> int | None:
    for name in _RANK_VARIABLES:
        for item in environment:
            if item.startswith(name) and item[len(name) :].isdigit():
                return int(item[len(name) :])
    return None


def send(pid: int, number: signal.Signals) -> None:
    """Send a signal; a process that is gone already needs none."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)
