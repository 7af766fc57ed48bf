# SPDX-License-Identifier: Apache-2.0
"""IO500 results of others: what the official tool leaves, and published tables as JSON.

The official forms are result.txt, result_summary.txt, or a log with its [RESULT] lines. What is invalid by their own
marks, or by rules that can be checked from afar, is so here too.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Annotated, Final

from pydantic import Field

from ullage.analysis.findings.phrasing import finding
from ullage.errors import UserError
from ullage.importers.printed import Printed, Which, known_to, printed, worked_out
from ullage.importers.rows import IMPORT_SUITE, Importer, document_of, imported_row
from ullage.model.base import Strict
from ullage.model.flags import INVALID, Flag
from ullage.model.plan import Scalar
from ullage.model.summary import Finding, Row, Score, Summary
from ullage.quantity import listing
from ullage.suites.io500 import validity
from ullage.suites.io500.official import (
    OfficialRun,
    PhaseResult,
    ScoreResult,
    has_result_lines,
    is_ini,
    read_lines,
    read_result_ini,
)
from ullage.suites.io500.phases import BY_NAME, GIB, KILO, MODES, Mode, find_phase
from ullage.suites.io500.score import PARTS, Part, number, score, summary_scores
from ullage.suites.io500.summarise import change_finding, score_findings, void_findings

# Keys of result.txt that hold the rate when the time was up, and the metric and factor that they are here.
_AT_WALL: Final = {
    "throughput-stonewall": ("stonewall_bandwidth", "B/s", GIB),
    "rate-stonewall": ("stonewall_operation_rate", "op/s", KILO),
}
_RELEASE: Final = re.compile(r"io500-(?:isc|scc?)(\d\d)", re.ASCII)
# The official tool leaves these in its folder; the first has more digits.
FILES: Final = ("result.txt", "result_summary.txt")
VOID_PHASE: Final = f"{INVALID}:void-phase"
_MARKED: Final = "the tool that wrote it marks the run INVALID"


def recognises_result(text: str) -> bool:
    """Tell whether ``text`` has a section named like a phase, or a line that is a result."""
    return has_result_lines(text) or is_ini(text)


def read_result(text: str, name: str) -> Summary:
    """Return the summary of a file in either form; raise ``UserError`` with the line of the first mistake."""
    runs = read_lines(text, name) if has_result_lines(text) else [read_result_ini(text, name)]
    labels = ["io500"] if len(runs) == 1 else [f"run {index}" for index in range(1, len(runs) + 1)]
    params: list[dict[str, Scalar]] = [{"ranks": run.ranks} if run.ranks else {} for run in runs]
    return summary_of_runs(list(zip(labels, runs, params, strict=True)), name)


def summary_of_runs(runs: Sequence[tuple[str, OfficialRun, Mapping[str, Scalar]]], name: str) -> Summary:
    """Summarise runs: their rows, scores and findings.

    Each run comes with the name of its target and the parameters that its rows share.
    """
    rows: list[Row] = []
    scores: list[Score] = []
    findings: list[Finding] = []
    for target, run, params in runs:
        judged, shown = _judge(run), target if len(runs) > 1 else ""
        wrong = validity.contradictions(_printed(run))
        rows += _rows(target, run, params, judged, name)
        values = si_values(run)
        # They are recomputed from the phases. What is to know of them stands beside, though they count all the same.
        own = summary_scores({phase: [value] for phase, value in values.items()}, judged.run, run.mode, shown)
        beside = validity.score_reason(wrong)
        scores += [one.model_copy(update={"reasons": [*one.reasons, *beside]}) for one in own]
        findings += validity.arithmetic_findings(wrong, shown)
        findings += score_findings(values, run.mode, shown, validity.doubted(wrong))
        findings += [_recomputed(run, stated, mode, shown) for mode in MODES if (stated := run.scores.get(mode))]
        findings += [*_wall_findings(run, shown), *void_findings(judged, shown)]
    for (one, first, _), (other, second, _) in pairwise(runs):
        mode: Mode = "extended" if first.mode == second.mode == "extended" else "standard"
        unsure = validity.doubted(
            [*validity.contradictions(_printed(first)), *validity.contradictions(_printed(second))]
        )
        findings.append(change_finding(si_values(first), si_values(second), (one, other), mode, unsure))
    return Summary(
        suite=IMPORT_SUITE,
        run_id="imported",
        created="",
        versions={"io500": runs[0][1].version} if runs[0][1].version else {},
        rows=rows,
        findings=findings,
        scores=scores,
    )


def si_values(run: OfficialRun) -> dict[str, float]:
    """Return bytes/s and operations/s by name of the phases that ran; one that did not is printed as 0."""
    return {
        phase.name: phase.value.value * BY_NAME[phase.name].factor
        for phase in run.phases
        if phase.value is not None and phase.value.value > 0 and BY_NAME[phase.name].scored_phase
    }


def _printed(run: OfficialRun) -> dict[str, tuple[float, float]]:
    values = si_values(run)
    return {
        phase.name: (values[phase.name], phase.elapsed_s)
        for phase in run.phases
        if phase.name in values and phase.elapsed_s is not None
    }


def _judge(run: OfficialRun) -> validity.Validity:
    """Judge a run by what its form shows: marks, notes, times, what find found, and the rule of 300 s for all."""
    values = si_values(run)
    outcomes = {phase.name: _outcome(phase, values.get(phase.name)) for phase in run.phases}
    found = validity.judge_run(outcomes, validity.Conditions(), run.mode)
    marked = [mode for mode, stated in run.scores.items() if stated.invalid]
    reasons: dict[Mode, tuple[str, ...]] = {
        mode: (*said, *run.notes, *([_MARKED] if mode in marked else [])) for mode, said in found.run.items()
    }
    return validity.Validity(found.phases, reasons)


def _outcome(phase: PhaseResult, value: float | None) -> validity.Outcome:
    found = phase.pairs.get("found", "")
    said = [f"is marked: {note}" for note in phase.notes] or ["is marked INVALID"]
    if not BY_NAME[phase.name].scored_phase:
        value = 0.0
    return validity.Outcome(
        value,
        elapsed_s=None if value is None else phase.elapsed_s,
        found=int(found) if re.fullmatch(r"\d{1,18}", found, re.ASCII) else None,
        why_not_run="" if value is not None or phase.value is None else "its value is printed as 0",
        further=tuple(said) if phase.invalid else (),
    )


def _rows(
    target: str, run: OfficialRun, params: Mapping[str, Scalar], judged: validity.Validity, name: str
) -> Iterator[Row]:
    values, unknown = si_values(run), _walls_of_all_ranks(run)
    for phase in run.phases:
        if phase.name not in values:
            continue
        official, void = BY_NAME[phase.name], judged.phases.get(phase.name, ())
        measured = [(official.metric, official.si_unit, values[phase.name])]
        if phase.elapsed_s is not None:
            measured.append(("phase_time", "s", phase.elapsed_s))
        if phase.name not in unknown:
            measured += _at_wall(phase)
        flags = [Flag(code=VOID_PHASE, reason="; ".join(void))] if void else []
        for metric, unit, value in measured:
            yield imported_row(name, metric, unit, target, {"phase": phase.name, **params}, [value], flags)


def _walls_of_all_ranks(run: OfficialRun) -> list[str]:
    """Return the phases whose rate at the wall cannot be told: releases of 2020 print it times the number of ranks.

    That is the bytes of all ranks over the time of the whole phase, and once more times the ranks, which the file does
    not say. A release without a name is known by a rate that would have moved more by the wall than the whole phase.
    """
    release, found = _RELEASE.match(run.version), list[str]()
    for phase in run.phases:
        at_wall = {metric: value for metric, _, value in _at_wall(phase)}.get("stonewall_bandwidth")
        if at_wall is None or phase.value is None or (release is not None and release[1] != "20"):
            continue
        whole = phase.value.value * GIB * (phase.elapsed_s or 0.0)
        if release is not None or at_wall * validity.STONEWALL_S > whole:
            found.append(phase.name)
    return found


def _wall_findings(run: OfficialRun, target: str) -> Iterator[Finding]:
    if names := _walls_of_all_ranks(run):
        title = f"{target}: the rate at the wall is left out" if target else "The rate at the wall is left out"
        why = (
            f"{title} for {listing(names, len(names))}: the release that wrote the file printed throughput-stonewall "
            "times the number of ranks, and over the time of the whole phase."
        )
        yield finding("io500-wall", title, why, target=target, phase=names)


def _at_wall(phase: PhaseResult) -> list[tuple[str, str, float]]:
    return [
        (metric, unit, float(text) * factor)
        for key, (metric, unit, factor) in _AT_WALL.items()
        if re.fullmatch(r"\d{1,15}(\.\d{1,15})?", text := phase.pairs.get(key, ""), re.ASCII) and float(text) > 0
    ]


def _recomputed(run: OfficialRun, stated: ScoreResult, mode: Mode, target: str) -> Finding:
    """Compare the printed scores with those of the printed phases, within rounding."""
    pairs = [(stated.part(part), _from_phases(run, mode, part)) for part in PARTS]
    without_root = _is_product(stated)
    if without_root:
        shown, again = pairs[-1]
        pairs[-1] = shown, Printed(again.value**2, again.low**2, again.high**2)
    is_consistent = all(again.fits(shown) for shown, again in pairs)
    said = "; ".join(
        f"{part} {shown.value:.8g} printed, {again.value:.8g} from the phases"
        + ("" if again.fits(shown) else f" (rounding allows {number(again.low)} to {number(again.high)})")
        for part, (shown, again) in zip(PARTS, pairs, strict=True)
    )
    what = f"{target}: the" if target else "The"
    what += " extended score" if mode == "extended" else " score"
    note = " Its script, of before May 2018, printed the total without the root." if without_root else ""
    end = "does NOT follow from the printed phases"
    if is_consistent:
        end = "follows from the printed phases within rounding"
    return finding(
        "io500-recomputed",
        f"{what} {end}",
        f"{what} {end}: {said}.{note}",
        "info" if is_consistent else "warning",
        target=target,
        mode=mode,
        part=list(PARTS),
        printed=[shown.value for shown, _ in pairs],
        recomputed=[again.value for _, again in pairs],
        low=[again.low for _, again in pairs],
        high=[again.high for _, again in pairs],
        consistent=is_consistent,
    )


def _is_product(stated: ScoreResult) -> bool:
    """Tell whether the total is bandwidth x metadata, and not the root of that."""
    bandwidth, metadata, total = stated.bandwidth, stated.metadata, stated.total
    is_product = bandwidth.low * metadata.low <= total.high and total.low <= bandwidth.high * metadata.high
    return is_product and not total.low**2 <= bandwidth.high * metadata.high <= total.high**2


def _from_phases(run: OfficialRun, mode: Mode, part: Part) -> Printed:
    """Return a part of the score of the phases as printed; 0 where it has none."""

    def of(which: Which) -> float:
        values = {
            phase.name: which(phase.value) * BY_NAME[phase.name].factor
            for phase in run.phases
            if phase.value is not None and phase.value.value > 0
        }
        return score(values, mode).part(part) or 0.0

    return worked_out(of) or known_to(0.0)


RESULT = Importer(
    "io500_result",
    "IO500's result.txt, result_summary.txt or its log",
    recognises_result,
    read_result,
    FILES,
    kind="storage",
    marks=("[RESULT", "[SCORE"),
)


_PHASE_OFF: Final = 0.0005
Amount = Annotated[float, Field(ge=0, le=1e15)]
Count = Annotated[int, Field(ge=1, le=1 << 31)]


class _Score(Strict):
    bandwidth: Amount
    iops: Amount
    total: Amount


class _Run(Strict):
    nodes: Count
    ppn: Count
    phases: Annotated[dict[str, tuple[Amount, Amount]], Field(min_length=1)]
    score: _Score


class _Published(Strict):
    source: str
    units: dict[str, str] = {}
    runs: Annotated[list[_Run], Field(min_length=1)]
    note: str = ""


def recognises_published(text: str) -> bool:
    """Tell whether ``text`` is a JSON object with runs that have a phase of IO500."""
    return text.lstrip().startswith("{") and '"runs"' in text and "ior_easy_write" in text


def read_published(text: str, name: str) -> Summary:
    """Return the summary of a published table; raise ``UserError`` with the place of the first mistake."""
    right = "write runs with nodes, ppn, phases and score, as the published form has it"
    table = document_of(_Published, text, name, right)
    runs = [
        (label, _official(run, name), {"nodes": run.nodes, "ranks": run.nodes * run.ppn})
        for label, run in zip(_labels(table.runs), table.runs, strict=True)
    ]
    return summary_of_runs(runs, name)


def _labels(runs: list[_Run]) -> list[str]:
    """Label the runs by nodes and ranks of a node, ``160x16``; a second run of that size is ``160x16 (2)``."""
    plain = [f"{run.nodes}x{run.ppn}" for run in runs]
    counts = [plain[: index + 1].count(label) for index, label in enumerate(plain)]
    return [label if count == 1 else f"{label} ({count})" for label, count in zip(plain, counts, strict=True)]


def _official(run: _Run, name: str) -> OfficialRun:
    phases: list[PhaseResult] = []
    for key, (value, elapsed) in run.phases.items():
        phase = find_phase(key)
        if phase is None:
            raise UserError(f"unknown phase '{key}'", name, f"known phases are {', '.join(BY_NAME)}")
        phases.append(PhaseResult(phase.name, known_to(value, _PHASE_OFF), elapsed))
    order = list(BY_NAME)
    phases.sort(key=lambda phase: order.index(phase.name))
    bandwidth, metadata, total = map(printed, map(repr, (run.score.bandwidth, run.score.iops, run.score.total)))
    return OfficialRun(tuple(phases), {"standard": ScoreResult(bandwidth, metadata, total)}, ranks=run.nodes * run.ppn)


PUBLISHED = Importer("io500_published", "JSON of published IO500 tables", recognises_published, read_published)


IMPORTERS: Final = (RESULT, PUBLISHED)
