# SPDX-License-Identifier: Apache-2.0
"""Spatial patterns as people name them, and files of directives that list patterns with their own sizes.

``--directives FILE``: TOML, since the grammar of pio-bench.conf is not public. Each table is a pattern to measure:

    [[pattern]]
    name = "nested-strided"            # one of the patterns
    label = "three levels"             # as reports call it; default: the name
    levels = 3                         # levels, inner, gap, tiles_x, variables, record, unsorted as the options
    request = ["4K", "1M"]             # request, operation, calls and base take one value or a list of them
    operation = ["write", "read"]      # what a table leaves out is as the options say

Values are text, whole numbers, or true and false.
"""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Final, Literal, TypeAlias, cast, get_args

from pydantic import Field, ValidationError

from ullage.errors import UserError, plain_fault
from ullage.model.base import Strict, first_mistake
from ullage.parameters import suggest
from ullage.reading import parse_toml, read_text
from ullage.units import parse_size

PatternName: TypeAlias = Literal[
    "simple-strided",
    "nested-strided",
    "random-strided",
    "sequential-shared",
    "sequential-own",
    "segmented",
    "tiled",
    "flash",
    "mesh",
]
Operation: TypeAlias = Literal["write", "read", "reread", "rewrite", "read-modify-write"]
Calls: TypeAlias = Literal["independent", "collective"]
PATTERNS: Final[tuple[PatternName, ...]] = get_args(PatternName)
OPERATIONS: Final[tuple[Operation, ...]] = get_args(Operation)
Request: TypeAlias = Annotated[int, Field(ge=8, le=1 << 30, multiple_of=8)]
Base: TypeAlias = Annotated[int, Field(ge=0, le=10**15, multiple_of=8)]


class Spatial(Strict):
    """A pattern with its parameters; null where the options say. Sizes in bytes."""

    name: PatternName
    label: Annotated[str, Field(max_length=48)] = ""
    levels: Annotated[int, Field(ge=1, le=8)] | None = None
    inner: Annotated[int, Field(ge=1, le=10**6)] | None = None
    gap: Annotated[int, Field(ge=0, le=10**6)] | None = None
    tiles_x: Annotated[int, Field(ge=1, le=10**6)] | None = None
    variables: Annotated[int, Field(ge=1, le=10**6)] | None = None
    record: Annotated[int, Field(ge=8, le=1 << 20, multiple_of=8)] | None = None
    unsorted: bool | None = None
    request: list[Request] | None = None
    operation: list[Operation] | None = None
    calls: list[Calls] | None = None
    base: list[Base] | None = None

    @property
    def title(self) -> str:
        """What reports call it."""
        return self.label or self.name


# Keys that mean something with one pattern alone.
OWNERS: Final[Mapping[str, PatternName]] = {
    "levels": "nested-strided",
    "inner": "nested-strided",
    "gap": "nested-strided",
    "tiles_x": "tiled",
    "variables": "flash",
    "record": "mesh",
    "unsorted": "mesh",
}
_LISTS: Final = ("request", "operation", "calls", "base")
_SIZES: Final = ("request", "base", "record")
_HEADER: Final = re.compile(r"\s*\[\[\s*pattern\s*\]\]")


def read_directives(path: Path) -> list[Spatial]:
    """Read a file of directives; raise ``UserError`` with the file's line where it is wrong."""
    return parse_directives(read_text(path, "name a file of directives"), str(path))


def parse_directives(text: str, name: str) -> list[Spatial]:
    """Read the text of a file of directives that is called ``name``. Pure."""
    try:
        document = parse_toml(text)
    except ValueError as error:
        raise UserError(f"not TOML: {error}", name, "see docs/suites/pio.md") from None
    lines = text.split("\n")
    for key in document:
        if key != "pattern":
            raise UserError(f"unknown key '{key}'", _place(name, lines, None, key), "write tables [[pattern]]")
    tables = document.get("pattern", [])
    if not isinstance(tables, list) or not tables:
        raise UserError("no table [[pattern]]", name, 'write [[pattern]] and name = "simple-strided"')
    found: list[Spatial] = []
    for index, table in enumerate(cast("list[object]", tables)):
        if not isinstance(table, dict):
            raise UserError("not a table", name, "write [[pattern]]")
        found.append(_spatial(cast("dict[str, object]", table), lambda key, at=index: _place(name, lines, at, key)))
    titles = [one.title for one in found]
    for index, title in enumerate(titles):
        if title in titles[:index]:
            raise UserError(f"'{title}' stands twice", _place(name, lines, index, "name"), "set label")
    return found


def _spatial(table: Mapping[str, object], place: Callable[[str], str]) -> Spatial:
    known = list(Spatial.model_fields)
    for key in table:
        if key not in known:
            raise UserError(f"unknown key '{key}'", place(key), suggest(key, known))
    if "name" not in table:
        raise UserError("the pattern has no name", place(""), 'write name = "simple-strided"')
    values = {key: _value(key, value, place(key)) for key, value in table.items()}
    for key, owner in OWNERS.items():
        if key in values and values["name"] != owner:
            raise UserError(f"is for pattern {owner}", place(key), "leave it out")
    try:
        return Spatial.model_validate(values, strict=True)
    except ValidationError as error:
        where, why = first_mistake(error)
        key = where.partition("/")[0]
        raise UserError(plain_fault(why), place(key), f"correct {key}") from None


def _value(key: str, value: object, place: str) -> object:
    """Read sizes, and make lists of single values."""
    if key in _LISTS:
        several = cast("list[object]", value) if isinstance(value, list) else [value]
        if not several:
            raise UserError("an empty list", place, f"leave {key} out")
        return [_size(one, place) if key in _SIZES else one for one in several]
    return _size(value, place) if key in _SIZES else value


def _size(value: object, place: str) -> object:
    try:
        return parse_size(value) if isinstance(value, str) else value
    except UserError as error:
        raise UserError(error.what, place, error.right) from None


def _place(name: str, lines: list[str], table: int | None, key: str) -> str:
    """Return ``FILE:LINE`` of ``key`` in the table of that number; of its header where the key is not found."""
    at, seen, header = 0, -1, 1
    wanted = re.compile(rf"\s*[\"']?{re.escape(key)}[\"']?\s*[=.\]]") if key else None
    for at, line in enumerate(lines, start=1):
        if _HEADER.match(line):
            seen += 1
            if seen == table:
                header = at
        elif wanted is not None and wanted.match(line.lstrip().lstrip("[")) and (table is None or seen == table):
            return f"{name}:{at}"
    return f"{name}:{header}"
