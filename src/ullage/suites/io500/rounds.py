# SPDX-License-Identifier: Apache-2.0
"""What the documents of an IO500 run say: its rounds, what they still lack, and the values of each phase. Pure.

A round is one pass over all phases on one target. It may have taken several launches, when it was interrupted. Some
phases must then be made again because what they left is gone.
"""

import json
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from statistics import median
from typing import Final

from ullage.analysis.metrics.arithmetic import NS_PER_S, per_second
from ullage.model.flags import INVALID, Flag
from ullage.model.plan import Plan, Target
from ullage.model.record import CaseRecord, PhaseRecord, RunRecord
from ullage.model.summary import Row
from ullage.results.events import describe_failure
from ullage.results.folder import ResultFolder
from ullage.results.records import AnyRecord
from ullage.results.rows import RowContext, build_rows
from ullage.suites.io500.options import Io500Options
from ullage.suites.io500.phases import OfficialPhase, phases_of
from ullage.suites.io500.planning import Step, phase_of_case
from ullage.suites.io500.validity import Outcome, Validity, files_to_find, judge_run, merge

# find looks at everything that lies there then; the phases that are not named here at their own dataset only.
_SEARCHED: Final = {
    "find": ("ior-easy", "mdtest-easy", "timestamp", "ior-hard", "mdtest-hard"),
    "find-easy": ("mdtest-easy",),
    "find-hard": ("timestamp", "mdtest-hard"),
}


@dataclass(frozen=True)
class Attempt:
    """One repetition of one phase; the records of its case, in which the case record says how it ended."""

    phase: OfficialPhase
    run: RunRecord
    case: CaseRecord
    phases: tuple[PhaseRecord, ...]

    @property
    def is_whole(self) -> bool:
        """Whether it went well."""
        return self.case.status == "ok"

    @property
    def scored(self) -> PhaseRecord | None:
        """The phase record that the official phase's value comes from."""
        return next((record for record in self.phases if record.phase == self.phase.scored_phase), None)

    @property
    def value(self) -> float | None:
        """Bytes or operations per second; None where it left none."""
        record = self.scored
        if record is None:
            return None
        return per_second(record.bytes if self.phase.is_bandwidth else record.operations, record.elapsed_ns)

    @property
    def ended_ns(self) -> int:
        """When its last phase ended, after the launch began."""
        return self.phases[-1].start_ns + self.phases[-1].elapsed_ns


@dataclass
class Round:
    """All attempts of one round on one target, in their order."""

    target: Target
    number: int
    attempts: list[Attempt] = field(default_factory=list[Attempt])

    def counted(self) -> dict[str, Attempt]:
        """Return by phase the first attempt that went well, else the last; what is made again does not count twice."""
        found: dict[str, Attempt] = {}
        for attempt in self.attempts:
            known = found.get(attempt.phase.name)
            if known is None or not known.is_whole:
                found[attempt.phase.name] = attempt
        return found

    @property
    def done(self) -> set[str]:
        """Phases that went well."""
        return {attempt.phase.name for attempt in self.attempts if attempt.is_whole}


def read_rounds(result: ResultFolder) -> list[Round]:
    """Return every round that any launch of ``result`` belongs to, by target and number."""
    records = {int(file.path.stem): file.records for file in result.read_records()}
    rounds: dict[tuple[str, int], Round] = {}
    for launch in result.launches():
        plan = result.read_plan(launch)
        target = plan.targets[0]
        found = rounds.setdefault((target.name, plan.seed - 1), Round(target, plan.seed - 1))
        found.attempts.extend(attempts_of(plan, records.get(launch, ())))
    return list(rounds.values())


def attempts_of(plan: Plan, records: Iterable[AnyRecord]) -> list[Attempt]:
    """Return the attempts of a launch of ``plan`` that ended, in the order of its ``records``."""
    official = {case.id: phase_of_case(case, phases_of("extended")) for case in plan.cases}
    run: RunRecord | None = None
    waiting: list[PhaseRecord] = []
    found: list[Attempt] = []
    for record in records:
        match record:
            case RunRecord():
                run, waiting = record, []
            case PhaseRecord():
                waiting.append(record)
            case CaseRecord() if run is not None:
                if (phase := official.get(record.case)) is not None:
                    own = tuple(one for one in waiting if one.case == record.case)
                    found.append(Attempt(phase, run, record, own))
                waiting = []
            case _:
                pass
    return found


@dataclass(frozen=True)
class Rest:
    """What is left of a round: ``steps`` to run in official order, of which those in ``again`` only make data anew."""

    steps: list[Step]
    again: list[str]


def rest_of(steps: Sequence[Step], done: set[str], there: set[str]) -> Rest:
    """Return what ``done`` and ``there`` leave to do; what a phase needs and is not there is made again.

    The timestamp must be older than what find looks for, so with it mdtest-hard is made again. The other way round,
    mdtest-hard could be made without a new timestamp.
    """
    if not done:
        return Rest(list(steps), [])
    lacking = [step for step in steps if step.phase.name not in done]
    each = (_SEARCHED.get(phase.name, () if phase.makes else (phase.dataset,)) for phase in (s.phase for s in lacking))
    needed = {name for names in each for name in names}
    missing = needed - there
    if "timestamp" in missing and "mdtest-hard" in needed:
        missing.add("mdtest-hard")
    again = {step.phase.name for step in steps if step.phase.name in done and step.phase.makes in missing}
    wanted = {step.phase.name for step in lacking} | again
    return Rest(
        [step for step in steps if step.phase.name in wanted], [s.phase.name for s in steps if s.phase.name in again]
    )


VOID_FLAG: Final = f"{INVALID}:void"
UNSYNCED: Final = "unsynced_operation_rate"
_LATENCIES: Final = ("latency_p50", "latency_p95", "latency_p99", "latency_p999", "latency_max")
# Which phase made the files that a find looks for.
_SOUGHT: Final = {"find": "mdtest-hard-write", "find-easy": "mdtest-easy-write", "find-hard": "mdtest-hard-write"}


@dataclass(frozen=True)
class Digest:
    """One target. ``samples``: values in bytes/s and operations/s, one a round; ``elapsed_s``: medians.

    ``pairs``: the further keys of result.txt, from the last round. ``is_wrong``: an operation failed, data came back
    wrong or a find missed files; not only a rule was broken.
    """

    target: Target
    rounds: Sequence[Round]
    samples: Mapping[str, list[float]]
    elapsed_s: Mapping[str, float]
    rows: list[Row]
    validity: Validity
    pairs: Mapping[str, dict[str, str]]
    is_wrong: bool

    @property
    def values(self) -> dict[str, float]:
        """Return the median of each phase's samples."""
        return {name: median(values) for name, values in self.samples.items()}


def digest(
    target: Target, rounds: Sequence[Round], options: Io500Options, context: RowContext, errors: Mapping[str, str]
) -> Digest:
    """Digest the rounds of one target; ``errors`` gives the first error of each case that failed, by its id."""
    counted = [found.counted() for found in rounds]
    phases = phases_of(options.mode)
    by_phase = {phase.name: [found[phase.name] for found in counted if phase.name in found] for phase in phases}
    samples = {
        name: [one.value for one in attempts if one.is_whole and one.value is not None]
        for name, attempts in by_phase.items()
    }
    elapsed_s = {
        name: median([sum(record.elapsed_ns for record in one.phases) / NS_PER_S for one in attempts])
        for name, attempts in by_phase.items()
        if attempts
    }
    rows = {phase.name: phase_rows(phase, by_phase[phase.name], context) for phase in phases}
    outcomes = [
        {phase.name: _outcome(phase, attempts, options, rows[phase.name], errors) for phase in phases}
        for attempts in counted or [dict[str, Attempt]()]
    ]
    validity = merge([judge_run(one, options.conditions, options.mode) for one in outcomes])
    last = counted[-1] if counted else {}
    return Digest(
        target,
        rounds,
        {name: values for name, values in samples.items() if values},
        elapsed_s,
        [row for name, of_phase in rows.items() for row in _marked(of_phase, validity.phases.get(name, ()))],
        validity,
        {phase.name: _pairs(last[phase.name]) for phase in phases if phase.name in last and last[phase.name].phases},
        any(outcome.is_wrong for one in outcomes for outcome in one.values()),
    )


def phase_rows(phase: OfficialPhase, attempts: Iterable[Attempt], context: RowContext) -> list[Row]:
    """Return value, rate at the wall and latencies, each as ``ullage.results.rows`` makes and checks it."""
    launches = [[one.run, one.scored, one.case] for one in attempts if one.is_whole and one.scored is not None]
    stonewall = "stonewall_bandwidth" if phase.is_bandwidth else "stonewall_operation_rate"
    unsynced = () if phase.is_bandwidth else (UNSYNCED,)
    own = RowContext((), (phase.metric, stonewall, *unsynced, *_LATENCIES), context.targets, context.level, None)
    rows = build_rows(launches, own)
    return [row.model_copy(update={"params": {"phase": phase.name, **row.params}}) for row in rows]


def _marked(rows: Iterable[Row], reasons: Sequence[str]) -> list[Row]:
    void = [Flag(code=VOID_FLAG, reason="; ".join(reasons))] if reasons else []
    return [row.model_copy(update={"flags": [*void, *row.flags]}) for row in rows]


def _outcome(
    phase: OfficialPhase,
    attempts: Mapping[str, Attempt],
    options: Io500Options,
    rows: Sequence[Row],
    errors: Mapping[str, str],
) -> Outcome:
    attempt = attempts.get(phase.name)
    record = None if attempt is None else attempt.scored
    if attempt is None or not attempt.phases or (record is None and phase.scored_phase):
        return Outcome(None, why_not_run=_why_not_run(phase, attempt, options, errors))
    last = record or attempt.phases[-1]
    failures = [failure for one in attempt.phases for failure in one.failures]
    failed = sum(one.counters.get("errors", 0) for one in attempt.phases)
    # The wall is counted from the phase's start. What was synced and closed after the transfers is left out.
    transfer = last.stages.get("transfer")
    return Outcome(
        value=attempt.value,
        elapsed_s=last.elapsed_ns / NS_PER_S,
        transfer_s=None if transfer is None else (transfer.last_stop_ns - last.start_ns) / NS_PER_S,
        failed_operations=max(failed, len(failures)),
        first_failure="; ".join(describe_failure(failures[0])) if failures else errors.get(attempt.case.case, ""),
        bad_blocks=sum(one.bad_blocks for one in attempt.phases),
        found=last.counters.get("found"),
        wanted=_wanted(phase, attempts, options.ranks),
        wear_out_cut=last.stonewall is not None and last.stonewall.cut,
        flags=tuple(rows[0].flags) if rows else (),
    )


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


def _pairs(attempt: Attempt) -> dict[str, str]:
    case, record, phase = attempt.case, attempt.scored, attempt.phase
    # What was done stands in the engine's words, as there is no command line for one phase.
    parts = (case.backend, case.backend_parameters), (case.workload, case.workload_parameters)
    words = [word for name, given in parts for word in (name, *(f"{key}={_word(given[key])}" for key in given))]
    pairs = {"t_start": stamp(attempt.run, attempt.phases[0].start_ns), "exe": " ".join(["ullage-engine", *words])}
    if record is not None and record.stonewall is not None:
        wall = record.stonewall.at_wall
        rate = per_second(wall.bytes if phase.is_bandwidth else wall.operations, wall.elapsed_ns) or 0.0
        pairs["throughput-stonewall" if phase.is_bandwidth else "rate-stonewall"] = f"{rate / phase.factor:f}"
    if record is not None and "found" in record.counters:
        found = {"found": str(record.counters["found"]), "total-files": str(record.operations)}
        pairs |= {"nproc": str(record.ranks), **found}
    return {**pairs, "t_end": stamp(attempt.run, attempt.ended_ns)}


def _word(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False) if isinstance(value, (list, dict, bool)) else str(value)
    return shlex.quote(text)


def stamp(run: RunRecord, since_start_ns: int = 0) -> str:
    """Return the time of day, UTC, ``since_start_ns`` after the launch began; empty where that is not known."""
    try:
        began = datetime.fromisoformat(run.started)
    except ValueError:
        return ""
    return (began + timedelta(microseconds=since_start_ns / 1e3)).astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S")
