# SPDX-License-Identifier: Apache-2.0
"""The values of one partition in one round, by type, by access, and b_eff_io; and why a value does not count. Pure.

A type that was tried without any pattern going well counts as 0, so the value is a lower bound, and not valid; one that
was not tried, or that somebody stopped, leaves no value.

A value is void by the criteria of release 2.1, by what was asked for, and by what makes it another number.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from ullage.analysis.findings.phrasing import crowded
from ullage.grouping import grouped
from ullage.model.flags import INVALID
from ullage.quantity import listing, plural, processes
from ullage.suites.b_eff_io.measured import Attempt, BEffIoRun, CellKey, end_of
from ullage.suites.b_eff_io.options import VALID_S, BEffIoOptions
from ullage.suites.b_eff_io.patterns import (
    ACCESSES,
    REWRITTEN_TYPE,
    SEGMENTED_TYPES,
    SMALLEST_LMAX,
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
from ullage.units import format_bytes, format_time

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


@dataclass(frozen=True)
class PartitionRound:
    """What one round gives for one spot."""

    io_run: BEffIoRun
    spot: Spot
    number: int

    def attempts(self, accesses: Iterable[Access] = ACCESSES) -> list[Attempt]:
        """Return the attempts that count, of all types that were tried."""
        keys = (self.spot.key(access, kind) for access in accesses for kind in TYPES)
        return [found for key in keys if (found := self.io_run.attempt(self.number, key)) is not None]

    def type(self, access: Access, kind: PatternType) -> float | None:
        """Return bw(access, type) in bytes/s.

        It is 0 where the type was given up or nothing went well, None where it was not tried or somebody stopped it.
        """
        key = self.spot.key(access, kind)
        attempt = self.io_run.attempt(self.number, key)
        if attempt is None:
            return 0.0 if is_given_up(self.io_run, self.number, key) else None
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


def rounds_of(io_run: BEffIoRun, spot: Spot) -> list[PartitionRound]:
    """Return the spot's values of each round in which anything was tried."""
    return [PartitionRound(io_run, spot, number) for number in io_run.rounds]


def memory_bytes(options: BEffIoOptions) -> int | None:
    """Return the memory that volumes are compared with, or None where nobody said it."""
    if options.memory_total is not None:
        return options.memory_total
    return None if options.memory is None else options.memory * max(options.partitions)


def makers_of(key: CellKey) -> list[CellKey]:
    """Return the cells that make what ``key`` uses: its data, or the counts of segments.

    Without any of them it has nothing. Empty for first writes of scatter, shared and separated, which need nothing.
    """
    if key.access != "write":
        return [replace(key, access="write")]
    return [replace(key, type=kind) for kind in TIMED_TYPES] if key.type in SEGMENTED_TYPES else []


def is_given_up(io_run: BEffIoRun, number: int, key: CellKey) -> bool:
    """Tell whether a cell was not tried in that round because it would not do.

    What it needs was not made, since a case before it did not go well; or two patterns of its type hung.
    """
    if io_run.attempt(number, key) is not None:
        return False

    def is_lacking(maker: CellKey) -> bool:
        attempt = io_run.attempt(number, maker)
        return is_given_up(io_run, number, maker) if attempt is None else attempt.case.status in ("failed", "timeout")

    if (makers := makers_of(key)) and all(map(is_lacking, makers)):
        return True
    return len({one.hung for one in _hung_like(io_run, key) if one.round <= number}) >= HANGS_TO_GIVE_UP


def _hung_like(io_run: BEffIoRun, key: CellKey) -> list[Attempt]:
    """Return all attempts that a hang ended in the same type, partition, set of hints and target."""
    every = (one for launch in io_run.launches for one in launch.attempts)
    return [one for one in every if one.hung is not None and replace(one.key, access=key.access) == key]


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
    found: dict[tuple[CellKey, str, str], set[int]] = {}
    for number in io_run.rounds:
        for key in cells_of(io_run, spot):
            attempt = io_run.attempt(number, key)
            if attempt is None and is_given_up(io_run, number, key):
                found.setdefault((key, "given up", ""), set()).update(_numbers(key))
            elif attempt is not None and attempt.case.status != "interrupted":
                for pattern, why, text in _lost_of(io_run, attempt):
                    found.setdefault((key, why, text), set()).add(pattern)
    return [Lost(key, tuple(sorted(numbers)), why, text) for (key, why, text), numbers in found.items()]


def _lost_of(io_run: BEffIoRun, attempt: Attempt) -> list[tuple[int, str, str]]:
    hung = {one.hung: ("timeout", one.error) for one in _hung_like(io_run, attempt.key)}
    lost = [(number, *hung.get(number, ("skipped", ""))) for number in attempt.skipped]
    if not attempt.is_whole:
        bad = {phase.phase: phase for phase in attempt.phases if phase.status != "ok" or phase.bad_blocks}
        lost += [(int(name.removeprefix("pattern-")), "failed", attempt.error) for name in bad]
        if attempt.hung is not None:
            lost.append((attempt.hung, "timeout", attempt.error))
        known = {*attempt.good, *(number for number, _, _ in lost)}
        # The case had not come to those after the last that went well.
        done = max(attempt.good, default=-1)
        lost += [(n, "missing", attempt.error) for n in _numbers(attempt.key) if n > done and n not in known]
    return lost


def _numbers(key: CellKey) -> list[int]:
    """Return the patterns of a type but fill-ups: they may have no bytes, and then do not run."""
    return [one.number for one in patterns_of(key.type) if one.size != "fill-up"]


# These reasons ended a pattern before it had done what it was to do.
CUTS: Final = ("overtime", "space")
_WHY: Final = {
    "overtime": "ended early for lack of time",
    "space": "ended early for lack of space",
    "timeout": "hung, left out from then on",
    "skipped": "left out",
    "failed": "failed",
    "missing": "did not run after an error",
    "given up": "given up, since others of the type hung or failed",
}


@dataclass(frozen=True, slots=True)
class PatternOutcome:
    """What became of some patterns: those of one type that are lost for the same reason, or all that one has cut short.

    ``count``: in all cells together. ``said``: the first error, where there is one.
    """

    why: str
    count: int
    patterns: tuple[int, ...]
    types: tuple[PatternType, ...]
    accesses: tuple[Access, ...]
    ranks: tuple[int, ...]
    said: str = ""

    @property
    def is_cut(self) -> bool:
        """Whether they have a value, but ended early."""
        return self.why in CUTS

    @property
    def text(self) -> str:
        """``pattern 12 of type shared hung (write and read with 4 processes)``, ``7 patterns ended early ...``."""
        what = plural(self.count, "pattern")
        if not self.is_cut:
            numbers = listing([str(one) for one in self.patterns])
            what = f"pattern{'' if len(self.patterns) == 1 else 's'} {numbers} of type {self.types[0]}"
        many = "process" if self.ranks == (1,) else "processes"
        where = f"{listing(self.accesses)} with {listing([f'{one:,}' for one in self.ranks])} {many}"
        return f"{what} {_WHY[self.why]} ({where})"


def outcomes_of(io_run: BEffIoRun, spots: Sequence[Spot]) -> list[PatternOutcome]:
    """Find patterns without a value, then those that ended early in some round by the reason.

    Lost patterns that share type, numbers and reason are told together.
    """
    groups = grouped(
        ((lost.key.type, lost.patterns, lost.why), lost) for spot in spots for lost in lost_patterns(io_run, spot)
    )
    cuts = grouped(
        (why, (attempt.key, pattern))
        for attempt in _attempts(io_run, spots)
        for pattern, phase in attempt.good.items()
        if (why := end_of(phase)) in CUTS
    )
    return [
        *(
            _outcome(why, [(one.key, number) for one in alike for number in patterns], [one.text for one in alike])
            for (_, patterns, why), alike in groups.items()
        ),
        *(_outcome(why, list(dict.fromkeys(cells))) for why, cells in cuts.items()),
    ]


def _outcome(why: str, cells: Sequence[tuple[CellKey, int]], said: Sequence[str] = ()) -> PatternOutcome:
    keys = [key for key, _ in cells]
    return PatternOutcome(
        why=why,
        count=len(cells),
        patterns=tuple(sorted({pattern for _, pattern in cells})),
        types=tuple(dict.fromkeys(key.type for key in keys)),
        accesses=tuple(dict.fromkeys(key.access for key in keys)),
        ranks=tuple(sorted({key.ranks for key in keys})),
        said=next(filter(None, said), ""),
    )


NOT_VALID: Final = f"{INVALID}:b_eff_io"
_WITHOUT_SHARED_POINTERS: Final = "pattern type shared does without shared file pointers"


def criteria(io_run: BEffIoRun, spots: Sequence[Spot]) -> dict[str, bool]:
    """Return the three criteria of release 2.1, and whether all of ``spots`` reach them."""
    attempts = _attempts(io_run, spots)
    return {
        "scheduled time of each partition at least 30 min": io_run.options.partition_s >= VALID_S,
        "shared file pointers used for pattern type shared": _uses_shared_pointers(io_run.options, attempts),
        "no error": not (any(lost_patterns(io_run, spot) for spot in spots) or any(one.bad_blocks for one in attempts)),
    }


def _attempts(io_run: BEffIoRun, spots: Sequence[Spot]) -> list[Attempt]:
    return [one for spot in spots for found in rounds_of(io_run, spot) for one in found.attempts()]


def _uses_shared_pointers(options: BEffIoOptions, attempts: Iterable[Attempt]) -> bool:
    """Tell whether shared file pointers were asked for, and used in type shared by what the engine says."""
    shared = [phase for one in attempts if one.key.type == "shared" for phase in one.good.values()]
    return options.shared_pointer and all(phase.facts.get("shared_pointer") is True for phase in shared)


def reasons_against(io_run: BEffIoRun, spots: Sequence[Spot], *, holds_data: bool = True) -> list[str]:
    """Return everything that voids the value of ``spots`` together; empty: it is VALID.

    ``holds_data``: false for a target behind which nothing keeps what is written.
    """
    attempts, found = _attempts(io_run, spots), reasons_of_options(io_run.options)
    # Shared file pointers may have been asked for without the engine having any.
    if io_run.options.shared_pointer and not _uses_shared_pointers(io_run.options, attempts):
        found.append(_WITHOUT_SHARED_POINTERS)
    if not holds_data:
        found.append("no storage is behind the target")
    pinnings = (one.run.pinning for one in attempts)
    if (over := next((one for one in pinnings if one.oversubscribed), None)) is not None:
        found.append(crowded(over.most_ranks_on_a_node, over.cores_available))
    found += [one.text for one in outcomes_of(io_run, spots)]
    for spot in spots:
        where = f" with {processes(spot.ranks)}" if len(spots) > 1 else ""
        found += [f"{text}{where}" for text in _untold(io_run, spot)]
    bad = sum(one.bad_blocks for one in attempts)
    return [*found, *([f"{plural(bad, 'block')} came back wrong"] if bad else [])]


def _untold(io_run: BEffIoRun, spot: Spot) -> list[str]:
    """Name the types that no round has tried to the end, as when somebody stopped the run."""
    lacking = grouped(
        (key.access, key.type)
        for key in cells_of(io_run, spot)
        if all(one.case.status == "interrupted" for one in io_run.attempts(key))
    )
    return [
        f"{access} did not run" if len(kinds) == len(TYPES) else f"{access} of type {listing(kinds)} did not run"
        for access, kinds in lacking.items()
    ]


def conditions(options: BEffIoOptions) -> list[str]:
    """Return the choices that the definition leaves open: such values compare with their like only."""
    found: list[str] = []
    if options.is_lmax_given and options.lmax is not None:
        found.append(f"Lmax, {format_bytes(options.lmax)}, was chosen and is not 1/128 of a process's memory")
    if not options.unique_open:
        found.append("files were not opened as nobody else's (MPI_MODE_UNIQUE_OPEN)")
    if options.cache != "none":
        found.append("the page cache was asked to drop each file before it was read, which the original does not")
    return found


def reasons_of_options(options: BEffIoOptions) -> list[str]:
    """Return what was asked for that speaks against a valid value; empty where nothing does."""
    found: list[str] = []
    if options.partition_s < VALID_S:
        each = " for each partition" if len(options.partitions) > 1 else ""
        found.append(f"the scheduled time is {format_time(options.partition_s)}{each}, below 30 min")
    if options.rule != "2.1":
        found.append(f"loops end by the rule of release {options.rule}, not that of 2.1")
    if not options.shared_pointer:
        found.append(_WITHOUT_SHARED_POINTERS)
    if options.verify == "none":
        found.append("what is read is not verified")
    if options.lmax is not None and options.lmax < SMALLEST_LMAX:
        found.append(f"Lmax is {format_bytes(options.lmax)}, below {format_bytes(SMALLEST_LMAX)}")
    return found


def is_look(reasons: Sequence[str], options: BEffIoOptions) -> bool:
    """Tell whether only what was asked for speaks against a value: a short time, and patterns that ended early.

    False where nothing speaks against it.
    """
    asked, early = reasons_of_options(options), (_WHY["overtime"], _WHY["space"])
    return bool(reasons) and all(one in asked or (asked and any(why in one for why in early)) for one in reasons)
