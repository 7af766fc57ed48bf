# SPDX-License-Identifier: Apache-2.0
"""One trial: a run of the suite with one setting, in a result of its own below that of the tune."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ullage.errors import EXIT_OK, UserError
from ullage.model.plan import Plan
from ullage.model.record import PhaseRecord
from ullage.model.request import Request
from ullage.model.summary import Summary
from ullage.model.tuning import Purpose, TuneTrial
from ullage.parameters import count_of
from ullage.results.folder import ResultFolder
from ullage.runs.composite.prepared import part_run_id
from ullage.runs.inputs import EngineContext
from ullage.runs.session import Session
from ullage.runs.suite import Prepared, find_suite
from ullage.runs.tuning.asking import Asking, environment_with, key_of
from ullage.runs.tuning.objective import Rule, read_value

Build = Callable[[ResultFolder], Summary]
_WRITES: Final = frozenset({"write", "rewrite"})


@dataclass(frozen=True)
class Wanted:
    """What a trial is read for. ``default``: values of the default setting, for rules that compare with it."""

    objectives: Sequence[str]
    rules: Sequence[Rule]
    default: Mapping[str, float]


@dataclass(frozen=True)
class Job:
    """A trial to be run. ``name``: of its folder; ``seconds``: that it may measure, None: as its words say."""

    number: int
    purpose: Purpose
    setting: dict[str, str]
    name: str
    seconds: float | None = None
    turn: int = 0
    settled: Mapping[str, object] | None = None


def run_trial(
    job: Job, request: Request, asking: Asking, wanted: Wanted, session: Session, build: Build
) -> tuple[TuneTrial, Summary | None]:
    """Measure, and read what was measured. A trial that is refused or fails has a reason and no value.

    A trial that was interrupted has one too, and ``session.was_stopped`` says that it is not to be counted.
    """
    began = time.monotonic()
    inner = session.within(session.result.part(job.name), job.seconds)
    key, summary, reason = "", None, ""
    try:
        asked = asking.of(job.setting, job.settled)
        parsed = asking.parsed(asked)
        key = key_of(request.suite, parsed, asked.environment)
        own = request.model_copy(
            update={
                "run_id": part_run_id(request.run_id, job.name),
                "targets": parsed.targets,
                "options": parsed.options,
            }
        )
        with environment_with(asked.environment):
            reason = _measure(own, inner)
        summary = build(inner.result)
        inner.result.write_summary(summary)
    except (UserError, OSError) as error:
        reason = reason or str(error)
    session.was_stopped = session.was_stopped or inner.was_stopped
    reason = reason or _lacking(inner.result)
    values, wrong = _values(summary, wanted) if summary is not None and not reason else ({}, reason)
    written = _written(inner.result)
    found = TuneTrial(
        number=job.number,
        turn=job.turn,
        purpose=job.purpose,
        setting=job.setting,
        values=values,
        reason=wrong,
        seconds=time.monotonic() - began,
        bytes=written,
        result=f"parts/{job.name}",
        key=key,
    )
    return found, summary


def _measure(request: Request, session: Session) -> str:
    """Run a trial and say why it failed; return nothing where it did not."""
    prepared = prepare(request, session.engine_context)
    ResultFolder.create(session.result.path, prepared.request)
    code = prepared.run(session)
    if code == EXIT_OK:
        return ""
    return "; ".join(session.messages) or _failure(session.result) or f"a case failed (exit code {code})"


def prepare(request: Request, engine_context: EngineContext) -> Prepared:
    """Prepare ``request`` by the suite that it names."""
    return find_suite(request.suite).prepare(request, engine_context)


def _failure(result: ResultFolder) -> str:
    """Return what is known of the first case that failed, or nothing."""
    failed = [
        failure for file in result.read_records() for phase in _phases(file.records) for failure in phase.failures
    ]
    if not failed:
        return ""
    first = failed[0]
    return f"{first.operation} failed: {first.text}"


def _phases(records: Sequence[object]) -> list[PhaseRecord]:
    return [record for record in records if isinstance(record, PhaseRecord)]


def _lacking(result: ResultFolder) -> str:
    """Say how many cases lack a number, if any: a mean over some cases is not to be compared with one over all."""
    planned = {case.id for number in result.launches() for case in result.read_plan(number).cases}
    phases = [phase for file in result.read_records() for phase in _phases(file.records)]
    lacking = planned - {phase.case for phase in phases if phase.status == "ok" and not phase.warmup}
    if not lacking:
        return ""
    return f"its time was too short for {len(lacking)} of {len(planned)} cases: give a trial more --time"


def _values(summary: Summary, wanted: Wanted) -> tuple[dict[str, float], str]:
    values: dict[str, float] = {}
    try:
        for words in [*wanted.objectives, *(rule.words for rule in wanted.rules)]:
            values[words] = read_value(words, summary).value
    except UserError as error:
        return {}, str(error)
    broken = next(
        (rule for rule in wanted.rules if rule.breaks(values[rule.words], wanted.default.get(rule.words))), None
    )
    return values, "" if broken is None else f"breaks the rule {broken.text}"


def _written(result: ResultFolder) -> int:
    """Return the bytes that all repetitions in the records wrote, those that do not count included."""
    return sum(
        phase.bytes
        for file in result.read_records()
        for phase in _phases(file.records)
        if phase.access == "write" or phase.phase in _WRITES
    )


def most_written(plans: Sequence[Plan]) -> int | None:
    """Return the bytes that ``plans`` can write at most; None where a plan does not say.

    A plan says of transfers how often they are repeated at most.
    """
    total = 0
    for plan in plans:
        most = plan.stop_rule.parameters.get("maximum")
        if not isinstance(most, int):
            return None
        for case in plan.cases:
            if case.workload.name != "transfer":
                return None
            parameters = case.workload.parameters
            phases = parameters.get("phases", ["write", "read"])
            writes = sum(word in _WRITES for word in phases) if isinstance(phases, list) else 1
            size = count_of(parameters, "block_bytes") * count_of(parameters, "segments", 1) * plan.layout.ranks
            total += writes * size * (most + plan.warmups + plan.dirty_retries)
    return total
