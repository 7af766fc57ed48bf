# SPDX-License-Identifier: Apache-2.0
"""What launchers have in common that are the mpiexec of an MPI, and take the names of hosts."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from ullage.launch.hosts import NO_HOSTS, Hosts
from ullage.system.allocation import nodes_of_job


@dataclass(frozen=True, slots=True)
class ByMpiexec:
    """Launches with the mpiexec of an MPI.

    ``cores``: physical cores this process may use, None when not known. ``hosts``: where ranks go, if named.
    """

    mpiexec: Path
    cores: int | None = None
    name: str = ""
    hosts: Hosts = NO_HOSTS

    def on_this_node(self) -> Self:
        """See ``Launcher``."""
        return replace(self, hosts=NO_HOSTS)

    @property
    def nodes(self) -> int:
        """See ``Launcher``."""
        return len(self.hosts.names) or nodes_of_job()

    def without(self, nodes: Sequence[str]) -> Self | None:
        """See ``Launcher``: it takes the nodes that are named, or all of a job."""
        left = self.hosts.without(nodes)
        return replace(self, hosts=left) if left.names else None

    def end_elsewhere(self) -> None:
        """See ``Launcher``: its daemons end the ranks of other nodes when it is gone."""
