# SPDX-License-Identifier: Apache-2.0
"""The phases of IO500 in their official order, and the case of ours that does the work of each."""

from collections.abc import Container
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

Kind: TypeAlias = Literal["BW", "MD", "none"]
Mode: TypeAlias = Literal["standard", "extended"]
PhaseAccess: TypeAlias = Literal["write", "read", "metadata", "none"]

_ACCESSES: Final[tuple[Literal["write", "read"], ...]] = ("write", "read")
MODES: Final[tuple[Mode, ...]] = ("standard", "extended")
GIB: Final = float(1 << 30)
KILO: Final = 1e3


@dataclass(frozen=True, slots=True)
class OfficialPhase:
    """One phase as the official tool names it, and the case that does its work.

    ``engine_phases`` are those of the case in their order; ``scored_phase`` is the one whose rate is the phase's value,
    empty where a phase only makes or removes something. ``pilot``: measured and printed, but counts nowhere.
    """

    name: str
    kind: Kind
    mode: Mode
    workload: str
    dataset: str
    engine_phases: tuple[str, ...]
    scored_phase: str
    access: PhaseAccess
    pilot: bool = False
    needs_minimum_time: bool = False

    @property
    def scored(self) -> bool:
        """Whether it counts in a score."""
        return self.kind != "none"

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


def _write(name: str, dataset: str) -> OfficialPhase:
    return OfficialPhase(
        name, "BW", "standard", "transfer", dataset, ("write",), "write", "write", needs_minimum_time=True
    )


def _read(name: str, dataset: str) -> OfficialPhase:
    return OfficialPhase(name, "BW", "standard", "transfer", dataset, ("read",), "read", "read")


def _create(name: str, dataset: str) -> OfficialPhase:
    phases = ("tree-create", "create")
    return OfficialPhase(
        name, "MD", "standard", "metadata", dataset, phases, "create", "metadata", needs_minimum_time=True
    )


def _items(name: str, dataset: str, phase: str) -> OfficialPhase:
    phases = ("unlink", "tree-remove") if phase == "unlink" else (phase,)
    return OfficialPhase(name, "MD", "standard", "metadata", dataset, phases, phase, "metadata")


def _find(name: str, mode: Mode, dataset: str) -> OfficialPhase:
    return OfficialPhase(name, "MD", mode, "find", dataset, ("find",), "find", "metadata")


def _mixed(name: str, kind: Kind, phase: str) -> OfficialPhase:
    scored = phase if kind == "MD" else ""
    return OfficialPhase(name, kind, "extended", "mixed-metadata", "mdworkbench", (phase,), scored, "metadata")


PHASES: Final = (
    _write("ior-easy-write", "ior-easy"),
    _create("mdtest-easy-write", "mdtest-easy"),
    _mixed("mdworkbench-create", "none", "precreate"),
    OfficialPhase("timestamp", "none", "standard", "find", "timestamp", ("timestamp",), "", "none"),
    _find("find-easy", "extended", ""),
    _write("ior-hard-write", "ior-hard"),
    _create("mdtest-hard-write", "mdtest-hard"),
    _find("find", "standard", "timestamp"),
    _find("find-hard", "extended", "timestamp"),
    _mixed("mdworkbench-bench", "MD", "bench"),
    _read("ior-easy-read", "ior-easy"),
    _items("mdtest-easy-stat", "mdtest-easy", "stat"),
    _read("ior-hard-read", "ior-hard"),
    _items("mdtest-hard-stat", "mdtest-hard", "stat"),
    _mixed("mdworkbench-delete", "none", "cleanup"),
    _items("mdtest-easy-delete", "mdtest-easy", "unlink"),
    _items("mdtest-hard-read", "mdtest-hard", "read"),
    _items("mdtest-hard-delete", "mdtest-hard", "unlink"),
    OfficialPhase(
        "ior-rnd4K-easy-read", "none", "standard", "mixed-transfer", "ior-easy", ("mixed",), "mixed", "read", pilot=True
    ),
)
# Bandwidths of random accesses, which counted in the extended mode of the releases ISC21 to ISC26.
FORMER: Final = tuple(
    OfficialPhase(f"{name}-{access}", "BW", "extended", "transfer", name, (access,), access, access)
    for name in ("ior-rnd", "ior-rnd4K", "ior-rnd1MB")
    for access in _ACCESSES
)
BY_NAME: Final = {phase.name: phase for phase in (*PHASES, *FORMER)}


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


def has_wall(phase: OfficialPhase) -> bool:
    """Tell whether the stonewall ends the phase."""
    return phase.needs_minimum_time or phase.workload == "mixed-transfer"
