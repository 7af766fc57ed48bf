# SPDX-License-Identifier: Apache-2.0
"""Kinds of options: how a value is written on a command line, read from there, and shown.

A kind raises ``UserError`` whose place is the part of the text that is wrong; the option's name is put before it by
whoever knows it. Kinds are pure, but for the files that some of them are told to read.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeAlias, cast

from ullage.errors import UserError
from ullage.units import format_axis, format_bytes, format_duration, parse_axis, parse_duration, parse_share, parse_size

if TYPE_CHECKING:
    from ullage.model.plan import Target

RawValue: TypeAlias = str | int | float | bool | Path | Sequence[str]
ALL: Final = "all"


@dataclass(frozen=True)
class Kind:
    """A text that is its own value, and the base of the other kinds.

    ``metavar`` stands in the help for the value, else the ``word`` of the kind; empty: the name of the type. ``python``
    is what typer makes of one word of the command line. An option of a ``repeated`` kind may be given several times,
    and is read as a whole. ``choices``: the words that are known, where these are all.
    """

    _: KW_ONLY
    metavar: str = ""
    choices: tuple[str, ...] = ()
    word: ClassVar[str] = ""
    python: ClassVar[type] = str
    repeated: ClassVar[bool] = False

    @property
    def shown(self) -> str:
        """What stands in the help for the value; empty: the name of the type."""
        return self.metavar or self.word

    def parse(self, raw: RawValue) -> object:
        """Return the value of what was typed."""
        return self._read(str(raw))

    def _read(self, text: str) -> object:
        return self.python(text)

    def format(self, value: Any, /) -> str:  # noqa: ANN401 - each kind knows its own
        """Return the value as a person would type it."""
        return str(value)


class Flag(Kind):
    """Said or not. It is typed without a value."""

    python = bool

    def parse(self, raw: RawValue) -> object:
        """Return what typer has read."""
        return raw

    def format(self, _value: object, /) -> str:
        return ""


class Count(Kind):
    """A whole number. typer reads it and knows its limits; defaults are written as texts."""

    python = int


class Number(Kind):
    """A number with a fraction. typer reads it and knows its limits; defaults are written as texts."""

    python = float

    def format(self, value: float, /) -> str:
        return f"{value:g}"


@dataclass(frozen=True)
class Size(Kind):
    """Bytes, a multiple of ``unit``; ``example`` has such. ``names``: words that stand for a size."""

    unit: int = 1
    example: str = "4K, 64K or 1M"
    names: tuple[tuple[str, int], ...] = ()
    word = "SIZE"

    def _read(self, text: str) -> object:
        named = dict(self.names).get(text)
        return _multiple(parse_size(text), self.unit, text, self.example) if named is None else named

    def format(self, value: int, /) -> str:
        return {size: name for name, size in self.names}.get(value) or format_bytes(value)


@dataclass(frozen=True)
class Duration(Kind):
    """Seconds, above 0 unless ``may_be_none``: then 0 says that there is none of it."""

    _: KW_ONLY
    may_be_none: bool = False
    word = "DURATION"

    def _read(self, text: str) -> object:
        seconds = parse_duration(text)
        if seconds < 0 or (seconds == 0 and not self.may_be_none):
            raise UserError("is not above 0", text, "write 90s, 5m or 1h")
        return seconds

    def format(self, value: float, /) -> str:
        return format_duration(value)


@dataclass(frozen=True)
class Share(Kind):
    """A share between 0 and 1, which people write in percent. ``what``: as it is called where it is wrong."""

    what: str = "not a share"
    word = "SHARE"

    def _read(self, text: str) -> object:
        return parse_share(text, self.what)

    def format(self, value: float, /) -> str:
        return f"{100 * value:g}%"


class CountAxis(Kind):
    """Whole numbers from 1 on, rising: ``1,2,4`` or ``1:64:x2``."""

    word = "AXIS"

    def _read(self, text: str) -> object:
        return _rising(parse_axis(text))

    def format(self, value: Sequence[int], /) -> str:
        return format_axis(value)


@dataclass(frozen=True)
class SizeAxis(Kind):
    """Sizes, rising: ``128K,1M`` or ``128K:16M:x2``. ``unit``: of which each is a multiple; ``example`` has such."""

    unit: int = 1
    example: str = "4K, 64K or 1M"
    word = "AXIS"

    def _read(self, text: str) -> object:
        return [_multiple(size, self.unit, text, self.example) for size in _rising(parse_axis(text, parse_size))]

    def format(self, value: Sequence[int], /) -> str:
        return format_axis(value, format_bytes)


class ThreadAxis(Kind):
    """Numbers of threads, rising; ``all`` stands for as many as this machine has, which is looked up later."""

    word = "AXIS"

    def _read(self, text: str) -> object:
        texts = [one.strip() for one in text.split(",")]
        counts = [one for one in texts if one != ALL]
        found: list[int | str] = [*_rising(parse_axis(",".join(counts)))] if counts else []
        return [*found, ALL] if ALL in texts else found

    def format(self, value: Iterable[object], /) -> str:
        return ",".join(map(str, value))


@dataclass(frozen=True)
class Choice(Kind):
    """One of some words."""

    choices: tuple[str, ...] = ()

    def _read(self, text: str) -> object:
        return _known(text, self.choices)


@dataclass(frozen=True)
class Names(Kind):
    """Words separated by commas, each once. ``choices``: those that may stand there, empty: any.

    The value has them in the order of ``choices`` where ``sorted_``, else in that in which they are written.
    """

    choices: tuple[str, ...] = ()
    sorted_: bool = True
    word = "NAMES"

    def _read(self, text: str) -> object:
        names = [word.strip() for word in text.split(",")]
        if not all(names) or len(set(names)) < len(names):
            raise UserError("an empty or repeated word", text, "write each name once, separated by commas")
        found = [_known(name, self.choices) for name in names] if self.choices else names
        return [name for name in self.choices if name in found] if self.choices and self.sorted_ else found

    def format(self, value: Iterable[str], /) -> str:
        return ",".join(value)


class Repeated(Kind):
    """Texts of an option that may be given several times."""

    repeated = True

    def parse(self, raw: RawValue) -> object:
        """Return the value of all of them."""
        return list(cast("Sequence[str]", raw))

    def format(self, value: Iterable[object], /) -> str:
        return " ".join(map(str, value))


class TargetPlaces(Repeated):
    """Places to measure, typed as ``NAME=URI``, or as a path alone."""

    word = "[NAME=]PATH"

    def parse(self, raw: RawValue) -> object:
        from ullage.uri import parse_targets

        return parse_targets(cast("Sequence[str]", raw))

    def format(self, value: Iterable[object], /) -> str:
        return " ".join(f"{one.name}={one.uri}" for one in cast("Iterable[Target]", value))


@dataclass(frozen=True)
class Converted(Kind):
    """A value that ``make`` makes of the text."""

    make: Callable[[str], object]

    def _read(self, text: str) -> object:
        return self.make(text)


@dataclass(frozen=True)
class ConvertedList(Repeated):
    """A value that ``make`` makes of all texts of an option that may be given several times."""

    make: Callable[[Sequence[str]], object]

    def parse(self, raw: RawValue) -> object:
        return self.make(cast("Sequence[str]", raw))


@dataclass(frozen=True)
class FilePath(Kind):
    """A file that ``make`` reads, or looks for. Which one it was is not known from the value."""

    make: Callable[[Path], object]
    word = "FILE"
    python = Path

    def _read(self, text: str) -> object:
        return self.make(Path(text))

    def format(self, _value: object, /) -> str:
        return ""


def _rising(values: Sequence[int]) -> list[int]:
    if min(values) < 1:
        raise UserError("0 is not allowed on this axis", "", "begin at 1")
    return sorted(values)


def _multiple(size: int, unit: int, text: str, example: str) -> int:
    if size % unit:
        raise UserError(f"{size} bytes are not a multiple of {unit}", text, f"write {example}")
    return size


def _known(word: str, known: Sequence[str]) -> str:
    # Imported here: it needs the models of the engine's description, for which a help text should not wait.
    from ullage.parameters import known_word

    return known_word(word, known, "")
