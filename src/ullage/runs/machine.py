# SPDX-License-Identifier: Apache-2.0
"""The machine that we are on: what of it counts in planning, and its facts in a result."""

from collections.abc import Sequence
from dataclasses import dataclass

from ullage.launch.base import is_one_node
from ullage.model.plan import Layout, Target
from ullage.model.request import Request
from ullage.model.system import Memory, Place
from ullage.results.folder import ResultFolder
from ullage.runs.inputs import EngineContext


@dataclass(frozen=True)
class Machine:
    """``cores``: usable ones of a node, None when not known; ``places``: of the targets that have a path."""

    cores: int | None
    places: Sequence[Place]
    memory: Memory


def this_machine(targets: list[Target], nodes: int | None) -> Machine:
    """``nodes``: of every case, where they are given. Cores count only where all ranks are on this node."""
    from ullage.system.cpu import usable_cores
    from ullage.system.memory import read_memory
    from ullage.system.storage import read_places

    here = is_one_node(Layout(ranks=1, nodes=nodes))
    return Machine(usable_cores() if here else None, read_places(targets), read_memory())


def freeze_system(folder: ResultFolder, request: Request, engine_context: EngineContext) -> None:
    """Write the facts of this machine, once for a result."""
    from ullage.system import facts

    if not folder.system_path.exists():
        folder.write_system(facts(request.targets, engine_context.description))
