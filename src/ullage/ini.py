# SPDX-License-Identifier: Apache-2.0
"""Read INI files line by line. ``#`` and ``;`` begin a comment at the start of a line, or also after a blank. Pure."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from ullage.errors import UserError

_SECTION: Final = re.compile(r"\[\s*([\w-]+(?: +[\w-]+)*)\s*\]", re.ASCII)
_PAIR: Final = re.compile(r"([\w.-]+)\s*=\s*(.*)", re.ASCII)
_COMMENT: Final = re.compile(r"(?:^|\s)[#;].*$")


@dataclass(frozen=True, slots=True)
class IniLine:
    """A line of the file: the head of a section, a pair or a comment. At most one member is set."""

    place: str
    section: str | None = None
    pair: tuple[str, str] | None = None
    comment: str = ""


def ini_lines(text: str, name: str, *, trailing_comments: bool) -> Iterator[IniLine]:
    """Yield every line of ``text`` that is not empty; ``place`` is ``name`` and its number.

    With ``trailing_comments`` a comment may follow a value, after a blank; else what looks so is a part of the value.
    """
    for number, whole in enumerate(text.splitlines(), start=1):
        place, line = f"{name}:{number}", whole.strip()
        if line.startswith(("#", ";")):
            yield IniLine(place, comment=line)
            continue
        bare = _COMMENT.sub("", line).strip() if trailing_comments else line
        if match := _SECTION.fullmatch(bare):
            yield IniLine(place, section=match[1])
        elif match := _PAIR.fullmatch(bare):
            yield IniLine(place, pair=(match[1], match[2]))
        elif bare:
            yield IniLine(place)


def with_values(text: str, name: str, values: Mapping[tuple[str, str], str]) -> str:
    """Return the INI file ``text`` with ``values`` by section and key, without comments.

    Raise ``UserError`` for a line that is neither a section nor a value of one. ``name``: of the file.
    """
    sections: dict[str, dict[str, str]] = {}
    section: str | None = None
    for line in ini_lines(text, name, trailing_comments=False):
        if line.section is not None:
            section = line.section
            sections.setdefault(section, {})
        elif line.pair is not None and section is not None:
            sections[section][line.pair[0]] = line.pair[1]
        elif not line.comment:
            raise UserError("is no value of a section", line.place, "write [SECTION], then KEY = VALUE")
    for (of, key), value in values.items():
        own = sections.setdefault(_alike(of, sections), {})
        own[_alike(key, own)] = value
    lines = {head: "".join(f"{key} = {value}\n" for key, value in own.items()) for head, own in sections.items()}
    return "".join(f"[{head}]\n{text}\n" for head, text in lines.items())


def _alike(name: str, known: Mapping[str, object]) -> str:
    return next((one for one in known if one.lower() == name.lower()), name)
