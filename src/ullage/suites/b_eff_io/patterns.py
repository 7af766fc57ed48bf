# SPDX-License-Identifier: Apache-2.0
"""What b_eff_io is made of, as release 2.1 has it: 43 patterns of five types, three accesses, eight rows of a table.

A pattern moves contiguous chunks on disk (l) with calls of so much contiguous memory (L), and has its share of the
scheduled time, in units (U). All sizes are whole MPI_DOUBLEs. Pure.

b_eff_io of a partition is sqrt(W' x B_read). B of an access is the mean over the five pattern types, scatter double; W'
is that of the first write, in which the rewrite of scatter takes the place of its second weight.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

PatternType: TypeAlias = Literal["scatter", "shared", "separated", "segmented", "seg_coll"]
Access: TypeAlias = Literal["write", "rewrite", "read"]
Size: TypeAlias = Literal["first", "Lmax", "2M calls", "1M", "32k", "1k", "32k+8", "1k+8", "1M+8", "fill-up"]

# Types stand in the order of the definition, by their numbers 0 to 4, and have their names in hint files.
TYPES: Final[tuple[PatternType, ...]] = ("scatter", "shared", "separated", "segmented", "seg_coll")
ACCESSES: Final[tuple[Access, ...]] = ("write", "rewrite", "read")
# Types whose first write goes on until its time is over; everything else repeats counts.
TIMED_TYPES: Final[tuple[PatternType, ...]] = ("scatter", "shared", "separated")
SEGMENTED_TYPES: Final[tuple[PatternType, ...]] = ("segmented", "seg_coll")
# Where the rewrite of other types is not asked for, this one is rewritten nevertheless: the formula needs it.
REWRITTEN_TYPE: Final[PatternType] = "scatter"

KIB: Final = 1 << 10
MIB: Final = 1 << 20
SMALLEST_LMAX: Final = 2 * MIB
LARGEST_LMAX: Final = 1024 * MIB
# Lmax is this part of a process's memory.
_MEMORY_OVER_LMAX: Final = 128

# The original's table has these rows: chunk, row, place on the x axis (0.5 to 10.5). Pattern 2 has its own line, 8.
ROWS: Final[tuple[Size, ...]] = ("1k", "1k+8", "32k", "32k+8", "1M", "1M+8", "Lmax")
POSITIONS: Final[dict[Size, int]] = {**{size: row for row, size in enumerate(ROWS, start=1)}, "2M calls": 8}
X_POSITIONS: Final[dict[Size, int]] = dict(zip(ROWS, (1, 2, 4, 5, 7, 8, 10), strict=True))
X_LABELS: Final[dict[Size, str]] = dict(zip(ROWS, ("1k", "+8", "32k", "+8", "1M", "+8", "Lmax"), strict=True))
# This maps each well-formed chunk to the one that is 8 bytes longer.
MISALIGNED: Final[dict[Size, Size]] = {"1k": "1k+8", "32k": "32k+8", "1M": "1M+8"}

_WELL_FORMED: Final[dict[Size, int]] = {"first": MIB, "2M calls": MIB, "1M": MIB, "32k": 32 * KIB, "1k": KIB}
_CHUNKS: Final = _WELL_FORMED | {longer: _WELL_FORMED[size] + 8 for size, longer in MISALIGNED.items()}
# A call of type scatter moves so many chunks; a call of the other types always moves one.
_SCATTERED: Final[dict[Size, int]] = {"2M calls": 2, "32k": 32, "1k": 1024, "32k+8": 32, "1k+8": 1024}


@dataclass(frozen=True)
class Pattern:
    """One of the 43. ``units``: 0 is done once."""

    number: int
    type: PatternType
    size: Size
    units: int

    @property
    def phase(self) -> str:
        """Its name in records."""
        return f"pattern-{self.number:02}"

    @property
    def position(self) -> int | None:
        """Its row in the original's table: 1 to 7 by chunk, 8 for the calls of 2 MiB; None where it has none."""
        return POSITIONS.get(self.size)

    @property
    def hint_chunk(self) -> str:
        """What hint files call its chunk; what opens or fills a file goes with the chunks of 1 MiB."""
        if self.size == "Lmax":
            return self.size
        return str(_CHUNKS.get(self.size, MIB))

    def chunk(self, lmax: int) -> int | None:
        """Return l, contiguous bytes of a process on disk; None for the fill-up, whose length the segments decide."""
        return lmax if self.size == "Lmax" else _CHUNKS.get(self.size)

    def call(self, lmax: int) -> int | None:
        """Return L, the bytes of a process that one call moves; None for the fill-up."""
        chunk = self.chunk(lmax)
        if chunk is None or self.type != "scatter":
            return chunk
        return chunk * _SCATTERED.get(self.size, 1)


def _one_chunk(largest: int) -> dict[Size, int]:
    return {"first": 0, "Lmax": largest, "1M": 2, "32k": 1, "1k": 1, "32k+8": 1, "1k+8": 1, "1M+8": 2}


_UNITS: Final[dict[PatternType, dict[Size, int]]] = {
    "scatter": {"first": 0, "Lmax": 4, "2M calls": 4, "1M": 4, "32k": 2, "1k": 2, "32k+8": 2, "1k+8": 2, "1M+8": 2},
    "shared": _one_chunk(4),
    "separated": _one_chunk(2),
    "segmented": {**_one_chunk(2), "fill-up": 0},
    "seg_coll": {**_one_chunk(2), "fill-up": 0},
}
_EACH: Final = [Pattern(0, kind, size, units) for kind in TYPES for size, units in _UNITS[kind].items()]
PATTERNS: Final = tuple(replace(pattern, number=number) for number, pattern in enumerate(_EACH))
BY_PHASE: Final = {pattern.phase: pattern for pattern in PATTERNS}
_BY_SIZE: Final = {(pattern.type, pattern.size): pattern for pattern in PATTERNS}


def patterns_of(kind: PatternType) -> list[Pattern]:
    """Return the patterns of a type, in the order in which they are done."""
    return [pattern for pattern in PATTERNS if pattern.type == kind]


def pattern_of(kind: PatternType, size: Size) -> Pattern | None:
    """Return the pattern of a type with chunks of that size, or None where the type has none."""
    return _BY_SIZE.get((kind, size))


def units_of(kind: PatternType) -> int:
    """Return the units of a type in one access: 22, 12, 10, 10 and 10, 64 together."""
    return sum(_UNITS[kind].values())


def all_units(*, rewrite: bool) -> int:
    """Return the units of the three accesses: 192, or 150 where only type scatter is rewritten."""
    each = sum(units_of(kind) for kind in TYPES)
    return 3 * each if rewrite else 2 * each + units_of(REWRITTEN_TYPE)


def types_of(access: Access, *, rewrite: bool) -> tuple[PatternType, ...]:
    """Return the types that take part in an access; without ``rewrite`` only scatter is rewritten."""
    return TYPES if rewrite or access != "rewrite" else (REWRITTEN_TYPE,)


def lmax_of(memory: int) -> int:
    """Return the largest chunk for processes with ``memory`` bytes each: 1/128 of it, from 2 MiB to 1 GiB.

    The original counts the memory in whole MiB.
    """
    return min(max(memory // MIB * (MIB // _MEMORY_OVER_LMAX), SMALLEST_LMAX), LARGEST_LMAX)


def default_partitions(ranks: int) -> list[int]:
    """Return a small, a medium and the full number of processes, rising and each once.

    They are 2^round(0.35 log2 N) and 2^round(0.70 log2 N), with the original's exceptions for 3 and 4 processes.
    """
    small, medium = _power(ranks, 20), _power(ranks, 10)
    if ranks == 3:
        small = 1
    elif ranks == 4:
        medium = 3
    return sorted({small, medium, ranks})


def _power(ranks: int, tenths: int) -> int:
    """Return 2^round(f log2 ranks) with f = 7 / ``tenths``.

    It counts in whole numbers, as halves do occur (f log2 1024 = 3.5).
    """
    power = 0
    while 1 << (tenths * (power + 1) - tenths // 2) <= ranks**7:
        power += 1
    return 1 << power


WEIGHTS: Final = len(TYPES) + 1


def pattern_bandwidth(bytes_: int, seconds: float) -> float | None:
    """Return the bandwidth of one pattern, or of a type if ``seconds`` include opening and closing its file.

    Return None where no bytes were moved or no time passed.
    """
    return bytes_ / seconds if bytes_ > 0 and seconds > 0 else None


def access_mean(types: Mapping[PatternType, float]) -> float | None:
    """Return B of an access, in which scatter counts twice, or None where a type is missing."""
    return write_side(types, types.get(REWRITTEN_TYPE, 0.0))


def write_side(write: Mapping[PatternType, float], rewrite_scatter: float) -> float | None:
    """Return W': the mean of all types of the first write and the rewrite of scatter; None where a type is missing."""
    if any(kind not in write for kind in TYPES):
        return None
    return (sum(write[kind] for kind in TYPES) + rewrite_scatter) / WEIGHTS


def b_eff_io(write_side_bandwidth: float, read: float) -> float:
    """Return the geometric mean of W' and of B of the reads."""
    return math.sqrt(write_side_bandwidth * read)


def implied_write_side(value: float, read: float) -> float:
    """Return the W' that a printed b_eff_io and mean of reads imply; the printed means of writes do not give it."""
    return value * value / read


def memory_s(memory_bytes: float, bandwidth: float) -> float:
    """Return the seconds to move all of the memory, in bytes over bytes/s; the original divides MiB by MB/s."""
    return memory_bytes / bandwidth


def unit_weighted_mean(values: Iterable[tuple[float, int]]) -> float | None:
    """Return the mean of (bandwidth, units) pairs weighted by units, or None where no pair has units.

    The original prints it for information only.
    """
    known = [(value, units) for value, units in values if units > 0]
    return sum(value * units for value, units in known) / sum(units for _, units in known) if known else None


@dataclass(frozen=True, slots=True)
class TypeTotal:
    """What one type moved in one access, and the seconds that count."""

    bytes: int
    open_s: float
    patterns_s: float
    close_s: float

    @property
    def bandwidth(self) -> float:
        """Weighted by time, so units act through the schedule alone; 0 where nothing was moved."""
        return pattern_bandwidth(self.bytes, self.open_s + self.patterns_s + self.close_s) or 0.0
