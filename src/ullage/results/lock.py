# SPDX-License-Identifier: Apache-2.0
"""One run at a time measures into a result: a second one would measure the first, and both would write the records."""

import contextlib
import errno
import fcntl
import os
import socket
from collections.abc import Generator
from pathlib import Path
from typing import Final

from ullage.errors import EXIT_ENVIRONMENT, UserError
from ullage.results.folder import ResultFolder

LOCK_NAME: Final = ".lock"
_BUSY: Final = frozenset({errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES})
_MOST_TRIES: Final = 100


@contextlib.contextmanager
def measured_alone(result: ResultFolder) -> Generator[None]:
    """Hold the lock of ``result``, or of the result that it is a part of; it is gone with this process.

    Raise ``UserError`` (exit code 3) while another process holds it. Where the file system has no locks there is none.
    """
    above = result.path.parent.parent
    is_part = result.path.parent.name == "parts" and (above / "request.json").is_file()
    path = (above if is_part else result.path) / LOCK_NAME
    handle = _locked(path)
    try:
        yield
    finally:
        # The file is unlinked while it is held: whoever has opened it meanwhile finds its name to be another's or gone.
        with contextlib.suppress(OSError):
            path.unlink()
        os.close(handle)


def _locked(path: Path) -> int:
    for _ in range(_MOST_TRIES):
        handle = _opened(path)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in _BUSY:
                return handle
            holder = ""
            with contextlib.suppress(OSError):
                holder = os.pread(handle, 300, 0).decode("utf-8", "replace")
            os.close(handle)
            what = f"is in use by {holder or 'another process'}"
            raise UserError(what, str(path.parent), "wait for it, or end it", EXIT_ENVIRONMENT) from error
        if _is_named(handle, path):
            with contextlib.suppress(OSError):  # a full disk keeps the name back, not the lock
                os.ftruncate(handle, 0)
                os.pwrite(handle, f"process {os.getpid()} on {socket.gethostname()}".encode(), 0)
            return handle
        os.close(handle)
    raise UserError("is in use by other processes", str(path.parent), "wait for them", EXIT_ENVIRONMENT)


def _opened(path: Path) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError as error:
        what = error.strerror or "cannot be written"
        raise UserError(what, str(path), "name a result that you may write to", EXIT_ENVIRONMENT) from error


def _is_named(handle: int, path: Path) -> bool:
    """Tell whether ``path`` is still the file that was opened: whoever held it before has unlinked it."""
    try:
        return os.path.samestat(os.fstat(handle), path.stat(follow_symlinks=False))
    except OSError:
        return False
