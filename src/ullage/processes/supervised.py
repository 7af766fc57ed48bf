# SPDX-License-Identifier: Apache-2.0
"""A command under a supervisor: see ``supervisor``, which is the program that runs it."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import IO, Final, Self

from ullage.processes import supervisor
from ullage.processes.supervisor import Ending

# This is longer than the supervisor waits for a process that the kernel does not end.
_END_S: Final = 15.0


_USUAL: Final = Ending()


class Supervised:
    """A command that is running or has ended. ``pid`` is its own; ``status`` can be polled: readable when it has ended.

    As a context manager it is killed at the end of the block.
    """

    def __init__(self, process: "subprocess.Popen[bytes]", lifeline: int, status: int) -> None:
        self.pid = 0
        self.status = status
        self.process = process
        self._lifeline = lifeline
        self._said = b""
        self._code: int | None = None
        self._is_over = False

    @classmethod
    def start(
        cls,
        command: Sequence[str],
        ending: Ending = _USUAL,
        *,
        folder: Path | None = None,
        environment: Mapping[str, str] | None = None,
        variables: Mapping[str, str] | None = None,
        out: int | IO[bytes] = subprocess.DEVNULL,
        err: int | IO[bytes] = subprocess.DEVNULL,
        into: int = subprocess.DEVNULL,
    ) -> "Supervised":
        """Start ``command`` in ``folder``. ``environment``: instead of ours; ``variables``: besides, of it alone.

        ``out``, ``err`` and ``into``: its streams, as ``Popen`` has them.

        Raise the ``OSError`` of the command when it cannot be started.
        """
        lifeline, hold = os.pipe2(os.O_CLOEXEC)
        listen, status = os.pipe2(os.O_CLOEXEC)
        job = supervisor.Job(
            **asdict(ending), command=list(command), lifeline=lifeline, status=status, variables=dict(variables or {})
        )
        words = [sys.executable, "-I", "-S", supervisor.__file__, json.dumps(asdict(job))]
        try:
            process = subprocess.Popen(
                words,
                cwd=folder,
                env=environment,
                stdin=into,
                stdout=out,
                stderr=err,
                pass_fds=(lifeline, status),
                start_new_session=True,
            )
        except BaseException:
            os.close(hold)
            os.close(listen)
            raise
        finally:
            os.close(lifeline)
            os.close(status)
        started = cls(process, hold, listen)
        try:
            started._await_start()
        except BaseException:
            started.kill()
            raise
        return started

    def _await_start(self) -> None:
        while b"\n" not in self._said:
            self._said += (more := os.read(self.status, 256))
            if not more:
                raise OSError(0, "its supervisor has ended")
        word, _, number = self._take().partition(" ")
        if word == "error":
            raise OSError(int(number), os.strerror(int(number)))
        self.pid = int(number)

    def _take(self) -> str:
        line, _, self._said = self._said.partition(b"\n")
        return line.decode("ascii")

    def poll(self) -> int | None:
        """Return as ``Popen`` does the exit code, the negative number of a signal, or None while it is running."""
        if self._code is None and not self._is_over:
            os.set_blocking(self.status, False)
            with contextlib.suppress(BlockingIOError):
                self._said += (more := os.read(self.status, 256))
                if b"\n" in self._said:
                    self._code = os.waitstatus_to_exitcode(int(self._take().split()[1]))
                elif not more:
                    # The supervisor was killed, and the command with it.
                    self._code = -signal.SIGKILL
        return self._code

    def has_started_all(self) -> None:
        """Tell that the command has started whatever it starts."""
        self._tell(b"r")

    def end(self) -> None:
        """Ask it to end, and end all of it then. Waits."""
        self._finish(b"")

    def kill(self) -> None:
        """End all of it now. Waits."""
        self._finish(b"k")

    def _finish(self, word: bytes) -> None:
        if self._is_over:
            return
        self._tell(word)
        os.close(self._lifeline)
        # Nobody reads what it still says: it must not wait for that.
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None:
                with contextlib.suppress(BrokenPipeError):
                    stream.close()
        try:
            self.process.wait(_END_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.poll()
        self._is_over = True
        self._code = -signal.SIGKILL if self._code is None else self._code
        os.close(self.status)

    def _tell(self, word: bytes) -> None:
        with contextlib.suppress(BrokenPipeError):
            os.write(self._lifeline, word)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()
