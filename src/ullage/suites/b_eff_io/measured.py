# SPDX-License-Identifier: Apache-2.0
"""What plans and records of a b_eff_io run say: which case was which, and how each of its patterns went. Pure.

A cell is one type in one access by one partition with one set of hints on one target. In each round it is a case, which
may have taken several attempts: a pattern that hung ends its launch, and the rest is run again without it.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from ullage.analysis.metrics.arithmetic import NS_PER_S
from ullage.model.plan import Case, Parameters, Plan
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


@dataclass(frozen=True, slots=True)
class PatternFacts:
    """What the engine tells of a pattern. ``wanted``: calls it was to repeat, None where time decided.

    ``end``: what ended it: ``once``, ``scheduled``, ``count``, ``overtime`` or ``space``.
    """

    chunk_bytes: int
    call_bytes: int
    repetitions: int
    wanted: int | None
    end: str
    scheduled_s: float
    shared_pointer: bool


def facts_of(phase: PhaseRecord) -> PatternFacts:
    """Read the facts of a pattern; those that the engine did not tell are 0, empty, false or None."""
    told = phase.facts
    wanted = told.get("wanted")
    return PatternFacts(
        chunk_bytes=_whole(told.get("chunk_bytes")),
        call_bytes=_whole(told.get("call_bytes")),
        repetitions=_whole(told.get("repetitions")),
        wanted=wanted if isinstance(wanted, int) else None,
        end=str(told.get("end", "")),
        scheduled_s=_real(told.get("scheduled_s")),
        shared_pointer=told.get("shared_pointer") is True,
    )


def _whole(value: object) -> int:
    return round(value) if isinstance(value, (int, float)) else 0


def _real(value: object) -> float:
    return float(value) if isinstance(value, (int, float)) else 0.0


def seconds_of(phase: PhaseRecord, gauge: str) -> float:
    """Return the gauge of the rank that took longest, in seconds; 0 where there is no such gauge."""
    found = phase.gauges.get(gauge)
    return 0.0 if found is None else max(found.most, 0.0)


def pattern_s(phase: PhaseRecord) -> float:
    """Return t_pattern: the accounted seconds of the slowest rank, sync included."""
    return seconds_of(phase, "pattern_s")


def bandwidth_of(phase: PhaseRecord) -> float | None:
    """Return the bytes of all ranks over t_pattern, or None where nothing moved or no time passed."""
    return pattern_bandwidth(phase.bytes, pattern_s(phase))


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
            patterns_s=sum(pattern_s(phase) for phase in found),
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
    _counted: Mapping[tuple[int, CellKey], Attempt] = field(default_factory=dict[tuple[int, CellKey], Attempt])

    @property
    def rounds(self) -> list[int]:
        """Those of which anything was tried."""
        return sorted({launch.round for launch in self.launches})

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


def make_run(options: BEffIoOptions, targets: Sequence[str], launches: Sequence[Launch]) -> BEffIoRun:
    """Make the run, and find once for each cell and round the attempt that counts."""
    counted: dict[tuple[int, CellKey], Attempt] = {}
    for launch in launches:
        for attempt in launch.attempts:
            known = counted.get((attempt.round, attempt.key))
            if known is None or not known.is_whole:
                counted[attempt.round, attempt.key] = attempt
    return BEffIoRun(options, tuple(targets), tuple(launches), counted)


def read_run(result: ResultFolder, options: BEffIoOptions, targets: Sequence[str] = ()) -> BEffIoRun:
    """Read the run from the documents of ``result``; without ``targets``, take those of its request."""
    names = list(targets) or [target.name for target in result.read_request().targets]
    files = {int(file.path.stem): file.records for file in result.read_records()}
    found = (read_launch(result.read_plan(number), number, files.get(number, [])) for number in result.launches())
    return make_run(options, names, [launch for launch in found if launch is not None])


def read_launch(plan: Plan, number: int, records: Iterable[AnyRecord]) -> Launch | None:
    """Read one launch; return None if it never began, or ran no case of b_eff_io."""
    cases = {case.id: (case, key) for case in plan.cases if (key := _key(case, plan)) is not None}
    reading = _Reading(plan, number, cases)
    for record in records:
        reading.take(record)
    if reading.run is None or not cases:
        return None
    keys = [key for _, key in cases.values()]
    return Launch(
        number=number,
        round=plan.seed - 1,
        target=keys[0].target,
        ranks=plan.layout.ranks,
        accesses=tuple(dict.fromkeys(key.access for key in keys)),
        run=reading.run,
        end=reading.end,
        attempts=tuple(reading.found),
    )


def _key(case: Case, plan: Plan) -> CellKey | None:
    stem = _STEM.match(case.dataset)
    if case.workload.name != WORKLOAD or stem is None:
        return None
    parameters = case.workload.parameters
    kind, access = str(parameters.get("type", TYPES[0])), str(parameters.get("access", ACCESSES[0]))
    if kind not in TYPES or access not in ACCESSES:
        return None
    return CellKey(case.target, int(stem[1]), plan.layout.ranks, access, kind)


@dataclass
class _Reading:
    """The records of one launch as they come; phases stand before the case they belong to."""

    plan: Plan
    number: int
    cases: Mapping[str, tuple[Case, CellKey]]
    run: RunRecord | None = None
    end: EndRecord | None = None
    found: list[Attempt] = field(default_factory=list[Attempt])
    _phases: list[PhaseRecord] = field(default_factory=list[PhaseRecord])
    _errors: list[EventRecord] = field(default_factory=list[EventRecord])

    def take(self, record: AnyRecord) -> None:
        match record:
            case RunRecord():
                self.run, self.end, self._phases, self._errors = record, None, [], []
            case PhaseRecord():
                self._phases.append(record)
            case EventRecord(severity="error"):
                self._errors.append(record)
            case CaseRecord() if self.run is not None and record.case in self.cases and not record.warmup:
                self.found.append(self._attempt(self.run, record))
                self._phases, self._errors = [], []
            case EndRecord():
                self.end = record
            case _:
                pass

    def _attempt(self, run: RunRecord, record: CaseRecord) -> Attempt:
        case, key = self.cases[record.case]
        phases = tuple(phase for phase in self._phases if phase.case == record.case)
        errors = [event.text for event in self._errors if event.case in (None, record.case)]
        failures = [failure for phase in phases for failure in phase.failures]
        said = [": ".join(filter(None, describe_failure(failure))) for failure in failures]
        hung = next((match for text in errors if (match := _HUNG.search(text))), None)
        return Attempt(
            key=key,
            round=self.plan.seed - 1,
            launch=self.number,
            run=run,
            case=record,
            phases=phases,
            skipped=_skipped(case.workload.parameters),
            hung=int(hung[1]) if hung is not None and record.status == "timeout" else None,
            error=next(iter([*said, *errors]), ""),
        )


def _skipped(parameters: Parameters) -> tuple[int, ...]:
    value = parameters.get("skip", [])
    return tuple(int(word) for word in value if word.isdigit()) if isinstance(value, list) else ()
