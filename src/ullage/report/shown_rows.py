# SPDX-License-Identifier: Apache-2.0
"""Rows by their numbers, and one row down to its repetitions: what ``ullage show`` prints."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from ullage.analysis.settings import access_of, phase_of
from ullage.errors import UserError, one_line
from ullage.grouping import grouped
from ullage.model.record import PhaseRecord
from ullage.model.summary import Row, Summary
from ullage.parameters import suggest
from ullage.quantity import DASH, format_known, format_param, format_quantity, format_share, param_label
from ullage.report.answers import flag_words
from ullage.report.data import ReportData
from ullage.report.headlines import Declaring, headlines_of, vessels
from ullage.report.screen.lines import folded
from ullage.report.table import peer_ratio
from ullage.terminal import text_table
from ullage.units import format_time, format_volume

if TYPE_CHECKING:
    from rich.console import Console

_DECLARE: Final[Mapping[Declaring, str]] = {
    "machine": ": declare one with --machine",
    "ceiling": ": declare one with --ceiling",
    "": "",
}
_MOST_ROWS: Final = 40
_SHORTEST_CASE: Final = 4
_IN_NAME: Final = frozenset({"access", "phase"})
_LIST: Final = (("row", True), ("what", False), ("value", True), ("interval", True), ("of ceiling", True),
                ("verdict", False), ("grade", False))  # fmt: skip


def find_rows(summary: Summary, word: str) -> list[int]:
    """Return the places of the rows that ``word`` names: a row's number from 1, a suite, a part of the machine, a case.

    An empty word names those that stand for the result. Raise ``UserError`` for a word that names none.
    """
    if not word:
        lines = headlines_of(summary)
        return [line.row for line in lines] or list(range(len(summary.rows)))
    if word.isdecimal() and 1 <= int(word) <= len(summary.rows):
        return [int(word) - 1]
    named = _named(summary)
    if word in named:
        return named[word]
    of_case = [index for index, row in enumerate(summary.rows) if row.case.startswith(word)]
    if of_case and len(word) >= _SHORTEST_CASE:
        return of_case
    right = suggest(word, list(named)) if named else "leave it out"
    raise UserError("no part, case or row of this result", word, f"{right}, or a row from 1 to {len(summary.rows)}")


def _named(summary: Summary) -> dict[str, list[int]]:
    """Return the places of rows by suite, and by the part of the machine that they stand for."""
    named = grouped((row.suite or summary.suite, index) for index, row in enumerate(summary.rows))
    for vessel in vessels(summary):
        named.setdefault(vessel.part, [index for index, row in enumerate(summary.rows) if row is vessel.row])
    return named


def name_of(row: Row) -> str:
    """Name a row, such as ``nvme read: bandwidth, ranks 2, block 1M``."""
    params = [f"{param_label(key)} {format_param(key, value)}" for key, value in row.params.items()]
    shown = [text for key, text in zip(row.params, params, strict=True) if key not in _IN_NAME]
    what = " ".join(filter(None, (row.suite, row.target, phase_of(row) or access_of(row))))
    return f"{what}: {', '.join([row.metric, *shown])}"


def print_rows(summary: Summary, indices: Sequence[int], console: "Console", *, everything: bool = False) -> None:
    """Print a line a row, with the number by which it is shown whole."""
    shown = indices if everything else indices[:_MOST_ROWS]
    console.print(text_table(_LIST, [_cells(index, summary.rows[index]) for index in shown]))
    if len(shown) < len(indices):
        _print(console, f"{len(indices) - len(shown):,} more rows: --all")
    _print(console, "`ullage show RESULT ROW` shows one of them down to its repetitions.")


def _cells(index: int, row: Row) -> list[str]:
    return [
        str(index + 1),
        name_of(row),
        format_quantity(row.median, row.unit),
        format_known(row) or DASH,
        format_share(row.share),
        "INVALID" if row.is_invalid else row.verdict,
        row.grade or DASH,
    ]


def print_row(data: ReportData, index: int, console: "Console") -> None:
    """Print everything known of one row, and each repetition behind it."""
    row = data.summary.rows[index]
    _print(console, f"Row {index + 1}: {name_of(row)}", "bold")
    for label, text in _facts(row, data.declared_by):
        for line in folded(text, " " * 14, f"  {label:<12}"):
            _print(console, line.text, limit=None)
    console.print()
    heads, rows = _repetitions(row, data.phases_of(row))
    console.print(text_table(heads, rows))


def _facts(row: Row, declared_by: Declaring) -> Iterator[tuple[str, str]]:
    bounds = format_known(row) or "one sample, without an interval"
    kind = "" if row.has_range or row.low is None else " (95 % interval of the median)"
    yield "value", f"{format_quantity(row.median, row.unit)} {bounds}{kind}; {row.better} is better"
    if row.ceiling is not None:
        share = "" if row.share is None else f", of which {format_share(row.share)} is reached"
        ceiling = format_quantity(row.ceiling.value, row.unit)
        yield "ceiling", f"{ceiling} ({row.ceiling.kind}: {row.ceiling.source}){share}"
    else:
        yield "ceiling", f"none is known{_DECLARE[declared_by]}"
    yield "verdict", "; ".join(["INVALID" if row.is_invalid else row.verdict, *row.verdict_reasons])
    yield "grade", row.grade or "not graded"
    for flag in row.flags:
        yield (
            "flag",
            f"{flag_words(flag.code if flag.is_below_level else flag.kind)} ({flag.code})"
            + (f": {flag.reason}" if flag.reason else ""),
        )
    for note in row.notes:
        yield "note", note
    if row.peer is not None:
        ratio = peer_ratio(row)
        beside = "" if ratio is None else f": our value is {ratio:.3g} of it"
        yield "peer", f"{format_quantity(row.peer.median, row.unit)} by {row.peer.tool} {row.peer.version}{beside}"
    if row.case:
        yield "case", row.case


def _repetitions(row: Row, phases: Sequence[PhaseRecord]) -> tuple[list[tuple[str, bool]], list[list[str]]]:
    """Return heads and lines of the values, with the records beside them where each value has one."""
    values = [format_quantity(value, row.unit) for value in row.repetitions]
    heads = [("repetition", True), ("value", True)]
    if len(phases) != len(values):
        return heads, [[str(number), value] for number, value in enumerate(values, start=1)]
    told = [[value, *_record(phase)] for value, phase in zip(values, phases, strict=True)]
    records = [("took", True), ("bytes", True), ("operations", True), ("grade", False), ("cache", False)]
    return [*heads, *records], [[str(number), *cells] for number, cells in enumerate(told, start=1)]


def _record(phase: PhaseRecord) -> Iterable[str]:
    return [
        format_time(phase.elapsed_ns / 1e9),
        format_volume(phase.bytes) if phase.bytes else DASH,
        f"{phase.operations:,}",
        phase.grade,
        phase.cache_control,
    ]


def _print(console: "Console", text: str, style: str = "", limit: int | None = 2000) -> None:
    from rich.text import Text

    console.print(Text(text if limit is None else one_line(text, limit), style=style))
