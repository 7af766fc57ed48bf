# SPDX-License-Identifier: Apache-2.0
"""The processes of one launch on this node, found by a token in their environment.

Launchers put their ranks into process groups of their own and may die before them, so neither the group nor the parent
finds all of them; the environment a process was started with stays.
"""

import contextlib
import os
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

LAUNCH_VARIABLE: Final = "ULLAGE_LAUNCH"
_RANK_VARIABLES: Final = (b"PMI_RANK=", b"OMPI_COMM_WORLD_RANK=", b"PMIX_RANK=")


@dataclass(frozen=True, slots=True)
class Member:
    """A live process of a launch. ``rank``: None for launchers and their helpers."""

    pid: int
    rank: int | None
    words: tuple[str, ...]

    def runs(self, program: Path) -> bool:
        """Whether it is ``program`` itself, or an interpreter (or loader) that runs it, and not a launcher of it."""
        return str(program) in self.words[:2]


def members(token: str) -> Iterator[Member]:
    """All live processes whose environment carries ``token``; the dead and those of other users do not show."""
    mark = f"{LAUNCH_VARIABLE}={token}".encode()
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            environment = (entry / "environ").read_bytes().split(b"\0")
            if mark not in environment:
                continue
            words = (entry / "cmdline").read_bytes().decode("utf-8", "surrogateescape").rstrip("\0").split("\0")
        except OSError:
            continue
        yield Member(int(entry.name), _rank(environment), tuple(words))


def _rank(environment: list[bytes]) -> int | None:
    for name in _RANK_VARIABLES:
        for item in environment:
            if item.startswith(name) and item[len(name) :].isdigit():
                return int(item[len(name) :])
    return None


def send(pid: int, number: signal.Signals) -> None:
    """A process that is gone already needs no signal."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)
