# SPDX-License-Identifier: Apache-2.0
"""Well-known tools that do the same work beside us, found by walking this package.

A file sets ``PEERS``, a tuple of ``PeerTool``; how they are run stands in the same file. Nothing here is ever required:
what is not installed is left out.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Final, Literal

from ullage.discovery import gathered, modules_in
from ullage.errors import one_line

Transport = Literal["tcp", "udp"]
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

    ``doc``: what it is. ``compared_on``: the work it does beside ours. ``installed`` never fails: it runs the program's
    own word for its version at most, and is None where that says nothing usable.
    """

    name: str
    doc: str
    compared_on: str
    installed: Callable[[], Installed | None]


class ToolJob(ABC):
    """Work for a ``tool`` that prints its numbers. ``peers.served.run_job`` runs it."""

    tool: ClassVar[PeerTool]

    @abstractmethod
    def command(self, program: Installed, port: int, /) -> list[str]:
        """Return the words that do it; ``port``: of its server, and 0 in what is shown."""

    @abstractmethod
    def values(self, out: str) -> dict[str, float]:
        """Return values by metric from what it has printed, or raise ``PeerError``."""


class ServedJob(ToolJob):
    """Work for a client of a server, which is started at ``address`` for it."""

    address: str

    @property
    def listens_by(self) -> Transport:
        """The protocol of the port at which the server waits."""
        return "tcp"

    @abstractmethod
    def server(self, program: Installed, port: int, /) -> list[str]:
        """Return the words of the server."""


def load_peers() -> dict[str, PeerTool]:
    """Return all peers of this package by name, in alphabetical order."""
    peers: list[PeerTool] = gathered(modules_in(__name__), "PEERS")
    return {peer.name: peer for peer in sorted(peers, key=lambda peer: peer.name)}
