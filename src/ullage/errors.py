# SPDX-License-Identifier: Apache-2.0
"""The one way in which a wrong input or surrounding is reported: one line and an exit code."""

import sys
from typing import Final

EXIT_OK: Final = 0
EXIT_BAD_INPUT: Final = 2
EXIT_ENVIRONMENT: Final = 3
EXIT_CASE_FAILED: Final = 4
EXIT_ABORTED: Final = 5
EXIT_CANNOT_TELL: Final = 6
EXIT_SUSPECT: Final = 7
# Texts of pydantic and typer stand beside our words. Their order counts: later texts are parts of earlier ones.
_WORDS: Final = (
    ("Input should be ", "must be "),
    ("greater than or equal to", "at least"),
    ("less than or equal to", "at most"),
    ("greater than", "above"),
    ("less than", "below"),
    ("a valid integer", "a whole number"),
    ("a valid number", "a number"),
)


def one_line(text: str, limit: int = 400) -> str:
    """Make ``text`` safe for one line of a terminal: control characters are escaped, what is too long is cut."""
    escaped = "".join(
        c if c.isprintable() else c.encode("unicode_escape", "backslashreplace").decode("ascii")
        for c in " ".join(text.split("\n")).strip()
    )
    if len(escaped) <= limit:
        return escaped
    end = limit - 3
    blank = end if escaped[end] == " " else escaped.rfind(" ", limit - 60, end) + 1
    return escaped[: blank or end] + "..."


def say(text: str) -> None:
    """Print one line on stderr, with the program's name, and what a terminal would act on escaped."""
    sys.stderr.write(f"ullage: {one_line(text, 2000)}\n")


def plain_fault(message: str) -> str:
    """Put what a library says of a wrong value in the words of our other messages."""
    for theirs, ours in _WORDS:
        message = message.replace(theirs, ours)
    return message


class UserError(Exception):
    """Something the reader of the message can put right: ``what`` is wrong, ``where``, and what would be ``right``.

    ``code`` is the exit code: ``EXIT_BAD_INPUT`` for words and files, ``EXIT_ENVIRONMENT`` for this machine.
    """

    def __init__(self, what: str, where: str = "", right: str = "", code: int = EXIT_BAD_INPUT) -> None:
        super().__init__(what, where, right, code)
        self.what = what
        self.where = where
        self.right = right
        self.code = code

    def __str__(self) -> str:
        """Return the message as one line, without the program's name."""
        head = f"{self.where}: {self.what}" if self.where else self.what
        return one_line(f"{head}; {self.right}" if self.right else head)


class NotInThisEngineError(UserError):
    """The engine lacks a part, for example all work between ranks where it was built without MPI."""
