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
_POWERS: Final = ("", "k", "m", "g", "t")
_LARGEST: Final = 2**63 - 1
_ON: Final = ("1", "true", "yes", "on")
_OFF: Final = ("0", "false", "no", "off")
# No switch means more when it is given more often.
_MOST_TIMES: Final = 9


@dataclass(frozen=True)
class Flag:
    """A flag of a tool, and what becomes of it.

    ``names``: as written on a command line, the first is its key; ``directive``: of ``-O NAME=VALUE``, or empty.
    ``also``: its names as a directive in other releases; a long name is one too, without its dashes.

    ``harmless``: values of a refused flag that ask for nothing.
    """

    names: tuple[str, ...]
    directive: str = ""
    takes_value: bool = False
    note: str = ""
    refusal: str = ""
    harmless: tuple[str, ...] = ("0",)
    also: tuple[str, ...] = ()

    @property
    def directives(self) -> tuple[str, ...]:
        """What it may be called behind ``-O``."""
        names = (self.directive, *self.also, *(name.removeprefix("--") for name in self.names if name[:2] == "--"))
        return tuple(name for name in names if name)

    @property
    def key(self) -> str:
        """Under which its values are found; of one that is a directive only that."""
        return self.names[0] if self.names else self.directive


def switch(*names: str, directive: str = "", also: tuple[str, ...] = ()) -> Flag:
    """Make a translated flag without a value."""
    return Flag(names, directive, also=also)


def value(*names: str, directive: str = "", also: tuple[str, ...] = ()) -> Flag:
    """Make a translated flag with a value."""
    return Flag(names, directive, takes_value=True, also=also)


def answered(
    *names: str, note: str, directive: str = "", takes_value: bool = False, also: tuple[str, ...] = ()
) -> Flag:
    """Make a flag whose effect is reached in another way, which ``note`` says."""
    return Flag(names, directive, takes_value, note=note, also=also)


def refused(*names: str, why: str, directive: str = "", takes_value: bool = False, also: tuple[str, ...] = ()) -> Flag:
    """Make a flag without an equivalent; ``why`` gives the reason and what to do instead."""
    return Flag(names, directive, takes_value, refusal=why, also=also)


# Options of the module for POSIX, which IOR and mdtest share.
_STRIPES: Final = "set it on the target's folder with the file system's own tool before the run"
FILE_SYSTEMS: Final = (
    *(
        Flag((f"--posix.{name}",), takes_value=True, refusal=_STRIPES, also=(name.replace(".", ""),))
        for name in (
            *("lustre.stripecount", "lustre.stripesize", "lustre.startost", "lustre.pool"),
            *("beegfs.NumTargets", "beegfs.ChunkSize"),
        )
    ),
    *(
        Flag((f"--posix.{name}",), refusal="no run sets it; leave it out", also=(name.replace(".", ""),))
        for name in (
            *("lustre.ignorelocks", "gpfs.hintaccess", "gpfs.releasetoken", "gpfs.finegrainwritesharing"),
            *("gpfs.finegrainreadsharing", "gpfs.createsharing"),
        )
    ),
)


@dataclass(frozen=True)
class ParsedFlags:
    """The flags of one command line: the values of each by its key, those without a value as empty texts.

    ``written``: what each was called last.
    """

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
    found = int(match[1]) * 1024 ** _POWERS.index(match[2].lower())
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
        elif flag.refusal and given not in flag.harmless:
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
        """Take a switch that is given a number: it then stands for so many of it, whatever stood before.

        The last word counts: a script's test may take back what stood before it.
        """
        number = 1 if given.lower() in _ON else 0 if given.lower() in _OFF else read_size(given)
        if number is None or number > _MOST_TIMES:
            raise UserError(f"'{given}' is not a value of {written}", self._table.tool, "write 1 or 0")
        self.values.pop(flag.key, None)
        for _ in range(number):
            self._keep(flag, written, "")
