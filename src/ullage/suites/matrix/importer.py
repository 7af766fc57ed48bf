# SPDX-License-Identifier: Apache-2.0
"""What IOzone prints: with ``-R`` a table for each test, else one whose lines are file and record size, columns tests.

Sizes are in KiB, values in KiB/s of a single run. A 0 stands for what IOzone left out. Of an output that has both forms
the tables of ``-R`` are read: they repeat the numbers.
"""

import math
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from ullage.errors import UserError
from ullage.importers.rows import IMPORT_SUITE, Importer, imported_row
from ullage.model.summary import Row, Summary
from ullage.suites.matrix.findings import findings_of
from ullage.suites.matrix.suite import METRIC, jobs

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
"""Gives the name of a table here, by IOzone's title of it in small letters."""


# The plain table has these columns: those without a word above their name, those with one, and stdio's.
_ABOVE: Final = {
    ("random", "read"): "random read",
    ("random", "write"): "random write",
    ("bkwd", "read"): "backward read",
    ("record", "rewrite"): "record rewrite",
    ("stride", "read"): "stride read",
}
_UPPER_WORDS: Final = frozenset(upper for upper, _ in _ABOVE)
_ALONE: Final = {name: name for name in ("write", "rewrite", "read", "reread")}
_STDIO: Final = {"fwrite": "fwrite", "frewrite": "refwrite", "fread": "fread", "freread": "refread"}
_HEAD: Final = re.compile(r"\s*kB\s+reclen\s+(.*)", re.IGNORECASE)
# The plain table with all columns, without its head and with commas, as people keep it.
_CSV: Final = re.compile(r"\d{1,15}(?:,\d{1,15}){14}")
_CSV_HEAD: Final = (
    "random random bkwd record stride",
    "kB reclen write rewrite read reread read write read rewrite read fwrite frewrite fread freread",
)
# A column was left out where there are more blanks than before a number of one digit.
_GAP: Final = re.compile(r"\d\s{12,}\d")
# How wide a column is in releases that people use.
_WIDTHS: Final = range(8, 12)


def recognises(text: str) -> bool:
    """Tell whether a line is the title of a table, or the head of the plain one, or all are its lines as CSV."""
    lines = text.splitlines()
    known = (any(_TITLE.fullmatch(line.strip()) for line in lines), any(_HEAD.fullmatch(line) for line in lines))
    return any(known) or _is_csv(lines)


def _is_csv(lines: list[str]) -> bool:
    """Tell whether all lines have the numbers of ``iozone -a``, file sizes multiples of record sizes."""
    said = [line.strip() for line in lines if line.strip()]
    if not said or not all(map(_CSV.fullmatch, said)):
        return False
    sizes = [[int(word) for word in line.split(",")[:2]] for line in said]
    return all(file >= record > 0 and file % record == 0 for file, record in sizes)


def read_tables(text: str, name: str) -> Summary:
    """Read the rows of all tables and their findings; raise ``UserError`` with the line of the first mistake."""
    if _is_csv(text.splitlines()):
        text = "\n".join([*_CSV_HEAD, *(line.replace(",", " ") for line in text.splitlines())])
    has_titles = any(_TITLE.fullmatch(line.strip()) for line in text.splitlines())
    cells = _cells(text, name) if has_titles else _plain_cells(text, name)
    rows = [_row(label, file, record, value, name) for label, file, record, value in cells]
    if not rows:
        raise UserError("contains no number above 0", name, "give what `iozone -a` has printed")
    return Summary(suite=IMPORT_SUITE, run_id="imported", created="", rows=rows, findings=findings_of(rows, []))


def _row(label: str, file: int, record: int, value: float, name: str) -> Row:
    job = next(job for job in jobs(17, 0.5, 16) if any(label in names.values() for names in job.labels.values()))
    test = job.test_of(label)
    access = next(phase for phase, word in job.labels[test].items() if word == label)
    params: dict[str, Scalar] = {"test": label, "iozone": test, "access": access, "ranks": 1}
    row = imported_row(name, METRIC, "B/s", _TARGET, {**params, "file_bytes": file, "block_bytes": record}, [value])
    reason = f"imported from {name}, which has no counters: a cache may have answered"
    return row.model_copy(update={"verdict_reasons": [reason], "suite": _SUITE})


def _cells(text: str, name: str) -> Iterator[tuple[str, int, int, float]]:
    """Yield label, bytes of file and record, and bytes/s of every value above 0."""
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
            if not _SIZES.fullmatch(words):
                raise UserError("is not a line of record sizes", place, 'write "4" "8" "16", in KiB')
            records = [_size(word.strip('"'), place) for word in words.split()]
        elif label:
            for cell in _values(words, records, place):
                if (key := (label, *cell[:2])) in seen:
                    raise UserError("is given twice", place, "import one run of iozone at a time")
                seen.add(key)
                yield label, *cell


def _plain_cells(text: str, name: str) -> Iterator[tuple[str, int, int, float]]:
    """Yield what ``_cells`` does, from the form without ``-R``; its table ends at the first line not all numbers."""
    labels: list[str] = []
    seen: set[tuple[str, int, int]] = set()
    above = ""
    for number, line in enumerate(text.splitlines(), start=1):
        place = f"{name}:{number}"
        if _OTHER_UNITS.search(line):
            raise UserError("counts no bytes per second", place, "run iozone without -N and -O")
        if match := _HEAD.fullmatch(line):
            labels = _plain_labels(above.split(), match[1].split(), place)
        elif labels and re.fullmatch(r"[\d\s]*\d\s*", line):
            for cell in _plain_values(line, labels, place):
                if cell[:3] in seen:
                    raise UserError("is given twice", place, "import one run of iozone at a time")
                seen.add(cell[:3])
                yield cell
        elif line.strip():
            labels, above = [], line if set(line.split()) <= _UPPER_WORDS else ""


def _plain_labels(above: list[str], names: list[str], place: str) -> list[str]:
    stdio = [word for word in names if word in _STDIO]
    others = [word for word in names if word not in _STDIO]
    alone = len(others) - len(above)
    found = [_ALONE.get(word, "") for word in others[: max(alone, 0)]]
    found += [_ABOVE.get(pair, "") for pair in zip(above, others[max(alone, 0) :], strict=False)]
    if alone < 0 or "" in found or names != [*others, *stdio]:
        raise UserError("is not the head of a table", place, "give the output whole: the line above names columns too")
    return [*found, *(_STDIO[word] for word in stdio)]


def _plain_values(line: str, labels: list[str], place: str) -> Iterator[tuple[str, int, int, float]]:
    words = line.split()
    if len(words) < 2:
        raise UserError("is not a line of a table", place, "write sizes of file and record, and a number for each test")
    found: Sequence[int] | None = range(len(words) - 2)
    if len(found) < len(labels) and _GAP.search(line):
        found = _columns(line)
    if found is None or len(words) - 2 > len(labels) or (found and found[-1] >= len(labels)):
        right = "run iozone with -R, whose tables say which number is whose"
        raise UserError(f"has {len(words) - 2} numbers below {len(labels)} tests", place, right)
    file, record = _size(words[0], place), _size(words[1], place)
    for column, word in zip(found, words[2:], strict=True):
        if int(word) > 0:
            yield labels[column], file, record, float(int(word) * _KIB)


def _columns(line: str) -> list[int] | None:
    """Return in which column each number ends where columns were left out; None where the places do not show it.

    All columns behind the record size are equally wide, and numbers stand at their right edge.
    """
    ends = [match.end() for match in re.finditer(r"\d+", line)]
    fitting = [width for width in _WIDTHS if all((end - ends[1]) % width == 0 for end in ends[2:])]
    if len(fitting) != 1:
        return None
    return [(end - ends[1]) // fitting[0] - 1 for end in ends[2:]]


def _label(title: str, place: str) -> str:
    found = _NAMES.get(title.lower())
    if found is None:
        raise UserError(f"unknown table '{title} report'", place, f"known tables are {', '.join(_NAMES)}")
    return found


def _values(words: str, records: list[int], place: str) -> Iterator[tuple[int, int, float]]:
    match = _LINE.fullmatch(words)
    if match is None:
        raise UserError("is not a line of a table", place, 'write "64" and a number for each record')
    file, values = _size(match[1], place), match[2].split()
    if len(values) > len(records):
        what = f"has {len(values)} numbers below {len(records)} record sizes"
        raise UserError(what, place, "write a number for each record")
    for column, (record, word) in enumerate(zip(records, values, strict=False), start=1):
        value = float(word) * _KIB if _VALUE.fullmatch(word) else math.nan
        if math.isnan(value):
            raise UserError(f"'{word}' is not a number", f"{place}, column {column}", "write KiB/s, for example 529017")
        if value > 0:
            yield file, record, value


def _size(word: str, place: str) -> int:
    if not 1 <= int(word) <= _LARGEST_KIB:
        raise UserError(f"'{word}' is not a size in KiB", place, "write a whole number, 1 or more")
    return int(word) * _KIB


IMPORTER = Importer("iozone", "what IOzone prints, with -R or without", recognises, read_tables, kind="storage")
