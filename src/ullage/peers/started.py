# SPDX-License-Identifier: Apache-2.0
"""Peers as processes: which is installed, running one to its end with all that it starts, and reading what it says."""

import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, cast

from ullage.errors import one_line
from ullage.peers import Installed, PeerError
from ullage.processes.supervised import Supervised
from ullage.processes.supervisor import Ending

VERSION_S: Final = 10
_STOP_S: Final = 5
_NOWHERE: Final = Path("/")


@dataclass(frozen=True, slots=True)
class Ended:
    """How a program ended, and what it has said."""

    code: int
    out: str
    err: str


def run_to_end(command: Sequence[str], folder: Path, environment: Mapping[str, str], limit_s: float) -> Ended:
    """Run ``command`` and end all of it; raise ``PeerError`` if it cannot be started or takes over ``limit_s``."""
    name = Path(command[0]).name
    try:
        started = Supervised.start(
            command,
            Ending(grace_s=_STOP_S),
            folder=folder,
            environment={**os.environ, **environment},
            out=subprocess.PIPE,
            err=subprocess.PIPE,
        )
    except OSError as error:
        raise PeerError(f"{name} cannot be started: {error.strerror}") from error
    with started:
        try:
            # Both pipes are closed by all of it when the command itself has ended.
            out, err = started.process.communicate(timeout=limit_s)
        except subprocess.TimeoutExpired as error:
            raise PeerError(f"{name} was not done after {limit_s:g} s and was ended") from error
        finally:
            started.end()
        code = started.poll()
    return Ended(0 if code is None else code, out.decode("utf-8", "replace"), err.decode("utf-8", "replace"))


def answer(command: Sequence[str], limit_s: float, environment: Mapping[str, str] | None = None) -> str:
    """Return what a peer without files prints; raise ``PeerError`` when it fails or takes longer than ``limit_s``."""
    ended = run_to_end(command, _NOWHERE, environment or {}, limit_s)
    if ended.code != 0:
        raise failure(Path(command[0]).name, f"exit code {ended.code}", f"{ended.err}\n{ended.out}")
    return ended.out


def failure(tool: str, reason: str, said: str) -> PeerError:
    """Make the error of ``tool`` with the first line that it ``said``, past blank ones and the rules of launchers."""
    first = next((line for line in said.splitlines() if line.strip(" -=\t")), "")
    return PeerError(f"{tool} failed ({reason})" + (f": {one_line(first, 120)}" if first else ""))


def find_installed(tool: str, option: str, version: re.Pattern[str]) -> Installed | None:
    """Return the program of that name in the PATH with the version that ``option`` prints, or None without one."""
    path = shutil.which(tool)
    if path is None:
        return None
    try:
        said = version.search(answer([path, option], VERSION_S))
    except PeerError:
        return None
    return Installed(Path(path), said[1]) if said else None


def member(value: object, key: str) -> object:
    """Return what a JSON object has under ``key``, or None where it is no object or has none."""
    return cast("dict[str, object]", value).get(key) if isinstance(value, dict) else None


def number(tool: str, value: object, key: str) -> float:
    """Return the number that ``tool`` gives under ``key``; raise ``PeerError`` where there is none."""
    found = member(value, key)
    if isinstance(found, bool) or not isinstance(found, (int, float)):
        raise PeerError(f"{tool}'s answer has no number '{key}'")
    return float(found)
