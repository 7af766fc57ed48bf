# SPDX-License-Identifier: Apache-2.0
"""The first screen as Markdown, short enough for issues and chat: machine, judgement, a line a part, what to change."""

from typing import Final

from ullage.exporters import Exporter
from ullage.quantity import DASH
from ullage.report.data import ReportData
from ullage.report.first_screen import front_of
from ullage.report.headlines import Vessel
from ullage.report.picture import Front, share_text
from ullage.report.texts import escape, title, verdict_line

_LONGEST: Final = 160


def render(data: ReportData) -> str:
    """Write the first screen in some twenty lines, however many rows there are."""
    front, vessels = front_of(data)
    lines = [
        f"### {_short(front.host)}: {_short(title(data))}",
        _short(front.machine, 300),
        escape(front.judgement),
        "\n".join(
            ["| part | value | interval | of its ceiling | what |", "|---|--:|---|--:|---|", *map(_line, vessels)]
        )
        if vessels
        else "",
        "" if vessels else escape(verdict_line(data.view.main_rows)),
        _changes(front),
        f"Run `{_code(data.summary.run_id)}`, {escape(data.summary.created)}.",
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


def _code(text: str) -> str:
    """Return the letters of ``text`` that cannot end the code it stands in, at most 80."""
    return "".join(letter for letter in text[:80] if letter.isalnum() or letter in "-_.")


EXPORTERS: Final = (Exporter("brief", "the first screen as Markdown, for issues and chat", "", render),)
