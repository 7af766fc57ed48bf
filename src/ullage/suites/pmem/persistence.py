# SPDX-License-Identifier: Apache-2.0
"""Whether what was written is really persistent, by what the kernel and the library granted. Pure."""

from collections.abc import Iterable, Mapping
from typing import Final

from ullage.analysis.findings.phrasing import finding
from ullage.grouping import grouped
from ullage.model.summary import Finding
from ullage.quantity import listing

Granted = Mapping[tuple[str, str], tuple[str, Mapping[str, str]]]
IN_MEMORY: Final = frozenset({"tmpfs", "ramfs", "hugetlbfs"})
_MAP: Final = "map"
_SYNC: Final = "MAP_SYNC"
_FORCED: Final = "forced"


def persistence_findings(granted: Granted) -> list[Finding]:
    """Return a finding for each target. ``granted``: file system and hints of its writes, by target and interface."""
    by_target = grouped((target, (interface, *facts)) for (target, interface), facts in granted.items())
    return [_finding(target, lines) for target, lines in by_target.items()]


def _finding(target: str, lines: Iterable[tuple[str, str, Mapping[str, str]]]) -> Finding:
    found = list(lines)
    file_system = next((name for _, name, _ in found if name), "")
    stored = [interface for interface, _, hints in found if hints.get(_MAP) == _SYNC]
    mapped = [interface for interface, _, hints in found if _MAP in hints and interface not in stored]
    if file_system in IN_MEMORY:
        title, text = f"Nothing at {target} is persistent", f"{target} is a {file_system}: a restart loses all of it."
    elif stored:
        title = f"Stores at {target} are persistent without system calls"
        text = (
            f"The kernel grants MAP_SYNC to {listing(stored)} at {target}. Stores are persistent once they have left "
            "the caches of the cores."
        )
    else:
        title = f"Data at {target} is persistent after fsync or msync only"
        text = f"{target} is written through the page cache, unless by O_DIRECT. Data is persistent after fsync."
        if mapped:
            text += f" The kernel refuses MAP_SYNC to {listing(mapped)}."
    forced = [interface for interface, _, hints in found if hints.get("persistent") == _FORCED]
    if forced:
        text += f" {listing(forced)} treats it as persistent only because PMEM_IS_PMEM_FORCE says so."
    numbers = {"target": target, "file_system": file_system, "map_sync": stored, "no_map_sync": mapped}
    return finding("persistence", title, text, **numbers)
