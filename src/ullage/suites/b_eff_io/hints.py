# SPDX-License-Identifier: Apache-2.0
"""Hints by process count, access, pattern type and chunk, in the grammar of b_eff_io's own hint files.

A line is blank, a comment (``#`` in its first column), or six fields that blanks or tabs separate:

    PROCESSES ACCESS TYPE CHUNK KEY VALUE

``PROCESSES``: ``all`` or one of the partitions; ``ACCESS``: ``all``, ``write``, ``rewrite`` or ``read``; ``TYPE``:
``all``, ``scatter``, ``shared``, ``separated``, ``segmented`` or ``seg_coll``; ``CHUNK``: ``on_open`` (given when the
file is opened), ``Lmax`` or the bytes of l (given with each pattern), or ``all`` (both). The value is the rest of the
line. A later line overrides the same key of earlier ones. Upper and lower case differ, and nothing is quoted. Pure.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Final, Literal, TypeVar, get_args

from ullage.errors import UserError
from ullage.parameters import suggest
from ullage.suites.b_eff_io.hint_lines import ALL, ON_OPEN, Chunk, HintLine
from ullage.suites.b_eff_io.patterns import ACCESSES, PATTERNS, TYPES, Access, PatternType

FIELDS: Final = ("processes", "access", "type", "chunk", "key", "value")
CHUNKS: Final[tuple[Chunk, ...]] = get_args(Chunk)
LONGEST_LINE: Final = 2000
_FORM: Final = "write PROCESSES ACCESS TYPE CHUNK KEY VALUE"
_LINE: Final = re.compile(r"[ \t]*" + r"([^ \t]+)[ \t]+" * 5 + r"(.*)", re.DOTALL)
_PATTERN_CHUNKS: Final = tuple(dict.fromkeys(pattern.hint_chunk for pattern in PATTERNS))
WordT = TypeVar("WordT", bound=str)


def parse_hints(text: str, where: str, partitions: Sequence[int]) -> list[HintLine]:
    """The hints of a file in the original grammar; ``UserError`` names file (``where``), line and field."""
    lines = enumerate(text.split("\n"), start=1)
    return [
        _parse_line(line.rstrip(), f"{where}, line {number}", partitions)
        for number, line in lines
        if line.strip() and not line.startswith("#")
    ]


def _parse_line(line: str, where: str, partitions: Sequence[int]) -> HintLine:
    if len(line) > LONGEST_LINE:
        raise UserError(f"has {len(line):,} characters", where, f"write at most {LONGEST_LINE:,}")
    match = _LINE.fullmatch(line)
    if match is None:
        given = line.split()
        lacking = FIELDS[len(given) :]
        right = f"{_FORM}; a comment begins in the first column" if given[0].startswith("#") else _FORM
        raise UserError(f"lacks {' and '.join(lacking)}", where, right)
    processes, access, kind, chunk, key, value = match.groups()
    return HintLine(
        processes=check_processes(processes, partitions, f"{where}, {FIELDS[0]}"),
        access=check_word(access, (ALL, *ACCESSES), f"{where}, {FIELDS[1]}"),
        type=check_word(kind, (ALL, *TYPES), f"{where}, {FIELDS[2]}"),
        chunk=check_word(chunk, CHUNKS, f"{where}, {FIELDS[3]}"),
        key=key,
        value=value,
    )


def check_processes(word: str, partitions: Sequence[int], where: str) -> int | Literal["all"]:
    """``all`` or a number of processes that is measured with."""
    known = [str(number) for number in partitions]
    if word == ALL:
        return ALL
    if word not in known:
        raise UserError(f"'{word}' is no partition of this run", where, f"one of {', '.join([ALL, *known])}")
    return int(word)


def check_word(word: str, known: Sequence[WordT], where: str) -> WordT:
    """``word``, which has to be one of ``known``."""
    found = next((one for one in known if one == word), None)
    if found is None:
        raise UserError(f"unknown word '{word}'", where, suggest(word, known))
    return found


def hints_for(lines: Iterable[HintLine], ranks: int, access: Access, kind: PatternType) -> dict[str, str]:
    """What one case is given, as the engine wants it: values by ``CHUNK/KEY``."""
    found: dict[str, str] = {}
    for line in lines:
        if line.processes in (ALL, ranks) and line.access in (ALL, access) and line.type in (ALL, kind):
            chunks = (ON_OPEN, *_PATTERN_CHUNKS) if line.chunk == ALL else (line.chunk,)
            found.update({f"{chunk}/{line.key}": line.value for chunk in chunks})
    return found
