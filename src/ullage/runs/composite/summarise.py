# SPDX-License-Identifier: Apache-2.0
"""The summary of a run made of others: rows, findings, scores and events of all parts, and how each part ended."""

from collections.abc import Callable, Mapping
from typing import Final

from ullage.analysis.findings.doubts import disturbed_once
from ullage.analysis.findings.study import Settable
from ullage.analysis.verdicts.grades import sound_rows
from ullage.errors import EXIT_ABORTED, EXIT_CASE_FAILED, EXIT_OK, UserError
from ullage.model.request import Request
from ullage.model.summary import Finding, Headline, Part, PartOutcome, PartStatus, Row, Score, Summary
from ullage.report.headlines import headlines
from ullage.results.folder import ResultFolder
from ullage.runs.ceilings import with_common_ceilings
from ullage.runs.composite.options import PARTS, PartsOptions
from ullage.runs.options.reading import read_options
from ullage.runs.suite import headline_cases, load_suites, settable_of

Build = Callable[[ResultFolder], Summary]
_TIME: Final = "--time"
_STATUS: Final[Mapping[int, PartStatus]] = {
    EXIT_OK: "complete",
    EXIT_CASE_FAILED: "failed",
    EXIT_ABORTED: "interrupted",
}


def is_made_of_parts(request: Request) -> bool:
    """Tell whether ``summary_of_parts`` can read it."""
    return PARTS in request.options


def summary_of_parts(result: ResultFolder, request: Request, build: Build) -> Summary:
    """Summarise a result that is made of parts; ``build`` makes the summary of one part."""
    outcomes = {outcome.suite: outcome for outcome in result.read_outcomes()}
    rows, findings, scores, events = list[Row](), list[Finding](), list[Score](), list[Finding]()
    versions, parts = dict(request.versions), list[Part]()
    for asked in read_options(PartsOptions, request).parts:
        suite = {"suite": asked.suite}
        said = _summary(result.part(asked.suite), build)
        parts.append(_part(asked.suite, said, outcomes.get(asked.suite), settable_of(request), len(rows)))
        if said is not None:
            rows += [row.model_copy(update=suite) for row in said.rows]
            findings += [finding.model_copy(update=suite) for finding in said.findings]
            events += [event.model_copy(update=suite) for event in said.events]
            scores += [score.model_copy(update=suite) for score in said.scores]
            versions |= said.versions
    system, sound = result.read_system(), sound_rows(rows)
    # Some findings only the rows of several parts together can tell.
    across = [finding for suite in load_suites().values() for finding in suite.across(sound)]
    return Summary(
        suite=request.suite,
        run_id=request.run_id,
        created=request.created,
        command=request.command,
        versions=versions,
        rows=with_common_ceilings(rows),
        findings=[*disturbed_once(findings, rows), *across],
        scores=scores,
        events=events,
        system={} if system is None else system.model_dump(mode="json"),
        parts=parts,
    )


def _summary(part: ResultFolder, build: Build) -> Summary | None:
    """Return the summary of a part; None of one that has not begun, or ended before it had anything to say."""
    if not (part.path / "request.json").is_file():
        return None
    try:
        return build(part)
    except UserError:
        return None


def _part(suite: str, said: Summary | None, outcome: PartOutcome | None, settable: Settable, first: int) -> Part:
    """Return how a part ended; ``outcome`` is None for one that was cut short or has not begun.

    ``first``: where its rows begin among those of all parts.
    """
    is_first = headline_cases(suite) is not None
    shown = [] if said is None else headlines(said.rows, said.suites, of_most=is_first)
    status: PartStatus = "not begun" if said is None else "interrupted"
    if outcome is not None:
        status = _STATUS.get(outcome.code, "failed") if outcome.began else "not available"
    return Part(
        suite=suite,
        status=status,
        reason="" if outcome is None else outcome.reason or _why_empty(said, outcome, settable),
        seconds=outcome.seconds if outcome is not None and outcome.began else None,
        first=is_first,
        headlines=[Headline(part=one.part, what=one.what, row=first + one.row) for one in shown],
    )


def _why_empty(said: Summary | None, outcome: PartOutcome, settable: Settable) -> str:
    """Say why a part that ended as it should has no number all the same; return nothing for any other."""
    if said is None or said.rows or outcome.code != EXIT_OK:
        return ""
    advice = f"; give more {_TIME}" if _TIME in settable.options else ""
    return f"no number: its time ended before its first repetition did{advice}"
