# SPDX-License-Identifier: Apache-2.0
"""What bounds a pair: the slower of its interfaces, as declared or as the kernel has it. A loopback has none. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, cast

from ullage.analysis.ceilings.declared import find_network, network_ceiling
from ullage.analysis.ceilings.rows import with_ceiling
from ullage.model.machine import MachineFile
from ullage.model.record import PhaseRecord
from ullage.model.summary import Ceiling, Row
from ullage.parameters import count_of
from ullage.system.hardware import states_no_speed

_BITS: Final = 8


@dataclass(frozen=True)
class Link:
    """The pair of rank 0, as its record has it. ``speed``: in bits/s of the slower end; 0: nobody says.

    ``made_up``: why what an interface states is no speed; empty where it is one.
    """

    interface: str
    peer_interface: str
    address: str
    peer_address: str
    is_loopback: bool
    speed: int
    same_node: bool
    made_up: str = ""


def link_of(phase: PhaseRecord) -> Link | None:
    """Return the link of a phase, or None where the record does not state it."""
    mine, theirs = (_object(phase.facts.get(name)) for name in ("mine", "theirs"))
    if not mine or not theirs:
        return None
    speeds = [count_of(mine, "speed_bits_per_s"), count_of(theirs, "speed_bits_per_s")]
    made_up = _made_up(mine) or _made_up(theirs)
    return Link(
        interface=str(mine.get("interface", "")),
        peer_interface=str(theirs.get("interface", "")),
        address=str(mine.get("address", "")),
        peer_address=str(theirs.get("address", "")),
        is_loopback=mine.get("loopback") is True,
        speed=0 if made_up else min(speeds),
        same_node=phase.facts.get("between") != "nodes",
        made_up=made_up,
    )


def _made_up(end: Mapping[str, object]) -> str:
    driver, speed = str(end.get("driver", "")), count_of(end, "speed_bits_per_s")
    if not speed or not states_no_speed(driver):
        return ""
    return (
        f"no ceiling: {end.get('interface')} is virtual ({driver}), and the {speed / 1e9:g} Gb/s it states are made up"
    )


def with_ceilings(rows: Sequence[Row], phases: Mapping[str, PhaseRecord], machine: MachineFile | None) -> list[Row]:
    """Give each row the ceiling of its link; ``phases`` holds one phase of each case."""
    return [_bounded(row, phases.get(row.case), machine) for row in rows]


def _bounded(row: Row, phase: PhaseRecord | None, machine: MachineFile | None) -> Row:
    link = None if phase is None else link_of(phase)
    if phase is None or link is None or link.same_node:
        return row
    if row.metric == "network_bandwidth":
        ways = 2 if row.params.get("direction") == "both" else 1
        pairs = phase.gauges["pairs"].sum if "pairs" in phase.gauges else 1
        bounded = with_ceiling(row, _times(_rate(link, machine), ways * pairs))
        if bounded.ceiling is not None or not link.made_up:
            return bounded
        return bounded.model_copy(update={"notes": [*bounded.notes, link.made_up]})
    if row.metric == "latency_p50":
        return with_ceiling(row, _latency(link, machine))
    return row


def _rate(link: Link, machine: MachineFile | None) -> Ceiling | None:
    """Return the ceiling of one pair in one direction: the line's rate, of which headers take a few percent."""
    declared = network_ceiling(machine, link.interface) or network_ceiling(machine, link.peer_interface)
    if declared is not None or not link.speed:
        return declared
    source = f"{link.speed / 1e9:g} Gb/s by /sys/class/net/{link.interface}/speed, the slower end's"
    return Ceiling(value=link.speed / _BITS, kind="detected", source=source)


def _times(ceiling: Ceiling | None, count: float) -> Ceiling | None:
    if ceiling is None or count == 1:
        return ceiling
    return ceiling.model_copy(update={"value": ceiling.value * count, "source": f"{ceiling.source} x {count:g}"})


def _latency(link: Link, machine: MachineFile | None) -> Ceiling | None:
    """Return the least latency of a round trip: twice that of the link, where the machine file declares it."""
    declared = find_network(machine, link.interface)
    if declared is None or declared.latency_s is None:
        return None
    source = f"machine file: twice the latency of {link.interface}"
    return Ceiling(value=2 * declared.latency_s, kind="declared", source=source)


def _object(value: object) -> dict[str, object]:
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}
