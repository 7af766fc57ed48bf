# SPDX-License-Identifier: Apache-2.0
"""Findings and tables as Markdown, as GitHub and GitLab show it."""

import re
import shlex
from collections.abc import Iterable, Sequence
from typing import Final

from ullage.exporters import Exporter
from ullage.model.summary import Finding, Row
from ullage.report import texts
from ullage.report.contents import LEAD, Cards, Content, Section, built_sections
from ullage.report.data import ReportData
from ullage.report.grids import Column
from ullage.report.row_table import columns, front_columns, front_rows
from ullage.report.texts import escape


def render(data: ReportData) -> str:
    """Write title, verdict line, scores, findings, best settings or phases, all rows, events, command."""
    summary, view, sections = data.summary, data.view, built_sections(data)
    parts = [
        f"# {escape(texts.title(data))}",
        escape(texts.scope(view)),
        escape(texts.verdict_line(view.main_rows)),
        *(_content(section, content) for section, content in sections if section.order <= LEAD),
        _list("Findings", summary.findings),
        "" if summary.parts else _section("Best settings", table(front_columns(view), front_rows(view.swept))),
        *(_content(section, content) for section, content in sections if section.order > LEAD),
        _section("All rows", table(columns(view), summary.rows)),
        _list("Events", texts.events_once(summary.events)),
        _section("How to reproduce", _code(shlex.join(summary.command))) if summary.command else "",
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


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
    for grid in content.grids:
        heads = [(column.heading, column.is_number) for column in grid.columns]
        parts.extend(filter(None, [f"### {escape(grid.title)}" if grid.title else ""]))
        parts.append(_lines(heads, [[cell.text for cell in row] for row in grid.rows]))
    return _section(section.title, "\n\n".join([escape(section.doc), *parts]))


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


EXPORTER = Exporter("md", "findings and tables as Markdown", "", render)
EXPORTERS: Final = (EXPORTER,)
