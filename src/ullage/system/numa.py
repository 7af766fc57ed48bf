# SPDX-License-Identifier: Apache-2.0
"""NUMA nodes of this node."""

from pathlib import Path

from ullage.model.system import NumaNode
from ullage.system.files import ROOT, read_fields, read_kib, read_text


def read_numa(root: Path = ROOT) -> list[NumaNode]:
    """All NUMA nodes by number."""
    folders = (root / "sys/devices/system/node").glob("node[0-9]*")
    return sorted((_node(folder) for folder in folders), key=lambda node: node.node)


def _node(folder: Path) -> NumaNode:
    number = int(folder.name.removeprefix("node"))
    info = read_fields(folder / "meminfo")
    distances = (read_text(folder / "distance") or "").split()
    return NumaNode(
        node=number,
        cpus=read_text(folder / "cpulist") or "",
        memory_bytes=read_kib({name.split()[-1]: value for name, value in info.items()}, "MemTotal"),
        distances=[int(word) for word in distances if word.isdigit()],
    )
