# SPDX-License-Identifier: Apache-2.0
"""IOzone's text tables (``-R``): a table for each test, rows by file size and columns by record size, both in KiB.

Values are KiB/s of a single run. A 0 stands for what IOzone left out.
"""

import math
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from ullage.errors import UserError
from ullage.importers import IMPORT_SUITE, Importer
from ullage.model.flags import Flag, interval_below
from ullage.model.summary import Row, Summary
from ullage.suites.matrix.findings import findings_of
from ullage.suites.matrix.options import METRIC
from ullage.suites.matrix.tests import jobs

if TYPE_CHECKING:
    from ullage.model.plan import Scalar


_KIB: Final = 1024
_TARGET: Final = "iozone"
_SUITE: Final = "matrix"
_TITLE: Final = re.compile(r'"([A-Za-z][A-Za-z -]*) report"')
_SIZES: Final = re.compile(r'"\d+"(?:\s+"\d+")*')
_LINE: Final = re.compile(r'"(\d+)"((?:\s+[^\s"]+)*)')
_VALUE: Final = re.compile(r"\d{1,15}(?:\.\d+)?")
_OTHER_UNITS: Final = re.compile(r"Output is in (microseconds|operations)", re.IGNORECASE)
_LARGEST_KIB: Final = 1 << 43
_NAMES: Final = {
    "writer": "write",
    "re-writer": "rewrite",
    "reader": "read",
    "re-reader": "reread",
    "re-fwrite": "refwrite",
    "re-fread": "refread",
    **{
        name: name
        for name in ("random read", "random write", "backward read", "record rewrite", "stride read", "fwrite", "fread")
    },
    **{name: name for name in ("pwrite", "re-pwrite", "pread", "re-pread")},
    **{name: name for name in ("pwritev", "re-pwritev", "preadv", "re-preadv")},
}
"""What we call a table, by IOzone's title of it in small letters."""


def recognises(text: str) -> bool:
    """A line that is the title of a table."""
    return any(_TITLE.fullmatch(line.strip()) for line in text.splitlines())


def read_tables(text: str, name: str) -> Summary:
    """The rows of all tables and what they say. ``UserError`` names the line of the first mistake."""
    rows = [_row(label, file, record, value, name) for label, file, record, value in _cells(text, name)]
    if not rows:
        raise UserError("holds no number above 0", name, "give what `iozone -a -R` has printed")
    return Summary(suite=IMPORT_SUITE, run_id="imported", created="", rows=rows, findings=findings_of(rows, []))


def _row(label: str, file: int, record: int, value: float, name: str) -> Row:
    job = next(job for job in jobs(17, 0.5, 16) if any(label in names.values() for names in job.labels.values()))
    test = job.test_of(label)
    access = next(phase for phase, word in job.labels[test].items() if word == label)
    params: dict[str, Scalar] = {
        "test": label,
        "iozone": test,
        "access": access,
        "ranks": 1,
        "file_bytes": file,
        "block_bytes": record,
    }
    return Row(
        metric=METRIC,
        unit="B/s",
        better="more",
        target=_TARGET,
        params=params,
        median=value,
        low=None,
        high=None,
        repetitions=[value],
        verdict="unknown(imported)",
        verdict_reasons=[f"imported from {name}, which has no counters: a cache may have answered"],
        grade=None,
        flags=[Flag(code=interval_below())],
        suite=_SUITE,
    )


def _cells(text: str, name: str) -> Iterator[tuple[str, int, int, float]]:
    """Label, bytes of file and record, and bytes/s of every value above 0."""
    label = ""
    records: list[int] = []
    seen: set[tuple[str, int, int]] = set()
    for number, line in enumerate(text.splitlines(), start=1):
        place, words = f"{name}:{number}", line.strip()
        if _OTHER_UNITS.search(words):
            raise UserError("counts no bytes per second", place, "run iozone without -N and -O")
        title = _TITLE.fullmatch(words)
        if title:
            label, records = _label(title[1], place), []
        elif not words:
            label = "" if records else label
        elif label and not records:
            records = _records(words, place)
        elif label:
            for cell in _values(words, records, place):
                if (key := (label, *cell[:2])) in seen:
                    raise UserError("stands twice", place, "import one run of iozone at a time")
                seen.add(key)
                yield label, *cell


def _label(title: str, place: str) -> str:
    found = _NAMES.get(title.lower())
    if found is None:
        raise UserError(f"unknown table '{title} report'", place, f"known are {', '.join(_NAMES)}")
    return found


def _records(words: str, place: str) -> list[int]:
    if not _SIZES.fullmatch(words):
        raise UserError("is no line of record sizes", place, 'write "4" "8" "16", in KiB')
    return [_size(word.strip('"'), place) for word in words.split()]


def _values(words: str, records: list[int], place: str) -> Iterator[tuple[int, int, float]]:
    match = _LINE.fullmatch(words)
    if match is None:
        raise UserError("is no line of a table", place, 'write "64" and a number for each record')
    file, values = _size(match[1], place), match[2].split()
    if len(values) > len(records):
        what = f"has {len(values)} numbers below {len(records)} record sizes"
        raise UserError(what, place, "write a number for each record")
    for column, (record, word) in enumerate(zip(records, values, strict=False), start=1):
        value = float(word) * _KIB if _VALUE.fullmatch(word) else math.nan
        if math.isnan(value):
            raise UserError(f"'{word}' is no number", f"{place}, column {column}", "write KiB/s, for example 529017")
        if value > 0:
            yield file, record, value


def _size(word: str, place: str) -> int:
    if not 1 <= int(word) <= _LARGEST_KIB:
        raise UserError(f"'{word}' is no size in KiB", place, "write a whole number, 1 or more")
    return int(word) * _KIB


IMPORTER = Importer("iozone", "text tables of IOzone (-R)", recognises, read_tables)


IMPORTERS: Final = (IMPORTER,)
