# SPDX-License-Identifier: Apache-2.0
"""The tables of a b_eff_io run: values, the original's summary, patterns by type, hints, and where the time went."""

from collections.abc import Callable, Sequence
from typing import Final

from ullage.model.summary import Row
from ullage.report.b_eff_io.sheets import Sheet, best_sheets, sheets_of, title_of
from ullage.report.b_eff_io.tables import by_access, by_type, hints, mb
from ullage.report.contents import Content, Grid, Section
from ullage.report.data import ReportData
from ullage.report.grids import Column, grid_of, value_hint
from ullage.report.quantity import DASH, significant
from ullage.suites.b_eff_io.overheads import PARTS, SCHEDULED, TOTAL
from ullage.suites.b_eff_io.patterns import ACCESSES
from ullage.suites.b_eff_io.rows import ACCESS, MEMORY_TIME, SUITE, TIME, VOLUME, WRITE_SIDE, select
from ullage.units import format_time, format_volume

# Tables of so many sheets; the rows of all are in tables/rows.csv.
_MOST_SHEETS: Final = 4
_SIZES: Final = (
    "l is the contiguous chunk of a process on disk, L what one call moves of its memory. Calls of scatter move 1 MiB "
    "or more whatever l is, those of the other types one chunk: rows of equal l do not compare between them."
)
_TIMES: Final = (
    "T schedules the loops; everything else is fixed beside it: sync after writes, opening and closing of files, "
    "setting views, making and checking of data (payload), what is between patterns and cases, and starting processes "
    "(launch)."
)
TimeLine = tuple[str, int, str, dict[str, Row]]


def build(data: ReportData) -> Content | None:
    """None for other suites."""
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
    """The formula's numbers, a line a sheet."""
    several_targets = len({sheet.target for sheet in sheets}) > 1
    several_sets = len({sheet.hint_set for sheet in sheets}) > 1
    columns = [
        Column[Sheet]("target", lambda sheet: sheet.target if several_targets else "", is_number=False),
        Column[Sheet]("hints", lambda sheet: sheet.hint_set if several_sets else "", is_number=False),
        Column[Sheet]("processes", lambda sheet: str(sheet.ranks)),
        Column[Sheet]("b_eff_io MB/s", lambda sheet: _mb(sheet.value), hint=lambda sheet: value_hint(sheet.value)),
        _bandwidth("W'", WRITE_SIDE),
        *(_bandwidth(f"B_{access}", ACCESS, access=access) for access in ACCESSES),
        Column[Sheet]("volume of an access", _volume),
        Column[Sheet]("of memory", _share_of_memory),
        Column[Sheet]("memory / b_eff_io", _memory_time),
        Column[Sheet]("counts", _counts, is_number=False, hint=lambda sheet: sheet.why_not_valid),
    ]
    known = [sheet for sheet in sheets if sheet.value is not None]
    best = max(known, key=lambda sheet: sheet.value.median if sheet.value else 0.0, default=None)
    tail = f", the maximum {_mb(best.value)} MB/s with {title_of(best, sheets)}" if best and len(sheets) > 1 else ""
    return grid_of(f"Values{tail}", columns, sheets)


def _bandwidth(heading: str, metric: str, **params: str) -> Column[Sheet]:
    return Column(
        heading,
        lambda sheet: _mb(sheet.one(metric, **params)),
        hint=lambda sheet: value_hint(sheet.one(metric, **params)),
    )


def _mb(row: Row | None) -> str:
    return mb(None if row is None else row.median)


def _volume(sheet: Sheet) -> str:
    """The largest of the accesses: without --rewrite the second moves less."""
    found = [row.median for access in ACCESSES if (row := sheet.one(VOLUME, access=access))]
    return format_volume(max(found)) if found else DASH


def _share_of_memory(sheet: Sheet) -> str:
    """The memory is that whose time is told."""
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
    """Where the time went, by access and partition, and in all."""
    lines: dict[tuple[str, int, str], dict[str, Row]] = {}
    for row in select(data.rows_of(SUITE), TIME):
        place = row.target, int(row.params["ranks"]), str(row.params["access"])
        lines.setdefault(place, {})[str(row.params["part"])] = row
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
    doc="b_eff_io is sqrt(W' x B_read). B of an access is the mean over the five pattern types, scatter double; W' is "
    "that of the first write, with the rewrite of scatter in the place of its second weight. MB is 10^6 bytes.",
    order=4,
    build=build,
    suite=SUITE,
)
