# SPDX-License-Identifier: Apache-2.0
"""The phases of IO500 in their official order, and the case of ours that does the work of each."""

from collections.abc import Container
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

Kind: TypeAlias = Literal["BW", "MD", "none"]
Mode: TypeAlias = Literal["standard", "extended"]

MODES: Final[tuple[Mode, ...]] = ("standard", "extended")
GIB: Final = float(1 << 30)
KILO: Final = 1e3
# Trees of directories are made and removed around their files.
_AROUND: Final = {"create": ("tree-create", "create"), "unlink": ("unlink", "tree-remove")}


@dataclass(frozen=True, slots=True)
class OfficialPhase:
    """One phase as the official tool names it, and the case that does its work: ``phase`` of a workload on a dataset.

    ``kind``: none of a phase that only makes or removes something. ``pilot``: measured and printed, but counts nowhere.
    """

    name: str
    kind: Kind
    mode: Mode
    workload: str
    dataset: str
    phase: str
    pilot: bool = False

    @property
    def engine_phases(self) -> tuple[str, ...]:
        """The phases of the case in their order."""
        return _AROUND.get(self.phase, (self.phase,))

    @property
    def scored_phase(self) -> str:
        """The one of them whose rate is the phase's value; empty where it has none."""
        return self.phase if self.scored or self.pilot else ""

    @property
    def makes(self) -> str:
        """The dataset that it makes; empty where it uses what is there."""
        return self.dataset if self.phase in ("write", "create", "precreate", "timestamp") else ""

    @property
    def scored(self) -> bool:
        """Whether it counts in a score."""
        return self.kind != "none"

    @property
    def needs_minimum_time(self) -> bool:
        """Whether the rules ask it to last."""
        return self.scored_phase in {"write", "create"}

    @property
    def has_wall(self) -> bool:
        """Whether the stonewall ends it."""
        return self.needs_minimum_time or self.pilot

    @property
    def is_bandwidth(self) -> bool:
        """Whether its value is a bandwidth; else it is a rate of operations."""
        return self.workload in {"transfer", "mixed-transfer"}

    @property
    def unit(self) -> str:
        """The unit that the official tool prints."""
        return "GiB/s" if self.is_bandwidth else "kIOPS"

    @property
    def si_unit(self) -> str:
        """The unit in the rows of a summary."""
        return "B/s" if self.is_bandwidth else "op/s"

    @property
    def metric(self) -> str:
        """Name of the metric whose rows hold its value."""
        return "bandwidth" if self.is_bandwidth else "operation_rate"

    @property
    def factor(self) -> float:
        """Multiply a value in the official unit by it to have bytes/s or operations/s."""
        return GIB if self.is_bandwidth else KILO


PHASES: Final = (
    OfficialPhase("ior-easy-write", "BW", "standard", "transfer", "ior-easy", "write"),
    OfficialPhase("mdtest-easy-write", "MD", "standard", "metadata", "mdtest-easy", "create"),
    OfficialPhase("mdworkbench-create", "none", "extended", "mixed-metadata", "mdworkbench", "precreate"),
    OfficialPhase("timestamp", "none", "standard", "find", "timestamp", "timestamp"),
    OfficialPhase("find-easy", "MD", "extended", "find", "", "find"),
    OfficialPhase("ior-hard-write", "BW", "standard", "transfer", "ior-hard", "write"),
    OfficialPhase("mdtest-hard-write", "MD", "standard", "metadata", "mdtest-hard", "create"),
    OfficialPhase("find", "MD", "standard", "find", "timestamp", "find"),
    OfficialPhase("find-hard", "MD", "extended", "find", "timestamp", "find"),
    OfficialPhase("mdworkbench-bench", "MD", "extended", "mixed-metadata", "mdworkbench", "bench"),
    OfficialPhase("ior-easy-read", "BW", "standard", "transfer", "ior-easy", "read"),
    OfficialPhase("mdtest-easy-stat", "MD", "standard", "metadata", "mdtest-easy", "stat"),
    OfficialPhase("ior-hard-read", "BW", "standard", "transfer", "ior-hard", "read"),
    OfficialPhase("mdtest-hard-stat", "MD", "standard", "metadata", "mdtest-hard", "stat"),
    OfficialPhase("mdworkbench-delete", "none", "extended", "mixed-metadata", "mdworkbench", "cleanup"),
    OfficialPhase("mdtest-easy-delete", "MD", "standard", "metadata", "mdtest-easy", "unlink"),
    OfficialPhase("mdtest-hard-read", "MD", "standard", "metadata", "mdtest-hard", "read"),
    OfficialPhase("mdtest-hard-delete", "MD", "standard", "metadata", "mdtest-hard", "unlink"),
    OfficialPhase("ior-rnd4K-easy-read", "none", "standard", "mixed-transfer", "ior-easy", "mixed", pilot=True),
)
# Bandwidths of random accesses, which counted in the extended mode of the releases ISC21 to ISC26.
FORMER: Final = tuple(
    OfficialPhase(f"{name}-{access}", "BW", "extended", "transfer", name, access)
    for name in ("ior-rnd", "ior-rnd4K", "ior-rnd1MB")
    for access in ("write", "read")
)
BY_NAME: Final = {phase.name: phase for phase in (*PHASES, *FORMER)}


def modes_of(mode: Mode) -> tuple[Mode, ...]:
    """Return the modes that a run of ``mode`` has a score in."""
    return ("standard", "extended") if mode == "extended" else ("standard",)


def phases_of(mode: Mode) -> tuple[OfficialPhase, ...]:
    """Return the phases of ``mode``, in official order; the extended ones include the standard ones."""
    return tuple(phase for phase in PHASES if mode == "extended" or phase.mode == "standard")


def scored_phases(mode: Mode) -> tuple[OfficialPhase, ...]:
    """Return the phases that count in the score of ``mode``.

    There are 4 of bandwidth, and 8 of metadata or 11 in the extended mode.
    """
    return tuple(phase for phase in phases_of(mode) if phase.scored)


def counted_phases(values: Container[str], mode: Mode) -> tuple[OfficialPhase, ...]:
    """Return the scored phases of ``mode``, with those of former releases that have a value: theirs counted them."""
    former = FORMER if mode == "extended" else ()
    return (*scored_phases(mode), *(phase for phase in former if phase.name in values))


def find_phase(name: str) -> OfficialPhase | None:
    """Return the phase called ``name``, also as first releases wrote it (``ior_easy_write``); None for others."""
    return BY_NAME.get(name.replace("_", "-"))
