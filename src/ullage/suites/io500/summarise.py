# SPDX-License-Identifier: Apache-2.0
"""From the records of an IO500 run to rows, scores and findings."""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence

from ullage.analysis.attribution import Attribution, attribution_text
from ullage.analysis.findings import Failed, make_study
from ullage.analysis.findings.doubts import find_failures
from ullage.analysis.findings.nodes import often_last
from ullage.analysis.findings.phrasing import columns, finding
from ullage.model.request import Request
from ullage.model.summary import Finding, Row, Score
from ullage.quantity import plural
from ullage.results.events import failed_cases
from ullage.results.folder import ResultFolder
from ullage.results.rows import RowContext
from ullage.runs.options.reading import read_options
from ullage.runs.suite import SuiteSummary
from ullage.suites.io500.digest import Digest, digest
from ullage.suites.io500.options import Io500Options
from ullage.suites.io500.phases import BY_NAME, Mode
from ullage.suites.io500.rounds import Round, read_rounds
from ullage.suites.io500.score import Io500Score, score, summary_scores
from ullage.suites.io500.sensitivity import (
    IMPROVEMENT,
    explain,
    families,
    movers,
    number,
    sensitivity,
)
from ullage.suites.io500.validity import Validity, condition_reasons


def summarise(result: ResultFolder, request: Request, context: RowContext) -> SuiteSummary:
    """See ``Summarising``."""
    options = read_options(Io500Options, request)
    rounds = read_rounds(result)
    failed = failed_cases(file.records for file in result.read_records())
    digests = digest_all(request, options, rounds, failed, context)
    several = len(digests) > 1
    findings = [_conditions(options)] if condition_reasons(options.conditions) else []
    findings += find_failures(make_study([], failed))
    scores: list[Score] = []
    for found in digests:
        label = found.target.name if several else ""
        reasons: Mapping[Mode, Sequence[str]] = {one: found.validity.run.get(one, ()) for one in modes_of(options)}
        scores += _with_looks(summary_scores(found.samples, reasons, options.mode, label), options)
        findings += void_findings(found.validity, label)
        findings += score_findings(found.values, options.mode, label, _disturbed(found.rows))
        of_target = [one for one in rounds if one.target.name == found.target.name]
        findings += slow_ranks(of_target, _disturbed(found.rows), label)
    return SuiteSummary([row for found in digests for row in found.rows], findings, scores)


def _with_looks(scores: Sequence[Score], options: Io500Options) -> list[Score]:
    """Mark a score as a look where only what was asked for speaks against it."""
    asked = condition_reasons(options.conditions)
    return [
        one.model_copy(update={"look": bool(one.reasons) and not one.valid and set(one.reasons) <= set(asked)})
        for one in scores
    ]


def _disturbed(rows: Iterable[Row]) -> frozenset[str]:
    """Return the phases from which nothing may be concluded; the score counts them, as the official one does."""
    return frozenset(row.word("phase") for row in rows if row.grade == "C")


def modes_of(options: Io500Options) -> tuple[Mode, ...]:
    """Return the modes that have a score."""
    return ("standard", "extended") if options.mode == "extended" else ("standard",)


def digest_all(
    request: Request,
    options: Io500Options,
    rounds: Iterable[Round],
    failed: Iterable[Failed],
    context: RowContext,
) -> list[Digest]:
    """Return a digest for each target of the request, also for one at which nothing has run yet."""
    errors = {case.case: f"{case.text}{f' ({case.where})' if case.where else ''}" for case in failed}
    all_rounds = list(rounds)
    return [
        digest(target, [one for one in all_rounds if one.target.name == target.name], options, context, errors)
        for target in request.targets
    ]


def _conditions(options: Io500Options) -> Finding:
    reasons = condition_reasons(options.conditions)
    text = f"INVALID by the rules of IO500: {'; '.join(reasons)}. The numbers are a look, not a result."
    title = "The IO500 score does not count as a result"
    return Finding(kind="io500-invalid", title=title, text=text, severity="warning", numbers=columns(reasons=reasons))


def slow_ranks(rounds: Iterable[Round], disturbed: Collection[str], label: str = "") -> list[Finding]:
    """Name the ranks that are often the last; phases in ``disturbed`` do not count."""
    sound = [attempt.scored for one in rounds for name, attempt in one.counted().items() if name not in disturbed]
    return [
        Finding(
            kind="slow-rank",
            title=f"{_place(label, one.rank, one.node)} is often the slowest",
            text=f"{_place(label, one.rank, one.node)} was the slowest in {one.phases} of "
            f"{plural(one.unequal, 'phase')} with unequal ranks. Check what else runs there.",
            severity="advice",
            numbers=columns(target=label, rank=one.rank, node=one.node, phases=one.phases, unequal=one.unequal),
        )
        for one in often_last(phase for phase in sound if phase is not None)
    ]


def _place(label: str, rank: int, node: str) -> str:
    return f"{label}: rank {rank} on {node}" if label else f"Rank {rank} on {node}"


# -- findings; ``target`` goes before the sentences where a result has several -----------------------------------------


def score_findings(
    values: Mapping[str, float], mode: Mode = "standard", target: str = "", doubted: Collection[str] = ()
) -> list[Finding]:
    """Say where the score of ``values`` comes from, one finding a sentence; the first holds all the numbers.

    ``doubted``: phases that were disturbed or contradict themselves, on which no sentence may rest.
    """
    sentences = explain(values, mode, doubted)
    if not sentences:
        return []
    whole, influences, groups = score(values, mode), sensitivity(values, mode), families(values, mode, doubted)
    numbers = columns(
        target=target,
        total=whole.total,
        bandwidth_gib_per_s=whole.bandwidth,
        metadata_kiops=whole.metadata,
        phase=[influence.phase for influence in influences],
        value=[influence.value for influence in influences],
        power=[influence.power for influence in influences],
        improvement=IMPROVEMENT,
        gain=[influence.gain for influence in influences],
        family=[group.name for group in groups],
        loss=[group.loss for group in groups],
    )
    first, *rest = (f"{_lead(target)}{sentence}" for sentence in sentences)
    if target:
        first = first.replace(": The ", ": the ", 1)
    return [
        Finding(kind="io500-score", title=_title(whole, target), text=first, numbers=numbers),
        *(
            finding("io500-score", f"{_lead(target)}{group.name} lowers the score", text, target=target)
            for group, text in zip(groups, rest, strict=False)
        ),
    ]


def _title(whole: Io500Score, target: str) -> str:
    article = "the" if target else "The"
    return f"{_lead(target)}{article} IO500 score is {'unknown' if whole.total is None else number(whole.total)}"


def void_findings(validity: Validity, target: str = "") -> list[Finding]:
    """Return a finding for every phase that does not count, with its reasons and what else it voids."""
    return [
        Finding(
            kind="io500-void",
            title=f"{_lead(target)}{name} does not count",
            text=f"{_lead(target)}{name} does not count: it {'; it '.join(reasons)}{_reach(name)}.",
            severity="warning",
            numbers=columns(target=target, phase=name, reasons=list(reasons)),
        )
        for name, reasons in validity.phases.items()
    ]


def _reach(name: str) -> str:
    """Say what else a void phase voids, where that is not the run."""
    phase = BY_NAME[name]
    if phase.pilot:
        return ". It is an unscored pilot: the run is valid without it"
    return ". Only the extended score is void" if phase.mode == "extended" else ""


def change_finding(
    first: Mapping[str, float],
    second: Mapping[str, float],
    names: tuple[str, str],
    mode: Mode = "standard",
    doubted: Collection[str] = (),
) -> Finding:
    """Say which phases moved the total from the run of the first name to that of the second, by what factor."""
    found = movers(first, second, mode, doubted)
    numbers = columns(
        target=names[1],
        against=names[0],
        phase=[one.name for one in found],
        ratio=[one.ratio for one in found],
        moved=[one.factor for one in found],
    )
    text = attribution_text(Attribution("IO500", "", *names, 1.0, math.prod(one.factor for one in found), found))
    title = f"What changed the score from {names[0]} to {names[1]}"
    return Finding(kind="io500-change", title=title, text=text, numbers=numbers)


def _lead(target: str) -> str:
    return f"{target}: " if target else ""
