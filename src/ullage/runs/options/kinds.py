# SPDX-License-Identifier: Apache-2.0
"""Kinds of options: how a value is written on a command line, read from there, and shown.

A kind raises ``UserError`` whose place is the part of the text that is wrong; the option's name is put before it by
whoever knows it. Kinds are pure, but for the files that some of them are told to read.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final, TypeAlias, cast

from ullage.errors import UserError
from ullage.units import format_axis, format_bytes, format_duration, parse_axis, parse_duration, parse_share, parse_size

if TYPE_CHECKING:
    from ullage.model.plan import Target

RawValue: TypeAlias = str | int | float | bool | Path | Sequence[str]
ALL: Final = "all"


@dataclass(frozen=True)
class Kind:
    """A text that is its own value, and the base of the other kinds.

    ``metavar`` stands in the help for the value; empty: the name of the type. ``python`` is what typer makes of one
    word of the command line. An option of a ``repeated`` kind may be given several times, and is read as a whole.
    """

    _: KW_ONLY
    metavar: str = ""
    python: ClassVar[type] = str
    repeated: ClassVar[bool] = False

    def parse(self, raw: RawValue) -> object:
        """Return the value of what was typed."""
        return raw

    def format(self, value: object) -> str:
        """Return the value as a person would type it."""
        return str(value)

    @property
    def choices(self) -> tuple[str, ...]:
        """The words that are known, where these are all."""
        return ()


@dataclass(frozen=True)
class Flag(Kind):
    """Said or not."""

    python = bool

    def format(self, value: object) -> str:
        """Return nothing, since a flag is typed without a value."""
        del value
        return ""


@dataclass(frozen=True)
class Count(Kind):
    """A whole number. typer reads it and knows its limits."""

    python = int

    def parse(self, raw: RawValue) -> object:
        """Return the number, also from a text, as defaults are written."""
        return int(raw) if isinstance(raw, str) else raw


@dataclass(frozen=True)
class Number(Kind):
    """A number with a fraction. typer reads it and knows its limits."""

    python = float

    def parse(self, raw: RawValue) -> object:
        """Return the number, also from a text, as defaults are written."""
        return float(raw) if isinstance(raw, str) else raw

    def format(self, value: object) -> str:
        """Write the number without the zeros that say nothing."""
        return f"{value:g}"


@dataclass(frozen=True)
class Size(Kind):
    """Bytes, a multiple of ``unit``; ``example`` has such. ``names``: words that stand for a size."""

    unit: int = 1
    example: str = "4K, 64K or 1M"
    names: tuple[tuple[str, int], ...] = ()
    _: KW_ONLY
    metavar: str = "SIZE"

    def parse(self, raw: RawValue) -> object:
        """See ``parse_size``."""
        named = dict(self.names).get(str(raw))
        return _multiple(parse_size(str(raw)), self.unit, str(raw), self.example) if named is None else named

    def format(self, value: object) -> str:
        """See ``format_bytes``."""
        by_size = {size: name for name, size in self.names}
        return by_size.get(cast("int", value)) or format_bytes(cast("int", value))


@dataclass(frozen=True)
class Duration(Kind):
    """Seconds, above 0 unless ``may_be_none``: then 0 says that there is none of it."""

    _: KW_ONLY
    may_be_none: bool = False
    metavar: str = "DURATION"

    def parse(self, raw: RawValue) -> object:
        """See ``parse_duration``."""
        seconds = parse_duration(str(raw))
        if seconds < 0 or (seconds == 0 and not self.may_be_none):
            raise UserError("is not above 0", str(raw), "write 90s, 5m or 1h")
        return seconds

    def format(self, value: object) -> str:
        """See ``format_duration``."""
        return format_duration(cast("float", value))


@dataclass(frozen=True)
class Share(Kind):
    """A share between 0 and 1, which people write in percent. ``what``: as it is called where it is wrong."""

    what: str = "not a share"
    _: KW_ONLY
    metavar: str = "SHARE"

    def parse(self, raw: RawValue) -> object:
        """See ``parse_share``."""
        return parse_share(str(raw), self.what)

    def format(self, value: object) -> str:
        """Write the share in percent."""
        return f"{100 * cast('float', value):g}%"


@dataclass(frozen=True)
class CountAxis(Kind):
    """Whole numbers from 1 on, rising: ``1,2,4`` or ``1:64:x2``."""

    _: KW_ONLY
    metavar: str = "AXIS"

    def parse(self, raw: RawValue) -> object:
        """See ``parse_axis``."""
        return _rising(parse_axis(str(raw)))

    def format(self, value: object) -> str:
        """See ``format_axis``."""
        return format_axis(cast("Sequence[int]", value))


@dataclass(frozen=True)
class SizeAxis(Kind):
    """Sizes, rising: ``128K,1M`` or ``128K:16M:x2``. ``unit``: of which each is a multiple; ``example`` has such."""

    unit: int = 1
    example: str = "4K, 64K or 1M"
    _: KW_ONLY
    metavar: str = "AXIS"

    def parse(self, raw: RawValue) -> object:
        """See ``parse_axis``."""
        sizes = _rising(parse_axis(str(raw), parse_size))
        return [_multiple(size, self.unit, str(raw), self.example) for size in sizes]

    def format(self, value: object) -> str:
        """See ``format_axis``."""
        return format_axis(cast("Sequence[int]", value), format_bytes)


@dataclass(frozen=True)
class ThreadAxis(Kind):
    """Numbers of threads, where ``all`` stands for as many as this machine has; that is looked up later."""

    _: KW_ONLY
    metavar: str = "AXIS"

    def parse(self, raw: RawValue) -> object:
        """Return the counts, rising, and ``all`` as it is."""
        texts = [text.strip() for text in str(raw).split(",")]
        counts = [text for text in texts if text != ALL]
        found: list[int | str] = [*_rising(parse_axis(",".join(counts)))] if counts else []
        return [*found, ALL] if ALL in texts else found

    def format(self, value: object) -> str:
        """Join the counts by commas."""
        return ",".join(str(count) for count in cast("Iterable[object]", value))


@dataclass(frozen=True)
class Choice(Kind):
    """One of some words."""

    known: tuple[str, ...]

    def parse(self, raw: RawValue) -> object:
        """See ``known_word``."""
        return _known(str(raw), self.known)

    @property
    def choices(self) -> tuple[str, ...]:
        """All known words."""
        return self.known


@dataclass(frozen=True)
class Names(Kind):
    """Words separated by commas, each once. ``known``: those that may stand there, empty: any.

    The value has them in the order of ``known`` where ``sorted_``, else in that in which they are written.
    """

    known: tuple[str, ...] = ()
    sorted_: bool = True
    _: KW_ONLY
    metavar: str = "NAMES"

    def parse(self, raw: RawValue) -> object:
        """See ``split_names``."""
        names = split_names(str(raw))
        if not self.known:
            return names
        found = [_known(name, self.known) for name in names]
        return [name for name in self.known if name in found] if self.sorted_ else found

    def format(self, value: object) -> str:
        """Join the words by commas."""
        return ",".join(cast("Iterable[str]", value))

    @property
    def choices(self) -> tuple[str, ...]:
        """The words that are known."""
        return self.known


@dataclass(frozen=True)
class Repeated(Kind):
    """Texts of an option that may be given several times."""

    repeated = True

    def parse(self, raw: RawValue) -> object:
        """Return all of them."""
        return list(cast("Sequence[str]", raw))

    def format(self, value: object) -> str:
        """Join the words by blanks."""
        return " ".join(str(item) for item in cast("Iterable[object]", value))


@dataclass(frozen=True)
class TargetPlaces(Repeated):
    """Places to measure."""

    _: KW_ONLY
    metavar: str = "NAME=PATH"

    def parse(self, raw: RawValue) -> object:
        """See ``parse_targets``."""
        from ullage.uri import parse_targets

        return parse_targets(cast("Sequence[str]", raw))

    def format(self, value: object) -> str:
        """Write targets as they are typed, ``NAME=URI``."""
        return " ".join(f"{one.name}={one.uri}" for one in cast("Iterable[Target]", value))


@dataclass(frozen=True)
class CeilingRates(Repeated):
    """What targets could reach at most."""

    _: KW_ONLY
    metavar: str = "NAME[:ACCESS]=RATE"

    def parse(self, raw: RawValue) -> object:
        """See ``read_ceiling``; whether there are such targets is found when they are known."""
        from ullage.analysis.ceilings.declared import read_ceiling

        return dict(read_ceiling(text) for text in cast("Sequence[str]", raw))


@dataclass(frozen=True)
class Converted(Kind):
    """A value that ``make`` makes of the text."""

    make: Callable[[str], object]
    _: KW_ONLY
    metavar: str = ""

    def parse(self, raw: RawValue) -> object:
        """Return what ``make`` makes of the raw."""
        return self.make(str(raw))


@dataclass(frozen=True)
class ConvertedList(Repeated):
    """A value that ``make`` makes of all texts of an option that may be given several times."""

    make: Callable[[Sequence[str]], object]
    _: KW_ONLY
    metavar: str = ""

    def parse(self, raw: RawValue) -> object:
        """Return what ``make`` makes of the words."""
        return self.make(cast("Sequence[str]", raw))


@dataclass(frozen=True)
class FilePath(Kind):
    """A file that ``make`` reads, or looks for."""

    make: Callable[[Path], object]
    _: KW_ONLY
    metavar: str = "FILE"
    python = Path

    def parse(self, raw: RawValue) -> object:
        """Return what ``make`` makes of the file."""
        return self.make(Path(str(raw)))

    def format(self, value: object) -> str:
        """Return nothing, since which file it was is not known any more."""
        del value
        return ""


def split_names(text: str) -> list[str]:
    """Split words at commas; raise ``UserError`` for an empty one and for a repeated one."""
    names = [word.strip() for word in text.split(",")]
    if not all(names) or len(set(names)) < len(names):
        raise UserError("an empty or repeated word", text, "write each name once, separated by commas")
    return names


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
