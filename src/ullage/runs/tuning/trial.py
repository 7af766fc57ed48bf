# SPDX-License-Identifier: Apache-2.0
"""One trial: a run of the suite with one setting, in a result of its own below that of the tune."""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Final

from ullage.errors import EXIT_OK, UserError
from ullage.model.plan import Plan, Target
from ullage.model.request import Request
from ullage.model.summary import Summary
from ullage.model.tuning import Purpose, TuneCommand, TuneTrial
from ullage.parameters import count_of
from ullage.results.folder import ResultFolder
from ullage.results.rows import build_rows
from ullage.runs.composite.prepared import part_run_id
from ullage.runs.inputs import ParsedOptions
from ullage.runs.remains import folders_of, remove_remains
from ullage.runs.session import Needed, Session, Watch
from ullage.runs.suite import find_suite
from ullage.runs.summary import row_context
from ullage.runs.tuning.judging import grade_of, verdict_of, work_of
from ullage.runs.tuning.objective import Rule, is_cost, read_value, rows_of
from ullage.runs.tuning.trial_inputs import (
    TrialInputs,
    TrialInputsMaker,
    environment_with,
    key_of,
    prepared_targets,
    sentence,
)

Build = Callable[[ResultFolder], Summary]
# The metric: user and system time of all ranks over the operations of a phase, in s/op.
_CPU_TIME: Final = "cpu_time"
_WRITES: Final = frozenset({"write", "rewrite"})
# This part of a trial's time, and at most so many seconds, is for what follows its last launch.
_AFTERWARDS: Final = 0.1
_AFTERWARDS_S: Final = 1.0
_CASE_FAILED: Final = "case-failed"


@dataclass(frozen=True)
class WantedValues:
    """What a trial is read for. ``rows``: of how many rows each value is the mean, where the first trial said so."""

    objectives: Sequence[str]
    rules: Sequence[Rule]
    rows: Mapping[str, int] = field(default_factory=dict[str, int])

    @property
    def metrics(self) -> list[str]:
        """What is read of a trial, as people name it."""
        return [*self.objectives, *(rule.metric for rule in self.rules)]


@dataclass(frozen=True)
class Job:
    """A trial to be run. ``name``: of its folder; ``seconds``: that it may measure, None: as its words say.

    ``most_s``: after which it has to be gone, whatever it does; ``watch``: ends it where it is hopeless.
    ``is_proxy``: it is asked for in its short form. ``needed`` and ``enough``: see ``Session``.
    """

    number: int
    purpose: Purpose
    setting: dict[str, str]
    name: str
    seconds: float | None = None
    turn: int = 0
    settled: Mapping[str, object] | None = None
    most_s: float = math.inf
    watch: Watch | None = None
    is_proxy: bool = False
    needed: Needed | None = None
    enough: int | None = None


def run_trial(
    job: Job, request: Request, inputs_maker: TrialInputsMaker, wanted: WantedValues, session: Session, build: Build
) -> tuple[TuneTrial, Summary | None]:
    """Measure, and read what was measured. A trial that is refused or fails has a reason and no value.

    A trial that was interrupted has one too, and ``session.was_stopped`` says that it is not to be counted.
    """
    began = time.monotonic()
    # What is not measured, such as the summary, has to fit in too.
    ends_at = began + max(0.0, job.most_s - min(_AFTERWARDS_S, _AFTERWARDS * job.most_s))
    inner = session.within(session.result.part(job.name), job.seconds, ends_at=ends_at, watch=job.watch)
    inner.needed, inner.enough = job.needed, job.enough
    key, summary, reason, ran = "", None, "", list[TuneCommand]()
    try:
        asked = inputs_maker.of(job.setting, job.settled)
        parsed = inputs_maker.parsed(asked)
        key = key_of(request.suite, parsed, asked.environment, asked.commands or ())
        own = request.model_copy(update={"run_id": part_run_id(request.run_id, job.name), "options": parsed.options})
        with environment_with(asked.environment), _targets(asked, parsed, request, session, job, ran) as targets:
            try:
                reason = _measure(own.model_copy(update={"targets": targets}), inner)
            finally:
                _tidy(targets, own.run_id, session)
            _note(ran, inner)
        summary = build(inner.result)
        summary = with_cost(summary, inner.result) if any(map(is_cost, wanted.metrics)) else summary
        inner.result.write_summary(summary)
    except (UserError, OSError) as error:
        reason = reason or str(error)
    session.was_stopped = session.was_stopped or inner.was_stopped
    reason = reason or ("" if summary is not None and _has_rows(summary, wanted) else _lacking(inner.result))
    if reason and time.monotonic() >= ends_at:
        reason = f"it was not done when the time of the search was over ({reason})"
    values, wrong = _values(summary, wanted) if summary is not None and not reason else ({}, reason)
    phases = [phase for file in inner.result.read_records() for phase in file.phases]
    rows = [row for words in wanted.objectives for row in rows_of(words, summary)] if summary is not None else []
    found = TuneTrial(
        number=job.number,
        turn=job.turn,
        purpose=job.purpose,
        setting=job.setting,
        values=values,
        reason=wrong,
        seconds=time.monotonic() - began,
        bytes=sum(one.bytes for one in phases if one.access == "write" or one.phase in _WRITES),
        result=f"parts/{job.name}",
        is_short=inner.had_enough,
        is_proxy=job.is_proxy,
        key=key,
        commands=ran,
        verdict=verdict_of(rows),
        grade=grade_of(rows),
        work=work_of(phases, rows),
    )
    return found, summary


def _targets(
    asked: TrialInputs, parsed: ParsedOptions, request: Request, session: Session, job: Job, ran: list[TuneCommand]
) -> AbstractContextManager[list[Target]]:
    """Give the targets of a trial, in folders that commands have prepared where it has such."""
    if asked.commands is None:
        return nullcontext(parsed.targets)
    engine = session.engine_context.engine
    return prepared_targets(parsed.targets, request.run_id, asked.commands, ran, engine, job.most_s)


def _tidy(targets: Sequence[Target], run_id: str, session: Session) -> None:
    """Remove what a trial has left because it was killed."""
    names = folders_of(run_id)
    for text in remove_remains(targets, lambda found: found in names, session.engine_context.engine):
        session.progress.say(f"  {text}")


def _note(ran: Sequence[TuneCommand], session: Session) -> None:
    """Write into the records of a trial which commands prepared its folder."""
    launches = session.result.launches()
    for one in ran if launches else ():
        session.note(launches[0], "info", "folder-prepared", f"The folder was prepared: {sentence(one)}.")


def _measure(request: Request, session: Session) -> str:
    """Run a trial and say why it failed; return nothing where it did not."""
    prepared = find_suite(request.suite).prepare(request, session.engine_context)
    ResultFolder.create(session.result.path, prepared.request)
    code = prepared.run(session)
    if code == EXIT_OK or session.had_enough:
        return ""
    return "; ".join(session.messages) or _failure(session.result) or f"a case failed (exit code {code})"


def _failure(result: ResultFolder) -> str:
    """Return what is known of the first case that failed, or nothing.

    A case that fails before its first phase has an event, for example where the library refuses a hint.
    """
    files = result.read_records()
    failed = [failure for file in files for phase in file.phases for failure in phase.failures]
    if failed:
        return f"{failed[0].operation} failed: {failed[0].text}"
    return next((event.text for file in files for event in file.events if event.code == _CASE_FAILED), "")


def _lacking(result: ResultFolder) -> str:
    """Say how many cases lack a number, if any: a mean over some cases is not to be compared with one over all."""
    planned = {case.id for number in result.launches() for case in result.read_plan(number).cases}
    phases = [phase for file in result.read_records() for phase in file.phases]
    lacking = planned - {phase.case for phase in phases if phase.status == "ok" and not phase.warmup}
    if not lacking:
        return ""
    return f"its time was too short for {len(lacking)} of {len(planned)} cases: give a trial more --time"


def _has_rows(summary: Summary, wanted: WantedValues) -> bool:
    """Tell whether each value is the mean of as many rows as in the first trial, whatever else is lacking."""
    try:
        return bool(wanted.rows) and all(read_value(one, summary).rows == wanted.rows[one] for one in wanted.metrics)
    except UserError:
        return False


def _values(summary: Summary, wanted: WantedValues) -> tuple[dict[str, float], str]:
    try:
        return {metric: read_value(metric, summary).value for metric in wanted.metrics}, ""
    except UserError as error:
        return {}, str(error)


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
            total += writes * size * (most + plan.warmups)
    return total


def seconds_of_walls(plans: Sequence[Plan]) -> float | None:
    """Return about how long ``plans`` take whose phases go on until a wall; None where they have none.

    All else, such as the phases that read, takes about as long again.
    """
    walls = [case.workload.parameters.get("stonewall_s") for plan in plans for case in plan.cases]
    total = sum(wall for wall in walls if isinstance(wall, (int, float)))
    return 2 * total or None


def with_cost(summary: Summary, result: ResultFolder) -> Summary:
    """Return ``summary`` with a row of the processor time an operation takes, for each phase that states it.

    A summary that has such rows stays as it is.
    """
    if any(row.metric == _CPU_TIME for row in summary.rows):
        return summary
    context = replace(row_context(result.read_request(), result.read_system()), metrics=(_CPU_TIME,))
    found = build_rows([file.records for file in result.read_records()], context)
    rows = [row.model_copy(update={"suite": summary.suite}) for row in found if row.repetitions]
    return summary.model_copy(update={"rows": [*summary.rows, *rows]})
