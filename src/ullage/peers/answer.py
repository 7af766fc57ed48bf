# SPDX-License-Identifier: Apache-2.0
"""What a peer says that needs no files of its own."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from ullage.errors import one_line
from ullage.peers import PeerError
from ullage.peers.started import run_to_end

VERSION_S: Final = 10
_NOWHERE: Final = Path("/")


def answer(command: Sequence[str], limit_s: float) -> str:
    """Standard output. ``PeerError`` when the program fails or takes longer than ``limit_s``."""
    ended = run_to_end(command, _NOWHERE, {}, limit_s)
    if ended.code != 0:
        said = [line for line in f"{ended.err}\n{ended.out}".splitlines() if line.strip()]
        what = f"{Path(command[0]).name} failed (exit code {ended.code})"
        raise PeerError(f"{what}: {one_line(said[0], 120)}" if said else what)
    return ended.out
