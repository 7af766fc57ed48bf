# SPDX-License-Identifier: Apache-2.0
"""From records to rows: one for each metric of each phase of each case, over all its launches; peers beside them."""

import math
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import median
from typing import Final, Literal

from ullage.analysis.ceilings.rows import with_limit
from ullage.analysis.findings.study import NOTHING_SETTABLE, Settable
from ullage.analysis.metrics import Metric, metric_named
from ullage.analysis.statistics.dependence import INDEPENDENT, Dependence, pooled_dependence
from ullage.analysis.statistics.intervals import median_interval
from ullage.analysis.verdicts.cache import NOTHING_BEHIND, Verdict, cache_verdict, combine_verdicts
from ullage.analysis.verdicts.grades import row_grade
from ullage.grouping import grouped
from ullage.model.flags import DIRTY_USED, Flag, each_once
from ullage.model.plan import Parameters, Scalar, Value
from ullage.model.record import CaseRecord, Grade, PeerRecord, PhaseRecord, RunRecord
from ullage.model.summary import Ceiling, Peer, Row
from ullage.model.system import DriveLimit
from ullage.quantity import plural
from ullage.results.records import AnyRecord
from ullage.results.row_checks import check_launch, check_phases, check_values, loopback_note, verified_note

DEFAULT_METRICS: Final = ("bandwidth", "latency_p50", "latency_p99")
_RECHECK: Final = "--recheck"
_SOCKETS: Final = "sockets"  # a workload that was asked to use TCP
_LONGEST: Final = 40
# A row's block is one transfer; the workload's own block goes by another name.
_OWN_NAMES: Final = {"block_bytes": "segment_block_bytes"}


@dataclass(frozen=True, slots=True)
class TargetFacts:
    """What is known of a target besides its records. ``ceilings`` are by direction, ``write`` and ``read``.

    ``limits``: of control groups on its drive, which bound what is known to pass the page cache. ``is_place``: false
    for memory and messages, of which nobody asks what was behind them: their verdict has no reason. ``notes``: on its
    mount, for all rows.
    """

    holds_data: bool = True
    is_place: bool = True
    is_memory: bool = False
    is_remote: bool = False
    ceilings: Mapping[str, Ceiling] = field(default_factory=dict[str, Ceiling])
    limits: Sequence[DriveLimit] = ()
    notes: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class RowContext:
    """What a suite adds to its records when rows are made of them.

    ``accesses``: phases that become rows, empty for all. ``wanted_width``: what the stop rule asked for.
    ``most_repetitions``: what was asked for at most. ``settable``: what advice may name.
    """

    accesses: tuple[str, ...] = ()
    metrics: tuple[str, ...] = DEFAULT_METRICS
    targets: Mapping[str, TargetFacts] = field(default_factory=dict[str, TargetFacts])
    level: float = 0.95
    wanted_width: float | None = None
    most_repetitions: int | None = None
    settable: Settable = NOTHING_SETTABLE

    def without_storage(self, target: str, metrics: tuple[str, ...], *, is_place: bool = True) -> "RowContext":
        """Return the context for ``metrics`` of work on a target without data. ``is_place``: see ``TargetFacts``."""
        targets = {**self.targets, target: TargetFacts(holds_data=False, is_place=is_place)}
        return replace(self, accesses=(), metrics=metrics, targets=targets)


@dataclass(frozen=True, slots=True)
class Measured:
    """A counted repetition of a phase, and the launch and case it belongs to. ``launch``: its place among all."""

    run: RunRecord
    case: CaseRecord
    phase: PhaseRecord
    launch: int = 0


@dataclass(frozen=True, slots=True)
class _Group:
    """All counted repetitions of one phase of one case that went well."""

    measured: tuple[Measured, ...]
    params: dict[str, Scalar]

    @property
    def case(self) -> CaseRecord:
        return self.measured[-1].case


@dataclass(frozen=True)
class RowFrame:
    """All of a row but its samples. Its ``flags`` stand before, ``last_flags`` after theirs; times are better less."""

    metric: str
    unit: str
    target: str
    params: dict[str, Scalar]
    case: str = ""
    better: Literal["more", "less"] | None = None
    verdict: Verdict = NOTHING_BEHIND
    grade: Grade | None = None
    ceiling: Ceiling | None = None
    limits: Sequence[DriveLimit] = ()
    flags: Sequence[Flag] = ()
    last_flags: Sequence[Flag] = ()
    notes: Sequence[str] = ()

    def row(
        self,
        samples: Sequence[float],
        level: float,
        wanted_width: float | None = None,
        dependence: Dependence = INDEPENDENT,
    ) -> Row:
        """Return the row of ``samples``, one for each repetition, in their order.

        ``level``: confidence of the median's interval; ``dependence``: what all rows together say of the samples'
        dependence.
        """
        interval, several = median_interval(samples, level, dependence.correlation), len(samples) > 1
        own = check_values(samples, interval, wanted_width, self.ceiling, dependence)
        return Row(
            metric=self.metric,
            unit=self.unit,
            better=self.better or ("less" if self.unit == "s" else "more"),
            target=self.target,
            params=self.params,
            case=self.case,
            median=interval.median,
            low=interval.low if several else None,
            high=interval.high if several else None,
            repetitions=list(samples),
            ceiling=self.ceiling,
            share=None if self.ceiling is None else interval.median / self.ceiling.value,
            verdict=self.verdict.text,
            verdict_reasons=list(self.verdict.reasons),
            grade=self.grade,
            flags=each_once([*self.flags, *own, *self.last_flags]),
            notes=list(self.notes),
        )


def nodes_of(run: RunRecord) -> int:
    """Return the nodes that the layout has; where it says nothing, as few as the ranks that share one allow."""
    return run.layout.nodes or -(-run.layout.ranks // max(1, run.pinning.most_ranks_on_a_node))


def build_rows(launches: Iterable[Iterable[AnyRecord]], context: RowContext) -> list[Row]:
    """Build the rows in the order in which their cases were first met.

    Each item of ``launches`` holds the records of one file. Warm-ups, failed phases and repetitions that have no case
    record (cut short) are left out.
    """
    metrics = [metric_named(name) for name in context.metrics]
    measured = join(launches)
    by_phase = grouped(
        ((item.case.case, item.phase.phase), item)
        for item in measured
        if not context.accesses or item.phase.phase in context.accesses
    )
    groups = _with_varied_parameters([_Group(tuple(items), _params(items[-1])) for items in by_phase.values()])
    sampled = [[_values(metric, group) for metric in metrics] for group in groups]
    known = [pooled_dependence([value for value, _ in cell] for cell in cells) for cells in zip(*sampled, strict=True)]
    return [
        _row(metric, frame, values, context, dependence)
        for frame, of_metrics in zip([_frame(group, context) for group in groups], sampled, strict=True)
        for metric, values, dependence in zip(metrics, of_metrics, known, strict=True)
        if values
    ]


def _values(metric: Metric, group: _Group) -> list[tuple[float, int]]:
    """Return the values of ``metric`` in the order in which they were taken, each with its launch."""
    found = ((metric.sample(item.phase), item.launch) for item in group.measured)
    return [(value, launch) for value, launch in found if value is not None and 0 <= value < math.inf]


def join(launches: Iterable[Iterable[AnyRecord]]) -> list[Measured]:
    """Return the good phases of whole repetitions with their case and run records, without warm-ups."""
    found: list[Measured] = []
    for launch, records in enumerate(launches):
        run: RunRecord | None = None
        waiting: dict[tuple[str, int], list[PhaseRecord]] = {}
        for record in records:
            match record:
                case RunRecord():
                    run, waiting = record, {}
                case PhaseRecord(warmup=False, status="ok"):
                    waiting.setdefault((record.case, record.repetition), []).append(record)
                case CaseRecord() if run is not None:
                    phases = waiting.pop((record.case, record.repetition), [])
                    if record.status == "ok" and not record.warmup:
                        found.extend(Measured(run, record, phase, launch) for phase in phases)
                case _:
                    pass
    return found


def _params(item: Measured) -> dict[str, Scalar]:
    layout, parameters = item.run.layout, item.case.workload_parameters
    params: dict[str, Scalar] = {"access": item.phase.phase, "ranks": layout.ranks, "nodes": nodes_of(item.run)}
    if "transfer_bytes" in parameters:
        params["block_bytes"] = _scalar(parameters["transfer_bytes"])
    params["backend"] = item.case.backend
    params.update({name: _scalar(parameters[name]) for name in ("file_mode", "order") if name in parameters})
    return params


def threads_at_once(params: Mapping[str, Scalar]) -> int:
    """Return how many threads, of all its ranks, work at the same time in a row with these parameters."""
    return int(params.get("ranks", 1)) * int(params.get("threads", 1))


def _scalar(value: Value) -> Scalar:
    if isinstance(value, dict):
        return ",".join(f"{key}={item}" for key, item in value.items())
    return ",".join(value) if isinstance(value, list) else value


def _with_varied_parameters(groups: Sequence[_Group]) -> list[_Group]:
    """Add the parameters that set rows apart which would otherwise look alike; what follows from others is left out."""
    cells = grouped(((group.case.target, *group.params.items()), group) for group in groups)
    names: dict[str, None] = {}
    for alike in cells.values():
        if len(alike) > 1:
            every = [_all_parameters(group.case) for group in alike]
            known = dict.fromkeys(name for parameters in every for name in parameters)
            names.update({name: None for name in known if any(one.get(name) != every[0].get(name) for one in every)})
    if not names:
        return list(groups)
    own = [(group, _all_parameters(group.case)) for group in groups]
    return [
        _Group(group.measured, {**group.params, **{name: _scalar(found[name]) for name in names if name in found}})
        for group, found in own
    ]


def _all_parameters(case: CaseRecord) -> Parameters:
    """Return the parameters of workload and backend, without the one that every row has as its block."""
    parameters = case.workload_parameters.items()
    workload = {_OWN_NAMES.get(name, name): _short(value) for name, value in parameters if name != "transfer_bytes"}
    return {**workload, **case.backend_parameters}


def _short(value: Value) -> Value:
    """Return a text that is too long for a name by its beginning, and a sum that sets it apart from others."""
    if not isinstance(value, str) or len(value) <= _LONGEST:
        return value
    return f"{value[:_LONGEST]}... {zlib.crc32(value.encode()):08x}"


def _disturbed(phases: Sequence[PhaseRecord]) -> list[Flag]:
    """Flag repetitions that others disturbed. They count: were slow ones left out for it, the median would shift."""
    dirty = sum(phase.grade == "C" for phase in phases)
    if dirty == 0:
        return []
    reason = f"other programs disturbed {dirty} of {plural(len(phases), 'repetition')} (grade C), and all are counted"
    return [Flag(code=f"{DIRTY_USED}:{dirty}", reason=reason)]


def _frame(group: _Group, context: RowContext) -> RowFrame:
    case, run, phases = group.case, group.measured[-1].run, [item.phase for item in group.measured]
    facts = context.targets.get(case.target, TargetFacts())
    verdicts = [
        cache_verdict(phase, memory_target=facts.is_memory, remote_target=facts.is_remote, holds_data=facts.holds_data)
        for phase in phases
    ]
    return RowFrame(
        metric="",
        unit="",
        target=case.target,
        params=group.params,
        case=case.case,
        verdict=combine_verdicts(verdicts) if facts.is_place else NOTHING_BEHIND,
        grade=row_grade(phases),
        ceiling=facts.ceilings.get(phases[0].access),
        limits=facts.limits if all(phase.cache_control == "direct" for phase in phases) else (),
        flags=[*_disturbed(phases), *check_phases(phases, case, run, simulated=not facts.holds_data)],
        last_flags=check_launch(run),
        notes=[*verified_note(phases), *(loopback_note(phases) if case.workload != _SOCKETS else []), *facts.notes],
    )


def _row(
    metric: Metric, frame: RowFrame, sampled: Sequence[tuple[float, int]], context: RowContext, dependence: Dependence
) -> Row:
    own = replace(
        frame,
        metric=metric.name,
        unit=metric.unit,
        better=metric.better,
        ceiling=frame.ceiling if metric.is_rate_of_bytes else None,
        notes=[*_more_than_asked(len(sampled), context.most_repetitions, context.settable), *frame.notes],
    )
    values, launches = zip(*sampled, strict=True)
    row = own.row(values, context.level, context.wanted_width, dependence)
    return with_limit(row.model_copy(update={"launches": list(launches)}), frame.limits)


def _more_than_asked(count: int, most: int | None, settable: Settable) -> list[str]:
    if most is None or count <= most:
        return []
    why = f": {_RECHECK} repeats what looks odd" if _RECHECK in settable.options else ""
    return [f"{count} repetitions where at most {most} were asked for{settable.aside('--max-repetitions')}{why}"]


def with_peers(rows: Sequence[Row], records: Sequence[PeerRecord]) -> list[Row]:
    """Return ``rows`` in their order, each with the median of the peer that did its case and phase and has its metric.

    A row that names no phase is of a case with a single one. Of several tools the first by name is taken; of several
    versions of it the one that ran last, since numbers of two programs are never mixed. A row without such records
    stays as it is.
    """
    runs = grouped((record.case, record) for record in records)
    return [_with_peer(row, runs.get(row.case, [])) for row in rows]


def _with_peer(row: Row, runs: Sequence[PeerRecord]) -> Row:
    phase = row.params.get("access", row.params.get("phase"))
    telling = [one for one in runs if row.metric in one.values and phase in (None, one.phase)]
    if not telling:
        return row
    tool = min(record.tool for record in telling)
    of_tool = [record for record in telling if record.tool == tool]
    version = of_tool[-1].version
    values = [record.values[row.metric] for record in of_tool if record.version == version]
    return row.model_copy(update={"peer": Peer(tool=tool, version=version, median=median(values), samples=len(values))})
