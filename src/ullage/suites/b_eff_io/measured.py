# SPDX-License-Identifier: Apache-2.0
"""What plans and records of a b_eff_io run say: how each pattern of each case went, and where the time went. Pure.

A cell is one type in one access by one partition with one set of hints on one target. In each round it is a case, which
may have taken several attempts: a pattern that hung ends its launch, and the rest is run again without it.

The schedule counts the loops alone. All else is listed by name, so that nobody wonders why a run of 60 s took 90.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Final, Literal, TypeAlias

from ullage.analysis.metrics.arithmetic import NS_PER_S
from ullage.grouping import grouped
from ullage.model.plan import Case, Plan
from ullage.model.record import CaseRecord, EndRecord, EventRecord, PhaseRecord, RunRecord
from ullage.results.events import describe_failure
from ullage.results.folder import ResultFolder
from ullage.results.records import AnyRecord
from ullage.suites.b_eff_io.options import BEffIoOptions
from ullage.suites.b_eff_io.patterns import ACCESSES, BY_PHASE, TYPES, Access, PatternType, TypeTotal, pattern_bandwidth

WORKLOAD: Final = "b-eff-io"
_STEM: Final = re.compile(r"h(\d+)-n\d+")
_HUNG: Final = re.compile(r"pattern-(\d\d)")


@dataclass(frozen=True, slots=True)
class CellKey:
    """Identifies what was measured in one pattern of one round.

    ``hints``: number of the set in the options; ``ranks``: the partition.
    """

    target: str
    hints: int
    ranks: int
    access: Access
    type: PatternType


def fact(phase: PhaseRecord, name: str) -> float:
    """Return a number that the engine tells of a pattern; 0 where it tells none."""
    told = phase.facts.get(name)
    return told if isinstance(told, (int, float)) else 0


def end_of(phase: PhaseRecord) -> str:
    """Return what ended a pattern: ``once``, ``scheduled``, ``count``, ``overtime`` or ``space``; empty: not told."""
    return str(phase.facts.get("end", ""))


def seconds_of(phase: PhaseRecord, gauge: str) -> float:
    """Return the gauge of the slowest rank in s, 0 without it; ``pattern_s`` is t_pattern: accounted, sync included."""
    found = phase.gauges.get(gauge)
    return 0.0 if found is None else max(found.most, 0.0)


def bandwidth_of(phase: PhaseRecord) -> float | None:
    """Return the bytes of all ranks over t_pattern, or None where nothing moved or no time passed."""
    return pattern_bandwidth(phase.bytes, seconds_of(phase, "pattern_s"))


@dataclass(frozen=True)
class Attempt:
    """One time that a cell was tried; ``case`` says how it ended.

    ``hung``: the pattern in which the watchdog ended it; ``error``: the first thing that went wrong, in words;
    ``skipped``: patterns that were not asked for, since they hung before.
    """

    key: CellKey
    round: int
    launch: int
    run: RunRecord
    case: CaseRecord
    phases: tuple[PhaseRecord, ...]
    skipped: tuple[int, ...] = ()
    hung: int | None = None
    error: str = ""

    @property
    def is_whole(self) -> bool:
        """Whether it came to its end without an error."""
        return self.case.status == "ok"

    @property
    def good(self) -> dict[int, PhaseRecord]:
        """The patterns that were measured without an error, by number."""
        return {
            BY_PHASE[phase.phase].number: phase
            for phase in self.phases
            if phase.status == "ok" and not phase.bad_blocks and phase.phase in BY_PHASE
        }

    @property
    def bad_blocks(self) -> int:
        """Blocks that came back wrong."""
        return sum(phase.bad_blocks for phase in self.phases)

    @property
    def total(self) -> TypeTotal:
        """Over the patterns that went well."""
        found = self.good.values()
        return TypeTotal(
            bytes=sum(phase.bytes for phase in found),
            open_s=sum(seconds_of(phase, "open_s") for phase in found),
            patterns_s=sum(seconds_of(phase, "pattern_s") for phase in found),
            close_s=sum(seconds_of(phase, "close_s") for phase in found),
        )

    @property
    def bandwidth(self) -> float | None:
        """The bandwidth of the type; 0 where it was tried and nothing went well, None where somebody stopped it."""
        return None if self.case.status == "interrupted" else self.total.bandwidth


@dataclass(frozen=True)
class Launch:
    """One start of the engine, on one target. ``accesses``: one, or all where nothing outlives a launch."""

    number: int
    round: int
    target: str
    ranks: int
    accesses: tuple[Access, ...]
    run: RunRecord
    end: EndRecord | None
    attempts: tuple[Attempt, ...]

    @property
    def elapsed_s(self) -> float:
        """The seconds from its first to its last stamp; without an end, the seconds that its cases took."""
        if self.end is not None:
            return self.end.elapsed_ns / NS_PER_S
        return sum(attempt.case.elapsed_ns for attempt in self.attempts) / NS_PER_S


@dataclass(frozen=True)
class BEffIoRun:
    """All launches of a run in their order."""

    options: BEffIoOptions
    targets: tuple[str, ...]
    launches: tuple[Launch, ...]

    @property
    def rounds(self) -> list[int]:
        """Those of which anything was tried."""
        return sorted({launch.round for launch in self.launches})

    @cached_property
    def _counted(self) -> Mapping[tuple[int, CellKey], Attempt]:
        found: dict[tuple[int, CellKey], Attempt] = {}
        for attempt in (attempt for launch in self.launches for attempt in launch.attempts):
            known = found.get((attempt.round, attempt.key))
            if known is None or not known.is_whole:
                found[attempt.round, attempt.key] = attempt
        return found

    def attempt(self, number: int, key: CellKey) -> Attempt | None:
        """Return the attempt that counts in round ``number``: the first that went well, else the last."""
        return self._counted.get((number, key))

    def attempts(self, key: CellKey) -> list[Attempt]:
        """Return the attempts that count, one for each round in which the cell was tried."""
        return [found for number in self.rounds if (found := self.attempt(number, key)) is not None]

    @property
    def keys(self) -> list[CellKey]:
        """Cells that were tried, in the order of the report: target, hints, partition, access, type."""
        return sorted({key for _, key in self._counted}, key=self._place)

    def _place(self, key: CellKey) -> tuple[int, int, int, int, int]:
        target = self.targets.index(key.target) if key.target in self.targets else len(self.targets)
        return target, key.hints, key.ranks, ACCESSES.index(key.access), TYPES.index(key.type)

    def hint_set(self, number: int) -> str:
        """Return the name of the set of hints with that number."""
        sets = self.options.hint_sets
        return sets[number].name if number < len(sets) else f"set {number}"


def read_run(result: ResultFolder, options: BEffIoOptions) -> BEffIoRun:
    """Read the run from the documents of ``result``."""
    targets = tuple(target.name for target in result.read_request().targets)
    files = {int(file.path.stem): file.records for file in result.read_records()}
    found = (read_launch(result.read_plan(number), number, files.get(number, [])) for number in result.launches())
    return BEffIoRun(options, targets, tuple(launch for launch in found if launch is not None))


def read_launch(plan: Plan, number: int, records: Iterable[AnyRecord]) -> Launch | None:
    """Read one launch; return None if it never began, or ran no case of b_eff_io. Phases stand before their case."""
    cases = {case.id: (case, key) for case in plan.cases if (key := _key(case, plan)) is not None}
    run, end = None, None
    phases: list[PhaseRecord] = []
    errors: list[EventRecord] = []
    attempts: list[Attempt] = []
    for record in records:
        match record:
            case RunRecord():
                run, end, phases, errors = record, None, [], []
            case PhaseRecord():
                phases.append(record)
            case EventRecord(severity="error"):
                errors.append(record)
            case CaseRecord(warmup=False) if run is not None and record.case in cases:
                case, key = cases[record.case]
                of_case = [phase for phase in phases if phase.case == record.case]
                said = [event.text for event in errors if event.case in (None, record.case)]
                attempts.append(_attempt(key, case, plan.seed - 1, number, run, record, of_case, said))
                phases, errors = [], []
            case EndRecord():
                end = record
            case _:
                pass
    if run is None or not cases:
        return None
    keys = [key for _, key in cases.values()]
    accesses: tuple[Access, ...] = tuple(dict.fromkeys(key.access for key in keys))
    return Launch(number, plan.seed - 1, keys[0].target, plan.layout.ranks, accesses, run, end, tuple(attempts))


def _key(case: Case, plan: Plan) -> CellKey | None:
    stem = _STEM.match(case.dataset)
    if case.workload.name != WORKLOAD or stem is None:
        return None
    parameters = case.workload.parameters
    kind, access = str(parameters.get("type", TYPES[0])), str(parameters.get("access", ACCESSES[0]))
    if kind not in TYPES or access not in ACCESSES:
        return None
    return CellKey(case.target, int(stem[1]), plan.layout.ranks, access, kind)


def _attempt(
    key: CellKey,
    case: Case,
    number: int,
    launch: int,
    run: RunRecord,
    record: CaseRecord,
    phases: Sequence[PhaseRecord],
    errors: Sequence[str],
) -> Attempt:
    failures = [": ".join(filter(None, describe_failure(one))) for phase in phases for one in phase.failures]
    hung = next((match for text in errors if (match := _HUNG.search(text))), None)
    left_out = case.workload.parameters.get("skip", [])
    return Attempt(
        key=key,
        round=number,
        launch=launch,
        run=run,
        case=record,
        phases=tuple(phases),
        skipped=tuple(int(word) for word in left_out if word.isdigit()) if isinstance(left_out, list) else (),
        hung=int(hung[1]) if hung is not None and record.status == "timeout" else None,
        error=next(iter([*failures, *errors]), ""),
    )


Part: TypeAlias = Literal["loops", "sync", "open", "view", "close", "payload", "between", "launch"]
_GAUGES: Final[tuple[Part, ...]] = ("sync", "open", "view", "close", "payload")
PARTS: Final[tuple[Part, ...]] = ("loops", *_GAUGES, "between", "launch")
SCHEDULED: Final = "scheduled"
TOTAL: Final = "total"
TOLD: Final = (*PARTS, SCHEDULED, TOTAL)
# Loops may take this multiple of their scheduled time before a finding warns of it.
MOST_OVER: Final = 1.1
# More than this between two launches is somebody's pause, not the start of a launch.
_LONGEST_START_S: Final = 300.0
# The wall clock of a record is as exact as this.
_WALL_S: Final = 2.0


@dataclass(frozen=True)
class TimeSpent:
    """The seconds that each part took, and those that were scheduled."""

    parts: Mapping[Part, float] = field(default_factory=dict[Part, float])
    scheduled: float = 0.0

    @property
    def loops(self) -> float:
        """What the schedule counts."""
        return self.parts.get("loops", 0.0)

    @property
    def total(self) -> float:
        """The sum of all parts."""
        return sum(self.parts.values())

    @property
    def told(self) -> dict[str, float]:
        """The seconds of what the report tells of."""
        return {**self.parts, SCHEDULED: self.scheduled, TOTAL: self.total}


def _sum(spent: Sequence[TimeSpent]) -> TimeSpent:
    parts = grouped((part, seconds) for one in spent for part, seconds in one.parts.items())
    return TimeSpent({part: sum(parts[part]) for part in PARTS if part in parts}, sum(one.scheduled for one in spent))


@dataclass(frozen=True, slots=True)
class Place:
    """Where time is told of in the report: the round, the target, the access and the partition."""

    round: int
    target: str
    access: Access
    ranks: int


def overheads(io_run: BEffIoRun) -> dict[Place, TimeSpent]:
    """Return by place the time of all its launches together, also of those that a hang ended."""
    each = zip(io_run.launches, (None, *io_run.launches), strict=False)
    found = grouped(
        (Place(launch.round, launch.target, access, launch.ranks), spent)
        for launch, before in each
        for access, spent in _of_launch(launch, before).items()
    )
    return {place: _sum(spent) for place, spent in found.items()}


def by_round(io_run: BEffIoRun, target: str) -> dict[int, TimeSpent]:
    """Return by round the time that all launches with that target spent."""
    found = grouped((place.round, spent) for place, spent in overheads(io_run).items() if target == place.target)
    return {number: _sum(spent) for number, spent in sorted(found.items())}


def _of_launch(launch: Launch, before: Launch | None) -> dict[Access, TimeSpent]:
    """Split the time of a launch by access; time between its cases, and before its start, belongs to its first."""
    found: dict[Access, TimeSpent] = {}
    for access in launch.accesses:
        attempts = [attempt for attempt in launch.attempts if attempt.key.access == access]
        phases = [phase for attempt in attempts for phase in attempt.phases]
        # The schedule counts the accounted seconds without the sync.
        loops = sum(max(seconds_of(phase, "pattern_s") - seconds_of(phase, "sync_s"), 0.0) for phase in phases)
        others: dict[Part, float] = {part: sum(seconds_of(one, f"{part}_s") for one in phases) for part in _GAUGES}
        found[access] = TimeSpent({"loops": loops, **others}, sum(fact(phase, "scheduled_s") for phase in phases))
    first = found[launch.accesses[0]]
    around: dict[Part, float] = {"between": max(launch.elapsed_s - sum(spent.total for spent in found.values()), 0.0)}
    start = None if before is None else _start_s(launch, before)
    if start is not None:
        around["launch"] = start
    return {**found, launch.accesses[0]: TimeSpent({**first.parts, **around}, first.scheduled)}


def _start_s(launch: Launch, before: Launch) -> float | None:
    """Return the seconds from the end of one launch to the start of the next one.

    In that time processes end, and others start with their MPI. None where it is not known, where the run was
    interrupted in between, or where it is too long for a start.
    """
    if before.end is None or before.end.status == "interrupted":
        return None
    apart = (launch.run.origin_ns - before.run.origin_ns) / NS_PER_S
    try:
        started, ended = (datetime.fromisoformat(one.run.started) for one in (launch, before))
        by_wall = (started - ended).total_seconds()
    except (ValueError, TypeError):
        by_wall = apart
    # Both origins count from the same boot of the machine only where their difference agrees with the calendar.
    seconds = (apart if abs(by_wall - apart) <= _WALL_S else by_wall) - before.elapsed_s
    return seconds if 0 < seconds <= _LONGEST_START_S else None
