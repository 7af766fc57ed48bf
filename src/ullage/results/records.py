# SPDX-License-Identifier: Apache-2.0
"""Read what an engine run left behind, whatever state it was left in."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import BinaryIO, Final, cast

from pydantic import TypeAdapter, ValidationError

from ullage.errors import UserError, one_line
from ullage.harmless import harmless_json
from ullage.model.base import first_mistake
from ullage.model.record import CaseRecord, EndRecord, EventRecord, PhaseRecord, ProbeRecord, Record, RunRecord
from ullage.pair_tables import locate_table
from ullage.reading import open_regular

AnyRecord = RunRecord | CaseRecord | PhaseRecord | ProbeRecord | EventRecord | EndRecord

# A line holds one phase at most; what is longer than this was not written by an engine.
_LONGEST_LINE: Final = 64 << 20
_TOO_LARGE: Final = 2.0**64
# Only lines that have one of these when all digits are made alike are looked at more closely. Ids of cases have digits
# beside an e too, but behind a quote.
_DIGITS_ALIKE: Final = bytes.maketrans(b"123456789E,[ \t", b"000000000e::::")
# 2^64 has 20 digits. Digits behind a point make no number larger.
_LONG: Final = b"0" * 20
_LONG_BEFORE_POINT: Final = re.compile(rb"(?<![0.])0{20}")
_POWER: Final = b"0e0"
_POWER_OF_NUMBER: Final = re.compile(rb":-?0[0.]*e0")


@dataclass(frozen=True, slots=True)
class Problem:
    """A line that could not be used; ``line`` counts from 1 and is 0 when the whole file is meant."""

    line: int
    text: str


@dataclass(frozen=True)
class RecordFile:
    """All usable records of a file in their order. ``truncated``: the last launch in it wrote no ``end``."""

    path: Path
    records: list[AnyRecord]
    truncated: bool
    problems: list[Problem] = field(default_factory=list[Problem])

    @cached_property
    def run(self) -> RunRecord | None:
        """First run record."""
        return next((r for r in self.records if isinstance(r, RunRecord)), None)

    @cached_property
    def end(self) -> EndRecord | None:
        """End record of the last launch; None when it was cut short."""
        return None if self.truncated else next((r for r in reversed(self.records) if isinstance(r, EndRecord)), None)

    @cached_property
    def cases(self) -> list[CaseRecord]:
        """Ends of repetitions."""
        return [r for r in self.records if isinstance(r, CaseRecord)]

    @cached_property
    def phases(self) -> list[PhaseRecord]:
        """Timed stretches, warm-ups included."""
        return [r for r in self.records if isinstance(r, PhaseRecord)]

    @cached_property
    def events(self) -> list[EventRecord]:
        """What a reader must know."""
        return [r for r in self.records if isinstance(r, EventRecord)]

    @cached_property
    def probes(self) -> list[ProbeRecord]:
        """Facts read apart from phases."""
        return [r for r in self.records if isinstance(r, ProbeRecord)]


@cache
def _adapter() -> TypeAdapter[AnyRecord]:
    return TypeAdapter(Record)


def parse_record(line: bytes) -> AnyRecord | Problem:
    """Return the record of one line, or why there is none (``Problem.line`` is 0); never raise."""
    try:
        record = _adapter().validate_json(harmless_json(line))
    except ValidationError as error:
        place, why = first_mistake(error)
        start = line[:40].decode("utf-8", "replace")
        return Problem(0, one_line(f"{place}: {why}" if place else f"{why} in a line that starts with '{start}'", 200))
    if _has_long_number(line) and _is_too_large(record.model_dump()):
        return Problem(0, "a number beyond 64 bits, which the engine does not write")
    return record


def _has_long_number(line: bytes) -> bool:
    """Tell whether ``line`` may have a number of 20 digits or more before its point, or one with a power of ten."""
    alike = line.translate(_DIGITS_ALIKE, b"+")
    is_long = _LONG in alike and _LONG_BEFORE_POINT.search(alike) is not None
    return is_long or (_POWER in alike and _POWER_OF_NUMBER.search(alike) is not None)


def _is_too_large(value: object) -> bool:
    """Tell whether any number in ``value`` is beyond 64 bits: arithmetic on such ends in errors far from here."""
    if isinstance(value, dict):
        return any(map(_is_too_large, cast("dict[str, object]", value).values()))
    if isinstance(value, (list, tuple)):
        return any(map(_is_too_large, cast("list[object]", value)))
    return isinstance(value, (int, float)) and abs(value) >= _TOO_LARGE


def read_records(path: Path) -> RecordFile:
    """Read everything usable in the NDJSON file ``path``.

    Cut, garbled, over-long and unknown lines become ``problems``; the content never raises. Raise ``UserError`` when
    the file itself cannot be read.
    """
    records: list[AnyRecord] = []
    problems: list[Problem] = []
    try:
        with open_regular(path) as stream:
            for number, line, whole in _lines(stream):
                found = _read_line(line, whole=whole)
                if isinstance(found, Problem):
                    problems.append(Problem(number, found.text))
                elif found is not None:
                    records.append(found)
                    wrong = locate_table(found.facts, path.parent) if isinstance(found, PhaseRecord) else ""
                    if wrong:
                        problems.append(Problem(number, wrong))
    except OSError as error:
        raise UserError(error.strerror or "cannot be read", str(path), "name a records file of a result") from error
    if not records:
        problems.append(Problem(0, "no record in the file"))
    return RecordFile(path, records, _is_truncated(records), problems)


def _read_line(line: bytes, *, whole: bool) -> AnyRecord | Problem | None:
    """Return the record of a line, why there is none, or None for an empty line; ``whole``: its end is there.

    A crash can leave blocks of NUL where data was not yet on the disk: what stands beside them is still good.
    """
    stripped = line.strip(b"\0 \t\r\n")
    if not stripped:
        return Problem(0, f"{len(line)} bytes of NUL") if b"\0" in line else None
    if len(line) > _LONGEST_LINE:
        return Problem(0, f"line longer than {_LONGEST_LINE} bytes")
    found = parse_record(stripped)
    if isinstance(found, Problem) and not whole:
        return Problem(0, "line cut short")
    return found


def _lines(stream: BinaryIO) -> Iterator[tuple[int, bytes, bool]]:
    """Yield number, bytes and whether the line end is there, of each line; keep only the head of an over-long one."""
    number = 0
    while line := stream.readline(_LONGEST_LINE + 1):
        number += 1
        whole = line.endswith(b"\n")
        if not whole and len(line) > _LONGEST_LINE:
            while (rest := stream.readline(_LONGEST_LINE)) and not rest.endswith(b"\n"):
                pass
        yield number, line, whole


def _is_truncated(records: list[AnyRecord]) -> bool:
    for record in reversed(records):
        if isinstance(record, EndRecord):
            return False
        if isinstance(record, RunRecord):
            return True
    return True


class RecordTail:
    """Follows a file while it grows. Lines that are not yet whole wait; a file that is not there yet is empty."""

    def __init__(self, path: Path, offset_bytes: int = 0) -> None:
        self._path = path
        self._offset_bytes = offset_bytes
        self._rest = b""

    def poll(self) -> list[AnyRecord]:
        """Return the records completed since the last call; leave lines that are none to ``read_records`` to report."""
        try:
            with open_regular(self._path) as stream:
                stream.seek(self._offset_bytes)
                chunk = stream.read()
        except FileNotFoundError:
            return []
        self._offset_bytes += len(chunk)
        *whole, self._rest = (self._rest + chunk).split(b"\n")
        found = (_read_line(line, whole=True) for line in whole)
        return [record for record in found if record is not None and not isinstance(record, Problem)]
