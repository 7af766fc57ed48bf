# SPDX-License-Identifier: Apache-2.0
"""Texts from a machine that neither break the layout of a page nor have a character that it would act on. Pure.

That nothing of them becomes markup is the work of the template and of ``script_json``.
"""

from hashlib import sha256
from typing import Final, cast

from ullage.harmless import harmless

LONGEST: Final = 1200
"""A sentence has at most this many characters. A hash tells texts apart that were cut."""
LONGEST_NAME: Final = 80
LONGEST_HEADING: Final = 240


def inert(text: str, longest: int = LONGEST) -> str:
    """Make ``text`` harmless; cut it above ``longest`` and end it in its hash."""
    if len(text) > longest:
        mark = sha256(text.encode(errors="replace")).hexdigest()[:6]
        text = f"{text[: longest - 10]}… #{mark}"
    return harmless(text)


def inert_json(value: object) -> object:
    """Make all texts of ``value`` inert, keys too: equal texts stay equal, different ones different."""
    if isinstance(value, str):
        return inert(value)
    if isinstance(value, list):
        return [inert_json(item) for item in cast("list[object]", value)]
    if isinstance(value, dict):
        return {inert(key): inert_json(item) for key, item in cast("dict[str, object]", value).items()}
    return value
