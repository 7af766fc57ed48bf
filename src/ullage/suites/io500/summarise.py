# SPDX-License-Identifier: Apache-2.0
"""From the records of an IO500 run to rows, scores, findings, and the two texts the official tool writes."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import ullage
from ullage.analysis.findings import Failed, make_study
from ullage.analysis.findings.doubts import find_failures
from ullage.analysis.findings.words import columns
from ullage.model.request import Request
from ullage.model.summary import Finding, Score
from ullage.quantity import plural
from ullage.results.failed_cases import failed_cases
from ullage.results.folder import ResultFolder
from ullage.results.rows import RowContext
from ullage.runs.suite import SuiteSummary
from ullage.suites.io500.digest import Digest, digest
from ullage.suites.io500.findings import score_findings, void_findings
from ullage.suites.io500.official import ini_text, make_run, summary_text
from ullage.suites.io500.options import Io500Options
from ullage.suites.io500.phases import Mode
from ullage.suites.io500.rounds import Round, read_rounds
from ullage.suites.io500.score import score_of_medians, summary_scores
from ullage.suites.io500.validity import condition_reasons

_NOTABLE_SPREAD: Final = 1.1
_FEWEST_PHASES: Final = 3


def summarise(result: ResultFolder, request: Request, context: RowContext) -> SuiteSummary:
    """See ``Summarising``."""
    options = Io500Options.model_validate(request.options)
    rounds = read_rounds(result)
    failed = failed_cases(file.records for file in result.read_records())
    digests = digest_all(request, options, rounds, failed, context)
    several = len(digests) > 1
    findings = [_conditions(options)] if condition_reasons(options.conditions) else []
    findings += find_failures(make_study([], failed))
    scores: list[Score] = []
    for found in digests:
        label = found.target.name if several else ""
        reasons: Mapping[Mode, Sequence[str]] = {one: found.validity.run.get(one, ()) for one in _modes(options)}
        scores += summary_scores(found.samples, reasons, options.mode, label)
        findings += void_findings(found.validity, label)
        findings += score_findings(found.values, options.mode, label)
        findings += slow_ranks([one for one in rounds if one.target.name == found.target.name], label)
    return SuiteSummary([row for found in digests for row in found.rows], findings, scores)


def _modes(options: Io500Options) -> tuple[Mode, ...]:
    return ("standard", "extended") if options.mode == "extended" else ("standard",)


def digest_all(
    request: Request,
    options: Io500Options,
    rounds: Iterable[Round],
    failed: Iterable[Failed],
    context: RowContext,
) -> list[Digest]:
    """One for each target of the request, also for one at which nothing has run yet."""
    errors = {case.case: f"{case.text}{f' ({case.where})' if case.where else ''}" for case in failed}
    all_rounds = list(rounds)
    return [
        digest(target, [one for one in all_rounds if one.target.name == target.name], options, context, errors)
        for target in request.targets
    ]


def _conditions(options: Io500Options) -> Finding:
    reasons = condition_reasons(options.conditions)
    text = f"INVALID by the rules of IO500: {'; '.join(reasons)}. The numbers are a look, not a result."
    return Finding(kind="io500-invalid", text=text, severity="warning", numbers=columns(reasons=reasons))


def slow_ranks(rounds: Iterable[Round], label: str = "") -> list[Finding]:
    """A rank that was the last of several phases, by more than a little: a sign of its node, not of the phase."""
    last: Counter[tuple[int, str]] = Counter()
    unequal = 0
    for one in rounds:
        for attempt in one.counted().values():
            by_rank = None if attempt.scored is None else attempt.scored.by_rank
            if by_rank is None or not by_rank.slowest or by_rank.fastest.elapsed_ns <= 0:
                continue
            slowest = by_rank.slowest[0]
            if slowest.elapsed_ns >= _NOTABLE_SPREAD * by_rank.fastest.elapsed_ns:
                unequal += 1
                last[slowest.rank, slowest.node] += 1
    return [
        Finding(
            kind="slow-rank",
            text=f"{f'{label}: ' if label else ''}rank {rank} on {node} was the slowest in {plural(count, 'phase')} of "
            f"{unequal} with unequal ranks.",
            severity="advice",
            numbers=columns(target=label, rank=rank, node=node, phases=count, unequal=unequal),
        )
        for (rank, node), count in last.most_common()
        if count >= _FEWEST_PHASES and 2 * count > unequal
    ]


def read_digests(result: ResultFolder) -> list[Digest]:
    """The digests of every target of ``result``."""
    from ullage.runs.summary import row_context

    request = result.read_request()
    options = Io500Options.model_validate(request.options)
    failed = failed_cases(file.records for file in result.read_records())
    return digest_all(request, options, read_rounds(result), failed, row_context(request, result.read_system()))


def official_texts(digests: Sequence[Digest], options: Io500Options) -> dict[str, str]:
    """Contents by file name, as of result_summary.txt and result.txt; with several targets each has its own two.

    Nothing of a target at which nothing has run.
    """
    texts: dict[str, str] = {}
    for number, found in enumerate(digests, start=1):
        if not found.elapsed_s:
            continue
        end = f"-{number}" if len(digests) > 1 else ""
        run = make_run(
            found.values,
            found.elapsed_s,
            {one: score_of_medians(found.samples, one) for one in _modes(options)},
            found.validity,
            mode=options.mode,
            version=f"ullage-{ullage.__version__}",
            ranks=options.ranks,
            pairs=found.pairs,
        )
        texts[f"result_summary{end}.txt"] = summary_text(run)
        texts[f"result{end}.txt"] = ini_text(run)
    return texts
