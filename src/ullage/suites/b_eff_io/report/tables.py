# SPDX-License-Identifier: Apache-2.0
"""The tables of a b_eff_io run: values, the original's summary, patterns by type, hints, and where the time went."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from ullage.analysis.settings import select
from ullage.model.record import PhaseRecord
from ullage.model.summary import Row
from ullage.quantity import DASH, processes, significant
from ullage.report.contents import Content, Grid, Heading, Section
from ullage.report.data import ReportData
from ullage.report.grids import Column, grid_of, value_hint
from ullage.report.headlines import Rule
from ullage.report.table import Cell, number_cell
from ullage.suites.b_eff_io.overheads import PARTS, SCHEDULED, TOTAL
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
from ullage.suites.b_eff_io.report.sheets import MEGA, Sheet, best_sheets, phases_of, sheets_of, title_of
from ullage.suites.b_eff_io.rows import ACCESS, MEMORY_TIME, SUITE, TIME, TYPE, VOLUME, WRITE_SIDE
from ullage.units import format_bytes, format_time, format_volume

_DIGITS: Final = 4
_MOST_HINTS: Final = 60
Line = tuple[Access, Pattern]
_ROWS: Final[tuple[Size, ...]] = tuple(POSITIONS)


def mb(value: float | None) -> str:
    """Format a bandwidth in the original's MB/s; None gives a dash."""
    return DASH if value is None else significant(value / MEGA, _DIGITS)


def by_access(data: ReportData, sheet: Sheet, title: str) -> list[Grid]:
    """Make the original's table: rows of position, chunk and call by access, with a column for each type.

    Below each access stands what each type reached.
    """
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
    """Describe a row: its interval, verdict and grade, and what was done in which time."""
    phases = phases_of(data, row)
    return "; ".join(filter(None, [value_hint(row), row.verdict, _done(phases[-1]) if phases else ""]))


def _done(phase: PhaseRecord) -> str:
    """Say what the last repetition did.

    An example is ``123 calls a process, 1.02 s of 1.00 s scheduled, 0.10 s of it sync, ended by count``.
    """
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
    """Make the table of all 43 patterns, with the units of their schedule, and first writes without their sync."""
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
    """Return the bandwidth of a pattern, or why it has none."""
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
    """Make the table of what MPI-IO made of the hints, those that were given first.

    It is empty without records.
    """
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
    """Name the patterns: ``all patterns``, or ``scatter, shared 1k 1k+8``.

    The accesses follow where they are not all three.
    """
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


# -- all sheets together -----------------------------------------------------------------------------------------------


# So many sheets get tables; the rows of all are in tables/rows.csv.
_MOST_SHEETS: Final = 4
_SIZES: Final = (
    "l is the contiguous chunk of a process on disk, L what one call moves in memory. Calls of scatter move at least "
    "1 MiB whatever l is, those of the other types one chunk. Do not compare rows of equal l between the types."
)
_TIMES: Final = (
    "T schedules the loops. The schedule does not include syncs after writes, opening and closing of"
    " files, setting views, and making and checking data (payload). It also leaves out the time "
    "between patterns and cases, and the start of processes (launch)."
)
TimeLine = tuple[str, int, str, dict[str, Row]]


def tables(data: ReportData) -> Content | None:
    """Make the tables of a b_eff_io run; None for other suites."""
    sheets = sheets_of(data)
    if not sheets:
        return None
    shown = best_sheets(sheets, _MOST_SHEETS)
    times = _overheads(data)
    grids = [*_values(sheets), *times, *hints(data, shown)]
    for sheet in shown:
        title = title_of(sheet, sheets)
        grids += [*by_access(data, sheet, title), *by_type(data, sheet, title)]
    return Content(notes=[*_notes(sheets, shown), *([_TIMES] if times else [])], grids=grids)


def _notes(sheets: Sequence[Sheet], shown: Sequence[Sheet]) -> list[str]:
    notes = [
        f"{title_of(sheet, sheets)}: NOT VALID for comparison of different systems: {sheet.why_not_valid}."
        for sheet in sheets
        if sheet.why_not_valid
    ]
    if len(notes) > 1 and len({sheet.why_not_valid for sheet in sheets}) == 1:
        notes = [f"NOT VALID for comparison of different systems, any of them: {sheets[0].why_not_valid}."]
    if len(shown) < len(sheets):
        notes.append(
            f"Tables of {len(shown)} of {len(sheets)} partitions and sets of hints, those with the best values."
        )
    return [*notes, _SIZES] if any(sheet.accesses for sheet in sheets) else notes


def _values(sheets: Sequence[Sheet]) -> list[Grid]:
    """Make the table of the formula's numbers, with a line for each sheet."""
    several_targets = len({sheet.target for sheet in sheets}) > 1
    several_sets = len({sheet.hint_set for sheet in sheets}) > 1
    columns = [
        Column[Sheet]("target", lambda sheet: sheet.target if several_targets else "", is_number=False),
        Column[Sheet]("hints", lambda sheet: sheet.hint_set if several_sets else "", is_number=False),
        Column[Sheet]("processes", lambda sheet: str(sheet.ranks)),
        Column[Sheet]("b_eff_io MB/s", lambda sheet: _mb_of(sheet.value), hint=lambda sheet: value_hint(sheet.value)),
        _bandwidth("W'", WRITE_SIDE),
        *(_bandwidth(f"B_{access}", ACCESS, access=access) for access in ACCESSES),
        Column[Sheet]("volume of an access", _volume),
        Column[Sheet]("of memory", _share_of_memory),
        Column[Sheet]("memory / b_eff_io", _memory_time),
        Column[Sheet]("counts", _counts, is_number=False, hint=lambda sheet: sheet.why_not_valid),
    ]
    known = [sheet for sheet in sheets if sheet.value is not None]
    best = max(known, key=lambda sheet: sheet.value.median if sheet.value else 0.0, default=None)
    tail = f", the maximum {_mb_of(best.value)} MB/s with {title_of(best, sheets)}" if best and len(sheets) > 1 else ""
    return grid_of(f"Values{tail}", columns, sheets)


def _bandwidth(heading: str, metric: str, **params: str) -> Column[Sheet]:
    return Column(
        heading,
        lambda sheet: _mb_of(sheet.one(metric, **params)),
        hint=lambda sheet: value_hint(sheet.one(metric, **params)),
    )


def _mb_of(row: Row | None) -> str:
    return mb(None if row is None else row.median)


def _volume(sheet: Sheet) -> str:
    """Return the largest volume of the accesses: without --rewrite the second one moves less."""
    found = [row.median for access in ACCESSES if (row := sheet.one(VOLUME, access=access))]
    return format_volume(max(found)) if found else DASH


def _share_of_memory(sheet: Sheet) -> str:
    """Return the largest volume as a share of the memory.

    The memory is worked out from the time to move it at b_eff_io.
    """
    found = [row.median for access in ACCESSES if (row := sheet.one(VOLUME, access=access))]
    time, value = sheet.one(MEMORY_TIME), sheet.value
    if not found or time is None or value is None or not value.median:
        return DASH
    return f"{significant(max(found) / (time.median * value.median) * 100)} %"


def _memory_time(sheet: Sheet) -> str:
    row = sheet.one(MEMORY_TIME)
    return DASH if row is None else f"{significant(row.median / 60)} min"


def _counts(sheet: Sheet) -> str:
    if sheet.value is None:
        return "no value"
    return "NOT VALID" if sheet.why_not_valid else "VALID"


def _overheads(data: ReportData) -> list[Grid]:
    """Make the table of where the time went, by access and partition, and in all."""
    lines: dict[tuple[str, int, str], dict[str, Row]] = {}
    for row in select(data.rows_of(SUITE), TIME):
        place = row.target, row.count("ranks"), row.word("access")
        lines.setdefault(place, {})[row.word("part")] = row
    found: list[TimeLine] = [(*place, parts) for place, parts in lines.items()]
    several = len({line[0] for line in found}) > 1
    columns = [
        Column[TimeLine]("target", lambda line: line[0] if several else "", is_number=False),
        Column[TimeLine]("access", lambda line: line[2], is_number=False),
        Column[TimeLine]("processes", lambda line: str(line[1]) if line[1] else ""),
        *(Column(part, _seconds(part)) for part in (SCHEDULED, *PARTS, TOTAL)),
    ]
    if len(found) > 1:
        found.append(("", 0, "all", _sums(found)))
    return grid_of("Where the time of a round went", columns, found)


def _seconds(part: str) -> Callable[[TimeLine], str]:
    def text(line: TimeLine) -> str:
        row = line[3].get(part)
        return DASH if row is None else format_time(row.median)

    return text


def _sums(lines: Sequence[TimeLine]) -> dict[str, Row]:
    found: dict[str, Row] = {}
    for line in lines:
        for part, row in line[3].items():
            known = found.get(part)
            total = row.median + (known.median if known else 0.0)
            found[part] = row.model_copy(update={"median": total})
    return found


SECTION: Final = Section(
    name="b_eff_io",
    title="b_eff_io",
    doc="b_eff_io is sqrt(W' x B_read). B of an access is the mean over the five pattern types, in which"
    " scatter counts twice. W' is that of the first write, where the rewrite of scatter replaces its"
    " second weight. MB is 10^6 bytes.",
    order=4,
    part="disk",
    build=tables,
    suite=SUITE,
)

# -- headlines of the front page --------------------------------------------------------------------------------------


def _parallel_io(row: Row) -> str:
    ranks = row.count("ranks")
    return f"MPI-IO, {row.word('access')} of all patterns, {processes(ranks)}"


HEADLINES: Final = (Rule("disk", ACCESS, lambda _row: True, lambda row: row.params["access"], _parallel_io),)
