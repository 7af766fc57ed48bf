# SPDX-License-Identifier: Apache-2.0
"""The first screen: the machine's name, one sentence, a vessel for each part of it, and what to change first. Pure."""

from typing import Any

from ullage.model.summary import Finding
from ullage.quantity import listing
from ullage.report import words
from ullage.report.answers import answers
from ullage.report.data import ReportData
from ullage.report.foremost import changes_of, top_findings
from ullage.report.glance import Vessel, how_to_declare, vessels
from ullage.report.inert import inert
from ullage.report.judgement import gain_text, judgement, machine_line
from ullage.report.picture import Front, vessel_svg
from ullage.report.tabs import Parts
from ullage.report.titles import Told, told


def heading(data: ReportData) -> str:
    """The machine's name; what was run where that is not known."""
    return words.host(data) or words.title(data)


def first_screen(data: ReportData, parts: Parts) -> dict[str, Any]:
    """What the template shows of it."""
    from markupsafe import Markup

    found, changes = vessels(data.summary, data.declared_by), changes_of(data)
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
        "how_to_declare": how_to_declare(found),
        "changes": [
            (finding, told(finding), "" if finding.gain is None else gain_text(finding.gain))
            for finding in changes or top_findings(data, answers(data.summary))
        ],
        "names_gains": bool(changes),
        "care": listing(sorted(data.care)) if data.care else "",
    }


def front_of(data: ReportData) -> tuple[Front, list[Vessel]]:
    """The same as a picture for slides."""
    found, changes = vessels(data.summary, data.declared_by), changes_of(data)
    lines = [_change_line(told(finding), finding) for finding in changes]
    return Front(inert(heading(data)), inert(machine_line(data.summary)), judgement(found, changes), lines), found


def _change_line(said: Told, finding: Finding) -> str:
    gain = "" if finding.gain is None else f": {gain_text(finding.gain)}"
    return f"{said.title or said.text}{gain}"
