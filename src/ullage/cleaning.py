# SPDX-License-Identifier: Apache-2.0
"""What crashed or kept runs have left at a target, and its removal by the engine."""

import os
import re
import stat
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final, cast

from ullage.errors import EXIT_ENVIRONMENT, UserError, one_line
from ullage.reading import parse_json

PREFIX: Final = "ullage-"
MARKER: Final = ".ullage-run"
_SHOWN_LINES: Final = 5
_LONGEST_MARKER: Final = 64 << 10
# NFS and FUSE give such a name to a file that was removed while it was open.
_SILLY_NAME: Final = re.compile(r"\.nfs[0-9a-f]{24}|\.fuse_hidden[0-9a-f]{16}")
_RUN_OF_FRONT: Final = re.compile(r"[0-9]{8}T[0-9]{6}Z-[0-9a-f]{6}")


@dataclass(frozen=True, slots=True)
class RunFolder:
    """A folder named like a run's. ``refused`` says why it must not be touched; None when it is a run's."""

    path: Path
    run_id: str
    age_s: float
    refused: str | None


def find_run_folders(target: Path, run_id: str | None = None) -> list[RunFolder]:
    """Return everything named ``ullage-*`` directly below ``target``, by name; only that of ``run_id`` when given.

    Links are not followed. Raise UserError when ``target`` cannot be read.
    """
    try:
        entries = sorted(os.scandir(target), key=lambda entry: entry.name)
    except OSError as error:
        raise UserError(
            error.strerror or "cannot be read", str(target), "name the folder of a target", EXIT_ENVIRONMENT
        ) from error
    wanted = [e for e in entries if e.name.startswith(PREFIX) and (run_id is None or e.name == PREFIX + run_id)]
    found: list[RunFolder] = []
    for entry in wanted:
        path, own_id, status = Path(entry.path), entry.name.removeprefix(PREFIX), entry.stat(follow_symlinks=False)
        age_s = max(0.0, time.time() - status.st_mtime)
        found.append(RunFolder(path, own_id, age_s, _why_not(path, own_id, status)))
    return found


def _why_not(path: Path, run_id: str, status: os.stat_result) -> str | None:
    if stat.S_ISLNK(status.st_mode):
        return "a symbolic link"
    if not stat.S_ISDIR(status.st_mode):
        return "not a folder"
    if status.st_uid != os.geteuid():
        return f"belongs to user {status.st_uid}"
    marker = _read_marker(path / MARKER)
    if marker is None:
        return None if _has_lost_its_marker(path, run_id, status) else f"has no marker file {MARKER}"
    return None if marker == run_id else f"its marker names another run: {marker}"


def holds_silly_names_only(folder: int | Path) -> bool:
    """Tell whether a folder is empty or holds only files that a client has kept under names of its own."""
    return all(_SILLY_NAME.fullmatch(name) for name in os.listdir(folder))  # noqa: PTH208 - also of a descriptor


def _has_lost_its_marker(path: Path, run_id: str, status: os.stat_result) -> bool:
    """Tell whether it is what a run left on NFS or FUSE, or that was killed in its first or last moment.

    The engine looks into it before it removes it. An empty folder, or one with a marker of no bytes, is taken for one
    only where it is called as the front calls its runs.
    """
    if stat.S_IMODE(status.st_mode) != 0o700:
        return False
    try:
        names = [entry.name for entry in path.iterdir()]
        if _RUN_OF_FRONT.match(run_id) is not None and names in ([], [MARKER]):
            return not names or (path / MARKER).lstat().st_size == 0
        return bool(names) and holds_silly_names_only(path)
    except OSError:
        return False


def _read_marker(path: Path) -> str | None:
    """Return the run id in a marker file; None when there is no such regular file or it says nothing."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(handle, "rb") as stream:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                return None
            content = parse_json(stream.read(_LONGEST_MARKER))
    except (OSError, ValueError):
        return None
    found = cast("dict[str, object]", content).get("run_id") if isinstance(content, dict) else None
    return found if isinstance(found, str) else None


def _inner_folders(path: Path) -> list[RunFolder]:
    """Return the run folders in the directories of a run folder; none where they cannot be read."""
    try:
        directories = [Path(entry.path) for entry in os.scandir(path) if entry.is_dir(follow_symlinks=False)]
        return [found for directory in directories for found in find_run_folders(directory)]
    except (OSError, UserError):
        return []


def remove(engine: Path, folder: RunFolder) -> str | None:
    """Let the engine remove what the folder's manifest lists, then the folder.

    A search makes folders there for its runs, whose own folders in these go first. Return why something was left, None
    when nothing was.
    """
    from ullage.system.storage import read_mounts

    # What somebody has mounted on a folder or in it is no run's, and must not be entered.
    real = folder.path.resolve()
    mounted = next((m.mount_point for m in read_mounts() if Path(m.mount_point).is_relative_to(real)), None)
    if mounted is not None:
        return f"another file system is mounted on {mounted}; unmount it first"
    for inner in _inner_folders(folder.path):
        why = inner.refused or remove(engine, inner)
        if why is not None:
            return f"{inner.path}: {why}"
    done = subprocess.run(
        [str(engine), "clean", str(folder.path)], stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    if done.returncode == 0:
        return None
    said = done.stderr.decode("utf-8", "replace").splitlines()
    lines = [line.removeprefix("ullage-engine: ").removeprefix("left: ") for line in said if line.strip()]
    more = f" and {len(lines) - _SHOWN_LINES} more" if len(lines) > _SHOWN_LINES else ""
    return one_line("; ".join(lines[:_SHOWN_LINES]) + more) or f"the engine ended with {done.returncode}"
