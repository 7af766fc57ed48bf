# SPDX-License-Identifier: Apache-2.0
"""The findings on the screen, each in at most three rows: whole sentences, as many as fit."""

import re
from collections.abc import Sequence
from typing import Final

from ullage.model.summary import Finding, Gain
from ullage.quantity import times
from ullage.report.screen.lines import Line, folded

_MOST_ROWS: Final = 3
# A point within a number or a name has no space and capital after it.
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")
_STYLES: Final = {"warning": "yellow", "advice": "", "info": ""}


def finding_lines(findings: Sequence[Finding], room: int) -> list[Line]:
    """Numbered, each in at most three rows, as many as have ``room``."""
    lines: list[Line] = []
    for number, finding in enumerate(findings, start=1):
        rows = _rows(number, finding)
        if len(lines) + len(rows) > room:
            break
        lines += rows
    return lines


def _rows(number: int, finding: Finding) -> list[Line]:
    change = folded(f"do: {finding.change}", "     ", most=1, style="cyan") if finding.change else []
    suite = f"{finding.suite}: " if finding.suite else ""
    is_said = not finding.title or finding.title in finding.text
    title = "" if is_said else f"{finding.title.rstrip('.')}{_gain(finding.gain)}. "
    most = _MOST_ROWS - len(change)
    text = _as_much_as_fits(f"{suite}{title}", finding.text, most)
    return [*folded(text, "     ", f"  {number}. ", most, _STYLES[finding.severity]), *change]


def _as_much_as_fits(head: str, text: str, most: int) -> str:
    """Whole sentences of ``text`` behind ``head``: first what is measured and last what to do, then those between.

    ``folded`` cuts off what is too long of the last one that stays.
    """
    sentences = _SENTENCE_END.split(text)
    while len(sentences) > 1 and len(folded(head + " ".join(sentences), "     ")) > most:
        sentences.pop(-2)
    return head + " ".join(sentences)


def _gain(gain: Gain | None) -> str:
    if gain is None:
        return ""
    interval = "" if gain.low is None or gain.high is None else f" [{times(gain.low)}, {times(gain.high)}]"
    return f" ({times(gain.factor)}{interval})"
