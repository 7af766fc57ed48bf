# SPDX-License-Identifier: Apache-2.0
"""The sizes at which files outgrow a cache of this machine. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, cast

from ullage.model.system import SystemFacts
from ullage.units import format_volume

_CACHES: Final = ("L2", "L3")
_MEMORY: Final = "RAM"


@dataclass(frozen=True)
class Level:
    """A cache that holds up to ``size_bytes``."""

    name: str
    size_bytes: int

    @property
    def text(self) -> str:
        """``L2 1.00 MiB``."""
        return f"{self.name} {format_volume(self.size_bytes)}"


def levels_of(system: SystemFacts | None) -> list[Level]:
    """L2 and L3 of one core's view and the memory, where they are known, rising."""
    if system is None:
        return []
    return _levels(system.cpu.caches, system.memory.total_bytes)


def levels_in(system: Mapping[str, object]) -> list[Level]:
    """The same of the facts in a summary."""
    cpu, memory = _group(system.get("cpu")), _group(system.get("memory"))
    caches = {name: size for name, size in _group(cpu.get("caches")).items() if isinstance(size, int)}
    total = memory.get("total_bytes")
    return _levels(caches, total if isinstance(total, int) else None)


def _group(value: object) -> dict[str, object]:
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}


def _levels(caches: Mapping[str, int], memory_bytes: int | None) -> list[Level]:
    found = [Level(name, caches[name]) for name in _CACHES if caches.get(name)]
    if memory_bytes:
        found.append(Level(_MEMORY, memory_bytes))
    return sorted(found, key=lambda level: level.size_bytes)
