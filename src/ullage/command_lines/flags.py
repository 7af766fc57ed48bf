# SPDX-License-Identifier: Apache-2.0
"""The flags of a tool as a table, and words read by it. Every flag of the table is known by name: none is skipped.

A flag is translated, or answered (a note says what gives its effect here), or refused (with the reason and a way out).
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, TypeVar

from ullage.errors import UserError
from ullage.parameters import suggest

ValueT = TypeVar("ValueT")
_SIZE: Final = re.compile(r"(\d{1,18})([kmgt]?)", re.IGNORECASE | re.ASCII)
_COUNT: Final = re.compile(r"\d{1,18}", re.ASCII)
_SECONDS: Final = re.compile(r"\d{1,9}(?:\.\d{1,9})?", re.ASCII)
_NUMBER: Final = re.compile(r"-\d+(?:\.\d+)?", re.ASCII)
_LARGEST: Final = 2**63 - 1
_OFF: Final = ("0", "false", "no", "off")
# No switch means more when it is given more often.
_MOST_TIMES: Final = 9


# Values of a refused flag that ask for nothing.
_HARMLESS: Final = "0"


@dataclass(frozen=True)
class Flag:
    """A flag of a tool, and what becomes of it.

    ``names``: as written on a command line, the first is its key; ``directives``: what it may be called behind ``-O``,
    the first of them today; a long name is one too, without its dashes.
    """

    names: tuple[str, ...]
    directives: tuple[str, ...]
    takes_value: bool = False
    note: str = ""
    refusal: str = ""

    @property
    def directive(self) -> str:
        """Its name behind ``-O`` where that is not one of ``names``; or empty."""
        return next((name for name in self.directives if f"--{name}" not in self.names), "")

    @property
    def key(self) -> str:
        """Under which its values are found; of one that is a directive only that."""
        return self.names[0] if self.names else self.directive


def _flag(words: str, note: str = "", refusal: str = "") -> Flag:
    """Make a flag of all its names, as ``-o testFile VALUE``: those without a dash stand behind ``-O``."""
    called = [word for word in words.split() if word != "VALUE"]
    names = tuple(word for word in called if word.startswith("-"))
    directives = [word for word in called if not word.startswith("-")]
    directives += [name.removeprefix("--") for name in names if name.startswith("--")]
    return Flag(names, tuple(directives), "VALUE" in words.split(), note, refusal)


def translated(flags: str) -> tuple[Flag, ...]:
    """Make flags that have an equivalent, with commas between them."""
    return tuple(_flag(words) for words in flags.split(","))


def answered(flags: Mapping[str, str]) -> tuple[Flag, ...]:
    """Make flags whose effect is reached in another way, which a note says."""
    return tuple(_flag(words, note=note) for words, note in flags.items())


def refused(flags: Mapping[str, str]) -> tuple[Flag, ...]:
    """Make flags without an equivalent, each with the reason and what to do instead."""
    return tuple(_flag(words, refusal=why) for words, why in flags.items())


# Options of the module for POSIX, which IOR and mdtest share.
_STRIPES: Final = "set it on the target's folder with the file system's own tool before the run"
_OF_FOLDERS: Final = (
    *("lustre.stripecount", "lustre.stripesize", "lustre.startost", "lustre.pool"),
    *("beegfs.NumTargets", "beegfs.ChunkSize"),
)
_OF_FILES: Final = (
    *("lustre.ignorelocks", "gpfs.hintaccess", "gpfs.releasetoken", "gpfs.finegrainwritesharing"),
    *("gpfs.finegrainreadsharing", "gpfs.createsharing"),
)
FILE_SYSTEMS: Final = refused(
    {f"--posix.{name} {name.replace('.', '')} VALUE": _STRIPES for name in _OF_FOLDERS}
    | {f"--posix.{name} {name.replace('.', '')}": "no run sets it; leave it out" for name in _OF_FILES}
)


@dataclass(frozen=True)
class ParsedFlags:
    """The values of each flag by its key, empty texts without a value. ``written``: what it was called last."""

    tool: str
    values: Mapping[str, tuple[str, ...]]
    notes: tuple[str, ...] = ()
    written: Mapping[str, str] = field(default_factory=dict[str, str])

    def has(self, key: str) -> bool:
        """Tell whether it was given."""
        return key in self.values

    def times(self, key: str) -> int:
        """Count how often it was given."""
        return len(self.values.get(key, ()))

    def text(self, key: str, default: str = "") -> str:
        """Return the last value given, or ``default``."""
        return self.values.get(key, (default,))[-1]

    def size(self, key: str, default: int) -> int:
        """Return a size in bytes; k, m, g and t are binary."""
        return self._read(key, default, read_size, "a size such as 4096, 256k, 1m, 4g (binary)")

    def count(self, key: str, default: int, least: int = 0) -> int:
        """Return a whole number from ``least``; raise ``UserError`` for another text."""

        def read(text: str) -> int | None:
            return int(text) if _COUNT.fullmatch(text) and int(text) >= least else None

        return self._read(key, default, read, f"a whole number from {least}")

    def seconds(self, key: str) -> float:
        """Return seconds, 0 when not given."""
        return self._read(key, 0.0, lambda text: float(text) if _SECONDS.fullmatch(text) else None, "seconds")

    def _read(self, key: str, default: ValueT, read: Callable[[str], ValueT | None], form: str) -> ValueT:
        if key not in self.values:
            return default
        text = self.text(key)
        found = read(text)
        if found is None:
            raise UserError(f"'{text}' is not a value of {self.written.get(key, key)}", self.tool, f"write {form}")
        return found


def read_size(text: str) -> int | None:
    """Return bytes, or None for no size. ``1MB`` is none: the tools read it as 1 MiB, people as a million bytes."""
    match = _SIZE.fullmatch(text)
    if match is None:
        return None
    found = int(match[1]) * 1024 ** ("", "k", "m", "g", "t").index(match[2].lower())
    return found if found <= _LARGEST else None


@dataclass(frozen=True)
class FlagTable:
    """All flags of ``tool``. ``advice``: for words of other releases, what to write now."""

    tool: str
    flags: Sequence[Flag]
    advice: Mapping[str, str]

    def read(self, words: Iterable[str]) -> ParsedFlags:
        """Read ``words``; ``UserError`` for the first that is unknown, refused or lacks its value."""
        reader = _Reader(self)
        rest = iter(words)
        for word in rest:
            reader.take(word, rest)
        values = {key: tuple(found) for key, found in reader.values.items()}
        return ParsedFlags(self.tool, values, tuple(reader.notes), reader.written)

    @cached_property
    def by_name(self) -> Mapping[str, Flag]:
        """The flags by the names that people type."""
        return {name: flag for flag in self.flags for name in flag.names}

    @cached_property
    def by_directive(self) -> Mapping[str, Flag]:
        """The flags by their names in lower case: directives may be written in any."""
        return {name.lower(): flag for flag in self.flags for name in flag.directives}


class _Reader:
    """Takes word after word. ``-t 1m``, ``-t=1m``, ``-t1m`` and ``-wrF`` are all in use."""

    def __init__(self, table: FlagTable) -> None:
        self._table = table
        self.values: dict[str, list[str]] = {}
        self.notes: dict[str, None] = {}
        self.written: dict[str, str] = {}

    def take(self, word: str, rest: Iterator[str]) -> None:
        """Read one word; a flag that needs a value may take it from ``rest``."""
        if word.startswith("--") and len(word) > 2:
            name, joined, given = word.partition("=")
            self._named(name, given if joined else None, rest)
        elif word.startswith("-") and len(word) > 1:
            self._letters(word, rest)
        else:
            right = "flags begin with -; a value follows its flag"
            raise UserError(f"'{word}' is not a flag", self._table.tool, right)

    def _named(self, name: str, given: str | None, rest: Iterator[str]) -> None:
        flag = self._find(name)
        if flag.takes_value:
            self._keep(flag, name, self._value(name, given, rest))
        elif given is None:
            self._keep(flag, name, "")
        else:
            self._count(flag, name, given)

    def _letters(self, word: str, rest: Iterator[str]) -> None:
        for index, letter in enumerate(word[1:], start=1):
            name, tail = f"-{letter}", word[index + 1 :]
            flag = self._find(name)
            if flag.takes_value:
                self._keep(flag, name, self._value(name, tail.removeprefix("=") if tail else None, rest))
                return
            if tail.startswith("="):
                self._named(name, tail[1:], rest)
                return
            self._keep(flag, name, "")

    def _value(self, name: str, given: str | None, rest: Iterator[str]) -> str:
        found = given if given is not None else next(rest, None)
        # A number may be negative; every other word with a dash is the next flag.
        if found is None or (given is None and found.startswith("-") and not _NUMBER.fullmatch(found)):
            raise UserError(f"{name} needs a value", self._table.tool, f"write {name} VALUE")
        return found

    def _find(self, name: str) -> Flag:
        table = self._table
        if name in table.advice:
            raise UserError(f"{name} belongs to another release", table.tool, table.advice[name])
        module, dot, _ = name.removeprefix("--").partition(".")
        if name.startswith("--") and dot and not any(known.startswith(f"--{module}.") for known in table.by_name):
            right = f"use an API that is supported, without {name}"
            raise UserError(f"{name} has no equivalent: no backend has this option of {module}", table.tool, right)
        if name not in table.by_name:
            known = [known for known in table.by_name if known.startswith("--") == name.startswith("--")]
            raise UserError(f"unknown flag '{name}'", table.tool, suggest(name, known))
        return table.by_name[name]

    def _keep(self, flag: Flag, written: str, given: str) -> None:
        if flag.key == "-O":
            self._directives(given)
        elif flag.refusal and given != _HARMLESS:
            right = "" if "leave it out" in flag.refusal else "or leave it out"
            raise UserError(f"{written} has no equivalent: {flag.refusal}", self._table.tool, right)
        elif flag.note:
            self.notes[f"{written}: {flag.note}"] = None
        elif not flag.refusal:
            self.values.setdefault(flag.key, []).append(given)
            self.written[flag.key] = written

    def _directives(self, text: str) -> None:
        known = self._table.by_directive
        for item in text.split(","):
            name, joined, given = item.partition("=")
            bare = name.strip().lower()
            flag = self._find(name.strip()) if bare.startswith("-") else known.get(bare)
            if flag is None or not joined:
                names = [one for found in self._table.flags for one in found.directives]
                right = suggest(name, names) if flag is None else f"write -O {name}=VALUE"
                raise UserError(f"unknown directive '{item}'", f"{self._table.tool} -O", right)
            written = f"-O {next((one for one in flag.directives if one.lower() == bare), name)}"
            if flag.takes_value:
                self._keep(flag, written, given)
            else:
                self._count(flag, written, given)

    def _count(self, flag: Flag, written: str, given: str) -> None:
        """Take a switch with a number, so many of it whatever stood before: a script may take back what it wrote."""
        number = 1 if given.lower() in ("1", "true", "yes", "on") else 0 if given.lower() in _OFF else read_size(given)
        if number is None or number > _MOST_TIMES:
            raise UserError(f"'{given}' is not a value of {written}", self._table.tool, "write 1 or 0")
        self.values.pop(flag.key, None)
        for _ in range(number):
            self._keep(flag, written, "")
