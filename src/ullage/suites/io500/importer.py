# SPDX-License-Identifier: Apache-2.0
"""IO500 results of others: what the official tool leaves, and published tables as JSON.

The official forms are result.txt, result_summary.txt, or a log with its [RESULT] lines. What is invalid by their own
marks, or by rules that can be checked from afar, is so here too.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Annotated, Final, Literal

from pydantic import Field, ValidationError

from ullage.analysis.findings.phrasing import columns
from ullage.errors import UserError
from ullage.importers import IMPORT_SUITE, Importer, imported_row
from ullage.importers.printed import Printed, known_to, printed
from ullage.model.base import Strict, first_mistake
from ullage.model.flags import INVALID, Flag
from ullage.model.plan import Scalar
from ullage.model.summary import Finding, Row, Score, Summary
from ullage.quantity import listing
from ullage.suites.io500.official import (
    OfficialRun,
    PhaseResult,
    ScoreResult,
    has_result_lines,
    is_ini,
    read_lines,
    read_result_ini,
)
from ullage.suites.io500.phases import BY_NAME, GIB, KILO, MODES, Mode, OfficialPhase, find_phase
from ullage.suites.io500.score import (
    PARTS,
    Part,
    arithmetic_findings,
    contradictions,
    doubted,
    score,
    score_reason,
    summary_scores,
)
from ullage.suites.io500.sensitivity import number
from ullage.suites.io500.summarise import change_finding, score_findings, void_findings
from ullage.suites.io500.validity import STONEWALL_S, Conditions, Outcome, Validity, judge_run

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
    several = len(runs) > 1
    for target, run, params in runs:
        validity = _judge(run)
        shown = target if several else ""
        wrong = contradictions(_printed(run))
        rows += _rows(target, run, params, validity, name)
        values = si_values(run)
        scores += [_beside(one, score_reason(wrong)) for one in _scores(run, values, validity, shown)]
        findings += arithmetic_findings(wrong, shown)
        findings += score_findings(values, run.mode, shown, doubted(wrong))
        findings += [found for mode in MODES if (found := _recomputed(run, mode, shown)) is not None]
        findings += [*_wall_findings(run, shown), *void_findings(validity, shown)]
    for (one, first, _), (other, second, _) in pairwise(runs):
        mode: Mode = "extended" if first.mode == second.mode == "extended" else "standard"
        unsure = doubted([*contradictions(_printed(first)), *contradictions(_printed(second))])
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
    """Return SI rate and seconds of the phases that have both."""
    values = si_values(run)
    return {
        phase.name: (values[phase.name], phase.elapsed_s)
        for phase in run.phases
        if phase.name in values and phase.elapsed_s is not None
    }


def _beside(score_: Score, reasons: list[str]) -> Score:
    """Add to a score what is to know of it, though it counts all the same."""
    return score_.model_copy(update={"reasons": [*score_.reasons, *reasons]})


def _judge(run: OfficialRun) -> Validity:
    """Judge a run by what its form shows: marks, notes, times, what find found, and the rule of 300 s for all."""
    values = si_values(run)
    outcomes = {phase.name: _outcome(phase, values.get(phase.name)) for phase in run.phases}
    found = judge_run(outcomes, Conditions(), run.mode)
    marked = {mode: [_MARKED] for mode, stated in run.scores.items() if stated.invalid}
    reasons: dict[Mode, tuple[str, ...]] = {
        mode: (*said, *run.notes, *marked.get(mode, [])) for mode, said in found.run.items()
    }
    return Validity(found.phases, reasons)


def _outcome(phase: PhaseResult, value: float | None) -> Outcome:
    official = BY_NAME[phase.name]
    found = phase.pairs.get("found", "")
    said = [f"is marked: {note}" for note in phase.notes] or ["is marked INVALID"]
    if not official.scored_phase:
        value = 0.0
    return Outcome(
        value,
        elapsed_s=None if value is None else phase.elapsed_s,
        found=int(found) if re.fullmatch(r"\d{1,18}", found, re.ASCII) else None,
        why_not_run="" if value is not None or phase.value is None else "its value is printed as 0",
        further=tuple(said) if phase.invalid else (),
    )


def _rows(target: str, run: OfficialRun, params: Mapping[str, Scalar], validity: Validity, name: str) -> list[Row]:
    values, unknown = si_values(run), _walls_of_all_ranks(run)
    rows: list[Row] = []
    for phase in run.phases:
        official = BY_NAME[phase.name]
        if phase.name not in values:
            continue
        void = validity.phases.get(phase.name, ())
        rows.append(_row(target, official, params, (official.metric, official.si_unit, values[phase.name]), void, name))
        if phase.elapsed_s is not None:
            rows.append(_row(target, official, params, ("phase_time", "s", phase.elapsed_s), void, name))
        rows += [
            _row(target, official, params, (metric, unit, at_wall), void, name)
            for metric, unit, at_wall in _at_wall(phase)
            if phase.name not in unknown
        ]
    return rows


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
        if release is not None or at_wall * STONEWALL_S > whole:
            found.append(phase.name)
    return found


def _wall_findings(run: OfficialRun, target: str) -> list[Finding]:
    names = _walls_of_all_ranks(run)
    if not names:
        return []
    title = f"{target}: the rate at the wall is left out" if target else "The rate at the wall is left out"
    why = (
        f"{title} for {listing(names, len(names))}: the release that wrote the file printed throughput-stonewall times "
        "the number of ranks, and over the time of the whole phase."
    )
    return [Finding(kind="io500-wall", title=title, text=why, numbers=columns(target=target, phase=names))]


def _at_wall(phase: PhaseResult) -> list[tuple[str, str, float]]:
    found: list[tuple[str, str, float]] = []
    for key, (metric, unit, factor) in _AT_WALL.items():
        text = phase.pairs.get(key, "")
        if re.fullmatch(r"\d{1,15}(\.\d{1,15})?", text, re.ASCII) and float(text) > 0:
            found.append((metric, unit, float(text) * factor))
    return found


def _row(
    target: str,
    phase: OfficialPhase,
    params: Mapping[str, Scalar],
    measured: tuple[str, str, float],
    void: Sequence[str],
    name: str,
) -> Row:
    metric, unit, value = measured
    flags = [Flag(code=VOID_PHASE, reason="; ".join(void))] if void else []
    return imported_row(name, metric, unit, target, {"phase": phase.name, **params}, [value], flags)


def _scores(run: OfficialRun, values: Mapping[str, float], validity: Validity, target: str) -> list[Score]:
    """Recompute the scores from the phases; a form that holds none but the scores is not read at all."""
    reasons: dict[Mode, tuple[str, ...]] = {mode: validity.run.get(mode, ()) for mode in MODES}
    return summary_scores({name: [value] for name, value in values.items()}, reasons, run.mode, target)


def _recomputed(run: OfficialRun, mode: Mode, target: str) -> Finding | None:
    """Compare the printed scores with those of the printed phases, within rounding; None where none is printed."""
    stated = run.scores.get(mode)
    if stated is None:
        return None
    again, low, high = ([_part(run, mode, part, which) for part in PARTS] for which in ("value", "low", "high"))
    shown = [_stated(stated, part) for part in PARTS]
    without_root = _is_product(stated)
    if without_root:
        again, low, high = ([*parts[:2], parts[2] ** 2] for parts in (again, low, high))
    fits = [least <= one.high and one.low <= most for one, least, most in zip(shown, low, high, strict=True)]
    said = "; ".join(
        f"{part} {one.value:.8g} printed, {value:.8g} from the phases"
        + ("" if fit else f" (rounding allows {number(least)} to {number(most)})")
        for part, one, value, least, most, fit in zip(PARTS, shown, again, low, high, fits, strict=True)
    )
    what = f"{target}: the" if target else "The"
    what += " extended score" if mode == "extended" else " score"
    note = " Its script, of before May 2018, printed the total without the root." if without_root else ""
    end = "follows from the printed phases within rounding" if all(fits) else "does NOT follow from the printed phases"
    numbers = columns(
        target=target,
        mode=mode,
        part=list(PARTS),
        printed=[one.value for one in shown],
        recomputed=again,
        low=low,
        high=high,
        consistent=all(fits),
    )
    severity = "info" if all(fits) else "warning"
    title = f"{what} {end}"
    return Finding(
        kind="io500-recomputed", title=title, text=f"{title}: {said}.{note}", severity=severity, numbers=numbers
    )


def _is_product(stated: ScoreResult) -> bool:
    """Tell whether the total is bandwidth x metadata, and not the root of that."""
    bandwidth, metadata, total = stated.bandwidth, stated.metadata, stated.total
    is_product = bandwidth.low * metadata.low <= total.high and total.low <= bandwidth.high * metadata.high
    return is_product and not total.low**2 <= bandwidth.high * metadata.high <= total.high**2


def _stated(score_: ScoreResult, part: Part) -> Printed:
    return {"bandwidth": score_.bandwidth, "metadata": score_.metadata, "total": score_.total}[part]


def _part(run: OfficialRun, mode: Mode, part: Part, which: Literal["value", "low", "high"]) -> float:
    """Return a part of the score of the phases as printed, or of the least or largest values printed like them."""
    values = {
        phase.name: {"value": exact.value, "low": exact.low, "high": exact.high}[which] * BY_NAME[phase.name].factor
        for phase in run.phases
        if (exact := phase.value) is not None and exact.value > 0
    }
    return score(values, mode).part(part) or 0.0


RESULT = Importer(
    "io500_result", "IO500's result.txt, result_summary.txt or its log", recognises_result, read_result, FILES
)


# -- published tables --------------------------------------------------------------------------------------------------


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
    try:
        table = _Published.model_validate_json(text)
    except ValidationError as error:
        place, why = first_mistake(error)
        right = "write runs with nodes, ppn, phases and score, as the published form has it"
        raise UserError(f"{place}: {why}" if place else why, name, right) from error
    labels = _labels(table.runs)
    runs = [
        (label, _official(run, name), {"nodes": run.nodes, "ranks": run.nodes * run.ppn})
        for label, run in zip(labels, table.runs, strict=True)
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
    bandwidth, metadata, total = (
        printed(repr(part)) for part in (run.score.bandwidth, run.score.iops, run.score.total)
    )
    return OfficialRun(tuple(phases), {"standard": ScoreResult(bandwidth, metadata, total)}, ranks=run.nodes * run.ppn)


PUBLISHED = Importer("io500_published", "JSON of published IO500 tables", recognises_published, read_published)


IMPORTERS: Final = (RESULT, PUBLISHED)
