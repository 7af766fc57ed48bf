# SPDX-License-Identifier: Apache-2.0
"""A user's own pattern of messages: strictly read before anything is started, as the engine reads it afterwards."""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ullage.errors import UserError

_MOST_WEIGHT: Final = 1024
_FORM: Final = "a line is FROM TO [WEIGHT]"


@dataclass(frozen=True, slots=True)
class PatternFile:
    """``links``: sender, receiver and messages an iteration, in the order of the file."""

    links: tuple[tuple[int, int, int], ...]
    sha256: str

    @property
    def messages(self) -> int:
        """Of all ranks in an iteration."""
        return sum(weight for _, _, weight in self.links)


def read_pattern(path: Path, ranks: int) -> PatternFile:
    """``UserError`` with the line for the first mistake."""
    try:
        data = path.read_bytes()
        text = data.decode()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text"
        raise UserError(f"cannot be read: {reason}", f"--pattern {path}") from error
    known: set[tuple[int, int]] = set()
    links: list[tuple[int, int, int]] = []
    for number, line in enumerate(text.split("\n"), start=1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        try:
            link = _link(words, ranks, known)
        except ValueError as error:
            raise UserError(f"line {number}: {error}", f"--pattern {path}", _FORM) from error
        links.append(link)
        known.add(link[:2])
    if not links:
        raise UserError("no link in it", f"--pattern {path}", _FORM)
    return PatternFile(tuple(links), hashlib.sha256(data).hexdigest())


def _link(words: list[str], ranks: int, known: set[tuple[int, int]]) -> tuple[int, int, int]:
    """One link; ``ValueError`` says what is wrong with it."""
    bad = next((word for word in words[:3] if not (word.isascii() and word.isdigit())), None)
    if bad is not None:
        raise ValueError(f"'{bad}' is no whole number")
    match [int(word) for word in words]:
        case [from_, to]:
            weight = 1
        case [from_, to, weight]:
            pass
        case [_]:
            raise ValueError("no rank to send to")
        case _:
            raise ValueError("more than three words")
    outside = next((rank for rank in (from_, to) if rank >= ranks), None)
    if outside is not None:
        raise ValueError(f"rank {outside} of {ranks} ranks")
    if from_ == to:
        raise ValueError(f"rank {from_} sends to itself")
    if not 1 <= weight <= _MOST_WEIGHT:
        raise ValueError(f"a weight from 1 to {_MOST_WEIGHT} is allowed")
    if (from_, to) in known:
        raise ValueError("this link stands there twice")
    return from_, to, weight
