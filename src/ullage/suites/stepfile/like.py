# SPDX-License-Identifier: Apache-2.0
"""Published cases of N3D/Semtex, and how they are made small enough for this machine.

Source: A. Jackson, Optimising I/O using non-volatile memory, SC21. The size of a state, the ranks of a node and the
layout are kept, and steps are cut. A smaller state would be limited by other things.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, cast

from ullage.model.plan import Limits, Target
from ullage.quantity import plural
from ullage.runs.cells.volume import most_to_choose
from ullage.runs.room import this_machine
from ullage.units import format_volume

_FEWEST_STEPS: Final = 20
# Below this multiple of the memory, a part of the reads comes from the page cache.
_BEYOND_CACHE: Final = 3
_SHARE_OF_ROOM: Final = 0.8


@dataclass(frozen=True)
class PublishedCase:
    """``compute_s``: the mean time of a step without storage, half of the whole time over all steps."""

    name: str
    ranks: int
    nodes: int
    steps: int
    state_bytes: int
    compute_s: float

    @property
    def ranks_per_node(self) -> int:
        """The number of ranks on a full node."""
        return -(-self.ranks // self.nodes)

    @property
    def volume_bytes(self) -> int:
        """All states."""
        return self.ranks * self.steps * self.state_bytes


CASES: Final[Mapping[str, PublishedCase]] = {
    "medium": PublishedCase("medium", 72, 3, 12_500, 5_000_000, 0.332),
    "large": PublishedCase("large", 512, 22, 12_500, 4_687_504, 0.36),
}


def scaled(case: PublishedCase, targets: Sequence[Target], cores: int, said: Mapping[str, object]) -> dict[str, object]:
    """Return the options that follow from ``case`` for this machine, where people have not ``said`` them."""
    machine = this_machine(list(targets))
    asked = cast("list[int] | None", said.get("ranks"))
    ranks = max(asked) if asked else min(case.ranks_per_node, cores)
    said_bytes = said.get("state_bytes")
    state_bytes = said_bytes if isinstance(said_bytes, int) else case.state_bytes
    space = said.get("space")
    limits = Limits(space_bytes=space if isinstance(space, int) else None)
    room = int(_SHARE_OF_ROOM * most_to_choose(machine.places, limits, machine.memory))
    wanted = _BEYOND_CACHE * (machine.memory.total_bytes or 0)
    steps = max(_FEWEST_STEPS, min(case.steps, -(-min(wanted, room) // (ranks * state_bytes))))
    return {"ranks": [ranks], "state_bytes": state_bytes, "compute_s": case.compute_s, "steps": steps}


def scale_text(case: PublishedCase, ranks: int, steps: int, state_bytes: int, memory_bytes: int | None) -> list[str]:
    """Return sentences on what the scale is, and what it cannot show."""
    volume = ranks * steps * state_bytes
    lines = [
        f"Like the {case.name} case: {plural(ranks, 'rank')} of {case.ranks} and {steps} steps of {case.steps}.",
        f"The states take {format_volume(volume)} of {format_volume(case.volume_bytes)}.",
        f"It cannot show the population of {case.ranks * case.steps} files, nor {case.ranks} ranks at one server.",
    ]
    if memory_bytes is not None and volume < _BEYOND_CACHE * memory_bytes:
        lines.append(
            f"The states are {volume / memory_bytes:.2g} x the memory, not {_BEYOND_CACHE} x: the page cache can hold "
            "a part of them. Limit the memory of the job, or use --cache drop."
        )
    return lines
