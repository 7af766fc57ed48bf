# SPDX-License-Identifier: Apache-2.0
"""What a report shows of a b_eff_io run: values, the original's summary, patterns, hints, and where the time went."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from typing import Final, TypeVar

from ullage.analysis.settings import select
from ullage.grouping import grouped, nested
from ullage.model.summary import Row
from ullage.quantity import DASH, processes, significant
from ullage.report.answers import AnswerRule
from ullage.report.contents import Cell, Content, Grid, Heading, number_cell
from ullage.report.data import ReportData
from ullage.report.declared import PartOfReport
from ullage.report.grids import Column, grid_of, texts_grid, value_hint
from ullage.report.headlines import Rule
from ullage.suites.b_eff_io.charts import CHART, HINT_CHART
from ullage.suites.b_eff_io.measured import PARTS, SCHEDULED, TOTAL
from ullage.suites.b_eff_io.patterns import ACCESSES, PATTERNS, POSITIONS, TYPES, Access, Pattern, Size, pattern_of
from ullage.suites.b_eff_io.rows import ACCESS, CALLS, MEGA, MEMORY_TIME, SUITE, TIME, TYPE, VOLUME, WRITE_SIDE
from ullage.suites.b_eff_io.sheets import MOST_SHEETS, Sheet, best_sheets, phases_of, sheets_of, title_of
from ullage.units import format_bytes, format_time, format_volume

_DIGITS: Final = 4
_MOST_HINTS: Final = 60
LineT = TypeVar("LineT")


def _mb(row: Row | None) -> str:
    return DASH if row is None else significant(row.median / MEGA, _DIGITS)


def _words(heading: str, text: Callable[[LineT], str], hint: Callable[[LineT], str] = lambda _: "") -> Column[LineT]:
    return Column(heading, text, is_number=False, hint=hint)


def by_access(data: ReportData, sheet: Sheet, title: str) -> list[Grid]:
    """Make the original's table: rows of position, chunk and call by access, with a column for each type.

    Below each access stands what each type reached.
    """
    heads = [Heading("access"), Heading("pos", is_number=True), Heading("chunk l", is_number=True)]
    heads += [Heading("call L of scatter", is_number=True), *(Heading(kind, is_number=True) for kind in TYPES)]
    lines = [
        line
        for access in sheet.accesses
        for line in [*(_position(data, sheet, access, size) for size in POSITIONS), _totals(sheet, access)]
        if any(cell.text not in ("", DASH) for cell in line[4:])
    ]
    return [Grid(f"{title}: by access, MB/s", heads, lines)] if lines else []


def _position(data: ReportData, sheet: Sheet, access: Access, size: Size) -> list[Cell]:
    pattern = pattern_of("scatter", size)
    sizes = () if pattern is None else (pattern.chunk(sheet.lmax_bytes), pattern.call(sheet.lmax_bytes))
    shown = [number_cell(format_bytes(bytes_) if bytes_ else size) for bytes_ in sizes]
    cells = [_cell(data, sheet, access, pattern_of(kind, size)) for kind in TYPES]
    return [Cell(access), number_cell(str(POSITIONS[size])), *shown, *cells]


def _cell(data: ReportData, sheet: Sheet, access: Access, pattern: Pattern | None) -> Cell:
    if pattern is None:
        return number_cell(DASH)
    if (row := sheet.pattern(access, pattern)) is not None:
        return number_cell(_mb(row), hint=_hint(data, row))
    why = sheet.lost.get((access, pattern.number), "")
    return number_cell(why, css="void") if why else number_cell(DASH)


def _totals(sheet: Sheet, access: Access) -> list[Cell]:
    found = [sheet.one(TYPE, access=access, pattern_type=kind) for kind in TYPES]
    cells = [number_cell(_mb(row), css="median", hint=value_hint(row)) for row in found]
    return [Cell(f"total-{access}", css="target"), number_cell(""), number_cell(""), number_cell(""), *cells]


def _hint(data: ReportData, row: Row) -> str:
    """Describe a row: its interval, verdict and grade, and what was done in which time by its last repetition.

    Such as ``123 calls a process, 1.02 s of 1.00 s scheduled, 0.10 s of it sync, ended by count``.
    """
    done: list[str] = []
    for phase in phases_of(data, row)[-1:]:
        taken, sync, scheduled = (
            phase.gauges.get("pattern_s"),
            phase.gauges.get("sync_s"),
            phase.facts.get("scheduled_s"),
        )
        done.append(f"{phase.facts.get('repetitions', 0)} calls a process")
        if taken is not None:
            of = f" of {format_time(float(scheduled))} scheduled" if isinstance(scheduled, (int, float)) else ""
            done.append(f"{format_time(taken.most)}{of}")
        if sync is not None and sync.most > 0:
            done.append(f"{format_time(sync.most)} of it sync")
        done.append(f"ended by {phase.facts.get('end', 'itself')}")
    return "; ".join(filter(None, [value_hint(row), row.verdict, ", ".join(done)]))


def by_type(data: ReportData, sheet: Sheet, title: str) -> list[Grid]:
    """Make the table of all 43 patterns, with the units of their schedule, and first writes without their sync."""
    lmax = sheet.lmax_bytes

    def reached(access: Access, pattern: Pattern) -> str:
        """Return the bandwidth of a pattern, or why it has none."""
        row = sheet.pattern(access, pattern)
        return _mb(row) if row is not None else sheet.lost.get((access, pattern.number), DASH)

    def hint(access: Access, pattern: Pattern) -> str:
        return _hint(data, row) if (row := sheet.pattern(access, pattern)) else ""

    def size(bytes_: int | None) -> str:
        return format_bytes(bytes_) if bytes_ else DASH

    def ratio(pattern: Pattern) -> str:
        read, write = sheet.pattern("read", pattern), sheet.pattern("write", pattern)
        return DASH if read is None or write is None or not write.median else significant(read.median / write.median)

    columns: list[Column[Pattern]] = [
        _words("type", lambda pattern: pattern.type),
        Column("no.", lambda pattern: str(pattern.number)),
        _words("pattern", lambda pattern: pattern.size),
        Column("chunk l", lambda pattern: size(pattern.chunk(lmax))),
        Column("call L", lambda pattern: size(pattern.call(lmax))),
        Column("U", lambda pattern: str(pattern.units)),
        *(Column(access, partial(reached, access), hint=partial(hint, access)) for access in ACCESSES),
        Column("write without sync", lambda pattern: _mb(sheet.pattern("write", pattern, CALLS))),
        Column("read / write", ratio),
    ]
    lines = [one for one in PATTERNS if any(reached(access, one) != DASH for access in ACCESSES)]
    return grid_of(f"{title}: by type, MB/s", columns, lines)


def hints(data: ReportData, sheets: Sequence[Sheet]) -> list[Grid]:
    """Make the table of what MPI-IO made of the hints, those that were given first.

    It is empty without records. A hint that nobody gave has an empty second word, one that was not kept an empty third.
    """
    found: dict[tuple[str, str, str, str], list[tuple[Access, Pattern]]] = {}
    for sheet in sheets:
        for access, pattern in product(sheet.accesses, PATTERNS):
            row = sheet.pattern(access, pattern)
            for phase in phases_of(data, row)[-1:] if row is not None else []:
                given, granted = phase.hints_given, phase.hints_granted
                for key in dict.fromkeys([*given, *granted]):
                    line = sheet.hint_set, key, given.get(key, ""), granted.get(key, "")
                    found.setdefault(line, []).append((access, pattern))
    lines = [
        (hint_set, key, given or DASH, granted or "ignored", _patterns_text(places))
        for (hint_set, key, given, granted), places in sorted(found.items(), key=lambda item: not item[0][2])
    ]
    heads = ["hints", "key", "given", "in force", "for"]
    return texts_grid("Hints as given and as MPI-IO reads them back", heads, lines[:_MOST_HINTS], heads)


def _patterns_text(found: Sequence[tuple[Access, Pattern]]) -> str:
    """Name the patterns, ``all patterns`` or ``scatter, shared 1k 1k+8``, and the accesses where not all three."""
    patterns, accesses = {pattern for _, pattern in found}, dict.fromkeys(access for access, _ in found)
    every = grouped((pattern.type, pattern) for pattern in PATTERNS)
    by_type = grouped((pattern.type, pattern.size) for pattern in PATTERNS if pattern in patterns)
    types = [kind if len(by_type[kind]) == len(every[kind]) else " ".join([kind, *by_type[kind]]) for kind in by_type]
    text = "all patterns" if len(patterns) == len(PATTERNS) else ", ".join(types)
    return text if len(accesses) == len(ACCESSES) else f"{text} ({', '.join(accesses)})"


_SIZES: Final = (
    "l is the contiguous chunk of a process on disk, L what one call moves in memory. Calls of scatter move at least "
    "1 MiB whatever l is, those of the other types one chunk. Do not compare rows of equal l between the types."
)
_TIMES: Final = (
    "T schedules the loops. The schedule does not include syncs after writes, opening and closing of"
    " files, setting views, and making and checking data (payload). It also leaves out the time "
    "between patterns and cases, and the start of processes (launch)."
)


def tables(data: ReportData) -> Content | None:
    """Make the tables of a b_eff_io run; None for other suites."""
    sheets = sheets_of(data)
    if not sheets:
        return None
    shown = best_sheets(sheets, MOST_SHEETS)
    times = _times(data)
    grids = [*_values(sheets), *times, *hints(data, shown)]
    for sheet in shown:
        title = title_of(sheet, sheets)
        grids += [*by_access(data, sheet, title), *by_type(data, sheet, title)]
    return Content(notes=[*_notes(sheets, shown), *([_TIMES] if times else [])], grids=grids)


def _notes(sheets: Sequence[Sheet], shown: Sequence[Sheet]) -> list[str]:
    why = {title_of(sheet, sheets): sheet.why_not_valid for sheet in sheets if sheet.why_not_valid}
    if len(why) > 1 and len({sheet.why_not_valid for sheet in sheets}) == 1:
        notes = [f"NOT VALID for comparison of different systems, any of them: {sheets[0].why_not_valid}."]
    else:
        notes = [f"{name}: NOT VALID for comparison of different systems: {reason}." for name, reason in why.items()]
    if len(shown) < len(sheets):
        notes.append(
            f"Tables of {len(shown)} of {len(sheets)} partitions and sets of hints, those with the best values."
        )
    return [*notes, _SIZES] if any(sheet.accesses for sheet in sheets) else notes


def _values(sheets: Sequence[Sheet]) -> list[Grid]:
    several_targets = len({sheet.target for sheet in sheets}) > 1
    several_sets = len({sheet.hint_set for sheet in sheets}) > 1

    def bandwidth(heading: str, row_of: Callable[[Sheet], Row | None]) -> Column[Sheet]:
        return Column(heading, lambda sheet: _mb(row_of(sheet)), hint=lambda sheet: value_hint(row_of(sheet)))

    def counts(sheet: Sheet) -> str:
        return "no value" if sheet.value is None else "NOT VALID" if sheet.why_not_valid else "VALID"

    columns: list[Column[Sheet]] = [
        _words("target", lambda sheet: sheet.target if several_targets else ""),
        _words("hints", lambda sheet: sheet.hint_set if several_sets else ""),
        Column("processes", lambda sheet: str(sheet.ranks)),
        bandwidth("b_eff_io MB/s", lambda sheet: sheet.value),
        bandwidth("W'", lambda sheet: sheet.one(WRITE_SIDE)),
        *(bandwidth(f"B_{access}", partial(Sheet.one, metric=ACCESS, access=access)) for access in ACCESSES),
        Column("volume of an access", lambda sheet: format_volume(volume) if (volume := _volume(sheet)) else DASH),
        Column("of memory", _share_of_memory),
        Column(
            "memory / b_eff_io",
            lambda sheet: f"{significant(row.median / 60)} min" if (row := sheet.one(MEMORY_TIME)) else DASH,
        ),
        _words("counts", counts, lambda sheet: sheet.why_not_valid),
    ]
    best = max(filter(lambda sheet: sheet.value, sheets), key=_median, default=None)
    tail = f", the maximum {_mb(best.value)} MB/s with {title_of(best, sheets)}" if best and len(sheets) > 1 else ""
    return grid_of(f"Values{tail}", columns, sheets)


def _median(sheet: Sheet) -> float:
    return sheet.value.median if sheet.value else 0.0


def _volume(sheet: Sheet) -> float:
    """Return the largest volume of the accesses: without --rewrite the second one moves less. 0: not known."""
    return max((row.median for row in select(sheet.rows, VOLUME)), default=0.0)


def _share_of_memory(sheet: Sheet) -> str:
    """Return the largest volume as a share of the memory, by the time to move that at b_eff_io."""
    time, volume = sheet.one(MEMORY_TIME), _volume(sheet)
    if not volume or time is None or not _median(sheet):
        return DASH
    return f"{significant(volume / (time.median * _median(sheet)) * 100)} %"


def _times(data: ReportData) -> list[Grid]:
    rows = select(data.rows_of(SUITE), TIME)
    found = nested(((row.target, row.count("ranks"), row.word("access")), row.word("part"), row.median) for row in rows)
    lines = [((target, str(ranks), access), parts) for (target, ranks, access), parts in found.items()]
    if len(lines) > 1:
        seconds = grouped(pair for _, parts in lines for pair in parts.items())
        lines.append((("", "", "all"), {part: sum(each) for part, each in seconds.items()}))
    several = len({target for target, _, _ in found}) > 1
    heads = ["target", "access", "processes", *(each := (SCHEDULED, *PARTS, TOTAL))]
    texts = [
        [
            target if several else "",
            access,
            ranks,
            *(DASH if part not in parts else format_time(parts[part]) for part in each),
        ]
        for (target, ranks, access), parts in lines
    ]
    return texts_grid("Where the time of a round went", heads, texts, ("target", "access"))


_REPORT: Final = PartOfReport(SUITE, "disk", 4)
SECTION: Final = _REPORT.section(
    "b_eff_io",
    "b_eff_io is sqrt(W' x B_read). B of an access is the mean over the five pattern types, in which"
    " scatter counts twice. W' is that of the first write, where the rewrite of scatter replaces its"
    " second weight. MB is 10^6 bytes.",
    tables,
)
CHARTS: Final = (CHART, HINT_CHART)


HEADLINE: Final = Rule(
    "disk",
    ACCESS,
    lambda _row: True,
    lambda row: row.params["access"],
    lambda row: f"MPI-IO, {row.word('access')} of all patterns, {processes(row.count('ranks'))}",
)
ANSWER: Final = AnswerRule(
    "b_eff_io",
    "How much data do all ranks write and read through MPI-IO?",
    "b_eff_io b_eff_io-hint-sets b_eff_io-types b_eff_io-odd-sizes b_eff_io-read-write",
    remarks="b_eff_io-invalid b_eff_io-cut b_eff_io-cache b_eff_io-time b_eff_io-memory-time b_eff_io-conditions",
)
