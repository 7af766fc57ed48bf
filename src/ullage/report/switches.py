# SPDX-License-Identifier: Apache-2.0
"""Which switches the ranks of a run were on: a sentence for the suites whose messages pass them."""

from collections.abc import Sequence
from typing import Final

from pydantic import TypeAdapter, ValidationError

from ullage.grouping import grouped
from ullage.model.system import Switch
from ullage.quantity import plural
from ullage.report.data import ReportData
from ullage.system.node_lists import compressed
from ullage.system.switches import leaves_of_hosts

_MOST_NAMED: Final = 8
_MODEL: Final = TypeAdapter(list[Switch])


def switch_notes(data: ReportData, suite: str) -> list[str]:
    """Say on which switches the ranks of ``suite`` were in its largest launch; nothing where no switch is known."""
    launches = [launch for launch in data.launches if launch.run.suite == suite]
    if not launches:
        return []
    largest = max(launches, key=lambda launch: (len(launch.hosts), launch.run.layout.ranks))
    text = placement(switches_of(data), largest.hosts, largest.run.layout.ranks)
    return [text] if text else []


def switches_of(data: ReportData) -> list[Switch]:
    """Return the switches that the facts of the machine know; none where these are damaged."""
    try:
        return _MODEL.validate_python(data.summary.system.get("switches", []))
    except ValidationError:
        return []


def placement(switches: Sequence[Switch], hosts: Sequence[str], ranks: int) -> str:
    """Write where the ranks on ``hosts`` are; nothing for a single node, and where no switch is known.

    For example ``The 4 ranks are on 4 nodes of 2 switches, by Slurm's topology: s0 (n0, n1), s1 (n2, n3).``
    """
    leaves = leaves_of_hosts(switches, hosts)
    by_leaf = grouped(zip(leaves, hosts, strict=True))
    unknown = by_leaf.pop("", [])
    if len(hosts) < 2 or not by_leaf:
        return ""
    named = [f"{leaf} ({_nodes(nodes)})" for leaf, nodes in list(by_leaf.items())[:_MOST_NAMED]]
    named += [f"{len(by_leaf) - _MOST_NAMED} more"] if len(by_leaf) > _MOST_NAMED else []
    where = f"The {ranks:,} ranks are on {plural(len(hosts), 'node')}"
    found = ", ".join(named)
    if not unknown:
        return f"{where} of {switches_text(len(by_leaf))}, by Slurm's topology: {found}."
    return f"{where}. Slurm's topology has the switches of {len(hosts) - len(unknown):,} of them: {found}."


def switches_text(count: int) -> str:
    """Write a count of switches: ``1 switch``, ``2 switches``."""
    return f"{count:,} switch{'' if count == 1 else 'es'}"


def _nodes(names: Sequence[str]) -> str:
    """List a few nodes by name, many as ``n[0-255]``."""
    return ", ".join(names) if len(names) <= _MOST_NAMED else compressed(names)
