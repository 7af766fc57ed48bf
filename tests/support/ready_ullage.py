# SPDX-License-Identifier: Apache-2.0
"""A process that has imported all of Ullage, and forks what tests run as commands: each start saves half a second.

What is forked has the standard output, errors, folder and environment of its caller, ends as any command ends, and is
as `calm_ullage` otherwise. A request is one message: arguments, folder and environment as JSON, beside the ends of
three pipes (output, errors, exit code). The last gives the process id and then the exit code, a line each.
"""

import atexit
import gc
import importlib
import json
import os
import pkgutil
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from time import monotonic

from pydantic import BaseModel

import ullage
from support import calm_ullage
from ullage.report.scripts import chart_library

_LARGEST_REQUEST = 1 << 17
# Imported by Ullage or by what it uses where they are needed.
_IMPORTED_LATE = ("jinja2", "jinja2.bccache", "markupsafe", "rich.console", "rich.table", "vl_convert", "email.parser")


class Command:
    """A command under way, with what tests use of `subprocess.Popen`."""

    def __init__(self, arguments: Sequence[str]) -> None:
        ends = [os.pipe() for _ in range(3)]
        request = json.dumps([arguments, str(Path.cwd()), dict(os.environ)]).encode()
        socket.send_fds(_server(), [request], [write for _, write in ends])
        for _, write in ends:
            os.close(write)
        self._out, self._err, self._status = (os.fdopen(read) for read, _ in ends)
        self.pid = int(self._status.readline())
        self.returncode: int | None = None

    def poll(self) -> int | None:
        is_known = self.returncode is not None or bool(select.select([self._status], [], [], 0)[0])
        return self.wait() if is_known else None

    def wait(self) -> int:
        if self.returncode is None:
            self.returncode = int(self._status.read())
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def communicate(self, timeout: float = 60) -> tuple[str, str]:
        """Output and errors to the end. A command that takes longer is killed."""
        deadline = monotonic() + timeout
        with self._out, self._err, self._status, ThreadPoolExecutor(3) as readers:
            texts = [readers.submit(read) for read in (self._out.read, self._err.read, self.wait)]
            try:
                out, err, _ = (text.result(deadline - monotonic()) for text in texts)
            except TimeoutError:
                os.kill(self.pid, signal.SIGKILL)
                raise
        return str(out), str(err)


@cache
def _server() -> socket.socket:
    """Start the server of this process; both end together."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        number = theirs.fileno()
        words = [sys.executable, "-m", "support.ready_ullage", str(number)]
        server = subprocess.Popen(words, pass_fds=[number], cwd=Path(__file__).parents[1], stdout=subprocess.DEVNULL)
    atexit.register(_end, ours, server)
    return ours


def _end(requests: socket.socket, server: "subprocess.Popen[bytes]") -> None:
    requests.close()
    server.wait()


def _import_all() -> None:
    """Import what a command may need, and make what is else made at its first use: models, the page's scripts."""
    for module in pkgutil.walk_packages(ullage.__path__, "ullage."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    for name in _IMPORTED_LATE:
        importlib.import_module(name)
    for model in _models(BaseModel):
        model.model_rebuild(raise_errors=False)
    chart_library()
    calm_ullage.calm()
    gc.freeze()


def _models(base: type[BaseModel]) -> Iterator[type[BaseModel]]:
    for model in base.__subclasses__():
        yield model
        yield from _models(model)


def _become_command(requests: socket.socket) -> None:
    """Serve requests until there is nobody to send one; return in each process that is to be a command."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        request, pipes, _, _ = socket.recv_fds(requests, _LARGEST_REQUEST, 3)
        if not request:
            sys.exit()
        if os.fork() == 0:
            break
        for pipe in pipes:
            os.close(pipe)
    requests.close()
    out, err, status = pipes
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    _report_end(status, (out, err))
    os.close(status)
    for pipe, number in ((out, 1), (err, 2)):
        os.dup2(pipe, number)
        os.close(pipe)
    arguments, folder, environment = json.loads(request)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = [calm_ullage.__file__, *arguments]


def _report_end(status: int, pipes: Sequence[int]) -> None:
    """Fork; the parent waits and tells how the child ended, the child returns."""
    if (pid := os.fork()) == 0:
        return
    for pipe in (0, 1, 2, *pipes):
        os.close(pipe)
    os.write(status, f"{pid}\n".encode())
    _, ended = os.waitpid(pid, 0)
    os.write(status, str(os.waitstatus_to_exitcode(ended)).encode())
    os._exit(0)


if __name__ == "__main__":
    _import_all()
    _become_command(socket.socket(fileno=int(sys.argv[1])))
    calm_ullage.main()
