# SPDX-License-Identifier: Apache-2.0
"""Writing what somebody has asked for to a place that may hold other people's data.

Only regular files are written: new ones, and existing ones where the caller says that they may be replaced. A link, a
device, a FIFO or a folder is left as it is. Everything is looked at before the first file is written.
"""

import contextlib
import os
import secrets
import stat
from collections.abc import Callable, Generator, Mapping
from pathlib import Path
from typing import Final

from ullage.errors import EXIT_ENVIRONMENT, UserError

_FOLDER_FLAGS: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_NEW_FLAGS: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_STREAMS: Final = frozenset({"-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"})
_KINDS: Final[tuple[tuple[Callable[[int], bool], str], ...]] = (
    (stat.S_ISLNK, "a symbolic link, which is never followed"),
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a FIFO"),
    (stat.S_ISSOCK, "a socket"),
)


def is_stream(place: Path | None) -> bool:
    """Tell whether ``place`` names standard output."""
    return place is not None and str(place) in _STREAMS


def lies_within(place: Path, folder: Path) -> bool:
    """Tell whether a file at ``place`` would lie in ``folder``, however both are written."""
    return place.absolute().parent.resolve().is_relative_to(folder.resolve())


def write_outputs(files: Mapping[str, bytes | str], folder: Path, *, replace: bool) -> None:
    """Write ``files``, by their paths below ``folder``, which has to be there: a mistyped path makes no folders.

    ``replace``: existing regular files may be replaced. Raise ``UserError`` when a file is refused, before any is
    written, or cannot be written. Links on the way to ``folder`` are the caller's choice; below it none is followed.
    """
    if not folder.is_dir():
        raise UserError("there is no such folder", str(folder), "make it, or choose another place for the output")
    for name in files:
        with _errors_named(folder / name), _parent_of(folder, name) as parent:
            _check(folder / name, parent, replace=replace)
    for name, content in files.items():
        data = content.encode() if isinstance(content, str) else content
        with _errors_named(folder / name), _parent_of(folder, name) as parent:
            _write(Path(name).name, data, parent, replace=replace)


@contextlib.contextmanager
def _errors_named(place: Path) -> Generator[None]:
    try:
        yield
    except OSError as error:
        what = error.strerror or "cannot be written"
        raise UserError(what, str(place), "choose another place for the output", EXIT_ENVIRONMENT) from error


@contextlib.contextmanager
def _parent_of(folder: Path, name: str) -> Generator[int]:
    """Yield a descriptor of the folder that ``name`` lies in; make missing folders below ``folder``."""
    parent = os.open(folder, _FOLDER_FLAGS)
    try:
        for part in Path(name).parts[:-1]:
            with contextlib.suppress(FileExistsError):
                os.mkdir(part, dir_fd=parent)
            below = os.open(part, _FOLDER_FLAGS | os.O_NOFOLLOW, dir_fd=parent)
            os.close(parent)
            parent = below
        yield parent
    finally:
        os.close(parent)


def _check(place: Path, parent: int, *, replace: bool) -> None:
    try:
        mode = os.stat(place.name, dir_fd=parent, follow_symlinks=False).st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISREG(mode):
        kind = next((text for is_kind, text in _KINDS if is_kind(mode)), "a device")
        raise UserError(f"is {kind}, and not replaced", str(place), "name a file, or - for standard output")
    if not replace:
        raise UserError("exists already", str(place), "name another, or replace it with --force")


def _write(name: str, data: bytes, parent: int, *, replace: bool) -> None:
    """Write the file as a whole: a reader sees the old or the new content and never a part."""
    scratch = f".{name[:200]}.{secrets.token_hex(4)}.tmp"
    handle = os.open(scratch, _NEW_FLAGS, 0o666, dir_fd=parent)
    try:
        with open(handle, "wb") as stream:  # noqa: PTH123 - a descriptor has no path
            stream.write(data)
            stream.flush()
            os.fsync(handle)
        if replace:
            os.replace(scratch, name, src_dir_fd=parent, dst_dir_fd=parent)
        else:
            # A hard link is refused where a file has come meanwhile; some file systems have none.
            try:
                os.link(scratch, name, src_dir_fd=parent, dst_dir_fd=parent, follow_symlinks=False)
            except FileExistsError:
                raise
            except OSError:
                os.rename(scratch, name, src_dir_fd=parent, dst_dir_fd=parent)
            else:
                os.unlink(scratch, dir_fd=parent)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(scratch, dir_fd=parent)
        raise
