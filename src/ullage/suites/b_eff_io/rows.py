# SPDX-License-Identifier: Apache-2.0
"""Rows of a b_eff_io run: the value, its parts by access, type and pattern, volumes, and where time went. Pure.

A row's repetitions are the rounds. Rows of patterns are made and judged as those of every storage suite; what is made
of many patterns has the verdict of all their bytes together.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from operator import methodcaller
from typing import Final, Literal, TypeAlias

from ullage.analysis.verdicts.cache import NOTHING_BEHIND, Verdict, cache_verdict, combine_verdicts
from ullage.analysis.verdicts.grades import row_grade
from ullage.model.flags import IDLE_RANKS, Flag
from ullage.model.plan import Scalar
from ullage.model.record import CaseRecord, Grade, Moved, PhaseRecord, RunRecord
from ullage.model.summary import Ceiling, Row
from ullage.quantity import percent
from ullage.results.row_checks import check_launch
from ullage.results.rows import RowContext, RowFrame, TargetFacts, build_rows
from ullage.suites.b_eff_io.measured import Attempt, BEffIoRun, facts_of, pattern_s, seconds_of
from ullage.suites.b_eff_io.overheads import PARTS, SCHEDULED, TOTAL, TimeSpent, overheads
from ullage.suites.b_eff_io.patterns import ACCESSES, Access, Pattern, PatternType, memory_s, patterns_of, types_of
from ullage.suites.b_eff_io.validity import CUTS, NOT_VALID
from ullage.suites.b_eff_io.values import PartitionRound, Spot, memory_bytes, rounds_of

_DIRECTIONS: Final = ("write", "read")
Unit: TypeAlias = Literal["B/s", "B", "s"]


@dataclass(frozen=True)
class Basis:
    """What all rows of a partition share.

    ``flags``: what the row shows besides what its values do.
    """

    verdict: Verdict = NOTHING_BEHIND
    grade: Grade | None = None
    ceiling: Ceiling | None = None
    case: str = ""
    flags: tuple[Flag, ...] = ()


def judge(rounds: Iterable[Sequence[PhaseRecord]], facts: TargetFacts, ceiling: str = "") -> Basis:
    """Judge the patterns of each round together. ``ceiling``: the direction whose bound it has; empty for none."""
    known = [phases for phases in rounds if phases]
    if not known:
        return Basis()
    # Verdicts may differ here because of the direction, not the repetition.
    verdict = combine_verdicts(
        [verdict for phases in known for verdict in _verdicts(phases, facts)], are_repetitions=False
    )
    grade = row_grade([phase for phases in known for phase in phases])
    return Basis(verdict, grade, facts.ceilings.get(ceiling))


def _verdicts(phases: Sequence[PhaseRecord], facts: TargetFacts) -> list[Verdict]:
    """Return a verdict for each direction in which the phases moved data."""
    by_direction = ([phase for phase in phases if phase.access == direction] for direction in _DIRECTIONS)
    return [
        cache_verdict(
            merge(alike), memory_target=facts.is_memory, remote_target=facts.is_remote, holds_data=facts.holds_data
        )
        for alike in by_direction
        if alike
    ]


def merge(phases: Sequence[PhaseRecord]) -> PhaseRecord:
    """Merge phases into one, as far as a verdict needs it.

    A counter that one of them lacks is lacking in the result.
    """
    moved = [phase.moved for phase in phases]
    known = [one for one in moved if one is not None]
    total = None
    if known and len(known) == len(moved):
        total = Moved(
            requested_bytes=sum(one.requested_bytes for one in known),
            process_bytes=_sum(one.process_bytes for one in known),
            device_bytes=_sum(one.device_bytes for one in known),
            client_bytes=_sum(one.client_bytes for one in known),
        )
    summed = {"bytes": sum(phase.bytes for phase in phases), "syncs": sum(phase.syncs for phase in phases)}
    return phases[0].model_copy(update={**summed, "moved": total, "resident": None})


def _sum(values: Iterable[int | None]) -> int | None:
    known = list(values)
    return None if any(value is None for value in known) else sum(value for value in known if value is not None)


def common_params(ranks: int, run: RunRecord | None, lmax: int | None, hint_set: str) -> dict[str, Scalar]:
    """Return the parameters that every row of a b_eff_io run has after its own."""
    nodes = 0
    if run is not None:
        nodes = run.layout.nodes or -(-ranks // max(1, run.pinning.most_ranks_on_a_node))
    return {"ranks": ranks, "nodes": nodes, "lmax_bytes": lmax or 0, "hint_set": hint_set}


SUITE: Final = "b_eff_io"
B_EFF_IO: Final = "b_eff_io"
WRITE_SIDE: Final = "write_side_bandwidth"
ACCESS: Final = "access_bandwidth"
TYPE: Final = "type_bandwidth"
PATTERN: Final = "pattern_bandwidth"
CALLS: Final = "call_bandwidth"
VOLUME: Final = "access_volume"
MEMORY_TIME: Final = "memory_time"
TIME: Final = "time_spent"
ALL_SETS: Final = "all"
# The flag of a pattern that was cut short begins with this; after the colon stands why.
EARLY: Final = "ended-early"
# The flag of a type that lost patterns begins with this; after the colon stands how many.
PATTERNS_LOST: Final = "patterns-lost"
INCOMPLETE: Final = "incomplete"
PAYLOAD_BESIDE: Final = "payload-beside"
# In these types processes do not wait for each other: while one checks what it read, others have the target alone.
_ALONE: Final[tuple[PatternType, ...]] = ("separated", "segmented")
_MOST_PAYLOAD: Final = 0.01
Of = Callable[[PartitionRound], float | None]


class SpotRows:
    """Makes the rows of one partition with one set of hints on one target. ``reasons``: why the value is void."""

    def __init__(self, io_run: BEffIoRun, spot: Spot, reasons: Sequence[str], context: RowContext) -> None:
        self._course = io_run
        self._spot = spot
        self._reasons = list(reasons)
        self._context = context
        self._facts = context.targets.get(spot.target, TargetFacts())
        self._rounds = rounds_of(io_run, spot)
        attempts = [attempt for found in self._rounds for attempt in found.attempts()]
        run = attempts[-1].run if attempts else None
        self._launch = () if run is None else tuple(check_launch(run))
        self._common = common_params(spot.ranks, run, io_run.options.lmax, io_run.hint_set(spot.hints))

    def all(self) -> list[Row]:
        """Return all rows in the order of the report: the value first, single patterns last."""
        found = [*self._values(), *self._types(), *self._others()]
        return [*(row for row in found if row is not None), *self._patterns()]

    def _values(self) -> Iterator[Row | None]:
        basis = self._basis(ACCESSES)
        voids = (Flag(code=NOT_VALID, reason="; ".join(self._reasons)),) if self._reasons else ()
        yield self._row(B_EFF_IO, {}, lambda found: found.b_eff_io, replace(basis, flags=(*voids, *basis.flags)))
        both = self._basis(("write", "rewrite"), "write")
        yield self._row(WRITE_SIDE, {}, lambda found: found.write_side, both)
        for access in ACCESSES:
            basis = self._basis((access,), _direction(access))
            yield self._row(ACCESS, {"access": access}, methodcaller("access", access), basis)

    def _types(self) -> Iterator[Row | None]:
        for access, kind in self._cells():
            good = [one for one in self._course.attempts(self._spot.key(access, kind)) if one.good]
            if good:
                basis = judge((list(one.good.values()) for one in good), self._facts, _direction(access))
                flags = (*_lost_flags(good), *self._launch)
                samples = [value for one in good if (value := one.bandwidth) is not None]
                own = replace(basis, case=good[-1].case.case, flags=flags)
                yield self._made(TYPE, {"access": access, "pattern_type": kind}, samples, own)

    def _others(self) -> Iterator[Row | None]:
        for access in ACCESSES:
            volumes = [float(volume) for found in self._rounds if (volume := found.volume(access))]
            yield self._made(VOLUME, {"access": access}, volumes, Basis(), "B")
        memory = memory_bytes(self._course)
        if memory is not None:
            times = [memory_s(memory, found.b_eff_io) for found in self._rounds if found.b_eff_io]
            yield self._made(MEMORY_TIME, {}, times, Basis(), "s")

    def _cells(self) -> list[tuple[Access, PatternType]]:
        rewrite = self._course.options.rewrite
        return [(access, kind) for access in ACCESSES for kind in types_of(access, rewrite=rewrite)]

    def _patterns(self) -> Iterator[Row]:
        for access, kind in self._cells():
            attempts = self._course.attempts(self._spot.key(access, kind))
            for pattern in patterns_of(kind):
                with_it = [one for one in attempts if pattern.number in one.good]
                if with_it:
                    yield from self._pattern(pattern, with_it)

    def _pattern(self, pattern: Pattern, attempts: Sequence[Attempt]) -> Iterator[Row]:
        """Yield the rows of one pattern over all rounds.

        A case that hung and was run again without its pattern has another id: here they are one.
        """
        last = attempts[-1]
        launches = [_as_launch(one, pattern, last.case.case) for one in attempts]
        context = RowContext((), (PATTERN, CALLS), {self._spot.target: self._facts}, self._context.level, None)
        params = {**pattern_params(last, pattern), **self._common}
        phases = [one.good[pattern.number] for one in attempts]
        own = [*_ended_early(phases), *(_payload_flag(phases, pattern) if self._facts.holds_data else [])]
        for row in build_rows(launches, context):
            # Who waited is in the protocol; the law looks at time that no pattern accounts for.
            flags = [*(flag for flag in row.flags if flag.code != IDLE_RANKS), *own]
            yield row.model_copy(update={"params": params, "flags": flags})

    def _basis(self, accesses: Sequence[Access], ceiling: str = "") -> Basis:
        """Judge all patterns of these accesses, those of each round together."""
        rounds = (
            [phase for attempt in found.attempts(accesses) for phase in attempt.good.values()] for found in self._rounds
        )
        return replace(judge(rounds, self._facts, ceiling), flags=self._launch)

    def _row(self, metric: str, params: dict[str, Scalar], of: Of, basis: Basis) -> Row | None:
        samples = [value for found in self._rounds if (value := of(found)) is not None]
        return self._made(metric, params, samples, basis)

    def _made(
        self, metric: str, params: dict[str, Scalar], samples: Sequence[float], basis: Basis, unit: Unit = "B/s"
    ) -> Row | None:
        frame = RowFrame(metric, unit, self._spot.target, {**params, **self._common}, **vars(basis))
        return frame.row(samples, self._context.level) if samples else None


def pattern_params(attempt: Attempt, pattern: Pattern) -> dict[str, Scalar]:
    """Return the parameters that say which pattern a row is of, and its chunk and call."""
    facts = facts_of(attempt.good[pattern.number])
    return {
        "access": attempt.key.access,
        "pattern_type": pattern.type,
        "pattern": pattern.number,
        "size": pattern.size,
        "chunk_bytes": facts.chunk_bytes,
        "call_bytes": facts.call_bytes,
    }


def _direction(access: Access) -> str:
    return "read" if access == "read" else "write"


def _lost_flags(attempts: Sequence[Attempt]) -> tuple[Flag, ...]:
    """Flag a type that lost patterns or repetitions.

    Its bandwidth without some of its patterns is another one.
    """
    skipped = max(len(one.skipped) for one in attempts)
    failed = sum(not one.is_whole for one in attempts)
    found: list[Flag] = []
    if skipped:
        found.append(Flag(code=f"{PATTERNS_LOST}:{skipped}", reason=f"{skipped} of its patterns were left out"))
    if failed:
        reason = f"{failed} of {len(attempts)} repetitions did not come to their end"
        found.append(Flag(code=INCOMPLETE, reason=reason))
    return tuple(found)


def _ended_early(phases: Sequence[PhaseRecord]) -> list[Flag]:
    """Flag a pattern that ended early: a few calls, maybe one, stand for it then."""
    ends = [facts_of(phase).end for phase in phases]
    return [
        Flag(code=f"{EARLY}:{why}", reason=f"{ends.count(why)} of {len(ends)} repetitions ended early by {why}")
        for why in CUTS
        if why in ends
    ]


def _payload_flag(phases: Sequence[PhaseRecord], pattern: Pattern) -> list[Flag]:
    shares = [seconds_of(phase, "payload_s") / pattern_s(phase) for phase in phases if pattern_s(phase) > 0]
    alone = pattern.type in _ALONE and phases[-1].ranks > 1
    if not alone or not shares or max(shares) <= _MOST_PAYLOAD:
        return []
    reason = (
        f"{percent(max(shares))} of its time went into payload or its verification, untimed, while other processes had "
        "the target to themselves: --verify none leaves that out"
    )
    return [Flag(code=PAYLOAD_BESIDE, reason=reason)]


def _as_launch(attempt: Attempt, pattern: Pattern, case: str) -> list[RunRecord | PhaseRecord | CaseRecord]:
    own = {"case": case, "repetition": 0, "warmup": False}
    ended = attempt.case.model_copy(update={**own, "status": "ok", "target": attempt.key.target})
    return [attempt.run, attempt.good[pattern.number].model_copy(update=own), ended]


def time_rows(io_run: BEffIoRun, target: str, level: float) -> list[Row]:
    """Make the rows of time spent on ``target``, with the rounds as repetitions.

    All sets of hints are together, since they share launches.
    """
    mine = {place: spent for place, spent in overheads(io_run).items() if place.target == target}
    cells = dict.fromkeys((place.access, place.ranks) for place in mine)
    runs = {launch.ranks: launch.run for launch in io_run.launches}
    rows: list[Row] = []
    for access, ranks in cells:
        found = [spent for place, spent in mine.items() if (place.access, place.ranks) == (access, ranks)]
        common = common_params(ranks, runs[ranks], io_run.options.lmax, ALL_SETS)
        for part, values in _samples(found).items():
            if values:
                own: dict[str, Scalar] = {"access": access, "part": part, **common}
                rows.append(RowFrame(TIME, "s", target, own).row(values, level))
    return rows


def _samples(found: list[TimeSpent]) -> dict[str, list[float]]:
    """Return the samples of each part that is known, of the schedule and of the total: one for each round."""
    samples: dict[str, list[float]] = {
        part: [spent.parts[part] for spent in found if part in spent.parts] for part in PARTS
    }
    return {**samples, SCHEDULED: [spent.scheduled for spent in found], TOTAL: [spent.total for spent in found]}
