# SPDX-License-Identifier: Apache-2.0
"""Why a b_eff_io value does not count: by release 2.1, by what was asked for, by what makes it another number. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from ullage.analysis.findings.phrasing import crowded
from ullage.grouping import grouped
from ullage.model.flags import INVALID
from ullage.quantity import listing, plural, processes
from ullage.suites.b_eff_io.measured import Attempt, BEffIoRun, CellKey, facts_of
from ullage.suites.b_eff_io.options import VALID_S, BEffIoOptions
from ullage.suites.b_eff_io.patterns import SMALLEST_LMAX, TYPES, Access, PatternType
from ullage.suites.b_eff_io.values import PartitionRound, Spot, cells_of, lost_patterns, rounds_of
from ullage.units import format_bytes, format_time

NOT_VALID: Final = f"{INVALID}:b_eff_io"
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
class Criterion:
    """One of the original's. ``what``: what is asked for."""

    what: str
    reached: bool


def criteria(io_run: BEffIoRun, spots: Sequence[Spot]) -> list[Criterion]:
    """Return the three criteria of release 2.1, and whether all of ``spots`` reach them."""
    attempts = _attempts(io_run, spots)
    return [
        Criterion("scheduled time of each partition at least 30 min", io_run.options.partition_s >= VALID_S),
        Criterion("shared file pointers used for pattern type shared", uses_shared_pointers(io_run.options, attempts)),
        Criterion("no error", not any(lost_patterns(io_run, spot) for spot in spots) and not _bad_blocks(attempts)),
    ]


def _attempts(io_run: BEffIoRun, spots: Sequence[Spot]) -> list[Attempt]:
    return [one for spot in spots for found in rounds_of(io_run, spot) for one in found.attempts()]


def uses_shared_pointers(options: BEffIoOptions, attempts: Iterable[Attempt]) -> bool:
    """Tell whether shared file pointers were asked for, and used in type shared by what the engine says."""
    return options.shared_pointer and all(
        facts_of(phase).shared_pointer
        for attempt in attempts
        if attempt.key.type == "shared"
        for phase in attempt.good.values()
    )


def _bad_blocks(attempts: Iterable[Attempt]) -> int:
    return sum(attempt.bad_blocks for attempt in attempts)


def reasons_against(io_run: BEffIoRun, spots: Sequence[Spot], *, holds_data: bool = True) -> list[str]:
    """Return everything that voids the value of ``spots`` together; empty: it is VALID.

    ``holds_data``: false for a target behind which nothing keeps what is written.
    """
    attempts = _attempts(io_run, spots)
    # Shared file pointers may have been asked for without the engine having any.
    lacks_pointers = io_run.options.shared_pointer and not uses_shared_pointers(io_run.options, attempts)
    found = [
        *reasons_of_options(io_run.options),
        *([WITHOUT_SHARED_POINTERS] if lacks_pointers else []),
        *([] if holds_data else ["no storage is behind the target"]),
        *_of_places(attempts),
        *(one.text for one in [*losses_of(io_run, spots), *cuts_of(io_run, spots)]),
    ]
    for spot in spots:
        where = f" with {processes(spot.ranks)}" if len(spots) > 1 else ""
        found += [f"{text}{where}" for text in _untold(io_run, spot)]
    bad = _bad_blocks(attempts)
    return [*found, *([f"{plural(bad, 'block')} came back wrong"] if bad else [])]


def _of_places(attempts: Sequence[Attempt]) -> list[str]:
    pinnings = (one.run.pinning for one in attempts)
    found = next((one for one in pinnings if one.oversubscribed), None)
    return [] if found is None else [crowded(found.most_ranks_on_a_node, found.cores_available)]


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
        return f"{what} {_WHY[self.why]} ({_where(self.accesses, self.ranks)})"


def losses_of(io_run: BEffIoRun, spots: Sequence[Spot]) -> list[PatternOutcome]:
    """Find patterns without a value; those that share type, numbers and reason are told together."""
    groups = grouped(
        ((lost.key.type, lost.patterns, lost.why), lost)
        for lost in (one for spot in spots for one in lost_patterns(io_run, spot))
    )
    return [
        _fate(why, [(one.key, number) for one in alike for number in patterns], [one.text for one in alike])
        for (_, patterns, why), alike in groups.items()
    ]


def cuts_of(io_run: BEffIoRun, spots: Sequence[Spot]) -> list[PatternOutcome]:
    """Find patterns that ended early in some round, grouped by the reason."""
    found: dict[str, dict[tuple[CellKey, int], None]] = {}
    for attempt in _attempts(io_run, spots):
        for pattern, phase in attempt.good.items():
            why = facts_of(phase).end
            if why in CUTS:
                found.setdefault(why, {})[attempt.key, pattern] = None
    return [_fate(why, list(cells)) for why, cells in found.items()]


def _fate(why: str, cells: Sequence[tuple[CellKey, int]], said: Sequence[str] = ()) -> PatternOutcome:
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


def _where(accesses: Sequence[Access], ranks: Sequence[int]) -> str:
    many = "process" if tuple(ranks) == (1,) else "processes"
    return f"{listing(accesses)} with {listing([f'{one:,}' for one in ranks])} {many}"


def _untold(io_run: BEffIoRun, spot: Spot) -> list[str]:
    """Name the types that no round has tried to the end, as when somebody stopped the run."""
    rounds = rounds_of(io_run, spot)
    lacking = [
        key for key in cells_of(io_run, spot) if not any(_is_tried(found, key.access, key.type) for found in rounds)
    ]
    by_access = grouped((key.access, key.type) for key in lacking)
    return [
        f"{access} did not run" if len(kinds) == len(TYPES) else f"{access} of type {listing(kinds)} did not run"
        for access, kinds in by_access.items()
    ]


def _is_tried(found: PartitionRound, access: Access, kind: PatternType) -> bool:
    attempt = found.attempt(access, kind)
    return attempt is not None and attempt.case.status != "interrupted"


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


WITHOUT_SHARED_POINTERS: Final = "pattern type shared does without shared file pointers"


def reasons_of_options(options: BEffIoOptions) -> list[str]:
    """Return what was asked for that speaks against a valid value; empty where nothing does."""
    found: list[str] = []
    if options.partition_s < VALID_S:
        each = " for each partition" if len(options.partitions) > 1 else ""
        found.append(f"the scheduled time is {format_time(options.partition_s)}{each}, below 30 min")
    if options.rule != "2.1":
        found.append(f"loops end by the rule of release {options.rule}, not that of 2.1")
    if not options.shared_pointer:
        found.append(WITHOUT_SHARED_POINTERS)
    if options.verify == "none":
        found.append("what is read is not verified")
    if options.lmax is not None and options.lmax < SMALLEST_LMAX:
        found.append(f"Lmax is {format_bytes(options.lmax)}, below {format_bytes(SMALLEST_LMAX)}")
    return found


def is_look(reasons: Sequence[str], options: BEffIoOptions) -> bool:
    """Tell whether only what was asked for speaks against a value: a short time, and patterns that it cut short.

    False where nothing speaks against it.
    """
    asked = reasons_of_options(options)
    return bool(reasons) and all(one in asked or (asked and _WHY["overtime"] in one) for one in reasons)
