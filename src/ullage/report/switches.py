# SPDX-License-Identifier: Apache-2.0
"""Which switches the ranks of a run were on: a sentence for the suites whose messages pass them."""

from collections.abc import Sequence
from typing import Final, cast

from pydantic import TypeAdapter, ValidationError

from ullage.grouping import grouped
from ullage.model.system import Switch
from ullage.quantity import plural
from ullage.report.data import ReportData
from ullage.system.node_lists import compressed
from ullage.system.switches import leaves_of_hosts, noun_of, nouns_of

_MOST_NAMED: Final = 8
_TITLES: Final = {"pbs": "PBS", "lsf": "LSF", "flux": "Flux"}
_MODEL: Final = TypeAdapter(list[Switch])


def switch_notes(data: ReportData, suite: str) -> list[str]:
    """Say on which switches the ranks of ``suite`` were in its largest launch; nothing for a single node."""
    launches = [launch for launch in data.launches if launch.run.suite == suite]
    if not launches:
        return []
    largest = max(launches, key=lambda launch: (len(launch.hosts), launch.run.layout.ranks))
    switches = switches_of(data)
    text = placement(switches, largest.hosts, largest.run.layout.ranks)
    if len(largest.hosts) > 1 and not text:
        text = f"Switches not known: {_why_not(data, has_any=bool(switches))}."
    return [text] if text else []


def _why_not(data: ReportData, *, has_any: bool) -> str:
    environment = data.summary.system.get("environment")
    job = cast("dict[str, object]", environment).get("scheduler") if isinstance(environment, dict) else None
    if job == "slurm" and has_any:
        return "Slurm's topology has none of these nodes"
    if job == "slurm":
        return "Slurm describes none (`scontrol show topology`)"
    title = _TITLES.get(str(job))
    return f"{title} is not asked for them" if title else "no batch system has chosen the nodes"


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
    leaves, noun = leaves_of_hosts(switches, hosts), noun_of(switches)
    by_leaf = grouped(zip(leaves, hosts, strict=True))
    unknown = by_leaf.pop("", [])
    if len(hosts) < 2 or not by_leaf:
        return ""
    named = [
        f"{leaf} ({', '.join(nodes) if len(nodes) <= _MOST_NAMED else compressed(nodes)})"
        for leaf, nodes in list(by_leaf.items())[:_MOST_NAMED]
    ]
    named += [f"{len(by_leaf) - _MOST_NAMED} more"] if len(by_leaf) > _MOST_NAMED else []
    where = f"The {ranks:,} ranks are on {plural(len(hosts), 'node')}"
    found = ", ".join(named)
    if not unknown:
        return f"{where} of {leaves_text(len(by_leaf), noun)}, by Slurm's topology: {found}."
    return f"{where}. Slurm's topology has the {nouns_of(noun)} of {len(hosts) - len(unknown):,} of them: {found}."


def leaves_text(count: int, noun: str = "switch") -> str:
    """Write a count of switches or blocks: ``1 switch``, ``2 switches``."""
    return f"{count:,} {noun if count == 1 else nouns_of(noun)}"
