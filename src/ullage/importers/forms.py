# SPDX-License-Identifier: Apache-2.0
"""The kit of declared forms: a form is marks by which a text is known, and a function from its lines to numbers.

A number may come with what else the same text says of it. Where the two disagree the row is flagged and a finding says
so. Rates and times that are 0 stand for work that was not done and make no row.
"""

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median
from typing import IO, Final, TypeVar, cast

from ullage.analysis.findings import find_all
from ullage.analysis.findings.phrasing import finding
from ullage.errors import UserError
from ullage.importers.printed import Printed, printed
from ullage.importers.rows import IMPORT_SUITE, WHOLE, RefusedError, imported_row, refusals
from ullage.importers.sources import Line
from ullage.model.flags import Flag
from ullage.model.plan import Scalar
from ullage.model.summary import Finding, Row, Summary

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
KILO, MEGA, GIGA = 1e3, 1e6, 1e9
US, MS = 1e-6, 1e-3
_STORAGE: Final = "storage"
# The metrics of storage that the common findings know.
_FOUND: Final = frozenset({"bandwidth", "operation_rate"})
CONTRADICTED: Final = "stated-twice"
_QUANTILE: Final = re.compile(r"(\w+?)(_min|_max|_p(\d+))")
# A mean of several runs, and rounding, may put equal quantiles in another order by this factor.
_SAME: Final = 1.0001
_MOST_SHOWN: Final = 3
_MOST_KEPT: Final = 1000
_LONGEST_NAME: Final = 128
# "1,234" may be either; with other digits behind the comma, or none before it, it is a decimal comma.
_THOUSANDS: Final = re.compile(r"[+-]?\d{1,3}(?:,\d{3}){2,}(?:\.\d+)?|[+-]?\d{1,3}(?:,\d{3})+\.\d+")
_DECIMAL_COMMA: Final = re.compile(r"[+-]?(?:\d+,(?:\d{1,2}|\d{4,})|0,\d+|\d{4,},\d+)(?:[eE][+-]?\d+)?")
_NUMBER: Final = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Measured:
    """One number in SI units. ``doubt``: what else the text says of it, where that disagrees; empty where it agrees."""

    metric: str
    unit: str
    value: float
    params: Mapping[str, Scalar]
    doubt: str = ""
    flags: tuple[Flag, ...] = ()
    target: str = ""


@dataclass(frozen=True, slots=True)
class Remark:
    """What to know of the text as a whole: that it was cut off, or that a part of it is not read."""

    text: str


Found = Measured | Remark | Finding
Params = dict[str, Scalar]


@dataclass(frozen=True, slots=True)
class Form:
    """A form of a text: ``read`` takes its lines, ``read_document`` each JSON document of it.

    ``marks``: any of these is in such a text, and in no other one. ``kind``: what such programs measure, by which a
    refusal names forms. ``hides``: forms whose marks are in such a text, too, as parts of it. ``begin``: how a line
    with a mark begins, where the mark is not its beginning. A form of bytes has ``head``, how they begin.
    """

    name: str
    doc: str
    kind: str
    marks: tuple[str, ...]
    read: Callable[[Iterator[Line]], Iterator[Found]] | None = None
    read_document: Callable[[Mapping[str, object]], Iterator[Found]] | None = None
    hides: tuple[str, ...] = ()
    begin: str = ""
    read_stream: Callable[[IO[bytes]], Iterator[Found]] | None = None
    head: bytes = b""

    def before(self, seen: Mapping[str, str]) -> str:
        """Return what stands before a line of the form: before ``begin``, else its mark, in what ``marks_in`` found."""
        mark = next(mark for mark in self.marks if mark in seen)
        begin = re.search(self.begin, seen[mark]) if self.begin else None
        return seen[mark][: begin.start()] if begin else seen[mark].removesuffix(mark)


@dataclass
class _Cell:
    unit: str
    values: list[float] = field(default_factory=list[float])
    doubts: list[str] = field(default_factory=list[str])
    flags: dict[str, Flag] = field(default_factory=dict[str, Flag])


_Key = tuple[str, str, tuple[tuple[str, Scalar], ...]]


def summary_of(form: Form, found: Iterable[Found], name: str) -> Summary:
    """Make rows of what a form has read: what is alike in all but its value are repetitions of one row."""
    cells: dict[_Key, _Cell] = {}
    remarks: dict[str, None] = {}
    told: list[Finding] = []
    with refusals(name):
        for one in found:
            if isinstance(one, Finding):
                told.append(one)
                continue
            if isinstance(one, Remark):
                remarks[one.text] = None
                continue
            if not math.isfinite(one.value) or one.value < 0:
                raise RefusedError(f"{one.value:g} is no {one.metric.replace('_', ' ')}")
            if one.value == 0 and not one.unit.startswith("of "):
                continue
            cell = cells.setdefault((one.target or form.name, one.metric, tuple(one.params.items())), _Cell(one.unit))
            cell.values.append(one.value)
            if one.doubt and len(cell.doubts) < _MOST_KEPT:
                cell.doubts.append(one.doubt)
            cell.flags |= {flag.code: flag for flag in one.flags}
    if not cells:
        what = next(iter(remarks), f"contains no result of {form.name}")
        raise UserError(what, name, WHOLE)
    _doubt_order(cells)
    rows = [_row(key, cell, name, is_storage=form.kind == _STORAGE) for key, cell in cells.items()]
    of_storage = find_all(row for row in rows if row.metric in _FOUND) if form.kind == _STORAGE else []
    said = [finding("import-remark", "", f"{name}: {text}.", "warning") for text in remarks]
    findings = [*told, *said, *_doubts(cells, name), *of_storage]
    return Summary(suite=IMPORT_SUITE, run_id="imported", created="", rows=rows, findings=findings)


def _doubt_order(cells: Mapping[_Key, _Cell]) -> None:
    """Doubt quantiles of one thing that do not rise: the least, p50, p99, p999, the most."""
    quantiles: dict[_Key, list[tuple[float, float, str, _Cell]]] = {}
    for (target, metric, params), cell in cells.items():
        if cell.unit == "s" and (match := _QUANTILE.fullmatch(metric)) is not None:
            place = {"_min": -1.0, "_max": 2.0}.get(match[2]) or float(f"0.{match[3]}")
            found = quantiles.setdefault((target, match[1], params), [])
            found.append((place, median(cell.values), metric, cell))
    for found in quantiles.values():
        found.sort(key=lambda one: one[0])
        for (_, low, lower, one), (_, high, higher, other) in pairwise(found):
            if low > high * _SAME:
                doubt = f"{lower} of {low:g} s is above {higher} of {high:g} s"
                one.doubts.append(doubt)
                other.doubts.append(doubt)


def _row(key: _Key, cell: _Cell, name: str, *, is_storage: bool) -> Row:
    target, metric, params = key
    doubts = list(dict.fromkeys(cell.doubts))
    flags = list(cell.flags.values())
    if doubts:
        flags.append(Flag(code=CONTRADICTED, reason="; ".join(doubts[:_MOST_SHOWN])))
    row = imported_row(name, metric, cell.unit, target[:_LONGEST_NAME], dict(params), cell.values, flags)
    if is_storage:
        return row
    # Only of storage it matters whether a cache has answered.
    return row.model_copy(update={"verdict": "none", "verdict_reasons": [f"imported from {name}"]})


def _doubts(cells: Mapping[_Key, _Cell], name: str) -> Iterator[Finding]:
    doubts = list(dict.fromkeys(doubt for cell in cells.values() for doubt in cell.doubts))
    if doubts:
        more = f" There are {len(doubts) - _MOST_SHOWN} more." if len(doubts) > _MOST_SHOWN else ""
        title = "The file contradicts itself"
        text = f"{title}: {name} states the same thing twice and not alike. {'; '.join(doubts[:_MOST_SHOWN])}.{more}"
        yield finding("import-contradiction", title, text, "warning", contradictions=len(doubts))


StateT = TypeVar("StateT")
Act = Callable[[StateT, Line, "re.Match[str]"], Iterable[Found] | None]
Rule = tuple[str, Act[StateT]]
# How the text of a group is read.
GroupReader = Callable[[str, Line], object]


def by_rules(
    begin: Callable[[], StateT], rules: Sequence[Rule[StateT]], end: Callable[[StateT], Iterable[Found]] | None = None
) -> Callable[[Iterator[Line]], Iterator[Found]]:
    """Make the function ``read`` of a form: the first rule that a line matches at its beginning acts on the state."""
    compiled = [(re.compile(pattern), act) for pattern, act in rules]

    def read(lines: Iterator[Line]) -> Iterator[Found]:
        state = begin()
        for line in lines:
            for pattern, act in compiled:
                if match := pattern.match(line.text):
                    yield from act(state, line, match) or ()
                    break
        if end is not None:
            yield from end(state)

    return read


def keep(**readers: GroupReader) -> Act[object]:
    """Make an act that keeps what the groups of a pattern say, in turn, under these names of the state."""

    def act(state: object, line: Line, match: re.Match[str]) -> None:
        vars(state).update(_read_groups(readers, line, match))

    return act


def anew(
    end: Callable[[StateT], Iterable[Found]] | None = None, kept: Sequence[str] = (), **readers: GroupReader
) -> Act[StateT]:
    """Make an act that begins a new state, after ``end`` of the last, with what is ``kept`` of it and groups say."""

    def act(state: StateT, line: Line, match: re.Match[str]) -> Iterator[Found]:
        if end is not None:
            yield from end(state)
        make: Callable[..., object] = type(state)
        values = {name: getattr(state, name) for name in kept} | _read_groups(readers, line, match)
        vars(state).update(vars(make(**values)))

    return act


def _read_groups(readers: Mapping[str, GroupReader], line: Line, match: re.Match[str]) -> dict[str, object]:
    return {name: read(text, line) for (name, read), text in zip(readers.items(), match.groups(""), strict=True)}


def text(found: str, _: Line) -> str:
    """Keep a group as it is."""
    return found


def lower(found: str, _: Line) -> str:
    """Keep a group in small letters."""
    return found.lower()


def given(**params: Scalar | None) -> dict[str, Scalar]:
    """Return the parameters that a text says: those that are neither missing, 0 nor empty."""
    return {name: value for name, value in params.items() if value}


def cells_of(columns: Sequence[str], words: Sequence[str], line: Line) -> dict[str, str]:
    """Return the words of a line by their columns; raise ``RefusedError`` for more or fewer of them."""
    if len(words) != len(columns):
        raise RefusedError(f"has {len(words)} values below {len(columns)} columns", line.number)
    return dict(zip(columns, words, strict=True))


def number(text: str, line: Line | None = None, what: str = "number") -> float:
    """Read a number of 0 or more in any usual notation; raise ``RefusedError`` for others, and what may be two."""
    place = line.number if line else 0
    plain = text.strip()
    if "," in plain:
        if _THOUSANDS.fullmatch(plain):
            plain = plain.replace(",", "")
        elif _DECIMAL_COMMA.fullmatch(plain):
            plain = plain.replace(",", ".")
        else:
            raise RefusedError(
                f"'{plain}' may have a decimal comma or one of thousands", place, "write it with LC_ALL=C"
            )
    if _NUMBER.fullmatch(plain) is None:
        raise RefusedError(f"'{plain[:40]}' is no {what}", place)
    return float(plain)


def is_number(text: str) -> bool:
    """Tell whether ``number`` reads a text."""
    return any(form.fullmatch(text) for form in (_NUMBER, _THOUSANDS, _DECIMAL_COMMA))


def whole(text: str, line: Line | None = None, what: str = "whole number") -> int:
    """Read a whole number; raise ``RefusedError`` for another text."""
    plain = text.strip().replace(",", "")
    if not (plain.isascii() and plain.isdigit() and len(plain) <= 19):
        raise RefusedError(f"'{text[:40]}' is no {what}", line.number if line else 0)
    return int(plain)


def as_printed(text: str, line: Line | None = None, what: str = "number") -> Printed:
    """Read a number as ``number`` does, with the rounding of its last digit."""
    value = number(text, line, what)
    return printed(text.strip() if "," not in text else repr(value))


_PREFIX: Final = "KMGTPE"


def size(text: str) -> int | None:
    """Read bytes as programs print them, ``2 MiB``, ``47008 bytes``, ``1.5K``, with binary prefixes; else None."""
    match = re.fullmatch(r"\s*([\d.,]+)\s*(?:([KMGTPE])(?:i?B)?|bytes?|B)?\s*", text, re.IGNORECASE)
    if match is None or not is_number(match[1]):
        return None
    power = _PREFIX.index(match[2].upper()) + 1 if match[2] else 0
    return round(number(match[1]) * 1024**power)


def quantile(text: str) -> str:
    """Return the name of a percentile without its point, by whose digits names sort: p05, p50, p999."""
    whole_part, _, rest = text.strip().partition(".")
    return f"p{int(whole_part):02d}{rest.rstrip('0')}"


def disagree(
    shown: Printed | None, again: Printed | None, what: str, slack: float = 0.0, line: Line | None = None
) -> str:
    """Return a sentence where two statements of a number (None: missing) differ by over rounding and ``slack``."""
    if shown is None or again is None:
        return ""
    room = slack * abs(again.value)
    if shown.low <= again.high + room and again.low - room <= shown.high:
        return ""
    doubt = f"{what}: {shown.value:.8g} is printed, {again.value:.8g} follows from what else is printed"
    return doubt if line is None else at_line(line, doubt)


def at_line(line: Line, doubt: str) -> str:
    """Return a doubt with the line that it is about."""
    return f"line {line.number}, {doubt}" if doubt else ""


def documents(text: str, name: str) -> Iterator[Mapping[str, object]]:
    """Yield the JSON objects of a text, also those of lists; raise ``UserError`` where one is cut off or damaged."""
    decoder, place = json.JSONDecoder(), 0
    while match := re.compile(r"^[^\S\n]*(?=\{|\[\s*\{)", re.MULTILINE).search(text, place):
        try:
            loaded, place = cast("tuple[object, int]", decoder.raw_decode(text, match.end()))
        except (json.JSONDecodeError, RecursionError) as error:
            line = error.lineno if isinstance(error, json.JSONDecodeError) else 1
            said = error.msg if isinstance(error, json.JSONDecodeError) else "nested too deeply"
            right = "give the file of a run that has ended"
            raise UserError(f"is no whole JSON document: {said}", f"{name}:{line}", right) from error
        found = cast("list[object]", loaded) if isinstance(loaded, list) else [loaded]
        yield from (cast("Mapping[str, object]", one) for one in found if isinstance(one, dict))


def amount(of: Mapping[str, object], name: str) -> float | None:
    """Return the number of 0 or more under ``name``, also one in quotes; None where there is none."""
    value = of.get(name)
    if isinstance(value, str):
        value = number(value) if is_number(value.strip()) else None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    if not math.isfinite(value) or value < 0 or value > 1e300:
        raise RefusedError(f"'{name}' is {value}")
    return float(value)


def word(of: Mapping[str, object], name: str, without: str = "") -> str:
    """Return the text or number under ``name`` as text."""
    value = of.get(name)
    return str(value)[:_LONGEST_NAME] if isinstance(value, (str, int, float)) else without
