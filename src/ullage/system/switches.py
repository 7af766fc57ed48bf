# SPDX-License-Identifier: Apache-2.0
"""The switches above the nodes of a Slurm job, by its topology/tree, or their blocks, by its topology/block."""

import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from ullage.errors import UserError
from ullage.model.system import Switch
from ullage.system.allocation import allocation, node_names
from ullage.system.files import said_by
from ullage.system.node_lists import expanded

_FIELD: Final = re.compile(r"(\w+)=(\S*)")
_PATTERN: Final = "SLURM_TOPOLOGY_ADDR_PATTERN"
_SWITCH: Final = "switch"
_BLOCK: Final = "block"


def read_switches(environment: Mapping[str, str] = os.environ) -> list[Switch]:
    """Return the switches above the nodes of the Slurm job that we are in; none elsewhere, and where Slurm knows none.

    ``scontrol`` knows those of all nodes. Where it does not answer, the job's variables have those of this node alone.
    """
    job = allocation(environment)
    if job is None or job.scheduler != "slurm":
        return []
    try:
        nodes = node_names(environment)
    except UserError:
        return []
    found = switches_above(nodes, parsed_topology(said_by(["scontrol", "show", "topology"], environment=environment)))
    return found or parsed_address(environment.get("SLURM_TOPOLOGY_ADDR", ""), environment.get(_PATTERN, ""))


def parsed_topology(text: str) -> list[Switch]:
    """Read what ``scontrol show topology`` says, a line a switch or a block; leave out lines that are neither.

    A line of a higher switch names all nodes below it, too. Only leaves (level 0) keep their nodes.
    """
    lines = [dict(_FIELD.findall(line)) for line in text.splitlines()]
    found = [_switch(line) for line in lines if line.get("SwitchName")]
    return [switch for switch in found if switch is not None] or _blocks(lines)


def _switch(said: Mapping[str, str]) -> Switch | None:
    level = said.get("Level", "0")
    if not level.isdecimal():
        return None
    try:
        nodes, switches = (expanded(said.get(name, "")) for name in ("Nodes", "Switches"))
    except UserError:
        return None
    return Switch(name=said["SwitchName"], level=int(level), nodes=[] if switches else nodes, switches=switches)


def _blocks(lines: Sequence[Mapping[str, str]]) -> list[Switch]:
    """Read the blocks of topology/block. A block of several is named by them: ``b[0-3]``."""
    blocks: list[Switch] = []
    several: list[tuple[str, list[str]]] = []
    for line in lines:
        try:
            if name := line.get("BlockName"):
                blocks.append(Switch(name=name, kind="block", nodes=expanded(line.get("Nodes", ""))))
            elif name := line.get("AggregatedBlock"):
                several.append((name, expanded(name)))
        except UserError:
            continue
    sizes = sorted({len(names) for _, names in several})
    higher = [
        Switch(name=name, kind="block", level=1 + sizes.index(len(names)), switches=names) for name, names in several
    ]
    return [*blocks, *higher]


def parsed_address(address: str, pattern: str) -> list[Switch]:
    """Read where one node is: ``top.s1.n3`` of the pattern ``switch.switch.node``, from the highest switch down.

    Switches of a level that are joined to the same ones below stand in one word: ``s[4-5]``. ``b8.n3`` of the pattern
    ``block.node`` is in a block.
    """
    words, kinds = address.split("."), pattern.split(".")
    # A name may hold dots itself. Then the address does not say where one ends.
    if len(words) != len(kinds) or len(kinds) < 2 or kinds[-1] != "node":
        return []
    if kinds[:-1] == [_BLOCK]:
        return [Switch(name=words[0], kind="block", nodes=[words[1]])]
    if {*kinds[:-1]} != {_SWITCH}:
        return []
    try:
        levels = [expanded(word) for word in words[:-1]]
    except UserError:
        return []
    levels.reverse()
    return [
        Switch(
            name=name, level=level, nodes=[words[-1]] if level == 0 else [], switches=levels[level - 1] if level else []
        )
        for level, names in enumerate(levels)
        for name in names
    ]


def switches_above(nodes: Sequence[str], switches: Sequence[Switch]) -> list[Switch]:
    """Return the part of the tree that is above ``nodes``, lowest level first."""
    wanted, kept = set(nodes), set[str]()
    found: list[Switch] = []
    for switch in sorted(switches, key=lambda one: one.level):
        own = [node for node in switch.nodes if node in wanted]
        below = [name for name in switch.switches if name in kept]
        if own or below:
            kept.add(switch.name)
            found.append(switch.model_copy(update={"nodes": own, "switches": below}))
    return found


def merged(first: Sequence[Switch], second: Sequence[Switch]) -> list[Switch]:
    """Put two parts of one tree together, lowest level first."""
    by_name: dict[str, Switch] = {}
    for switch in (*first, *second):
        known = by_name.get(switch.name, switch)
        nodes = [*dict.fromkeys([*known.nodes, *switch.nodes])]
        switches = [*dict.fromkeys([*known.switches, *switch.switches])]
        by_name[switch.name] = switch.model_copy(update={"nodes": nodes, "switches": switches})
    return sorted(by_name.values(), key=lambda one: one.level)


def noun_of(switches: Sequence[Switch]) -> str:
    """Return what the leaves of a tree are."""
    return next((switch.kind for switch in switches), "switch")


def nouns_of(noun: str) -> str:
    """Return the plural of ``noun_of``."""
    return "switches" if noun == _SWITCH else f"{noun}s"


def leaf_of(switches: Sequence[Switch]) -> dict[str, str]:
    """Return the switch of each node, without nodes at several: nobody knows which of them a message takes."""
    often = Counter(node for switch in switches for node in {*switch.nodes})
    return {node: switch.name for switch in switches for node in switch.nodes if often[node] == 1}


def leaves_of_hosts(switches: Sequence[Switch], hosts: Sequence[str]) -> list[str]:
    """Return the switch of each host, empty where not known. Host ``n3.cluster`` is node ``n3`` of Slurm."""
    leaves = leaf_of(switches)
    return [leaves.get(host) or leaves.get(host.partition(".")[0], "") for host in hosts]


def meeting_of(switches: Sequence[Switch], one: str, other: str) -> str:
    """Return the lowest switch above two leaves; empty where the tree has none."""
    below: dict[str, set[str]] = {}
    for switch in sorted(switches, key=lambda each: each.level):
        below[switch.name] = {switch.name}.union(*(below.get(name, set()) for name in switch.switches))
        if {one, other} <= below[switch.name]:
            return switch.name
    return ""
