# SPDX-License-Identifier: Apache-2.0
"""A finding as a heading and what follows it: its own title, or the first clause of its text. Pure."""

import re
from dataclasses import dataclass
from typing import Final

from ullage.model.summary import Finding

_LONGEST: Final = 90
_CLAUSE: Final = re.compile(r"[:;.](?=\s|$)")


@dataclass(frozen=True)
class Told:
    """``text`` does not say again what ``title`` says."""

    title: str
    text: str


def told(finding: Finding) -> Told:
    """The finding's own title, else its text up to the first stop; a long clause is no heading."""
    if finding.title:
        return Told(finding.title, _continued(finding.text, finding.title))
    stop = _CLAUSE.search(finding.text)
    head, rest = (finding.text, "") if stop is None else (finding.text[: stop.start()], finding.text[stop.end() :])
    if not head or len(head) > _LONGEST:
        return Told("", finding.text)
    return Told(head, _capitalised(rest.strip()))


def _continued(text: str, title: str) -> str:
    """``text`` without the title that it begins with."""
    if not text.startswith(title) or text[len(title) :][:1] not in (":", ";", "."):
        return text
    return _capitalised(text[len(title) + 1 :].strip())


def _capitalised(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"
