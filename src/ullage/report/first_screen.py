# SPDX-License-Identifier: Apache-2.0
"""The first screen: may it be believed, the answer, the one picture that shows it, and what to change first. Pure.

A suite with a question begins with its answer, and its picture may be bars. A run on a machine begins with a judgement
in one sentence, and its picture is a vessel for each part.

The five findings that stand first are what went wrong, what to change first, and what else is advised.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ullage.analysis.ladders import TAKEN_BY_OTHERS
from ullage.grouping import grouped
from ullage.model.summary import Finding, Gain, Summary
from ullage.quantity import between, listing, percent, plural, times
from ullage.reading import child
from ullage.report import texts
from ullage.report.answers import (
    MOST_CHANGES,
    TROUBLE,
    Answer,
    HeadedText,
    advice_of,
    answers,
    asked,
    change_first,
    nothing_found,
    picture_of,
    remark_kinds,
    told,
)
from ullage.report.bars import Bars, bars_grids
from ullage.report.data import ReportData
from ullage.report.facts import nodes_text, number_of, text_of
from ullage.report.headlines import Vessel, how_to_declare, vessels
from ullage.report.ladders import ladder_html
from ullage.report.picture import Front, vessel_svg
from ullage.report.sections.ladders import SECTION
from ullage.report.soundness import soundness
from ullage.report.tabs import Parts
from ullage.report.texts import inert
from ullage.units import format_volume

_MOST_TROUBLE: Final = 2


def changes_of(data: ReportData) -> list[Finding]:
    """Return what to change first, by what the reader cares for."""
    return change_first(data.summary.findings, cared_for(data))


def cared_for(data: ReportData) -> Collection[str]:
    """Return the suites in ``data.care``, which names them or the part of the machine that they measure; else none."""
    if not data.care:
        return ()
    parts = Parts(data.summary)
    suites = {finding.suite for finding in data.summary.findings}
    return [suite for suite in suites if {suite or data.summary.suite, parts.of_suite(suite)} & set(data.care)]


def top_findings(data: ReportData, answered: Sequence[Answer]) -> list[Finding]:
    """Return at most five findings: failures, then by gain, then advice and warnings, the first of each suite first.

    A single suite's answer has its advice and warnings, so they are listed for a run of suites only. That list fills
    up with findings on all suites together and with the first line of other suites' answers, where their scores count.
    ``data.care``: see ``change_first``.
    """
    summary = data.summary
    found = [one for one in summary.findings if one.kind in TROUBLE][:_MOST_TROUBLE]
    found += [one for one in change_first(summary.findings, cared_for(data)) if one.kind not in TROUBLE]
    if summary.parts:
        own = next((answer.told for answer in answered if answer.suite == summary.suite), ())
        found += _advised(summary, [*found, *own])
        found += _of_all(summary, [*found, *own])
        # What a score without validity says is a look, and no finding.
        looks = [score.suite for score in summary.scores if not score.valid]
        said = {summary.suite, *looks, *(one.suite for one in found)}
        found += [_first(answer) for answer in answered if answer.lines and answer.suite not in said]
    return found[:MOST_CHANGES]


def _advised(summary: Summary, known: Sequence[Finding]) -> list[Finding]:
    """Return advice and warnings that are no remarks, the first of each suite before the second of any."""
    remarks = remark_kinds(summary.suites) | TROUBLE
    told = set(map(advice_of, known))
    left = [one for one in summary.findings if one.severity != "info" and one.kind not in remarks]
    left = [one for one in left if one not in known and advice_of(one) not in told]
    ordered = sorted(left, key=lambda one: one.severity == "warning")
    suites = grouped((one.suite, one) for one in ordered).values()
    turns = {id(one): turn for of_suite in suites for turn, one in enumerate(of_suite)}
    return sorted(ordered, key=lambda one: turns[id(one)])


def _of_all(summary: Summary, known: Sequence[Finding]) -> list[Finding]:
    remarks = remark_kinds(summary.suites) | TROUBLE
    return [one for one in summary.findings if not one.suite and one.kind not in remarks and one not in known]


def _first(answer: Answer) -> Finding:
    return Finding(kind="answer", text=answer.lines[0], suite=answer.suite)


CHANGES: Final = "Change first"
# This heading stands where no change brings a gain that can be told.
FOUND: Final = "What was found"


def machine_line(summary: Summary) -> str:
    """Describe the machine in one line, without what is unknown.

    For example ``AMD EPYC, 2 cores, 23.5 GiB, Debian GNU/Linux 12, Linux 6.18, Open MPI v4.1.4``. Where it was several
    nodes, their number and that of the ranks stand before.
    """
    system = summary.system
    cpu, memory, kernel = (child(system, name) for name in ("cpu", "memory", "kernel"))
    cores, total = number_of(cpu, "physical_cores"), number_of(memory, "total_bytes")
    parts = [
        nodes_text(system),
        text_of(cpu, "model"),
        "" if cores is None else plural(int(cores), "core"),
        "" if total is None else format_volume(int(total)),
        text_of(kernel, "distribution"),
        f"{text_of(kernel, 'system')} {text_of(kernel, 'release')}".strip(),
        summary.versions.get("mpi", "").partition(",")[0],
    ]
    return ", ".join(filter(None, parts))


_OF_OTHERS: Final = frozenset(step.kind for step in TAKEN_BY_OTHERS)


def judgement(vessels: Sequence[Vessel], changes: Sequence[Finding]) -> str:
    """Judge the machine in one sentence; return an empty text where no number stands for a part and nothing gains."""
    text = "; ".join(_clauses(vessels, changes))
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def _clauses(vessels: Sequence[Vessel], changes: Sequence[Finding]) -> Iterator[str]:
    if invalid := [vessel.part for vessel in vessels if vessel.is_invalid]:
        yield f"{' and '.join(invalid)} {'does' if len(invalid) == 1 else 'do'} not count (INVALID)"
    if disturbed := [vessel.part for vessel in vessels if vessel.is_disturbed]:
        yield f"other programs disturbed {listing(disturbed)} (grade C)"
    counted = [vessel for vessel in vessels if not (vessel.is_invalid or vessel.is_disturbed or vessel.is_time_lost)]
    known = [(vessel.share, vessel.part) for vessel in counted if vessel.share is not None]
    if known:
        (low, least), (high, most) = min(known), max(known)
        reach, their = ("reach", "their") if most.endswith("s") else ("reaches", "its")
        others = "" if least == most else f", {least} {percent(low)}"
        yield f"{most} {reach} {percent(high)} of {their} ceiling{others}"
    if unknown := sum(vessel.share is None for vessel in vessels):
        of = f"of {plural(len(vessels), 'part')}"
        yield f"{unknown} {of} {'has' if unknown == 1 else 'have'} no known ceiling"
    if lost := [vessel.row.median for vessel in vessels if vessel.is_time_lost]:
        yield f"other work takes {percent(lost[0], 1)} of the time"
    # What others took is a disturbance of the run, and no gain of the machine.
    gains = [one for one in changes if one.gain is not None and one.numbers.get("rung") not in _OF_OTHERS]
    if gains and (gain := gains[0].gain) is not None:
        yield f"the first change below gains {gain_text(gain)}"


def gain_text(gain: Gain) -> str:
    """Write a gain as ``2.10 x [1.90 x, 2.30 x]``, or as one estimate where it has no interval."""
    known = between(times(gain.low), times(gain.high)) if gain.low and gain.high else "(one estimate)"
    return f"{times(gain.factor)} {known}"


MOST_SAID: Final = 2
NO_GAIN: Final = "No setting that was measured brings a sure gain. Further findings are with each part."


@dataclass(frozen=True)
class Said:
    """What a first screen begins with.

    ``question``: of the suite; empty for a run on a machine. ``lines``: sentences, the first is the answer. ``bars``:
    the picture; where there are none, it is the vessels.
    """

    question: str
    lines: tuple[str, ...]
    bars: tuple[Bars, ...]


def said_first(data: ReportData, vessels: Sequence[Vessel], changes: Sequence[Finding]) -> Said:
    """Return the answer of the suite that was run, and what the picture shows; else the judgement of the machine."""
    answer, shown = asked(data.summary), tuple(picture_of(data.summary))
    judged = reaches(shown) if shown else judgement(vessels, changes)
    if answer is None:
        return Said("", (judged,) if judged else (), shown)
    lines = [line for line in answer.lines or answer.notes if line != answer.unlike][:MOST_SAID]
    return Said(answer.title, tuple(filter(None, [*lines, judged])), shown)


def reaches(groups: Sequence[Bars]) -> str:
    """Say what bars of shares show: ``disk: sequential reads of 1M reach 62 % of their ceiling; ...``; else nothing."""
    counted = [bar for group in groups for bar in group.bars if bar.of_ceiling and not bar.remark]
    shares = [(bar.label, bar.row.share) for bar in counted]
    known = [f"{label} reach {percent(share)} of their ceiling" for label, share in shares if share is not None]
    return f"{'; '.join(known)}." if known else ""


def heading(data: ReportData) -> str:
    """Return the machine's name, or what was run where that is not known."""
    return texts.host(data) or texts.title(data)


def first_screen(data: ReportData, parts: Parts) -> dict[str, Any]:
    """Return what the template shows of the first screen."""
    from markupsafe import Markup

    found, changes = vessels(data.summary, data.declared_by), changes_of(data)
    said = said_first(data, found, changes)
    return {
        "heading": heading(data),
        "title": texts.title(data),
        "machine": machine_line(data.summary),
        "said": said,
        "bars": bars_grids(said.bars),
        # The drawing is safe to mark up: vessel_svg escapes every text in it.
        "vessels": [
            (vessel, Markup(vessel_svg(vessel, f"vessel-{index}")), parts.of_vessel(vessel))  # noqa: S704
            for index, vessel in enumerate(found)
            if not said.bars
        ],
        "hatched": any(bar.row.grade == "C" for group in said.bars for bar in group.bars)
        or any(vessel.is_disturbed and vessel.share is not None for vessel in found),
        "how_to_declare": how_to_declare(found),
        "ladders": _ladders(data),
        "changes": [
            (finding, told(finding), "" if finding.gain is None else gain_text(finding.gain))
            for finding in changes or _foremost(data, said)
        ],
        "names_gains": bool(changes),
        "no_gain": NO_GAIN,
        # An answer that stands above says more than that nothing is to be changed.
        "nothing": "" if said.question and said.lines else nothing_found(data.summary.rows),
        "changes_heading": CHANGES if changes or not data.summary.findings else FOUND,
        "care": listing(sorted(data.care)) if data.care else "",
    }


def _ladders(data: ReportData) -> dict[str, Any]:
    """Return a picture of each ladder with what to do about its rungs, and the table of ceilings."""
    from markupsafe import Markup

    content = SECTION.build(data)
    pictures = [
        # It is safe to mark up: ladder_html escapes every text in it.
        (ladder.part, Markup(ladder_html(ladder)), ladder.rungs)  # noqa: S704
        for ladder in data.summary.ladders
        if ladder.rungs
    ]
    return {"title": SECTION.title, "doc": SECTION.doc, "pictures": pictures, "grids": content.grids if content else []}


def _foremost(data: ReportData, said: Said) -> list[Finding]:
    """Return what stands first where no change brings a gain, without what the answer has said already."""
    answered = answers(data.summary)
    found = top_findings(data, answered) or [_first(answer) for answer in answered if answer.lines][:MOST_CHANGES]
    return [one for one in found if one.text not in said.lines]


def front_of(data: ReportData) -> tuple[Front, list[Vessel]]:
    """Return the first screen as a picture for slides, and its vessels."""
    found, changes = vessels(data.summary, data.declared_by), changes_of(data)
    said = said_first(data, found, changes)
    shown = changes or _foremost(data, said)
    lines = [_change_line(told(finding), finding) for finding in shown]
    machine, title = inert(machine_line(data.summary)), CHANGES if changes or not shown else FOUND
    front = Front(inert(heading(data)), machine, said.lines, lines, title, soundness(data), said.question, said.bars)
    return front, [] if said.bars else found


def _change_line(said: HeadedText, finding: Finding) -> str:
    gain = "" if finding.gain is None else f": {gain_text(finding.gain)}"
    change = f", {finding.change}" if gain and finding.change else ""
    return f"{said.title or said.text}{gain}{change}"
