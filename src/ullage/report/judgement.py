# SPDX-License-Identifier: Apache-2.0
"""What the first screen says in words: which machine it is, and one sentence on how full its parts are. Pure."""

from collections.abc import Mapping, Sequence
from typing import cast

from ullage.model.summary import Finding, Gain, Summary
from ullage.quantity import plural, times
from ullage.report.glance import Vessel
from ullage.units import format_volume


def machine_line(summary: Summary) -> str:
    """``AMD EPYC, 2 cores, 23.5 GiB, Debian GNU/Linux 12, Linux 6.18, Open MPI v4.1.4``, without what is unknown."""
    system = summary.system
    cpu, memory, kernel = (_mapping(system.get(name)) for name in ("cpu", "memory", "kernel"))
    cores, total = cpu.get("physical_cores"), memory.get("total_bytes")
    parts = [
        _word(cpu.get("model")),
        plural(cores, "core") if isinstance(cores, int) else "",
        format_volume(total) if isinstance(total, int) else "",
        _word(kernel.get("distribution")),
        " ".join(filter(None, (_word(kernel.get("system")), _word(kernel.get("release"))))),
        summary.versions.get("mpi", "").partition(",")[0],
    ]
    return ", ".join(filter(None, parts))


def _mapping(value: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", value) if isinstance(value, Mapping) else {}


def _word(value: object) -> str:
    return value if isinstance(value, str) else ""


def judgement(vessels: Sequence[Vessel], changes: Sequence[Finding]) -> str:
    """One sentence; empty where no number stands for a part."""
    if not vessels:
        return ""
    clauses = [_reached(vessels), _unknown(vessels), _lost(vessels), _invalid(vessels), _largest(changes)]
    text = "; ".join(filter(None, clauses))
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def _reached(vessels: Sequence[Vessel]) -> str:
    counted = [vessel for vessel in vessels if not vessel.is_invalid and not vessel.is_time_lost]
    known = [(vessel.share, vessel.part) for vessel in counted if vessel.share is not None]
    if not known:
        return ""
    (low, least), (high, most) = min(known), max(known)
    if least == most:
        return f"{least} {_verb(least, 'reach')} {high:.0%} of {_their(least)} ceiling"
    return f"{most} {_verb(most, 'reach')} {high:.0%} of {_their(most)} ceiling, {least} {low:.0%}"


def _verb(part: str, verb: str) -> str:
    return verb if part.endswith("s") else f"{verb}es"


def _their(part: str) -> str:
    return "their" if part.endswith("s") else "its"


def _unknown(vessels: Sequence[Vessel]) -> str:
    count = sum(vessel.share is None for vessel in vessels)
    if not count:
        return ""
    of = f"of {plural(len(vessels), 'part')}"
    return f"{count} {of} {'has' if count == 1 else 'have'} no known ceiling"


def _lost(vessels: Sequence[Vessel]) -> str:
    lost = next((vessel.row.median for vessel in vessels if vessel.is_time_lost), None)
    return "" if lost is None else f"other work takes {lost:.1%} of the time"


def _invalid(vessels: Sequence[Vessel]) -> str:
    parts = [vessel.part for vessel in vessels if vessel.is_invalid]
    return f"{' and '.join(parts)} {'does' if len(parts) == 1 else 'do'} not count (INVALID)" if parts else ""


def _largest(changes: Sequence[Finding]) -> str:
    gain = changes[0].gain if changes else None
    return "" if gain is None else f"the largest sure gain is {gain_text(gain)}"


def gain_text(gain: Gain) -> str:
    """``2.10 x (1.90 x to 2.30 x)``."""
    known = f" ({times(gain.low)} to {times(gain.high)})" if gain.low and gain.high else " (one estimate)"
    return f"{times(gain.factor)}{known}"
