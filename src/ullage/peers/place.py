# SPDX-License-Identifier: Apache-2.0
"""Where a peer writes: a dataset of the run's own marked folder, in the format of docs/contract.md "The run folder".

So ``ullage clean`` and the engine know what a crash has left. The dataset is called ``peer-<name>``, or has another
word before its name where no peer writes it. No case has such an id, so nothing that the engine keeps is taken for it.
"""

import contextlib
import errno
import fcntl
import json
import os
import re
import secrets
import stat
import time
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, cast

from ullage.cleaning import MARKER, PREFIX, holds_silly_names_only
from ullage.peers import PeerError
from ullage.reading import parse_json

_MANIFEST: Final = "manifest.ndjson"
_MOST_MARKER_BYTES: Final = 4096
_MOST_LOOKS: Final = 250
_BETWEEN_LOOKS_S: Final = 0.02
_RUN_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_FILE: Final = re.compile(r"data\.([0-9]{8,})")
_DATASET: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_FOLDER_FLAGS: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW_FLAGS: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def file_name(index: int) -> str:
    """Return the name of a peer's file ``index`` within its dataset."""
    return f"data.{index:08}"


@contextmanager
def marked_folder(target_path: Path, run_id: str, dataset: str, files: int, *, kind: str = "peer") -> Generator[Path]:
    """Make an empty folder for ``files`` files called as ``file_name`` says; remove it with them at the end.

    The run's folder below ``target_path`` is made, or taken over when this run left it, and stays locked meanwhile; it
    goes too when nothing else is in it. The caller sees to space. Raise ``PeerError`` when a place is foreign, in use
    or cannot be made; also when something is found in the end that no peer was to write.
    """
    if not _RUN_ID.fullmatch(run_id) or not _DATASET.fullmatch(dataset):
        raise PeerError(f"no names for a run folder: run '{run_id}', dataset '{dataset}'")
    entry = _Entry(f"{kind}-{dataset}", files)
    with ExitStack() as opened, ExitStack() as claim:
        with _said(target_path):
            target, folder, path = _open_run_folder(opened, claim, target_path, run_id)
            _clear(folder, entry, path)
        try:
            with _said(path):
                _append(folder, entry.line())
                os.close(_make_directory(folder, entry.directory))
            yield path / entry.directory
        except BaseException:
            # What cannot be removed stays in the manifest for `ullage clean`; the first error is the one to raise.
            with contextlib.suppress(PeerError):
                _remove(target, folder, entry, path, claim)
            raise
        _remove(target, folder, entry, path, claim)


def _clear(folder: int, entry: "_Entry", path: Path) -> None:
    """Remove what an interrupted earlier peer has left; refuse a directory that no manifest lists."""
    if (files := _listed_files(folder, entry.dataset)) > 0:
        _remove_files(folder, _Entry(entry.dataset, files))
    if entry.directory in os.listdir(folder):
        raise PeerError(f"{path / entry.directory}: is in no manifest; refused")


def _remove(target: int, folder: int, entry: "_Entry", path: Path, claim: ExitStack) -> None:
    with _said(path):
        _remove_files(folder, entry)
        _remove_empty(target, folder, path.name, claim)


@dataclass(frozen=True, slots=True)
class _Entry:
    """A line of the manifest."""

    dataset: str
    files: int

    @property
    def directory(self) -> str:
        return f"c-{self.dataset}"

    def has(self, name: str) -> bool:
        """Tell whether ``name`` is one of its files."""
        match = _FILE.fullmatch(name)
        return match is not None and file_name(int(match.group(1))) == name and int(match.group(1)) < self.files

    def line(self) -> bytes:
        fields = {
            "dataset": self.dataset,
            "directory": self.directory,
            "files": self.files,
            "file_mode": "per-process",
            "directory_per_process": False,
        }
        return json.dumps(fields, separators=(",", ":")).encode() + b"\n"


def _listed_files(folder: int, dataset: str) -> int:
    """Return the most files of ``dataset`` that the manifest lists, as an interrupted peer has left them, or 0."""
    most = 0
    for line in _read(folder, _MANIFEST).splitlines():
        with contextlib.suppress(ValueError):
            content = parse_json(line)
            fields = cast("dict[str, object]", content) if isinstance(content, dict) else {}
            files = fields.get("files")
            if fields.get("dataset") == dataset and isinstance(files, int):
                most = max(most, files)
    return most


@contextmanager
def _said(path: Path) -> Generator[None]:
    """Raise every error of the system as a ``PeerError`` of one line."""
    try:
        yield
    except OSError as error:
        reason = "a symbolic link is in the way, which is refused" if error.errno == errno.ELOOP else error.strerror
        where = str(path) if error.filename in (None, str(path), path) else f"{path}: {error.filename}"
        raise PeerError(f"{where}: {reason}") from error


def _open_run_folder(opened: ExitStack, claim: ExitStack, target_path: Path, run_id: str) -> tuple[int, int, Path]:
    """Open target and run folder. Links to the target are followed. ``claim`` holds the marker, which is locked."""
    target = _opened(opened, os.open(target_path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))
    name = PREFIX + run_id
    path = Path(os.readlink(f"/proc/self/fd/{target}")) / name  # noqa: PTH115 - the kernel's word for a descriptor
    try:
        folder = _opened(opened, _make_directory(target, name))
    except FileExistsError:
        folder = _opened(opened, os.open(name, _FOLDER_FLAGS, dir_fd=target))
        _check_own(folder, path, run_id)
    else:
        _furnish(target, folder, name, run_id)
    _lock(claim, folder, path)
    return target, folder, path


def _make_directory(parent: int, name: str) -> int:
    os.mkdir(name, 0o700, dir_fd=parent)
    directory = os.open(name, _FOLDER_FLAGS, dir_fd=parent)
    os.fchmod(directory, 0o700)  # a umask may have taken bits away
    return directory


def _opened(opened: ExitStack, descriptor: int) -> int:
    opened.callback(os.close, descriptor)
    return descriptor


def _furnish(target: int, folder: int, name: str, run_id: str) -> None:
    """Write marker, then an empty manifest, to stable storage; remove again what cannot be furnished."""
    marker = json.dumps({"nonce": secrets.token_hex(16), "run_id": run_id}, separators=(",", ":")).encode() + b"\n"
    try:
        for file, text in ((MARKER, marker), (_MANIFEST, b"")):
            _write(os.open(file, _NEW_FLAGS, 0o600, dir_fd=folder), text)
        os.fsync(folder)
    except OSError:
        _remove_empty(target, folder, name, ExitStack())
        raise


def _write(descriptor: int, text: bytes) -> None:
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(text)
        stream.flush()
        os.fsync(descriptor)


def _check_own(folder: int, path: Path, run_id: str) -> None:
    """Refuse a folder that others own or may write to, and so may change meanwhile, or without this run's marker."""
    status = os.fstat(folder)
    if status.st_uid != os.geteuid() or stat.S_IMODE(status.st_mode) != 0o700:
        raise PeerError(f"{path}: belongs to another user or is open to others; refused")
    try:
        marker = parse_json(_read(folder, MARKER, _MOST_MARKER_BYTES))
    except ValueError:
        marker = None
    if not isinstance(marker, dict) or cast("dict[str, object]", marker).get("run_id") != run_id:
        raise PeerError(f"{path}: has no marker of this run; refused")


def _lock(claim: ExitStack, folder: int, path: Path) -> None:
    """Lock the marker, opened for writing, as NFS needs and the engine does; without locks nobody is refused."""
    marker = _opened(claim, os.open(MARKER, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder))
    try:
        fcntl.flock(marker, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise PeerError(f"{path}: a run is still at work in it; refused") from error
    except OSError:
        return


def _read(folder: int, name: str, most_bytes: int = -1) -> bytes:
    """Return at most ``most_bytes`` (-1: all) of a regular file, or nothing when there is none."""
    try:
        descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    except FileNotFoundError:
        return b""
    with os.fdopen(descriptor, "rb") as stream:
        return stream.read(most_bytes) if stat.S_ISREG(os.fstat(descriptor).st_mode) else b""


def _append(folder: int, line: bytes) -> None:
    """Append a line, on the disk before the first file is; end one before it that a crash has cut."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    is_cut = not (_read(folder, _MANIFEST) or b"\n").endswith(b"\n")
    _write(os.open(_MANIFEST, flags, 0o600, dir_fd=folder), b"\n" + line if is_cut else line)


def _remove_files(folder: int, entry: _Entry) -> None:
    """Remove the files of a dataset and its directory, where there; anything else in it stays, and is an error."""
    try:
        directory = os.open(entry.directory, _FOLDER_FLAGS, dir_fd=folder)
    except FileNotFoundError:
        return
    try:
        # The loop goes by what is found, so that a damaged number of files does not make it endless.
        for name in os.listdir(directory):  # noqa: PTH208 - of a descriptor
            if entry.has(name):
                os.unlink(name, dir_fd=directory)
        _remove_directory(folder, directory, entry.directory)
    finally:
        os.close(directory)


def _remove_empty(target: int, folder: int, name: str, claim: ExitStack) -> None:
    """Remove the run folder when only marker and manifest are left in it; else keep both.

    The claim is held until the marker is gone, and given up before the folder is. NFS and FUSE keep in it, under names
    of their own, what is still open.
    """
    if not set(os.listdir(folder)) <= {MARKER, _MANIFEST}:
        return
    for file in (_MANIFEST, MARKER):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(file, dir_fd=folder)
    claim.close()
    _remove_directory(target, folder, name)


def _remove_directory(parent: int, directory: int, name: str) -> None:
    """Remove a directory; wait while it holds only files that NFS or FUSE keep under names of their own."""
    for _ in range(_MOST_LOOKS):
        try:
            os.rmdir(name, dir_fd=parent)
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST) or not holds_silly_names_only(directory):
                raise
            time.sleep(_BETWEEN_LOOKS_S)
        else:
            return
    os.rmdir(name, dir_fd=parent)
