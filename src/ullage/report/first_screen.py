# SPDX-License-Identifier: Apache-2.0
"""The first screen: the machine's name, one sentence, a vessel for each part of it, and what to change first. Pure."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, cast

from ullage.model.summary import Finding, Gain, Summary
from ullage.quantity import listing, plural, times
from ullage.report import words
from ullage.report.changes import Told, change_first, told
from ullage.report.data import ReportData
from ullage.report.glance import HOW_TO_DECLARE, Vessel, vessels
from ullage.report.inert import inert
from ullage.report.picture import Front, vessel_svg
from ullage.report.tabs import Parts
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
    return next((f"others take {vessel.row.median:.1%} of the time" for vessel in vessels if vessel.is_time_lost), "")


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


def heading(data: ReportData) -> str:
    """The machine's name; what was run where that is not known."""
    return words.host(data) or words.title(data)


def changes_of(data: ReportData) -> list[Finding]:
    """What to change first, by what the reader cares for."""
    return change_first(data.summary.findings, cared_for(data))


def cared_for(data: ReportData) -> Collection[str]:
    """Suites by their names or by the part of the machine that they measure."""
    if not data.care:
        return ()
    parts = Parts(data.summary)
    suites = {finding.suite for finding in data.summary.findings}
    return [suite for suite in suites if {suite or data.summary.suite, parts.of_suite(suite)} & set(data.care)]


def first_screen(data: ReportData, parts: Parts) -> dict[str, Any]:
    """What the template shows of it."""
    from markupsafe import Markup

    found, changes = vessels(data.summary), changes_of(data)
    return {
        "heading": heading(data),
        "title": words.title(data),
        "machine": machine_line(data.summary),
        "judgement": judgement(found, changes),
        # Drawn here of escaped texts.
        "vessels": [
            {
                "svg": Markup(vessel_svg(vessel, f"vessel-{index}")),  # noqa: S704
                "part": vessel.part,
                "tab": parts.of_vessel(vessel),
                "value": vessel.value,
                "interval": vessel.interval,
                "interval_kind": vessel.interval_kind,
                "below": vessel.kind or f"no ceiling: {vessel.advice}",
                "what": vessel.what,
                "wrong": vessel.is_invalid,
            }
            for index, vessel in enumerate(found)
        ],
        "how_to_declare": HOW_TO_DECLARE if any("declare " in vessel.advice for vessel in found) else "",
        "changes": [
            (finding, told(finding), "" if finding.gain is None else gain_text(finding.gain)) for finding in changes
        ],
        "care": listing(sorted(data.care)) if data.care else "",
        "has_findings": bool(data.summary.findings),
    }


def front_of(data: ReportData) -> tuple[Front, list[Vessel]]:
    """The same as a picture for slides."""
    found, changes = vessels(data.summary), changes_of(data)
    lines = [_change_line(told(finding), finding) for finding in changes]
    return Front(inert(heading(data)), inert(machine_line(data.summary)), judgement(found, changes), lines), found


def _change_line(said: Told, finding: Finding) -> str:
    gain = "" if finding.gain is None else f": {gain_text(finding.gain)}"
    return f"{said.title or said.text}{gain}"
