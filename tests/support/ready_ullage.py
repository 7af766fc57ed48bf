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
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from time import monotonic
from typing import IO

from pydantic import BaseModel

import ullage
from support import calm_ullage
from ullage.report.scripts import chart_library

_LARGEST_REQUEST = 1 << 17
# Imported by Ullage or by what it uses where they are needed.
_IMPORTED_LATE = ("jinja2", "jinja2.bccache", "markupsafe", "rich.console", "rich.table", "vl_convert", "email.parser")


def run(arguments: Sequence[str], timeout_s: float) -> tuple[int, str, str]:
    """Return exit code, output and errors of the command."""
    ends = [os.pipe() for _ in range(3)]
    request = json.dumps([arguments, str(Path.cwd()), dict(os.environ)]).encode()
    socket.send_fds(_server(), [request], [write for _, write in ends])
    for _, write in ends:
        os.close(write)
    out, err, status = (os.fdopen(read) for read, _ in ends)
    with out, err, status:
        pid = int(status.readline())
        return _finished(pid, (out, err, status), timeout_s)


def _finished(pid: int, pipes: Sequence[IO[str]], timeout_s: float) -> tuple[int, str, str]:
    deadline = monotonic() + timeout_s
    with ThreadPoolExecutor(len(pipes)) as readers:
        texts = [readers.submit(pipe.read) for pipe in pipes]
        try:
            out, err, code = (text.result(deadline - monotonic()) for text in texts)
        except TimeoutError:
            os.kill(pid, signal.SIGKILL)
            raise
    return int(code), out, err


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
