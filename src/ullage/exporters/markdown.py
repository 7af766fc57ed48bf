# SPDX-License-Identifier: Apache-2.0
"""Findings and tables as Markdown, as GitHub and GitLab show it; and the first screen, short enough for issues."""

import re
import shlex
from collections.abc import Iterable, Sequence
from typing import Final

from ullage.exporters import Exporter
from ullage.model.summary import Finding, Row
from ullage.quantity import DASH
from ullage.report import texts
from ullage.report.bars import bars_grids
from ullage.report.contents import LEAD, Cards, Content, Grid, Section, built_sections
from ullage.report.data import ReportData
from ullage.report.first_screen import front_of
from ullage.report.grids import Column
from ullage.report.headlines import Vessel
from ullage.report.picture import Front, share_text
from ullage.report.row_table import columns, front_columns, front_rows
from ullage.report.soundness import soundness
from ullage.report.texts import escape, title, verdict_line


def render(data: ReportData) -> str:
    """Write title, verdict line, scores, findings, best settings or phases, all rows, events, command."""
    summary, view, sections = data.summary, data.view, built_sections(data)
    parts = [
        f"# {escape(texts.title(data))}",
        _soundness(data),
        escape(texts.scope(view)),
        escape(texts.verdict_line(summary.rows)),
        *(_content(section, content) for section, content in sections if section.order <= LEAD),
        _list("Findings", summary.findings),
        "" if summary.parts else _section("Best settings", table(front_columns(view), front_rows(view.swept))),
        *(_content(section, content) for section, content in sections if section.order > LEAD),
        _section("All rows", table(columns(view), summary.rows)),
        _list("Events", texts.events_once(summary.events)),
        _section("How to reproduce", _code(shlex.join(summary.command))) if summary.command else "",
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def _soundness(data: ReportData) -> str:
    """Quote the box that stands before any number, or write the line in its place."""
    found = soundness(data)
    if not found.title:
        return escape(" ".join(found.lines))
    lines = [f"- {escape(line)}" for line in found.lines]
    lines += [f"- Continue with: {_code_in_line(found.command)}"] if found.command else []
    return "\n".join(f"> {line}".rstrip() for line in [f"**{escape(found.title)}**", "", *lines])


def _code_in_line(text: str) -> str:
    fence = "`" * (max((len(run) for run in re.findall(r"`+", text)), default=0) + 1)
    return f"{fence}{text}{fence}"


def table(shown: Sequence[Column[Row]], rows: Sequence[Row]) -> str:
    """Write a table with right-aligned numbers; return an empty text without rows."""
    if not rows:
        return ""
    heads = [(column.heading, column.is_number) for column in shown]
    return _lines(heads, [[column.text(row) for column in shown] for row in rows])


def _lines(heads: Sequence[tuple[str, bool]], rows: Iterable[Sequence[str]]) -> str:
    """Write the lines of a table. ``heads``: text, and whether the column holds numbers."""
    head, rule = [text for text, _ in heads], ["--:" if is_number else "---" for _, is_number in heads]
    lines = [head, rule, *([escape(text) for text in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _content(section: Section, content: Content) -> str:
    parts = [_cards(cards) for cards in content.cards]
    parts.extend(escape(note) for note in content.notes)
    parts.extend(part for grid in content.grids for part in _grid(grid))
    return _section(section.title, "\n\n".join([escape(section.doc), *parts]))


def _grid(grid: Grid) -> list[str]:
    heads = [(column.heading, column.is_number) for column in grid.columns]
    lines = _lines(heads, [[cell.text for cell in row] for row in grid.rows])
    return [*([f"### {escape(grid.title)}"] if grid.title else []), lines]


def _cards(cards: Cards) -> str:
    shown = [f"**{escape(card.name)}** {escape(f'{card.value} {card.interval}'.strip())}" for card in cards.cards]
    head = [f"### {escape(cards.title)}", ""] if cards.title else []
    verdict = f"**{cards.stamp}**"
    return "\n".join([*head, " · ".join([*shown, verdict]), "", *(f"- {escape(reason)}" for reason in cards.reasons)])


def _section(heading: str, body: str) -> str:
    return f"## {heading}\n\n{body}" if body else ""


def _list(heading: str, findings: Sequence[Finding]) -> str:
    items = (
        f"- {'' if found.severity == 'info' else f'**{found.severity}:** '}{escape(found.text)}" for found in findings
    )
    return _section(heading, "\n".join(items))


def _code(text: str) -> str:
    """Put ``text`` into a fence longer than any run of backticks in it."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{text}\n{fence}"


_LONGEST: Final = 160


def render_brief(data: ReportData) -> str:
    """Write the first screen in some twenty lines, however many rows there are."""
    front, vessels = front_of(data)
    lines = [
        f"### {_short(front.host)}: {_short(title(data))}",
        _soundness(data),
        _short(front.machine, 300),
        f"**{escape(front.question)}**" if front.question else "",
        *map(escape, front.lines),
        *(part for grid in bars_grids(front.bars) for part in _grid(grid)),
        "\n".join(
            [
                "| part | value | interval or range | of its ceiling | what |",
                "|---|--:|---|--:|---|",
                *map(_line, vessels),
            ]
        )
        if vessels
        else "",
        "" if vessels or front.bars else escape(verdict_line(data.summary.rows)),
        _changes(front),
        f"Run `{_letters(data.summary.run_id)}`, {escape(data.summary.created)}.",
    ]
    return "\n\n".join(filter(None, lines)) + "\n"


def _changes(front: Front) -> str:
    lines = [f"{index}. {_short(one)}" for index, one in enumerate(front.changes, start=1)]
    return "\n".join([f"**{front.heading}**", "", *lines]) if lines else ""


def _line(vessel: Vessel) -> str:
    share = DASH if vessel.share is None else share_text(vessel.share)
    value = f"{vessel.value} (INVALID)" if vessel.is_invalid else vessel.value
    known = vessel.interval or vessel.interval_kind
    return f"| {escape(vessel.part)} | {escape(value)} | {escape(known)} | {share} | {_short(vessel.what, 80)} |"


def _short(text: str, most: int = _LONGEST) -> str:
    return escape(text if len(text) <= most else f"{text[: most - 3]}...")


def _letters(text: str) -> str:
    """Return the letters of ``text`` that cannot end the code it stands in, at most 80."""
    return "".join(letter for letter in text[:80] if letter.isalnum() or letter in "-_.")


EXPORTERS: Final = (
    Exporter("md", "findings and tables as Markdown", "", render),
    Exporter("brief", "the first screen as Markdown, for issues and chat", "", render_brief),
)
