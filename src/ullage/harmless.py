# SPDX-License-Identifier: Apache-2.0
"""Characters of texts from a machine or from a file that a terminal, a page or a drawing would act on, made visible.

Documents are cleaned where they are read, so that nothing that shows them has to think of it; files stay as they are.
"""

import re
from typing import Final

# Control characters, ones that turn the direction of what follows, even of our own words, and those that XML forbids.
# Tab, line feed and carriage return are layout.
_HARMFUL: Final = "\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufffe\uffff\ud800-\udfff"
# re keeps what it has compiled: not every command needs these.
_ANY: Final = f"[\x00-\x08\x0b\x0c\x0e-\x1f{_HARMFUL}]"
# Of JSON: two surrogates that are one character, any escape, a character that stands there as it is. Other control
# characters do not: a document with one is damaged.
_IN_JSON: Final = (
    rf"\\u[dD][89abAB][0-9a-fA-F]{{2}}\\u[dD][c-fC-F][0-9a-fA-F]{{2}}|\\u([0-9a-fA-F]{{4}})|\\(.)|[{_HARMFUL}]"
)
_LETTERS: Final = {"b": "\\\\b", "f": "\\\\f", "r": "\\\\r"}


def is_plain_line(text: str) -> bool:
    """Tell whether ``text`` is one line with nothing in it that would be made visible."""
    return text.isprintable() or not (re.search(_ANY, text) or "\n" in text or "\r" in text)


def harmless(text: str) -> str:
    """Return ``text`` with ``\\u001b`` in the place of ESC, and so on; it may have several lines."""
    # What is to be escaped is not printable; most texts are.
    return text if text.isprintable() else re.sub(_ANY, lambda found: f"\\u{ord(found[0]):04x}", text)


def harmless_json(document: bytes) -> bytes:
    """Return a JSON document whose texts, keys too, are as ``harmless`` makes them; what is no UTF-8 stays as it is.

    A carriage return becomes visible as well: in a text of a document it is no end of a line.
    """
    if document.isascii() and b"\\" not in document and b"\x7f" not in document:
        return document
    try:
        return re.sub(_IN_JSON, _visible, document.decode(), flags=re.DOTALL).encode()
    except UnicodeDecodeError:
        return document


def _visible(found: "re.Match[str]") -> str:
    code, letter = found[1], found[2]
    if letter is not None:
        return _LETTERS.get(letter, found[0])
    character = found[0] if code is None else chr(int(code, 16))
    whole = len(found[0]) > 6 or (code is not None and not re.match(_ANY, character) and character != "\r")
    return found[0] if whole else f"\\\\u{ord(character):04x}"
