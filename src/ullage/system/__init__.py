# SPDX-License-Identifier: Apache-2.0
"""Facts of the machine under test, read without root: one file a group."""

import os
from datetime import UTC, datetime
from pathlib import Path

from ullage.harmless import harmless_json
from ullage.model.describe import Describe
from ullage.model.plan import Target
from ullage.model.system import SystemFacts
from ullage.system.files import ROOT


def facts(targets: list[Target], description: Describe | None = None, root: Path = ROOT) -> SystemFacts:
    """Read facts of this node and of the places of ``targets``, below ``root``; null for all that cannot be read."""
    from ullage.system.environment import read_environment, read_kernel, read_versions
    from ullage.system.hardware import read_cpu, read_memory, read_network, read_numa
    from ullage.system.limits import read_limits
    from ullage.system.storage import read_places
    from ullage.system.switches import read_switches

    found = SystemFacts(
        host=os.uname().nodename or None,
        taken=datetime.now(UTC).isoformat(timespec="seconds"),
        cpu=read_cpu(root),
        memory=read_memory(root),
        numa=read_numa(root),
        places=read_places(targets, root),
        kernel=read_kernel(root),
        limits=read_limits(root),
        environment=read_environment(root),
        network=read_network(root),
        switches=read_switches(),
        mpi=description.engine.mpi if description is not None else None,
        versions=read_versions(description),
    )
    return SystemFacts.model_validate_json(harmless_json(found.model_dump_json().encode()))
