# SPDX-License-Identifier: Apache-2.0
"""What the records of one target say, by official phase: values, times, rows, and what voids them. Pure."""

import json
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from ullage.analysis.metrics.arithmetic import per_second
from ullage.analysis.statistics import median
from ullage.model.flags import INVALID, Flag
from ullage.model.plan import Target
from ullage.model.record import CaseRecord, PhaseRecord, RunRecord
from ullage.model.summary import Row
from ullage.results.events import describe_failure
from ullage.results.rows import RowContext, build_rows
from ullage.suites.io500.options import Io500Options
from ullage.suites.io500.phases import OfficialPhase, phases_of
from ullage.suites.io500.rounds import Attempt, Round
from ullage.suites.io500.validity import Outcome, Validity, files_to_find, judge_run, merge

VOID_FLAG: Final = f"{INVALID}:void"
_LATENCIES: Final = ("latency_p50", "latency_p95", "latency_p99", "latency_p999", "latency_max")
_NS_PER_S: Final = 1e9
# Which phase made the files that a find looks for.
_SOUGHT: Final = {"find": "mdtest-hard-write", "find-easy": "mdtest-easy-write", "find-hard": "mdtest-hard-write"}


@dataclass(frozen=True)
class Digest:
    """One target. ``samples``: values in bytes/s and operations/s, one a round; ``elapsed_s``: medians.

    ``is_wrong``: an operation failed, data came back wrong or a find missed files; not only a rule was broken.
    """

    target: Target
    samples: Mapping[str, list[float]]
    elapsed_s: Mapping[str, float]
    rows: list[Row]
    validity: Validity
    pairs: Mapping[str, dict[str, str]]
    is_wrong: bool

    @property
    def values(self) -> dict[str, float]:
        """Return the median of each phase's samples."""
        return {name: median(values) for name, values in self.samples.items() if values}


def digest(
    target: Target, rounds: Sequence[Round], options: Io500Options, context: RowContext, errors: Mapping[str, str]
) -> Digest:
    """Digest the rounds of one target; ``errors`` gives the first error of each case that failed, by its id."""
    counted = [found.counted() for found in rounds]
    phases = phases_of(options.mode)
    rows = {phase.name: _rows(phase, counted, context) for phase in phases}
    outcomes = [_outcomes(attempts, options, rows, errors) for attempts in counted or [dict[str, Attempt]()]]
    validity = merge([judge_run(one, options.conditions, options.mode) for one in outcomes])
    samples = {phase.name: _samples(phase, counted) for phase in phases if phase.scored_phase}
    return Digest(
        target,
        {name: values for name, values in samples.items() if values},
        _elapsed(phases, counted),
        [row for phase in phases for row in _marked(rows[phase.name], validity.phases.get(phase.name, ()))],
        validity,
        {phase.name: pairs for phase in phases if (pairs := _pairs(phase, counted))},
        any(_is_wrong(outcome) for one in outcomes for outcome in one.values()),
    )


def _is_wrong(outcome: Outcome) -> bool:
    is_short = outcome.found is not None and outcome.wanted is not None and outcome.found < outcome.wanted
    return is_short or bool(outcome.bad_blocks or outcome.failed_operations or outcome.first_failure)


def _samples(phase: OfficialPhase, counted: Iterable[Mapping[str, Attempt]]) -> list[float]:
    attempts = (attempts.get(phase.name) for attempts in counted)
    values = (_value(attempt) for attempt in attempts if attempt is not None and attempt.is_whole)
    return [value for value in values if value is not None]


def _value(attempt: Attempt | None) -> float | None:
    record = None if attempt is None else attempt.scored
    if attempt is None or record is None:
        return None
    return per_second((record.bytes if attempt.phase.is_bandwidth else record.operations), record.elapsed_ns)


def _elapsed(phases: Iterable[OfficialPhase], counted: Sequence[Mapping[str, Attempt]]) -> dict[str, float]:
    """Return by name the seconds of all phases of the case together, without what goes on around them.

    The value of several rounds is their median.
    """
    found: dict[str, float] = {}
    for phase in phases:
        attempts = [attempts[phase.name] for attempts in counted if phase.name in attempts]
        if attempts:
            found[phase.name] = median([sum(r.elapsed_ns for r in a.phases) / _NS_PER_S for a in attempts])
    return found


def _rows(phase: OfficialPhase, counted: Iterable[Mapping[str, Attempt]], context: RowContext) -> list[Row]:
    """Return value, rate at the wall and latencies, each as ``ullage.results.rows`` makes and checks it."""
    if not phase.scored_phase:
        return []
    launches: list[list[RunRecord | PhaseRecord | CaseRecord]] = []
    for attempts in counted:
        attempt = attempts.get(phase.name)
        if attempt is not None and attempt.is_whole and attempt.scored is not None:
            launches.append([attempt.run, attempt.scored, attempt.case])
    stonewall = "stonewall_bandwidth" if phase.is_bandwidth else "stonewall_operation_rate"
    own = RowContext((), (phase.metric, stonewall, *_LATENCIES), context.targets, context.level, None)
    rows = build_rows(launches, own)
    return [row.model_copy(update={"params": {"phase": phase.name, **row.params}}) for row in rows]


def _marked(rows: Iterable[Row], reasons: Sequence[str]) -> list[Row]:
    """Flag the rows of a void phase with every reason."""
    if not reasons:
        return list(rows)
    void = Flag(code=VOID_FLAG, reason="; ".join(reasons))
    return [row.model_copy(update={"flags": [void, *row.flags]}) for row in rows]


def _outcomes(
    attempts: Mapping[str, Attempt], options: Io500Options, rows: Mapping[str, list[Row]], errors: Mapping[str, str]
) -> dict[str, Outcome]:
    return {
        phase.name: _outcome(phase, attempts, options, rows[phase.name], errors) for phase in phases_of(options.mode)
    }


def _outcome(
    phase: OfficialPhase,
    attempts: Mapping[str, Attempt],
    options: Io500Options,
    rows: Sequence[Row],
    errors: Mapping[str, str],
) -> Outcome:
    attempt = attempts.get(phase.name)
    record = None if attempt is None else attempt.scored
    why = _why_not_run(phase, attempt, options, errors)
    if attempt is None or (record is None and phase.scored_phase):
        return Outcome(None, why_not_run=why)
    last = record or (attempt.phases[-1] if attempt.phases else None)
    if last is None:
        return Outcome(None, why_not_run=why)
    failures = [failure for one in attempt.phases for failure in one.failures]
    failed = sum(one.counters.get("errors", 0) for one in attempt.phases)
    return Outcome(
        value=_value(attempt) if record is not None else None,
        elapsed_s=last.elapsed_ns / _NS_PER_S,
        transfer_s=_until_last_transfer_s(last),
        failed_operations=max(failed, len(failures)),
        first_failure="; ".join(describe_failure(failures[0])) if failures else errors.get(attempt.case.case, ""),
        bad_blocks=sum(one.bad_blocks for one in attempt.phases),
        found=last.counters.get("found"),
        wanted=_wanted(phase, attempts, options.ranks),
        wear_out_cut=last.stonewall is not None and last.stonewall.cut,
        flags=tuple(rows[0].flags) if rows else (),
    )


def _until_last_transfer_s(record: PhaseRecord) -> float | None:
    """Return the seconds from the phase's start to the end of its last transfer; None without such a stage.

    The wall is counted from the same start. What was synced and closed after the transfers is left out.
    """
    stage = record.stages.get("transfer")
    return None if stage is None else (stage.last_stop_ns - record.start_ns) / _NS_PER_S


def _why_not_run(
    phase: OfficialPhase, attempt: Attempt | None, options: Io500Options, errors: Mapping[str, str]
) -> str:
    if phase.name in options.config.skipped:
        return f"{options.config.file} says so"
    if attempt is None:
        return ""
    return "it was interrupted" if attempt.case.status == "interrupted" else errors.get(attempt.case.case, "")


def _wanted(phase: OfficialPhase, attempts: Mapping[str, Attempt], ranks: int) -> int | None:
    """Return the least that find must find: the files of the making phase whose names match.

    Return None where wear-out of that phase came to its limit, or where its files are not equally many on every rank.
    """
    maker = attempts.get(_SOUGHT.get(phase.name, ""))
    made = None if maker is None else maker.scored
    if made is None or made.operations % ranks or (made.stonewall is not None and made.stonewall.cut):
        return None
    return files_to_find(0, ranks, made.operations // ranks)


def _pairs(phase: OfficialPhase, counted: Sequence[Mapping[str, Attempt]]) -> dict[str, str]:
    """Return the further keys of result.txt, from the last round."""
    attempt = counted[-1].get(phase.name) if counted else None
    if attempt is None or not attempt.phases:
        return {}
    first, last = attempt.phases[0], attempt.phases[-1]
    start, end = stamp(attempt.run, first.start_ns), stamp(attempt.run, last.start_ns + last.elapsed_ns)
    return {"t_start": start, "exe": _work(attempt), **_counted(phase, attempt), "t_end": end}


def stamp(run: RunRecord, since_start_ns: int = 0) -> str:
    """Return the time of day, UTC, ``since_start_ns`` after the launch began; empty where that is not known."""
    try:
        began = datetime.fromisoformat(run.started)
    except ValueError:
        return ""
    return (began + timedelta(microseconds=since_start_ns / 1e3)).astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S")


def _work(attempt: Attempt) -> str:
    """Describe what was done in the engine's words, as there is no command line for one phase."""
    case = attempt.case
    parts = (case.backend, case.backend_parameters), (case.workload, case.workload_parameters)
    words = [word for name, given in parts for word in (name, *(f"{key}={_word(given[key])}" for key in given))]
    return " ".join(["ullage-engine", *words])


def _word(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False) if isinstance(value, (list, dict, bool)) else str(value)
    return shlex.quote(text)


def _counted(phase: OfficialPhase, attempt: Attempt) -> dict[str, str]:
    record = attempt.scored
    pairs: dict[str, str] = {}
    if record is not None and record.stonewall is not None:
        wall = record.stonewall.at_wall
        rate = per_second(wall.bytes if phase.is_bandwidth else wall.operations, wall.elapsed_ns) or 0.0
        pairs["throughput-stonewall" if phase.is_bandwidth else "rate-stonewall"] = f"{rate / phase.factor:f}"
    if record is not None and "found" in record.counters:
        found = {"found": str(record.counters["found"]), "total-files": str(record.operations)}
        pairs |= {"nproc": str(record.ranks), **found}
    return pairs
