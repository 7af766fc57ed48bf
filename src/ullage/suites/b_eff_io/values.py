# SPDX-License-Identifier: Apache-2.0
"""The values of one partition in one round: by type, by access, and b_eff_io. Pure.

A type that was tried without any pattern going well counts as 0, so the value is a lower bound, and not valid; one that
was not tried, or that somebody stopped, leaves no value.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from ullage.suites.b_eff_io.measured import Attempt, BEffIoRun, CellKey
from ullage.suites.b_eff_io.patterns import (
    ACCESSES,
    REWRITTEN_TYPE,
    SEGMENTED_TYPES,
    TIMED_TYPES,
    TYPES,
    Access,
    PatternType,
    access_mean,
    b_eff_io,
    patterns_of,
    types_of,
    write_side,
)

# After so many patterns of a type hung, the type is left alone: others would hang too.
HANGS_TO_GIVE_UP: Final = 2


@dataclass(frozen=True, slots=True)
class Spot:
    """A partition with one set of hints on one target."""

    target: str
    hints: int
    ranks: int

    def key(self, access: Access, kind: PatternType) -> CellKey:
        """Return the key of the cell of that access and type."""
        return CellKey(self.target, self.hints, self.ranks, access, kind)


def spots_of(io_run: BEffIoRun) -> list[Spot]:
    """Return the spots of which anything was tried, in the order of the report."""
    return list(dict.fromkeys(Spot(key.target, key.hints, key.ranks) for key in io_run.keys))


def cells_of(io_run: BEffIoRun, spot: Spot) -> list[CellKey]:
    """Return all cells that were asked for, in the order of the report."""
    rewrite = io_run.options.rewrite
    return [spot.key(access, kind) for access in ACCESSES for kind in types_of(access, rewrite=rewrite)]


class PartitionRound:
    """What one round gives for one spot."""

    def __init__(self, io_run: BEffIoRun, spot: Spot, number: int) -> None:
        self.io_run = io_run
        self.spot = spot
        self.number = number

    def attempt(self, access: Access, kind: PatternType) -> Attempt | None:
        """Return the attempt that counts, or None where the cell was not tried."""
        return self.io_run.attempt(self.number, self.spot.key(access, kind))

    def attempts(self, accesses: Iterable[Access] = ACCESSES) -> list[Attempt]:
        """Return the attempts that count, of all types that were tried."""
        found = (self.attempt(access, kind) for access in accesses for kind in TYPES)
        return [one for one in found if one is not None]

    def type(self, access: Access, kind: PatternType) -> float | None:
        """Return bw(access, type) in bytes/s.

        It is 0 where the type was given up or nothing went well, None where it was not tried or somebody stopped it.
        """
        attempt = self.attempt(access, kind)
        if attempt is None:
            return 0.0 if is_given_up(self.io_run, self.number, self.spot.key(access, kind)) else None
        return attempt.bandwidth

    def types(self, access: Access) -> dict[PatternType, float]:
        """Return the bandwidths of the types that have a value."""
        return {kind: value for kind in TYPES if (value := self.type(access, kind)) is not None}

    def access(self, access: Access) -> float | None:
        """Return B of an access; where only scatter is rewritten, its bandwidth is that of the rewrite."""
        if access == "rewrite" and not self.io_run.options.rewrite:
            return self.type(access, REWRITTEN_TYPE)
        return access_mean(self.types(access))

    @cached_property
    def write_side(self) -> float | None:
        """W'."""
        rewritten = self.type("rewrite", REWRITTEN_TYPE)
        return None if rewritten is None else write_side(self.types("write"), rewritten)

    @cached_property
    def b_eff_io(self) -> float | None:
        """The value of the partition."""
        read = self.access("read")
        return None if read is None or self.write_side is None else b_eff_io(self.write_side, read)

    def volume(self, access: Access) -> int:
        """Return the bytes that all types moved in an access."""
        return sum(attempt.total.bytes for attempt in self.attempts([access]))


def rounds_of(io_run: BEffIoRun, spot: Spot) -> list[PartitionRound]:
    """Return the spot's values of each round in which anything was tried."""
    return [PartitionRound(io_run, spot, number) for number in io_run.rounds]


def memory_bytes(io_run: BEffIoRun) -> int | None:
    """Return the memory that volumes are compared with, or None where nobody said it."""
    options = io_run.options
    if options.memory_total is not None:
        return options.memory_total
    return None if options.memory is None else options.memory * max(options.partitions)


def is_given_up(io_run: BEffIoRun, number: int, key: CellKey) -> bool:
    """Tell whether a cell was not tried in that round because it would not do.

    What it needs was not made, since a case before it did not go well; or two patterns of its type hung.
    """
    if io_run.attempt(number, key) is not None:
        return False
    makers = makers_of(key)
    if makers and all(_went_wrong(io_run.attempt(number, one)) or is_given_up(io_run, number, one) for one in makers):
        return True
    every = (one for launch in io_run.launches if launch.round <= number for one in launch.attempts)
    hung = {one.hung for one in every if replace(one.key, access=key.access) == key and one.hung is not None}
    return len(hung) >= HANGS_TO_GIVE_UP


def makers_of(key: CellKey) -> list[CellKey]:
    """Return the cells that make what ``key`` uses: its data, or the counts of segments.

    Without any of them it has nothing. Empty for first writes of scatter, shared and separated, which need nothing.
    """
    if key.access != "write":
        return [replace(key, access="write")]
    return [replace(key, type=kind) for kind in TIMED_TYPES] if key.type in SEGMENTED_TYPES else []


def _went_wrong(attempt: Attempt | None) -> bool:
    return attempt is not None and attempt.case.status in ("failed", "timeout")


@dataclass(frozen=True, slots=True)
class Lost:
    """Patterns of one cell that have no value in some round. ``why``: timeout, failed, skipped, missing or given up."""

    key: CellKey
    patterns: tuple[int, ...]
    why: str
    text: str


def lost_patterns(io_run: BEffIoRun, spot: Spot) -> list[Lost]:
    """Find the patterns that were asked for and tried, or given up, and have no value.

    Each cell and reason stands once, whatever the round.
    """
    found: dict[tuple[CellKey, str, str], dict[int, None]] = {}
    for number in io_run.rounds:
        for key in cells_of(io_run, spot):
            attempt = io_run.attempt(number, key)
            if is_given_up(io_run, number, key):
                found.setdefault((key, "given up", ""), {}).update(dict.fromkeys(_numbers(key)))
            if attempt is not None and attempt.case.status != "interrupted":
                for pattern, why, text in _lost_of(io_run, attempt):
                    found.setdefault((key, why, text), {})[pattern] = None
    return [Lost(key, tuple(sorted(numbers)), why, text) for (key, why, text), numbers in found.items()]


def _lost_of(io_run: BEffIoRun, attempt: Attempt) -> list[tuple[int, str, str]]:
    hung = _hung(io_run, attempt)
    lost = [(number, *hung.get(number, ("skipped", ""))) for number in attempt.skipped]
    if not attempt.is_whole:
        bad = {phase.phase: phase for phase in attempt.phases if phase.status != "ok" or phase.bad_blocks}
        lost += [(int(name.removeprefix("pattern-")), "failed", attempt.error) for name in bad]
        if attempt.hung is not None:
            lost.append((attempt.hung, "timeout", attempt.error))
        known = {*attempt.good, *(number for number, _, _ in lost)}
        lost += [(n, "missing", attempt.error) for n in _expected(attempt) if n not in known]
    return lost


def _expected(attempt: Attempt) -> list[int]:
    """Return the patterns that a failed case has lost because it had not come to them.

    Fill-ups are left out: they may have no bytes, and then do not run.
    """
    done = max(attempt.good, default=-1)
    return [number for number in _numbers(attempt.key) if number > done]


def _numbers(key: CellKey) -> list[int]:
    return [one.number for one in patterns_of(key.type) if one.size != "fill-up"]


def _hung(io_run: BEffIoRun, attempt: Attempt) -> dict[int, tuple[str, str]]:
    """Return by number why patterns are not tried any more, as the launches of that partition that they ended say."""
    key = attempt.key
    every = (one for launch in io_run.launches for one in launch.attempts)
    alike = (one for one in every if replace(one.key, access=key.access) == key)
    return {one.hung: ("timeout", one.error) for one in alike if one.hung is not None}
