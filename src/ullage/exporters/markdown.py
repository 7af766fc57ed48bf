# SPDX-License-Identifier: Apache-2.0
"""Findings and tables as Markdown, as GitHub and GitLab show it."""

import re
import shlex
from collections.abc import Sequence
from typing import Final

from ullage.exporters import Exporter
from ullage.model.summary import Finding, Row
from ullage.report import words
from ullage.report.data import ReportData
from ullage.report.table import Column, columns, front_columns, front_rows

_SPECIAL: Final = re.compile(r"([\\`*_{}\[\]<>#|~&!])")


def render(data: ReportData) -> str:
    """Title, verdict line, findings, best settings, all rows, events, command."""
    summary, view = data.summary, data.view
    parts = [
        f"# {escape(words.title(data))}",
        escape(words.scope(view)),
        escape(words.verdict_line(view.main_rows)),
        _list("Findings", summary.findings),
        _section("Best settings", table(front_columns(view), front_rows(view.main))),
        _section("All rows", table(columns(view), summary.rows)),
        _list("Events", words.by_severity(summary.events)),
        _section("How to reproduce", _code(shlex.join(summary.command))) if summary.command else "",
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def escape(text: str) -> str:
    """``text`` on one line, with nothing in it that Markdown or HTML would act on."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def table(shown: Sequence[Column], rows: Sequence[Row]) -> str:
    """A table with right-aligned numbers; empty without rows."""
    if not rows:
        return ""
    head = [column.heading for column in shown]
    rule = ["--:" if column.is_number else "---" for column in shown]
    lines = [head, rule, *([escape(column.text(row)) for column in shown] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _section(heading: str, body: str) -> str:
    return f"## {heading}\n\n{body}" if body else ""


def _list(heading: str, findings: Sequence[Finding]) -> str:
    items = (
        f"- {'' if found.severity == 'info' else f'**{found.severity}:** '}{escape(found.text)}" for found in findings
    )
    return _section(heading, "\n".join(items))


def _code(text: str) -> str:
    """A fence longer than any run of backticks in the text."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{text}\n{fence}"


EXPORTER = Exporter("md", "findings and tables as Markdown", "", render)
