# SPDX-License-Identifier: Apache-2.0
"""Rows of a b_eff_io run: the value, its parts by access, type and pattern, volumes, and where time went; and scores.

A row's repetitions are the rounds. Rows of patterns are made and judged as those of every storage suite; what is made
of many patterns has the verdict of all their bytes together. Scores are the values as users quote them. Pure.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import methodcaller
from typing import Final, Literal, TypeAlias

from ullage.analysis.settings import first, select
from ullage.analysis.verdicts.cache import cache_verdict, combine_verdicts
from ullage.analysis.verdicts.grades import row_grade
from ullage.model.flags import IDLE_RANKS, Flag
from ullage.model.plan import Scalar
from ullage.model.record import Moved, PhaseRecord, RunRecord
from ullage.model.summary import Row, Score
from ullage.quantity import percent, processes
from ullage.results.row_checks import check_launch
from ullage.results.rows import RowContext, RowFrame, TargetFacts, build_rows, nodes_of
from ullage.suites.b_eff_io.measured import TOLD, Attempt, BEffIoRun, end_of, fact, overheads, seconds_of
from ullage.suites.b_eff_io.patterns import ACCESSES, Access, Pattern, PatternType, memory_s, patterns_of
from ullage.suites.b_eff_io.values import CUTS, NOT_VALID, PartitionRound, Spot, cells_of, memory_bytes, rounds_of

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
# In these types processes do not wait for each other: while one checks what it read, others have the target alone.
_ALONE: Final[tuple[PatternType, ...]] = ("separated", "segmented")
_MOST_PAYLOAD: Final = 0.01
Unit: TypeAlias = Literal["B/s", "B", "s"]


def merge(phases: Sequence[PhaseRecord]) -> PhaseRecord:
    """Merge phases into one, as far as a verdict needs it. A counter that one of them lacks is lacking then."""
    known = [phase.moved for phase in phases if phase.moved is not None]
    total = None
    if known and len(known) == len(phases):
        total = Moved(
            requested_bytes=sum(one.requested_bytes for one in known),
            process_bytes=_sum(one.process_bytes for one in known),
            device_bytes=_sum(one.device_bytes for one in known),
            client_bytes=_sum(one.client_bytes for one in known),
        )
    summed = {"bytes": sum(phase.bytes for phase in phases), "syncs": sum(phase.syncs for phase in phases)}
    return phases[0].model_copy(update={**summed, "moved": total, "resident": None})


def _sum(values: Iterable[int | None]) -> int | None:
    all_values = list(values)
    known = [value for value in all_values if value is not None]
    return sum(known) if len(known) == len(all_values) else None


class SpotRows:
    """Makes the rows of one partition with one set of hints on one target. ``reasons``: why the value is void."""

    def __init__(self, io_run: BEffIoRun, spot: Spot, reasons: Sequence[str], context: RowContext) -> None:
        self._io_run = io_run
        self._spot = spot
        self._reasons = list(reasons)
        self._level = context.level
        self._facts = context.targets.get(spot.target, TargetFacts())
        self._rounds = rounds_of(io_run, spot)
        run = [attempt for found in self._rounds for attempt in found.attempts()][-1].run
        self._common = _common_params(run, io_run, io_run.hint_set(spot.hints))
        self._bare = RowFrame("", "B/s", spot.target, self._common)
        self._judged = replace(self._bare, flags=check_launch(run))

    def all(self) -> list[Row]:
        """Return all rows in the order of the report: the value first, single patterns last."""
        return [*self._values(), *self._types(), *self._others(), *self._patterns()]

    def _values(self) -> Iterator[Row]:
        frame = self._of_accesses(ACCESSES)
        voids = [Flag(code=NOT_VALID, reason="; ".join(self._reasons))] if self._reasons else []
        whole = replace(frame, flags=[*voids, *frame.flags])
        yield from self._row(whole, B_EFF_IO, {}, self._each(lambda found: found.b_eff_io))
        frame = self._of_accesses(("write", "rewrite"), "write")
        yield from self._row(frame, WRITE_SIDE, {}, self._each(lambda found: found.write_side))
        for access in ACCESSES:
            frame = self._of_accesses((access,), _direction(access))
            yield from self._row(frame, ACCESS, {"access": access}, self._each(methodcaller("access", access)))

    def _types(self) -> Iterator[Row]:
        for key in cells_of(self._io_run, self._spot):
            good = [one for one in self._io_run.attempts(key) if one.good]
            if good:
                frame = self._judge((list(one.good.values()) for one in good), _direction(key.access))
                own = replace(frame, case=good[-1].case.case, flags=[*_lost_flags(good), *frame.flags])
                samples = [value for one in good if (value := one.bandwidth) is not None]
                yield from self._row(own, TYPE, {"access": key.access, "pattern_type": key.type}, samples)

    def _others(self) -> Iterator[Row]:
        for access in ACCESSES:
            moved = [sum(one.total.bytes for one in found.attempts([access])) for found in self._rounds]
            volumes = [float(volume) for volume in moved if volume]
            yield from self._row(self._bare, VOLUME, {"access": access}, volumes, "B")
        memory = memory_bytes(self._io_run.options)
        if memory is not None:
            times = [memory_s(memory, found.b_eff_io) for found in self._rounds if found.b_eff_io]
            yield from self._row(self._bare, MEMORY_TIME, {}, times, "s")

    def _patterns(self) -> Iterator[Row]:
        for key in cells_of(self._io_run, self._spot):
            attempts = self._io_run.attempts(key)
            for pattern in patterns_of(key.type):
                with_it = [one for one in attempts if pattern.number in one.good]
                if with_it:
                    yield from self._pattern(pattern, with_it)

    def _pattern(self, pattern: Pattern, attempts: Sequence[Attempt]) -> Iterator[Row]:
        """Yield the rows of one pattern over all rounds.

        A case that hung and was run again without its pattern has another id: here they are one.
        """
        last, phases = attempts[-1], [one.good[pattern.number] for one in attempts]
        own_id = {"case": last.case.case, "repetition": 0, "warmup": False}
        ended = {**own_id, "status": "ok", "target": last.key.target}
        launches = [
            [one.run, phase.model_copy(update=own_id), one.case.model_copy(update=ended)]
            for one, phase in zip(attempts, phases, strict=True)
        ]
        context = RowContext((), (PATTERN, CALLS), {self._spot.target: self._facts}, self._level, None)
        params: dict[str, Scalar] = {
            "access": last.key.access,
            "pattern_type": pattern.type,
            "pattern": pattern.number,
            "size": pattern.size,
            "chunk_bytes": round(fact(phases[-1], "chunk_bytes")),
            "call_bytes": round(fact(phases[-1], "call_bytes")),
            **self._common,
        }
        ends = [end_of(phase) for phase in phases]
        # Of a pattern that ended early a few calls, maybe one, stand for it.
        own = [
            Flag(code=f"{EARLY}:{why}", reason=f"{ends.count(why)} of {len(ends)} repetitions ended early by {why}")
            for why in CUTS
            if why in ends
        ]
        own += _payload_flag(phases, pattern) if self._facts.holds_data else []
        for row in build_rows(launches, context):
            # Who waited is in the protocol; the law looks at time that no pattern accounts for.
            flags = [*(flag for flag in row.flags if flag.code != IDLE_RANKS), *own]
            yield row.model_copy(update={"params": params, "flags": flags})

    def _of_accesses(self, accesses: Sequence[Access], ceiling: str = "") -> RowFrame:
        """Judge all patterns of these accesses, those of each round together."""
        attempts = (found.attempts(accesses) for found in self._rounds)
        return self._judge(([phase for one in found for phase in one.good.values()] for found in attempts), ceiling)

    def _judge(self, rounds: Iterable[Sequence[PhaseRecord]], ceiling: str) -> RowFrame:
        """Judge the patterns of each round together. ``ceiling``: the direction whose bound they have; empty: none."""
        known = [phases for phases in rounds if phases]
        if not known:
            return self._judged
        facts = self._facts
        verdicts = [
            cache_verdict(
                merge(alike), memory_target=facts.is_memory, remote_target=facts.is_remote, holds_data=facts.holds_data
            )
            for phases in known
            for direction in ("write", "read")
            if (alike := [phase for phase in phases if phase.access == direction])
        ]
        # Verdicts may differ here because of the direction, not the repetition.
        verdict = combine_verdicts(verdicts, are_repetitions=False)
        grade = row_grade([phase for phases in known for phase in phases])
        return replace(self._judged, verdict=verdict, grade=grade, ceiling=self._facts.ceilings.get(ceiling))

    def _each(self, of: Callable[[PartitionRound], float | None]) -> list[float]:
        return [value for found in self._rounds if (value := of(found)) is not None]

    def _row(
        self, frame: RowFrame, metric: str, params: dict[str, Scalar], samples: Sequence[float], unit: Unit = "B/s"
    ) -> Iterator[Row]:
        """Yield the row of ``samples``; nothing without any."""
        if samples:
            whole = replace(frame, metric=metric, unit=unit, params={**params, **self._common})
            yield whole.row(samples, self._level)


def _common_params(run: RunRecord, io_run: BEffIoRun, hint_set: str) -> dict[str, Scalar]:
    """Return the parameters that every row of a b_eff_io run has after its own."""
    lmax = io_run.options.lmax or 0
    return {"ranks": run.layout.ranks, "nodes": nodes_of(run), "lmax_bytes": lmax, "hint_set": hint_set}


def _direction(access: Access) -> str:
    return "read" if access == "read" else "write"


def _lost_flags(attempts: Sequence[Attempt]) -> Iterator[Flag]:
    """Flag a type that lost patterns or repetitions: its bandwidth without some of its patterns is another one."""
    skipped = max(len(one.skipped) for one in attempts)
    failed = sum(not one.is_whole for one in attempts)
    if skipped:
        yield Flag(code=f"patterns-lost:{skipped}", reason=f"{skipped} of its patterns were left out")
    if failed:
        yield Flag(code="incomplete", reason=f"{failed} of {len(attempts)} repetitions did not come to their end")


def _payload_flag(phases: Sequence[PhaseRecord], pattern: Pattern) -> list[Flag]:
    shares = [
        seconds_of(phase, "payload_s") / seconds_of(phase, "pattern_s")
        for phase in phases
        if seconds_of(phase, "pattern_s") > 0
    ]
    alone = pattern.type in _ALONE and phases[-1].ranks > 1
    if not alone or not shares or max(shares) <= _MOST_PAYLOAD:
        return []
    reason = (
        f"{percent(max(shares))} of its time went into payload or its verification, untimed, while other processes had "
        "the target to themselves: --verify none leaves that out"
    )
    return [Flag(code="payload-beside", reason=reason)]


def time_rows(io_run: BEffIoRun, target: str, level: float) -> list[Row]:
    """Make the rows of time spent on ``target``, with the rounds as repetitions.

    All sets of hints are together, since they share launches.
    """
    mine = {place: spent for place, spent in overheads(io_run).items() if place.target == target}
    runs = {launch.ranks: launch.run for launch in io_run.launches}
    rows: list[Row] = []
    for access, ranks in dict.fromkeys((place.access, place.ranks) for place in mine):
        found = [spent for place, spent in mine.items() if (place.access, place.ranks) == (access, ranks)]
        for part in TOLD:
            values = [spent.told[part] for spent in found if part in spent.told]
            own: dict[str, Scalar] = {"access": access, "part": part, **_common_params(runs[ranks], io_run, ALL_SETS)}
            rows += [RowFrame(TIME, "s", target, own).row(values, level)] if values else []
    return rows


# The original counts in 10^6 bytes.
MEGA: Final = 1e6
UNIT: Final = "MB/s"


@dataclass(frozen=True)
class SpotScores:
    """The scores of one partition.

    ``rows``: of the partition. ``own``: what voids its value, ``whole``: what voids that of all its partitions.
    """

    spot: Spot
    hint_set: str
    rows: Sequence[Row]
    own: Sequence[str]
    whole: Sequence[str]

    @property
    def value(self) -> Row | None:
        """Its b_eff_io."""
        return first(self.rows, B_EFF_IO)

    @property
    def place(self) -> dict[str, str | int]:
        """The numbers that say which target, set of hints and partition a finding is about."""
        return {"target": self.spot.target, "hint_set": self.hint_set, "ranks": self.spot.ranks}


def score_name(what: str, ranks: int | None, hint_set: str = "", target: str = "") -> str:
    """Return a name such as ``b_eff_io of 4 processes with hints frost on scratch``."""
    words = [
        what,
        "" if ranks is None else f"of {processes(ranks)}",
        f"with hints {hint_set}" if hint_set else "",
        f"on {target}" if target else "",
    ]
    return " ".join(filter(None, words))


def best(found: Sequence[SpotScores]) -> SpotScores | None:
    """Return the partition with the largest value, or None where none has one; the first of equals wins."""
    known = [one for one in found if one.value is not None]
    return max(known, key=lambda one: one.value.median if one.value else 0.0, default=None)


def b_eff_io_scores(by_target: Mapping[str, Sequence[SpotScores]]) -> list[Score]:
    """Return the scores of each target.

    First comes the maximum over partitions and hints, then that of each set, then every partition. Whatever voids any
    of its partitions voids a maximum.
    """
    scores: list[Score] = []
    for name, found in by_target.items():
        target = name if len(by_target) > 1 else ""
        sets = list(dict.fromkeys(one.hint_set for one in found))
        several = sets if len(sets) > 1 else []
        groups = {"": list(found), **{one: [spot for spot in found if spot.hint_set == one] for one in several}}
        for hint_set, alike in groups.items():
            if (top := best(alike)) is not None and top.value is not None:
                scores.append(_score(score_name("b_eff_io", None, hint_set, target), top.value, top.whole))
        for one in found:
            hint_set = one.hint_set if several else ""
            rows = [("b_eff_io", row) for row in select(one.rows, B_EFF_IO)]
            rows += [("W'", row) for row in select(one.rows, WRITE_SIDE)]
            rows += [(f"B_{access}", row) for access in ACCESSES for row in select(one.rows, ACCESS, access=access)]
            scores += [_score(score_name(what, one.spot.ranks, hint_set, target), row, one.own) for what, row in rows]
    return scores


def _score(name: str, row: Row, reasons: Sequence[str]) -> Score:
    return Score(
        name=name,
        unit=UNIT,
        value=row.median / MEGA,
        low=None if row.low is None or row.has_range else row.low / MEGA,
        high=None if row.high is None or row.has_range else row.high / MEGA,
        valid=not reasons,
        reasons=list(reasons),
    )
