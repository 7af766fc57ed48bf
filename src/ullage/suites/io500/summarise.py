# SPDX-License-Identifier: Apache-2.0
"""From the records of an IO500 run to rows, scores and findings."""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from ullage.analysis.attribution import Attribution, attribution_text
from ullage.analysis.findings import Failed, make_study
from ullage.analysis.findings.doubts import find_failures
from ullage.analysis.findings.nodes import often_last
from ullage.analysis.findings.phrasing import finding
from ullage.model.request import Request
from ullage.model.summary import Finding, Score
from ullage.quantity import plural
from ullage.results.events import failed_cases
from ullage.results.folder import ResultFolder
from ullage.results.rows import RowContext
from ullage.runs.options.reading import read_options
from ullage.runs.suite import SuiteSummary
from ullage.suites.io500.bound import under_bounds
from ullage.suites.io500.options import Io500Options
from ullage.suites.io500.phases import BY_NAME, Mode
from ullage.suites.io500.rounds import Digest, Round, digest, read_rounds
from ullage.suites.io500.score import (
    IMPROVEMENT,
    explain,
    families,
    movers,
    number,
    score,
    sensitivity,
    summary_scores,
)
from ullage.suites.io500.validity import Validity


def summarise(result: ResultFolder, request: Request, context: RowContext) -> SuiteSummary:
    """See ``Summarising``."""
    options = read_options(Io500Options, request)
    failed = failed_cases(file.records for file in result.read_records())
    digests = digest_all(request, options, read_rounds(result), failed, context)
    several = len(digests) > 1
    findings = [*_conditions(options), *find_failures(make_study([], failed))]
    scores: list[Score] = []
    for found in digests:
        label = found.target.name if several else ""
        # Of these nothing may be concluded; the score counts them, as the official one does.
        disturbed = frozenset(row.word("phase") for row in found.rows if row.grade == "C")
        own = summary_scores(found.samples, found.validity.run, options.mode, label)
        scores += [one.model_copy(update={"look": _is_look(one, options)}) for one in own]
        findings += void_findings(found.validity, label)
        findings += score_findings(found.values, options.mode, label, disturbed)
        findings += slow_ranks(found.rounds, disturbed, label)
    rows = [row for found in digests for row in under_bounds(found.rows, result, found.target.name, context)]
    return SuiteSummary(rows, findings, scores)


def _is_look(one: Score, options: Io500Options) -> bool:
    """Tell whether only what was asked for speaks against a score."""
    return bool(one.reasons) and not one.valid and set(one.reasons) <= set(options.conditions.reasons)


def digest_all(
    request: Request,
    options: Io500Options,
    rounds: Sequence[Round],
    failed: Iterable[Failed],
    context: RowContext,
) -> list[Digest]:
    """Return a digest for each target of the request, also for one at which nothing has run yet."""
    errors = {case.case: f"{case.text}{f' ({case.where})' if case.where else ''}" for case in failed}
    return [
        digest(target, [one for one in rounds if one.target.name == target.name], options, context, errors)
        for target in request.targets
    ]


def _conditions(options: Io500Options) -> Iterator[Finding]:
    if reasons := options.conditions.reasons:
        text = f"INVALID by the rules of IO500: {'; '.join(reasons)}. The numbers are a look, not a result."
        title = "The IO500 score does not count as a result"
        yield finding("io500-invalid", title, text, "warning", reasons=reasons)


def slow_ranks(rounds: Iterable[Round], disturbed: Collection[str], label: str = "") -> Iterator[Finding]:
    """Name the ranks that are often the last; phases in ``disturbed`` do not count."""
    sound = [attempt.scored for one in rounds for name, attempt in one.counted().items() if name not in disturbed]
    for one in often_last(phase for phase in sound if phase is not None):
        where = f"{label}: rank {one.rank} on {one.node}" if label else f"Rank {one.rank} on {one.node}"
        unequal = plural(one.unequal, "phase")
        yield finding(
            "slow-rank",
            f"{where} is often the slowest",
            f"{where} was the slowest in {one.phases} of {unequal} with unequal ranks. Check what else runs there.",
            "advice",
            target=label,
            rank=one.rank,
            node=one.node,
            phases=one.phases,
            unequal=one.unequal,
        )


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
    lead = f"{target}: " if target else ""
    article = "the" if target else "The"
    title = f"{lead}{article} IO500 score is {'unknown' if whole.total is None else number(whole.total)}"
    head = finding(
        "io500-score",
        title,
        f"{lead}{sentences[0].replace('The ', f'{article} ', 1)}",
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
    return [
        head,
        *(
            finding("io500-score", f"{lead}{group.name} lowers the score", f"{lead}{text}", target=target)
            for group, text in zip(groups, sentences[1:], strict=False)
        ),
    ]


def void_findings(validity: Validity, target: str = "") -> Iterator[Finding]:
    """Yield a finding for every phase that does not count, with its reasons and what else it voids."""
    for name, reasons in validity.phases.items():
        phase = BY_NAME[name]
        # What else a void phase voids, where that is not the run.
        reach = ". Only the extended score is void" if phase.mode == "extended" else ""
        if phase.pilot:
            reach = ". It is an unscored pilot: the run is valid without it"
        title = f"{f'{target}: ' if target else ''}{name} does not count"
        text = f"{title}: it {'; it '.join(reasons)}{reach}."
        yield finding("io500-void", title, text, "warning", target=target, phase=name, reasons=reasons)


def change_finding(
    first: Mapping[str, float],
    second: Mapping[str, float],
    names: tuple[str, str],
    mode: Mode = "standard",
    doubted: Collection[str] = (),
) -> Finding:
    """Say which phases moved the total from the run of the first name to that of the second, by what factor."""
    found = movers(first, second, mode, doubted)
    text = attribution_text(Attribution("IO500", "", *names, 1.0, math.prod(one.factor for one in found), found))
    return finding(
        "io500-change",
        f"What changed the score from {names[0]} to {names[1]}",
        text,
        target=names[1],
        against=names[0],
        phase=[one.name for one in found],
        ratio=[one.ratio for one in found],
        moved=[one.factor for one in found],
    )
