# SPDX-License-Identifier: Apache-2.0
"""A b_eff_io run as the original's .sum file orders it, for people's eyes and scripts. Pure.

For each partition: a table of accesses, chunks and types, the line of pattern 2, the means, the volume, the value and
whether it counts; then the maximum over partitions. Medians where rounds were repeated. Tables and rates are in 10^6
bytes, volumes and memory in 2^20.
"""

from collections.abc import Sequence
from typing import Final

from ullage.errors import one_line
from ullage.quantity import processes
from ullage.suites.b_eff_io.measured import Course
from ullage.suites.b_eff_io.patterns import (
    ACCESSES,
    MIB,
    PATTERNS,
    ROWS,
    TYPES,
    Access,
    Pattern,
    PatternType,
    Size,
    lmax_of,
    types_of,
)
from ullage.suites.b_eff_io.rows import ACCESS, PATTERN, TYPE, VOLUME, WRITE_SIDE, select
from ullage.suites.b_eff_io.scores import MEGA, SpotScores, best
from ullage.suites.b_eff_io.validity import criteria
from ullage.suites.b_eff_io.values import memory_bytes

# What the original prints where a pattern met an error.
ERROR_VALUE: Final = -999.999
_COLUMNS: Final = ("scatter", "shared", "separated", "segmented", "seg_coll")
_RULE: Final = "-" * 84
_MINUTE_S: Final = 60.0


def summary_text(course: Course, found: Sequence[SpotScores], head: Sequence[str]) -> str:
    """Of the partitions of one set of hints on one target. ``head``: what made it, and where."""
    lines: list[str] = []
    for one in found:
        lines += [*map(one_line, head), *_options(course, one), "", *table(course, one), "", *_second(course, one), ""]
        lines += [*_means(course, one), *_value(course, one), "", *_validity(course, one), "", ""]
    return "\n".join([*lines, *_maximum(found), ""])


def _options(course: Course, one: SpotScores) -> list[str]:
    options = course.options
    lmax = options.lmax or 0
    memory = f"{options.memory / MIB:.0f} MBytes/PE" if options.memory else "memory not given"
    whole = memory_bytes(course)
    shared = "" if options.shared_pointer else ", -noshared"
    rewrite = ", -rewrite" if options.rewrite else ""
    by_memory = options.memory is not None and lmax == lmax_of(options.memory)
    in_total = "memory" if whole is None else f"{whole / MIB:.0f} MBytes"
    chosen = "" if by_memory else " (chosen)"
    parts = len(options.partitions)
    sizes = f"{memory}, {in_total} in total, Lmax = {lmax / MIB:.3f} MBytes{chosen}"
    times = f"N = {one.spot.ranks} of {options.ranks}, T = {options.time_s:g} s over {parts} partitions"
    each = f"{options.partition_s:g} s each, rule {options.rule}{shared}{rewrite}"
    return [
        f"{sizes}   [1 MByte = 2^20 bytes, 1 MB = 10^6 bytes]",
        f"{times} = {each}, hints {one_line(one.hint_set)}",
    ]


def table(course: Course, one: SpotScores) -> list[str]:
    """Access by row by type, and a total row for each access."""
    lines = [
        f"{'processes':>10} {'pos':>3} {'chunk':>10}  {'access':<13}" + "".join(f"{name:>11}" for name in _COLUMNS),
        f"{'':>10} {'':>3} {'l [bytes]':>10}  {'':<13}" + f"{'[MB/s]':>11}" * len(_COLUMNS),
        _RULE + "-" * 10,
    ]
    for access in ACCESSES:
        kinds = types_of(access, rewrite=course.options.rewrite)
        for position, size in enumerate(ROWS, start=1):
            cells = "".join(_cell(course, one, access, _pattern(kind, size)) if kind in kinds else "" for kind in TYPES)
            lines.append(f"{one.spot.ranks:>7} PE {position:>3} {_chunk(course, size):>10}  {access:<13}{cells}")
        totals = "".join(_total(one, access, kind) if kind in kinds else "" for kind in TYPES)
        lines += [f"{one.spot.ranks:>7} PE {'':>3} {'':>10}  {f'total-{access}':<13}{totals}", ""]
    return lines[:-1]


def _pattern(kind: PatternType, size: Size) -> Pattern:
    return next(pattern for pattern in PATTERNS if (pattern.type, pattern.size) == (kind, size))


def _chunk(course: Course, size: Size) -> int:
    return _pattern(TYPES[0], size).chunk(course.options.lmax or 0) or 0


def _cell(course: Course, one: SpotScores, access: Access, pattern: Pattern) -> str:
    rows = select(one.rows, PATTERN, access=access, pattern=pattern.number)
    if rows:
        return f"{rows[0].median / MEGA:11.3f}"
    return f"{ERROR_VALUE:11.3f}" if _was_tried(course, one, access, pattern.type) else f"{'-':>11}"


def _was_tried(course: Course, one: SpotScores, access: Access, kind: PatternType) -> bool:
    return bool(course.attempts(one.spot.key(access, kind)))


def _total(one: SpotScores, access: Access, kind: PatternType) -> str:
    rows = select(one.rows, TYPE, access=access, pattern_type=kind)
    return f"{rows[0].median / MEGA:11.3f}" if rows else f"{'-':>11}"


def _second(course: Course, one: SpotScores) -> list[str]:
    """Pattern 2 stands in no row of the table."""
    pattern = _pattern("scatter", "2M calls")
    values = ", ".join(f"{_cell(course, one, access, pattern).strip()} MB/s {access}" for access in ACCESSES)
    return [f"Not in the table: pattern 2 (scatter, l = 1 MByte, L = 2 MBytes): {values}"]


def _means(course: Course, one: SpotScores) -> list[str]:
    lines = [
        f"weighted average bandwidth for {access:<7} : {row.median / MEGA:.3f} MB/s on {one.spot.ranks} processes"
        for access in ACCESSES
        for row in select(one.rows, ACCESS, access=access)
    ]
    memory = memory_bytes(course)
    for access in ACCESSES:
        for row in select(one.rows, VOLUME, access=access):
            share = f" = {row.median / memory:.1%} of the total memory" if memory else ""
            lines.append(f"Total amount of data moved with {access:<7} : {row.median / MIB:.3f} MBytes{share}")
    return lines


def _value(course: Course, one: SpotScores) -> list[str]:
    row = one.value
    if row is None:
        return ["b_eff_io of these measurements: none, since not everything has run"]
    side = select(one.rows, WRITE_SIDE)[0].median / MEGA
    scheduled = f"scheduled time = {course.options.partition_s / _MINUTE_S:.1f} Min"
    lines = [
        f"W' (first writes, with the rewrite of scatter for its second weight) = {side:.3f} MB/s",
        f"b_eff_io of these measurements = {row.median / MEGA:.3f} MB/s on {one.spot.ranks} processes, {scheduled}",
    ]
    memory = memory_bytes(course)
    if memory and row.median > 0:
        minutes = memory / row.median / _MINUTE_S
        lines.append(
            f"total memory / b_eff_io = {memory / MEGA:.0f} MB / {row.median / MEGA:.3f} MB/s = {minutes:.1f} min"
        )
    return lines


def _validity(course: Course, one: SpotScores) -> list[str]:
    """VALID, or the criteria, and everything else that voids the value."""
    if not one.own:
        return ["This result is VALID."]
    found = criteria(course, [one.spot])
    marks = [f"  {'reached    ' if each.reached else 'NOT reached'} : {each.what}" for each in found]
    reasons = [f"  because {one_line(reason)}" for reason in one.own]
    return ["This result is NOT VALID. Criteria:", *marks, *reasons]


def _maximum(found: Sequence[SpotScores]) -> list[str]:
    top = best(found)
    if top is None or top.value is None:
        return []
    value = f"{top.value.median / MEGA:.3f} MB/s on {processes(top.spot.ranks)}"
    return [f"maximum over partitions: b_eff_io = {value} ({'NOT ' if top.whole else ''}VALID)"]
