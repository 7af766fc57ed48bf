# SPDX-License-Identifier: Apache-2.0
"""Everything in the terminal: scores, findings, the best settings, what to know, part after part.

The complete table is left to the files, and what fits on one screen is ``report/screen``. ``ullage show`` prints rows
by their numbers, and one row down to its repetitions.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from ullage.analysis.settings import access_of, phase_of
from ullage.errors import UserError, one_line
from ullage.grouping import grouped
from ullage.model.record import PhaseRecord
from ullage.model.summary import Finding, Row, Summary
from ullage.parameters import suggest
from ullage.quantity import DASH, format_known, format_param, format_quantity, format_share, param_label, plural
from ullage.report import texts
from ullage.report.answers import flag_words
from ullage.report.contents import LEAD, Cards, Content, Section, built_sections, peer_ratio
from ullage.report.data import ReportData
from ullage.report.grids import Column
from ullage.report.headlines import Declaring, headlines_of, vessels
from ullage.report.row_table import columns, front_columns, front_rows
from ullage.report.screen.lines import WIDTH, narrowed, soundness_lines, wrapped
from ullage.report.sections.beside import compared, other_text
from ullage.terminal import print_fitting
from ullage.units import format_time, format_volume

if TYPE_CHECKING:
    from rich.console import Console

    from ullage.analysis.compare import Comparison

_MOST_FINDINGS_OF_A_KIND: Final = 6
_MOST_ROWS: Final = 40
_STYLES: Final = {"warning": "yellow", "advice": "cyan", "info": ""}


def print_everything(data: ReportData, console: "Console") -> None:
    """Print as ``print_report`` does.

    Of a run made of suites, first comes what is said of the whole, then each part under its name.
    """
    from rich.text import Text

    summary = data.summary
    for line in soundness_lines(data):
        for row in narrowed(line, console.width):
            console.print(Text(row.text, style=row.style), soft_wrap=True)
    if not summary.parts:
        print_report(data, console)
        return
    _print(console, texts.title(data), "bold")
    _print(console, texts.verdict_line(data.summary.rows))
    _print_sections(console, [found for found in built_sections(data) if found[0].order <= LEAD])
    parts = {part.suite for part in summary.parts}
    _print_findings(console, "Findings over the parts", [one for one in summary.findings if one.suite not in parts])
    for part in summary.parts:
        console.print()
        console.rule(Text(one_line(f"{part.suite}: {part.status}"), style="bold"), characters="=")
        # Scores stand above the parts.
        update: dict[str, object] = {"suite": part.suite, "scores": [], "parts": [], "ladders": []}
        for name in ("rows", "findings", "events"):
            update[name] = [one for one in getattr(summary, name) if one.suite == part.suite]
        print_report(replace(data, summary=summary.model_copy(update=update)), console)


def print_report(data: ReportData, console: "Console") -> None:
    """Print scores, findings, best settings or phases, all rows as long as they are few, and events."""
    summary, sections = data.summary, built_sections(data)
    _print(console, texts.title(data), "bold")
    if summary.rows:
        _print(console, texts.scope(data.view))
    _print(console, texts.verdict_line(data.summary.rows))
    _print_sections(console, [found for found in sections if found[0].order <= LEAD])
    _print_findings(console, "Findings", summary.findings)
    front = [] if summary.parts else front_rows(data.view.swept)
    _print_rows(console, "Best settings", front_columns(data.view), front)
    if len(front) < len(summary.rows) <= _MOST_ROWS and data.view.swept and not summary.parts:
        _print_rows(console, "All rows", columns(data.view), summary.rows)
    _print_sections(console, [found for found in sections if found[0].order > LEAD])
    _print_findings(console, "Events", texts.events_once(summary.events))


def _print_sections(console: "Console", sections: Iterable[tuple[Section, Content]]) -> None:
    for section, content in sections:
        console.print()
        _print(console, section.title, "bold")
        for cards in content.cards:
            _print_cards(console, cards)
        for note in content.notes:
            _print(console, note, indent=2)
        for grid in content.grids:
            if grid.title:
                _print(console, grid.title)
            heads = [(column.heading, column.is_number) for column in grid.columns]
            print_fitting(console, heads, [[cell.text for cell in row] for row in grid.rows])


def _print_cards(console: "Console", cards: Cards) -> None:
    if cards.title:
        _print(console, cards.title, indent=2)
    for card in cards.cards:
        _print(console, f"{card.name}: {card.value} {card.interval}".rstrip(), "bold", indent=2)
    wrong = not cards.valid and not cards.look
    _print(console, cards.stamp, "bold white on red" if wrong else "bold green" if cards.valid else "bold", indent=2)
    for reason in cards.reasons:
        _print(console, reason, "red" if wrong else "", indent=4)


def _print(console: "Console", text: str, style: str = "", indent: int = 0) -> None:
    from rich.padding import Padding
    from rich.text import Text

    console.print(Padding(Text(one_line(text, limit=2000), style=style), (0, 0, 0, indent), expand=False))


def _print_findings(console: "Console", heading: str, findings: Iterable[Finding]) -> None:
    groups = texts.finding_groups(findings)
    if groups:
        console.print()
        _print(console, heading, "bold")
    for kind, found in groups:
        for finding in found[:_MOST_FINDINGS_OF_A_KIND]:
            mark = "" if finding.severity == "info" else f"{finding.severity}: "
            _print(console, f"{mark}{finding.text}", _STYLES[finding.severity], indent=2)
        if (left := len(found) - _MOST_FINDINGS_OF_A_KIND) > 0:
            _print(console, f"... and {plural(left, f'more {kind} finding')} in the report", indent=2)


def _print_rows(console: "Console", heading: str, shown: Sequence[Column[Row]], rows: Sequence[Row]) -> None:
    if not rows:
        return
    console.print()
    _print(console, heading, "bold")
    heads = [(column.heading, column.is_number) for column in shown]
    print_fitting(console, heads, [[column.text(row) for column in shown] for row in rows])


_DECLARE: Final[Mapping[Declaring, str]] = {
    "machine": ": declare one with --machine",
    "ceiling": ": declare one with --ceiling",
    "": "",
}
_SHORTEST_CASE: Final = 4
_IN_NAME: Final = frozenset({"access", "phase"})
_LIST: Final = (("row", True), ("what", False), ("value", True), ("interval or range", True), ("of ceiling", True),
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
    print_fitting(console, _LIST, [_cells(index, summary.rows[index]) for index in shown])
    if len(shown) < len(indices):
        _print_line(console, f"{len(indices) - len(shown):,} more rows: --all")
    _print_line(console, "`ullage show RESULT ROW` shows one of them down to its repetitions.")


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
    _print_line(console, f"Row {index + 1}: {name_of(row)}", "bold")
    for label, text in _facts(row, data.declared_by, compared(data.summary)[0]):
        for line in wrapped(one_line(text, 4000), f"  {label:<12}", " " * 14, min(WIDTH, console.width)):
            _print_line(console, line, limit=None)
    console.print()
    heads, rows = _repetitions(row, data.phases_of(row))
    print_fitting(console, heads, rows)


def _facts(row: Row, declared_by: Declaring, found: "Comparison | None") -> Iterator[tuple[str, str]]:
    bounds = format_known(row) or "one sample, without an interval"
    kind = "" if row.has_range or row.low is None else " (95 % interval of the median)"
    yield "value", f"{format_quantity(row.median, row.unit)} {bounds}{kind}; {row.better} is better"
    if row.ceiling is not None:
        share = "" if row.share is None else f", of which {format_share(row.share)} is reached"
        ceiling = format_quantity(row.ceiling.value, row.unit)
        at = f", {row.ceiling.at[:16].replace('T', ' ')}" if row.ceiling.at else ""
        why = f". {row.ceiling.why}" if row.ceiling.why else ""
        yield "ceiling", f"{ceiling} ({row.ceiling.kind}: {row.ceiling.source}{at}){share}{why}"
    else:
        yield "ceiling", f"none is known{_DECLARE[declared_by]}"
    yield "verdict", "; ".join(["INVALID" if row.is_invalid else row.verdict, *row.verdict_reasons])
    yield "grade", row.grade or "not graded"
    for flag in row.flags:
        yield ("flag", f"{flag_words(flag)} ({flag.code})" + (f": {flag.reason}" if flag.reason else ""))
    for note in row.notes:
        yield "note", note
    if row.peer is not None:
        ratio = peer_ratio(row)
        beside = "" if ratio is None else f": our value is {ratio:.3g} of it"
        yield "peer", f"{format_quantity(row.peer.median, row.unit)} by {row.peer.tool} {row.peer.version}{beside}"
    if found is not None:
        yield from (("beside", other_text(cell)) for cell in found.cells if cell.base is row)
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


def _print_line(console: "Console", text: str, style: str = "", limit: int | None = 2000) -> None:
    from rich.text import Text

    console.print(Text(text if limit is None else one_line(text, limit), style=style))
