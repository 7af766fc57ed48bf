# SPDX-License-Identifier: Apache-2.0
"""Nodes that people name themselves, where no batch system chooses them."""

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ullage.errors import UserError

if TYPE_CHECKING:
    from ullage.model.plan import Layout

AGENT_VARIABLE: Final = "ULLAGE_RSH_AGENT"
# Host names and addresses match this, and no option does.
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


@dataclass(frozen=True, slots=True)
class Hosts:
    """The nodes that a user has named.

    ``names``: in the order in which nodes are numbered, the first is where the launcher runs; empty: none are named.
    ``agent``: program that starts a command on one of them, as ``ssh`` does; empty: what the MPI uses by itself.
    """

    names: tuple[str, ...] = ()
    agent: str = ""

    def placed(self, layout: "Layout") -> "Layout":
        """Give ``layout`` nodes and ranks on each by these hosts; raise ``UserError`` when it asks for more nodes."""
        if not self.names:
            return layout
        nodes = layout.nodes or fewest_full(layout.ranks, min(len(self.names), layout.ranks))
        if nodes > len(self.names):
            raise UserError(f"{nodes} nodes, but {len(self.names)} hosts", "--hosts", "name one for each node")
        on_each = layout.ranks_per_node or -(-layout.ranks // nodes)
        return layout.model_copy(update={"nodes": nodes, "ranks_per_node": on_each})

    def without(self, names: Iterable[str]) -> "Hosts":
        """Return the same without those that have one of ``names``; ``n3.cluster`` and ``n3`` are one host."""
        gone = list(names)
        return Hosts(tuple(name for name in self.names if not any(_is_same(name, one) for one in gone)), self.agent)

    def of(self, layout: "Layout") -> tuple[str, ...]:
        """Return the hosts that the ranks of a placed layout go to."""
        return self.names[: layout.nodes]

    def of_ranks(self, layout: "Layout") -> tuple[str, ...]:
        """Return the host of each rank, or nothing without hosts: a node is filled before the next one."""
        there = self.placed(layout)
        on_each = there.ranks_per_node or 1
        return tuple(self.names[rank // on_each] for rank in range(there.ranks)) if self.names else ()


def _is_same(one: str, other: str) -> bool:
    """Tell whether two names may be of one host: of a longer and a shorter one, the longer goes on with a domain."""
    shorter, longer = sorted((one, other), key=len)
    return shorter == longer or longer.startswith(f"{shorter}.")


NO_HOSTS: Final = Hosts()


def fewest_full(ranks: int, nodes: int) -> int:
    """Count the nodes used when ``ranks`` fill ``nodes`` one by one, each with its even share: 9 on 4 are 3 on 3."""
    return -(-ranks // -(-ranks // nodes))


def parse_hosts(text: str | None, option: str = "--hosts") -> list[str]:
    """Read ``n0,n1,n2``, or no hosts from None; raise ``UserError`` for what is no name and for a repeated one."""
    names = [] if text is None else [word.strip() for word in text.split(",")]
    bad = next((name for name in names if not _NAME.fullmatch(name)), None)
    if bad is not None:
        raise UserError(f"'{bad}' is not a host name", option, "write n0,n1,n2")
    if len(set(names)) < len(names):
        raise UserError("a host is given twice", f"{option} {text}", "name each host once: ranks are divided evenly")
    return names


def make_hosts(names: Iterable[str], environment: Mapping[str, str] = os.environ) -> Hosts:
    """Make hosts of ``names``, with the agent that the environment names."""
    return Hosts(tuple(names), environment.get(AGENT_VARIABLE, ""))
