# SPDX-License-Identifier: Apache-2.0
"""Well-known tools that do the same work beside us, one file each, found by walking this package.

A peer's file sets ``PEER = PeerTool(...)``; how it is run stands in the same file. Nothing here is ever required: what
is not installed is left out.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ullage.discovery import modules_in
from ullage.errors import one_line

_LONGEST_REASON: Final = 400


class PeerError(Exception):
    """A peer gave no number. The text is one line; our own measurement goes on without it."""

    def __init__(self, text: str) -> None:
        super().__init__(one_line(text, _LONGEST_REASON))


@dataclass(frozen=True, slots=True)
class Installed:
    """A tool as this machine has it. ``version`` is the tool's own word, without its name."""

    path: Path
    version: str


@dataclass(frozen=True, slots=True)
class PeerTool:
    """A known tool that can run for comparison.

    ``doc``: what it is. ``compared_on``: the work it does beside ours.

    ``installed`` never fails: it runs the program's own word for its version at most, and is None where that says
    nothing usable.
    """

    name: str
    doc: str
    compared_on: str
    installed: Callable[[], Installed | None]


def load_peers() -> dict[str, PeerTool]:
    """Return all peers of this package by name, in alphabetical order."""
    peers: list[PeerTool] = [module.PEER for module in modules_in(__name__) if hasattr(module, "PEER")]
    return {peer.name: peer for peer in peers}
