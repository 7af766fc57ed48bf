# SPDX-License-Identifier: Apache-2.0
"""Sets of MPI-IO hints that are measured together: by process count, access, pattern type and chunk.

They are read in the grammar of b_eff_io's own hint files, and stand in request.json as ``HintSet``.

A line is blank, a comment (``#`` in its first column), or six fields that blanks or tabs separate:

    PROCESSES ACCESS TYPE CHUNK KEY VALUE

``PROCESSES``: ``all`` or one of the partitions; ``ACCESS``: ``all``, ``write``, ``rewrite`` or ``read``; ``TYPE``:
``all``, ``scatter``, ``shared``, ``separated``, ``segmented`` or ``seg_coll``; ``CHUNK``: ``on_open`` (given when the
file is opened), ``Lmax`` or the bytes of l (given with each pattern), or ``all`` (both). The value is the rest of the
line. A later line overrides the same key of earlier ones. Upper and lower case differ, and nothing is quoted.

``--hints FILE``: a set of hints in that grammar, or, in a file ``*.toml``, in TOML:

    name = "large blocks"                   # what the report calls the set; default: the file's name

    [[hints]]                               # for everything
    set = { IBM_largeblock_io = true }

    [[hints]]                               # and now the exceptions
    type = ["scatter", "shared"]
    chunk = [1024, 1032, 32768, 32776]
    set = { IBM_largeblock_io = false, IBM_io_buffer_size = "32MB" }

Each table ``[[hints]]`` says what to ``set`` where: ``processes``, ``access``, ``type`` and ``chunk`` are a word of the
original grammar or a list of them, and ``all`` where they are left out. A later table overrides the same key of earlier
ones. Values are text, whole numbers, or true and false.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Annotated, Final, Literal, TypeAlias, cast, get_args

from pydantic import Field

from ullage.errors import UserError
from ullage.model.base import Strict
from ullage.parameters import known_word, suggest
from ullage.reading import parse_toml, read_text, toml_line
from ullage.suites.b_eff_io.patterns import ACCESSES, PATTERNS, TYPES, Access, PatternType

Positive: TypeAlias = Annotated[int, Field(ge=1)]
ALL: Final = "all"
Chunk: TypeAlias = Literal["on_open", "all", "Lmax", "1024", "1032", "32768", "32776", "1048576", "1048584"]

# This name stands for the set without any hints.
DEFAULT_SET: Final = "default"


class HintLine(Strict):
    """One line of a hint file. ``chunk``: ``on_open``, ``all``, ``Lmax`` or the bytes of l."""

    processes: Positive | Literal["all"] = "all"
    access: Access | Literal["all"] = "all"
    type: PatternType | Literal["all"] = "all"
    chunk: Chunk = "all"
    key: Annotated[str, Field(min_length=1)]
    value: str


class HintSet(Strict):
    """Hints that are measured together; later lines override the same key of earlier ones."""

    name: Annotated[str, Field(min_length=1, max_length=64)]
    lines: list[HintLine] = []


_SELECTORS: Final = ("processes", "access", "type", "chunk")
_FIELDS: Final = (*_SELECTORS, "key", "value")
_WORDS: Final[Mapping[str, Sequence[str]]] = {
    "access": (ALL, *ACCESSES),
    "type": (ALL, *TYPES),
    "chunk": get_args(Chunk),
}
_LONGEST_LINE: Final = 2000
_FORM: Final = "write PROCESSES ACCESS TYPE CHUNK KEY VALUE"
_LINE: Final = re.compile(r"[ \t]*" + r"([^ \t]+)[ \t]+" * 5 + r"(.*)", re.DOTALL)
_PATTERN_CHUNKS: Final = tuple(dict.fromkeys(pattern.hint_chunk for pattern in PATTERNS))


def parse_hints(text: str, where: str, partitions: Sequence[int]) -> list[HintLine]:
    """Read hints in the original grammar; raise ``UserError`` with the file (``where``), line and field."""
    lines = enumerate(text.split("\n"), start=1)
    return [
        _parse_line(line.rstrip(), f"{where}, line {number}", partitions)
        for number, line in lines
        if line.strip() and not line.startswith("#")
    ]


def _parse_line(line: str, where: str, partitions: Sequence[int]) -> HintLine:
    if len(line) > _LONGEST_LINE:
        raise UserError(f"has {len(line):,} characters", where, f"write at most {_LONGEST_LINE:,}")
    match = _LINE.fullmatch(line)
    if match is None:
        given = line.split()
        right = f"{_FORM}; a comment begins in the first column" if given[0].startswith("#") else _FORM
        raise UserError(f"lacks {' and '.join(_FIELDS[len(given) :])}", where, right)
    *words, key, value = match.groups()
    chosen = {
        name: _checked(name, word, partitions, f"{where}, {name}") for name, word in zip(_SELECTORS, words, strict=True)
    }
    return HintLine.model_validate({**chosen, "key": key, "value": value})


def _checked(field: str, word: str, partitions: Sequence[int], where: str) -> int | str:
    """Return a word that says where hints are for; raise ``UserError`` for one that is unknown, or no partition."""
    if field == "processes":
        known = [ALL, *map(str, partitions)]
        if word not in known:
            raise UserError(f"'{word}' is not a partition of this run", where, f"one of {', '.join(known)}")
        return word if word == ALL else int(word)
    return known_word(word, _WORDS[field], where)


def hints_for(lines: Iterable[HintLine], ranks: int, access: Access, kind: PatternType) -> dict[str, str]:
    """Return the hints of one case in the form that the engine reads: values by ``CHUNK/KEY``."""
    found: dict[str, str] = {}
    for line in lines:
        if line.processes in (ALL, ranks) and line.access in (ALL, access) and line.type in (ALL, kind):
            chunks = ("on_open", *_PATTERN_CHUNKS) if line.chunk == ALL else (line.chunk,)
            found.update({f"{chunk}/{line.key}": line.value for chunk in chunks})
    return found


_NAME: Final = "name"
_TABLES: Final = "hints"
_SET: Final = "set"
_TOML_PLACE: Final = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)")
_LONGEST_NAME: Final = 64


def read_hint_sets(words: Sequence[str], partitions: Sequence[int]) -> list[HintSet]:
    """Read the set of hints that each word names: a file, or ``default`` for no hints at all.

    Without words the result is ``default`` alone. ``UserError`` when two sets have the same name.
    """
    sets = [
        HintSet(name=DEFAULT_SET) if word == DEFAULT_SET else _read(Path(word), partitions)
        for word in words or [DEFAULT_SET]
    ]
    names = [found.name for found in sets]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        right = f'give each file a name of its own, or a TOML file a {_NAME} = "..."'
        raise UserError(f"two sets of hints are called '{twice}'", "--hints", right)
    return sets


def _read(path: Path, partitions: Sequence[int]) -> HintSet:
    where = f"--hints {path}"
    text = read_text(path, f"name a file of hints, or '{DEFAULT_SET}'", where)
    if path.suffix == ".toml":
        return _TomlFile(text, where, partitions).hint_set(path.stem)
    lines = parse_hints(text, where, partitions)
    if not lines:
        raise UserError("contains no hint", where, f"--hints {DEFAULT_SET} measures without hints")
    return HintSet(name=_set_name(path.stem, where), lines=lines)


def _set_name(name: object, where: str) -> str:
    if not isinstance(name, str) or not name.strip() or not name.isprintable() or len(name) > _LONGEST_NAME:
        raise UserError("is not the name of a set", where, f"1 to {_LONGEST_NAME} printable characters")
    return name


@dataclass(frozen=True)
class _TomlFile:
    """A file under way: its text tells the lines that the parsed document has forgotten."""

    text: str
    where: str
    partitions: Sequence[int]

    def hint_set(self, name: str) -> HintSet:
        document = self._document()
        self._check_keys(0, document, (_NAME, _TABLES))
        tables = document.get(_TABLES)
        if (
            not isinstance(tables, list)
            or not tables
            or not all(isinstance(one, dict) for one in cast("list[object]", tables))
        ):
            raise UserError("contains no hint", self.where, "write tables [[hints]] with set = { KEY = VALUE }")
        each = enumerate(cast("list[dict[str, object]]", tables), start=1)
        lines = [line for number, table in each for line in self._table(number, table)]
        return HintSet(name=_set_name(document.get(_NAME, name), self._at(0, _NAME)), lines=lines)

    def _document(self) -> dict[str, object]:
        try:
            return parse_toml(self.text)
        except ValueError as error:
            said = str(error)
            place = _TOML_PLACE.search(said)
            line = f", line {place[1]}" if place is not None and place[1] else ""
            what = f"is not TOML: {_TOML_PLACE.sub('', said)}"
            right = "a file in the original grammar must not end in .toml"
            raise UserError(what, f"{self.where}{line}", right) from error

    def _check_keys(self, number: int, table: Mapping[str, object], known: Sequence[str]) -> None:
        unknown = next((key for key in table if key not in known), None)
        if unknown is not None:
            more = "; hints stand in set = { KEY = VALUE }" if number else ""
            raise UserError(f"unknown key '{unknown}'", self._at(number, unknown), f"{suggest(unknown, known)}{more}")

    def _table(self, number: int, table: Mapping[str, object]) -> list[HintLine]:
        self._check_keys(number, table, (*_SELECTORS, _SET))
        chosen = [self._words(number, table, name) for name in _SELECTORS]
        values = self._values(number, table)
        return [
            HintLine.model_validate({**dict(zip(_SELECTORS, words, strict=True)), "key": key, "value": value})
            for words in product(*chosen)
            for key, value in values.items()
        ]

    def _words(self, number: int, table: Mapping[str, object], name: str) -> list[int | str]:
        given = table.get(name, ALL)
        words = cast("list[object]", given) if isinstance(given, list) else [given]
        where = f"{self._at(number, name)}, {name}"
        if not words:
            raise UserError("is an empty list", where, f"leave it out for {ALL}")
        return [_checked(name, str(word), self.partitions, where) for word in words]

    def _values(self, number: int, table: Mapping[str, object]) -> dict[str, str]:
        given = table.get(_SET)
        where = f"{self._at(number, _SET)}, {_SET}"
        if not isinstance(given, dict) or not given:
            raise UserError("says no hint", where, "write set = { KEY = VALUE }")
        values: dict[str, str] = {}
        for key, value in cast("dict[str, object]", given).items():
            if not isinstance(value, (str, int)) or not key:
                right = "text, a whole number, true or false"
                raise UserError(f"'{key}' has no value that a hint can have", where, right)
            values[key] = str(value).lower() if isinstance(value, bool) else str(value)
        return values

    def _at(self, table: int, key: str) -> str:
        """Return the file and, if it can be told, the line of ``key``; of ``table`` 0: outside of all tables."""
        line = toml_line(self.text, _TABLES, table, key)
        return self.where if line is None else f"{self.where}, line {line}"


# What ``ullage draft hints`` writes: read as it is, and without a hint that changes what is stored.
DRAFT: Final = """\
# A set of MPI-IO hints for `ullage run b_eff_io --hints FILE --hints default`, which measures with and without them.
name = "collective buffering"

[[hints]]                                # for everything
set = { romio_cb_write = "enable", romio_cb_read = "enable" }

# [[hints]]                              # how many processes gather the data, and by how much at once
# set = { cb_nodes = 4, cb_buffer_size = 16777216 }

# [[hints]]                              # files striped over servers (Lustre, BeeGFS): given when a file is made
# chunk = "on_open"
# set = { striping_factor = 8, striping_unit = 1048576 }

# [[hints]]                              # exceptions: processes, access, type and chunk choose what they are for
# access = "write"
# type = ["scatter", "shared"]
# chunk = [1024, 1032, 32768, 32776]
# set = { romio_ds_write = "disable" }
"""
