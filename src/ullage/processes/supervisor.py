# SPDX-License-Identifier: Apache-2.0
"""A program of its own, between us and a command: when the command or we end, whatever it has started ends too.

It adopts all descendants whose parents end (Linux: child subreaper), so those in sessions of their own are found too.
It has nothing but the standard library, and sleeps while the command runs. Its only word is a JSON object (``Job``).

To ``status`` it writes lines: ``pid N`` or ``error ERRNO`` for the command, then ``ended WAIT_STATUS``. From
``lifeline`` it reads letters: ``r``: the command has started whatever it starts; ``k``: end all now. The end of the
file, when the process that holds the other end is gone or closes it: ask the command to end, then end all.
"""

import contextlib
import fnmatch
import json
import os
import select
import shutil
import signal
import stat
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_ADOPT: Final = 36  # PR_SET_CHILD_SUBREAPER of <linux/prctl.h>
_END_WITH_PARENT: Final = 1  # PR_SET_PDEATHSIG
_KILL_TIMEOUT_S: Final = 10.0
_KILL_PAUSE_S: Final = 0.01
_LOOK_S: Final = 0.1
_STARTING_S: Final = 30.0
_MEMORY: Final = Path("/dev/shm")  # noqa: S108 - not ours: where libraries of MPI make their segments
_RESET: Final = (signal.SIGPIPE, signal.SIGXFSZ)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How a command is ended, and what it may leave behind.

    ``asked``: the program that is asked to end, of all that the command starts; empty, or nowhere: the command itself.
    ``grace_s``: from being asked to being killed. ``folders``: patterns below the folder for temporary files, ``{pid}``
    of the command and ``{uid}`` filled in, that are removed in the end; ``segments``: of names in /dev/shm that are,
    when a process of the command has had them mapped. ``ledger``: a file that tells whoever comes later what is to be
    removed, should this process be killed before (see ``remove_noted``); empty: none.
    """

    asked: str = ""
    grace_s: float = 2.0
    folders: Sequence[str] = ()
    segments: Sequence[str] = ()
    ledger: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job(Ending):
    """A command to run. ``lifeline`` and ``status`` are descriptors. ``variables``: for the command alone."""

    command: list[str]
    lifeline: int
    status: int
    variables: dict[str, str]


class Supervisor:
    """Runs one job from start to end."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._pid = 0
        self._is_running = False
        self._is_starting = bool(job.segments)
        self._seen: dict[str, int] = {}
        self._signals, waking = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(waking, warn_on_full_buffer=False)
        for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, lambda _number, _frame: None)

    def run(self) -> None:
        """Run the job until nothing of the command is left, or what is left cannot be ended."""
        self._pid, problem = _start(self._job)
        self._say(f"error {problem}" if problem else f"pid {self._pid}")
        if problem:
            return
        self._is_running = True
        self._note()
        if self._follow():
            self._ask()
        self._look()
        self._end_all()
        self._remove_remains()

    def _follow(self) -> bool:
        """Wait; return True when the command is to be asked to end, False when it has ended or all is to end now."""
        until = time.monotonic() + _STARTING_S
        while self._is_running:
            self._is_starting = self._is_starting and time.monotonic() < until
            letters, number = self._wait(_LOOK_S if self._is_starting else None)
            if self._is_starting or "r" in letters:
                self._look()
            self._is_starting = self._is_starting and "r" not in letters
            if "k" in letters:
                return False
            if "." in letters or number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
                return True
        return False

    def _wait(self, seconds: float | None) -> tuple[str, int]:
        """Wait; return letters of the lifeline, ``.`` for its end, and a signal that is not SIGCHLD, 0 for none."""
        poll = select.poll()
        for descriptor in (self._job.lifeline, self._signals):
            poll.register(descriptor, select.POLLIN | select.POLLHUP)
        ready = {descriptor for descriptor, _ in poll.poll(None if seconds is None else int(1000 * seconds))}
        letters = (os.read(self._job.lifeline, 64).decode("ascii") or ".") if self._job.lifeline in ready else ""
        numbers = os.read(self._signals, 512) if self._signals in ready else b""
        self._reap()
        return letters, next((number for number in numbers if number != signal.SIGCHLD), 0)

    def _reap(self) -> bool:
        """Reap the children that have ended, report the command's end, and tell whether any child is left."""
        with contextlib.suppress(ChildProcessError):
            while (found := os.waitpid(-1, os.WNOHANG)) != (0, 0):
                if found[0] == self._pid:
                    self._is_running = False
                    self._say(f"ended {found[1]}")
            return True
        return False

    def _ask(self) -> None:
        """Ask, and wait for the command's end. The end of the lifeline is known: it would wake at once, for ever."""
        program = self._job.asked
        asked = [pid for pid in descendants(os.getpid()) if program and runs(_words(pid), program)]
        for pid in asked:
            _send(pid, signal.SIGTERM)
        if not asked:
            with contextlib.suppress(OSError):
                os.killpg(self._pid, signal.SIGTERM)
        until = time.monotonic() + self._job.grace_s
        while self._is_running and (left := until - time.monotonic()) > 0:
            select.select([self._signals], [], [], left)
            with contextlib.suppress(BlockingIOError):
                os.read(self._signals, 512)
            self._reap()

    def _end_all(self) -> None:
        """Kill the command first, so that it reports nothing as lost, then all that is left of it.

        What a process starts meanwhile is found next time.
        """
        if self._is_running:
            _send(self._pid, signal.SIGKILL)
        until = time.monotonic() + _KILL_TIMEOUT_S
        while self._reap() and time.monotonic() < until:
            if not self._is_running:
                for pid in descendants(os.getpid()):
                    _send(pid, signal.SIGKILL)
            time.sleep(_KILL_PAUSE_S)

    def _look(self) -> None:
        if self._job.segments:
            found = mapped_segments(descendants(os.getpid()), self._job.segments) - self._seen.keys()
            for name in found:
                with contextlib.suppress(OSError):
                    self._seen[name] = (_MEMORY / name).lstat().st_ino
            if found:
                self._note()

    def _note(self) -> None:
        noted = {"place": _place(), "pid": self._pid, "folder": tempfile.gettempdir(), "segments": self._seen}
        if self._job.ledger and (self._job.folders or self._job.segments):
            with contextlib.suppress(OSError):  # the result has no room
                Path(self._job.ledger).write_text(json.dumps(noted), encoding="utf-8")

    def _remove_remains(self) -> None:
        for name in self._seen:
            with contextlib.suppress(OSError):
                (_MEMORY / name).unlink()
        for pattern in self._job.folders:
            remove_own(Path(tempfile.gettempdir()), pattern.format(pid=self._pid, uid=os.geteuid()))
        if self._job.ledger:
            with contextlib.suppress(OSError):
                Path(self._job.ledger).unlink()

    def _say(self, line: str) -> None:
        with contextlib.suppress(OSError):  # nobody listens any more
            os.write(self._job.status, f"{line}\n".encode("ascii"))


def _start(job: Job) -> tuple[int, int]:
    """Start the command; return its process and 0, or anything and the errno for which there is none."""
    failed, failing = os.pipe2(os.O_CLOEXEC)
    pid = os.fork()
    if pid == 0:
        _become(job, failing)
    os.close(failing)
    with os.fdopen(failed, "rb") as stream:
        problem = stream.read()
    if problem:
        os.waitpid(pid, 0)
    return pid, int(problem or b"0")


def _become(job: Job, failing: int) -> None:
    """Become the command, in a session of its own, that ends with its supervisor."""
    try:
        os.setsid()
        _control(_END_WITH_PARENT, signal.SIGKILL)
        for number in _RESET:
            signal.signal(number, signal.SIG_DFL)
        os.execvpe(job.command[0], job.command, {**os.environ, **job.variables})  # noqa: S606 - a list of words
    except OSError as error:
        os.write(failing, str(error.errno).encode("ascii"))
    os._exit(127)


def _control(option: int, value: int) -> None:
    """Call prctl(2). A Python without ctypes finds no orphans of the command, and ends the rest."""
    with contextlib.suppress(ImportError, OSError, AttributeError):
        import ctypes

        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def descendants(pid: int) -> list[int]:
    """Return all live processes below ``pid``, parents first."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError, ValueError, IndexError):
                # The name of the program, in parentheses, may hold anything.
                fields = (entry / "stat").read_bytes().rpartition(b")")[2].split()
                if fields[0] not in (b"Z", b"X"):
                    children.setdefault(int(fields[1]), []).append(int(entry.name))
    found = [pid]
    for parent in found:
        found += children.get(parent, [])
    return found[1:]


def runs(words: list[str], program: str) -> bool:
    """Tell whether the words of a process are of ``program``, or of an interpreter (or loader) that runs it."""
    return program in words[:2]


def _words(pid: int) -> list[str]:
    try:
        text = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return []
    return os.fsdecode(text).split("\0")


def mapped_segments(pids: Iterable[int], patterns: Sequence[str]) -> set[str]:
    """Return the names in /dev/shm that fit one of ``patterns`` and that one of the processes has mapped."""
    found: set[str] = set()
    for pid in pids:
        with contextlib.suppress(OSError):
            for line in Path(f"/proc/{pid}/maps").read_text(encoding="utf-8", errors="replace").splitlines():
                # A process maps hundreds of files. An object of pathlib for each would take time from ranks that start.
                folder, _, name = line.split(maxsplit=5)[-1].rpartition("/")
                if folder == str(_MEMORY) and any(fnmatch.fnmatchcase(name, one) for one in patterns):
                    found.add(name)
    return found


def _place() -> str:
    """Return what process numbers and names in /dev/shm belong to: one start of one kernel, and a space of numbers."""
    with contextlib.suppress(OSError):
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot} {os.readlink('/proc/self/ns/pid')}"  # noqa: PTH115 - no path
    return ""


def process_state(pid: int) -> str:
    """Return the letter of the kernel for the state of a process; empty where there is none."""
    with contextlib.suppress(OSError, IndexError):
        # The name of the program, in parentheses, may hold anything.
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0].decode("ascii")
    return ""


def remove_noted(ledger: str, folders: Iterable[str], segments: Iterable[str]) -> bool:
    """Remove what the ledger of a supervisor that was killed names and the patterns of its launcher fit.

    Nothing is touched in another place, while the command is there, or while a process has a segment mapped. Return
    False where the ledger has to be kept for that.
    """
    try:
        noted = json.loads(ledger)
        place, pid, folder, names = noted["place"], int(noted["pid"]), Path(noted["folder"]), dict(noted["segments"])
    except (ValueError, TypeError, KeyError, RecursionError):
        return True
    if place != _place() or process_state(pid) not in ("", "Z", "X"):
        return False
    mapped = mapped_segments((int(name) for name in os.listdir("/proc") if name.isdigit()), list(segments))  # noqa: PTH208
    for name in names.keys() - mapped:
        with contextlib.suppress(OSError):
            status = (_MEMORY / name).lstat()
            is_its = "/" not in name and any(fnmatch.fnmatchcase(name, one) for one in segments)
            if is_its and (status.st_uid, status.st_ino) == (os.geteuid(), names[name]):
                (_MEMORY / name).unlink()
    for pattern in folders:
        remove_own(folder, pattern.format(pid=pid, uid=os.geteuid()))
    return not names.keys() & mapped


def remove_own(folder: Path, pattern: str) -> None:
    """Remove what fits ``pattern`` below ``folder``, where that is a folder of ours and no link."""
    for path in folder.glob(pattern):
        with contextlib.suppress(OSError):
            status = path.lstat()
            if stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid():
                shutil.rmtree(path, ignore_errors=True)
                if path.parent != folder:
                    path.parent.rmdir()  # the folder of all launches, if this was the last


def _send(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(OSError):
        os.kill(pid, number)


def main() -> None:
    """Do the job that the only word describes."""
    job = Job(**json.loads(sys.argv[1]))
    _control(_ADOPT, 1)
    for descriptor in (job.lifeline, job.status):
        os.set_inheritable(descriptor, False)  # noqa: FBT003 - it takes no keyword
    Supervisor(job).run()


if __name__ == "__main__":
    main()
