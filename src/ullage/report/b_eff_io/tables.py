# SPDX-License-Identifier: Apache-2.0
"""The tables of one b_eff_io sheet: the original's, all patterns by type, and the hints in force."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from ullage.model.record import PhaseRecord
from ullage.model.summary import Row
from ullage.report.b_eff_io.sheets import MEGA, Sheet, phases_of
from ullage.report.contents import Grid, Heading
from ullage.report.data import ReportData
from ullage.report.grids import Column, grid_of, value_hint
from ullage.report.quantity import DASH, significant
from ullage.report.table import Cell, number_cell
from ullage.suites.b_eff_io.patterns import (
    ACCESSES,
    PATTERNS,
    POSITIONS,
    TYPES,
    Access,
    Pattern,
    PatternType,
    Size,
    patterns_of,
)
from ullage.suites.b_eff_io.rows import TYPE
from ullage.units import format_bytes, format_time

_DIGITS: Final = 4
_MOST_HINTS: Final = 60
Line = tuple[Access, Pattern]
_ROWS: Final[tuple[Size, ...]] = tuple(POSITIONS)


def mb(value: float | None) -> str:
    """In the original's MB/s."""
    return DASH if value is None else significant(value / MEGA, _DIGITS)


def by_access(data: ReportData, sheet: Sheet, title: str) -> list[Grid]:
    """Rows of the original's table: position, chunk and call by access, a column a type, and what each type reached."""
    heads = [Heading("access"), Heading("pos", is_number=True), Heading("chunk l", is_number=True)]
    heads += [Heading("call L of scatter", is_number=True), *(Heading(kind, is_number=True) for kind in TYPES)]
    lines = [
        line
        for access in sheet.accesses
        for line in [*(_position(data, sheet, access, size) for size in _ROWS), _totals(sheet, access)]
        if any(cell.text not in ("", DASH) for cell in line[4:])
    ]
    return [Grid(f"{title}: by access, MB/s", heads, lines)] if lines else []


def _position(data: ReportData, sheet: Sheet, access: Access, size: Size) -> list[Cell]:
    pattern = next(one for one in patterns_of("scatter") if one.size == size)
    cells = [_cell(data, sheet, access, kind, size) for kind in TYPES]
    sizes = (pattern.chunk(sheet.lmax_bytes), pattern.call(sheet.lmax_bytes))
    shown = [number_cell(format_bytes(bytes_) if bytes_ else size) for bytes_ in sizes]
    return [Cell(access), number_cell(str(POSITIONS[size])), *shown, *cells]


def _cell(data: ReportData, sheet: Sheet, access: Access, kind: PatternType, size: Size) -> Cell:
    row = sheet.cell(access, kind, size)
    if row is None:
        why = sheet.why_lost(access, kind, size)
        return number_cell(why, css="void") if why else number_cell(DASH)
    return number_cell(mb(row.median), hint=_hint(data, row))


def _totals(sheet: Sheet, access: Access) -> list[Cell]:
    found = [sheet.one(TYPE, access=access, pattern_type=kind) for kind in TYPES]
    cells = [number_cell(mb(row.median if row else None), css="median", hint=value_hint(row)) for row in found]
    return [Cell(f"total-{access}", css="target"), number_cell(""), number_cell(""), number_cell(""), *cells]


def _hint(data: ReportData, row: Row) -> str:
    """Interval, verdict and grade; what was done in which time."""
    phases = phases_of(data, row)
    return "; ".join(filter(None, [value_hint(row), row.verdict, _done(phases[-1]) if phases else ""]))


def _done(phase: PhaseRecord) -> str:
    """Of the last repetition: ``123 calls, 1.02 s of 1.00 s scheduled, 0.10 s of it sync, ended by count``."""
    facts, gauges = phase.facts, phase.gauges
    taken, sync = gauges.get("pattern_s"), gauges.get("sync_s")
    scheduled = facts.get("scheduled_s")
    words = [f"{facts.get('repetitions', 0)} calls a process"]
    if taken is not None:
        of = f" of {format_time(float(scheduled))} scheduled" if isinstance(scheduled, (int, float)) else ""
        words.append(f"{format_time(taken.most)}{of}")
    if sync is not None and sync.most > 0:
        words.append(f"{format_time(sync.most)} of it sync")
    return ", ".join([*words, f"ended by {facts.get('end', 'itself')}"])


def by_type(data: ReportData, sheet: Sheet, title: str) -> list[Grid]:
    """All 43 patterns, with the units of their schedule, and first writes without their sync."""
    lmax = sheet.lmax_bytes

    def of(access: Access) -> Callable[[Pattern], str]:
        return lambda pattern: _reached(sheet, access, pattern)

    def hint(access: Access) -> Callable[[Pattern], str]:
        return lambda pattern: _hint(data, row) if (row := sheet.pattern(access, pattern)) else ""

    def calls(pattern: Pattern) -> str:
        row = sheet.calls("write", pattern)
        return DASH if row is None else mb(row.median)

    columns = [
        Column[Pattern]("type", lambda pattern: pattern.type, is_number=False),
        Column[Pattern]("no.", lambda pattern: str(pattern.number)),
        Column[Pattern]("pattern", lambda pattern: pattern.size, is_number=False),
        Column[Pattern]("chunk l", lambda pattern: _size(pattern.chunk(lmax))),
        Column[Pattern]("call L", lambda pattern: _size(pattern.call(lmax))),
        Column[Pattern]("U", lambda pattern: str(pattern.units)),
        *(Column[Pattern](access, of(access), hint=hint(access)) for access in ACCESSES),
        Column[Pattern]("write without sync", calls),
        Column[Pattern]("read / write", lambda pattern: _ratio(sheet, pattern)),
    ]
    lines = [one for one in PATTERNS if any(_reached(sheet, access, one) != DASH for access in ACCESSES)]
    return grid_of(f"{title}: by type, MB/s", columns, lines)


def _reached(sheet: Sheet, access: Access, pattern: Pattern) -> str:
    """Its bandwidth, or why it has none."""
    row = sheet.pattern(access, pattern)
    return mb(row.median) if row is not None else sheet.lost.get((access, pattern.number), DASH)


def _size(bytes_: int | None) -> str:
    return format_bytes(bytes_) if bytes_ else DASH


def _ratio(sheet: Sheet, pattern: Pattern) -> str:
    read, write = sheet.pattern("read", pattern), sheet.pattern("write", pattern)
    return DASH if read is None or write is None or not write.median else significant(read.median / write.median)


@dataclass(frozen=True)
class HintLine:
    """A hint as it was given and as it was in force. ``given`` empty: nobody gave it; ``granted`` empty: not kept."""

    hint_set: str
    key: str
    given: str
    granted: str


def hints(data: ReportData, sheets: Sequence[Sheet]) -> list[Grid]:
    """What MPI-IO made of the hints, those that were given first. None without records."""
    found: dict[HintLine, list[Line]] = {}
    for sheet in sheets:
        for access in sheet.accesses:
            for pattern in PATTERNS:
                row = sheet.pattern(access, pattern)
                phases = phases_of(data, row) if row is not None else []
                for phase in phases[-1:]:
                    for line in _hint_lines(sheet, phase):
                        found.setdefault(line, []).append((access, pattern))
    lines = sorted(found, key=lambda line: (not line.given, list(found).index(line)))[:_MOST_HINTS]
    columns = [
        Column[HintLine]("hints", lambda line: line.hint_set, is_number=False),
        Column[HintLine]("key", lambda line: line.key, is_number=False),
        Column[HintLine]("given", lambda line: line.given or DASH, is_number=False),
        Column[HintLine]("in force", lambda line: line.granted or "ignored", is_number=False),
        Column[HintLine]("for", lambda line: patterns_text(found[line]), is_number=False),
    ]
    return grid_of("Hints as given and as MPI-IO reads them back", columns, lines)


def _hint_lines(sheet: Sheet, phase: PhaseRecord) -> Iterable[HintLine]:
    given, granted = phase.hints_given, phase.hints_granted
    for key in [*given, *(key for key in granted if key not in given)]:
        yield HintLine(sheet.hint_set, key, given.get(key, ""), granted.get(key, ""))


def patterns_text(found: Sequence[Line]) -> str:
    """``all patterns``, ``scatter, shared 1k and 1k+8``, with the accesses where it is not the same in all."""
    numbers = {pattern.number for _, pattern in found}
    accesses = list(dict.fromkeys(access for access, _ in found))
    if len(numbers) == len(PATTERNS):
        text = "all patterns"
    else:
        text = ", ".join(filter(None, (_type_text(kind, numbers) for kind in TYPES)))
    return text if len(accesses) == len(ACCESSES) else f"{text} ({', '.join(accesses)})"


def _type_text(kind: PatternType, numbers: set[int]) -> str:
    every = patterns_of(kind)
    sizes = [pattern.size for pattern in every if pattern.number in numbers]
    if not sizes:
        return ""
    return kind if len(sizes) == len(every) else f"{kind} {' '.join(sizes)}"
