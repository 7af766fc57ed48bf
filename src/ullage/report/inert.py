# SPDX-License-Identifier: Apache-2.0
"""Texts from a machine that neither break the layout of a page nor turn the direction of what stands beside them. Pure.

That nothing of them becomes markup is the work of the template and of ``script_json``.
"""

import re
from hashlib import sha256
from typing import Final, cast

LONGEST: Final = 1200
"""A sentence has at most this many characters. A hash tells texts apart that were cut."""
LONGEST_NAME: Final = 80
LONGEST_HEADING: Final = 240

# Beside control characters, these turn the direction of text that follows, even of the page's own words.
_TURNING: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def inert(text: str, longest: int = LONGEST) -> str:
    """Escape control characters and those that turn text; cut ``text`` above ``longest`` and end it in its hash."""
    if len(text) > longest:
        mark = sha256(text.encode(errors="replace")).hexdigest()[:6]
        text = f"{text[: longest - 10]}… #{mark}"
    # What is to be escaped is not printable; most texts are.
    return text if text.isprintable() else _TURNING.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    return f"\\u{ord(match.group()):04x}"


def inert_json(value: object) -> object:
    """Make all texts of ``value`` inert, keys too: equal texts stay equal, different ones different."""
    if isinstance(value, str):
        return inert(value)
    if isinstance(value, list):
        return [inert_json(item) for item in cast("list[object]", value)]
    if isinstance(value, dict):
        return {inert(key): inert_json(item) for key, item in cast("dict[str, object]", value).items()}
    return value
