# SPDX-License-Identifier: Apache-2.0
"""Standard streams that are closed, full, read-only or of a narrow encoding: none of them may end in a traceback."""

import contextlib
import io
import os
import sys
from collections.abc import Generator
from typing import TYPE_CHECKING, BinaryIO, Final, TextIO, cast

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_STANDARD: Final = ((0, os.O_RDONLY), (1, os.O_RDONLY), (2, os.O_WRONLY))


class ForgivingErrors(io.TextIOWrapper):
    """stderr: what cannot be said there cannot be said anywhere, and ends nothing."""

    def write(self, s: str, /) -> int:
        """Return the length of ``s``, written or not."""
        with contextlib.suppress(OSError, ValueError):
            super().write(s)
        return len(s)

    def flush(self) -> None:
        """Write what is buffered, if that can be."""
        with contextlib.suppress(OSError, ValueError):
            super().flush()


class NamedOutput(io.TextIOWrapper):
    """stdout: an error of it says that it is one."""

    def write(self, s: str, /) -> int:
        """Write as any stream does; an error names standard output."""
        with _named():
            return super().write(s)

    def flush(self) -> None:
        """Flush as any stream does; an error names standard output."""
        with _named():
            super().flush()


class Pipe(io.FileIO):
    """Drops what its reader, once gone (``| head``), does not read: the work goes on, with its own exit code."""

    def write(self, b: "ReadableBuffer", /) -> int:
        """Write as any file does; drop the rest when the reader has gone."""
        try:
            return super().write(b)
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), self.fileno())
            return super().write(b)


@contextlib.contextmanager
def _named() -> Generator[None]:
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, "standard output") from error


def make_usable() -> None:
    """Give this process three standard streams that take any text.

    A closed descriptor would become that of the next file which is opened, and a rank's output end in it. In the place
    of a closed stdout comes one that cannot be written to, so that output which is lost is an error.
    """
    for descriptor, flags in _STANDARD:
        try:
            os.fstat(descriptor)
        except OSError:
            os.dup2(os.open(os.devnull, flags), descriptor)
    inherited = (sys.stdin, sys.stdout, sys.stderr)  # None where it was closed
    sys.stdin = inherited[0] or open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - for good
    sys.stdout = NamedOutput(
        io.BufferedWriter(Pipe(1, "wb", closefd=False)),
        encoding=_encoding(inherited[1]),
        errors="backslashreplace",
        line_buffering=os.isatty(1),
    )
    sys.stderr = ForgivingErrors(
        cast("BinaryIO", io.FileIO(2, "wb", closefd=False)),
        encoding=_encoding(inherited[2]),
        errors="backslashreplace",
        write_through=True,
    )


def _encoding(stream: TextIO | None) -> str:
    return "utf-8" if stream is None else stream.encoding


def abandon_stdout() -> None:
    """Drop what is still buffered for stdout, so that it does not raise again at exit."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
