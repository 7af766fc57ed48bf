# SPDX-License-Identifier: Apache-2.0
"""A CSV table of bandwidths: target, access, ranks, block_bytes, bandwidth_mb_per_s, columns in any order.

MB are 1,000,000 bytes. Further lines of the same cell are further repetitions of it.
"""

import csv
import io
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from ullage.analysis.findings import find_all
from ullage.errors import UserError
from ullage.importers.printed import positive_number, whole_number
from ullage.importers.rows import IMPORT_SUITE, Importer, imported_row, value_of
from ullage.model.summary import Summary

_BYTES_PER_MB: Final = 1e6
_ACCESSES: Final = ("write", "rewrite", "read", "reread")
_LONGEST_NAME: Final = 64
_MOST_MB: Final = 1e300
Key = tuple[str, str, int, int]


def _bandwidth(text: str) -> float | None:
    value = positive_number(text, _MOST_MB)
    return None if value is None else value * _BYTES_PER_MB


_WHOLE: Final = (whole_number, "a whole number, 1 or more")
# How a cell of each column is read, and what would be right.
_COLUMNS: Final[Mapping[str, tuple[Callable[[str], str | float | None], str]]] = {
    "target": (
        lambda text: text if 0 < len(text) <= _LONGEST_NAME and text.isprintable() else None,
        f"a name of at most {_LONGEST_NAME} printable characters",
    ),
    "access": (lambda text: text if text in _ACCESSES else None, f"one of {', '.join(_ACCESSES)}"),
    "ranks": _WHOLE,
    "block_bytes": _WHOLE,
    "bandwidth_mb_per_s": (_bandwidth, "a number of MB/s above 0, with a point, for example 9484.994"),
}


def recognises(head: str) -> bool:
    """Tell whether the first line names at least the bandwidth and one more of the columns."""
    names = {name.strip().strip('"') for name in (head.splitlines() or [""])[0].split(",")}
    return "bandwidth_mb_per_s" in names and len(names & _COLUMNS.keys()) > 1


def read_table(text: str, name: str) -> Summary:
    """Read the rows of a table and find what they say; raise ``UserError`` with the place of the first mistake."""
    cells: dict[Key, list[float]] = {}
    for line, values in _lines(text, name):
        key: Key = (str(values["target"]), str(values["access"]), int(values["ranks"]), int(values["block_bytes"]))
        value = float(values["bandwidth_mb_per_s"])
        if value in cells.setdefault(key, []):
            raise UserError("repeats a line above with the same value", f"{name}:{line}", "remove it")
        cells[key].append(value)
    if not cells:
        raise UserError("contains no line of numbers", name, "a line for each cell below the names of the columns")
    rows = [
        imported_row(name, "bandwidth", "B/s", target, {"access": access, "ranks": ranks, "block_bytes": block}, values)
        for (target, access, ranks, block), values in cells.items()
    ]
    return Summary(suite=IMPORT_SUITE, run_id="imported", created="", rows=rows, findings=find_all(rows))


def _lines(text: str, name: str) -> Iterator[tuple[int, dict[str, str | float]]]:
    """Yield line number and values by column of each line that is not empty."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    header: list[str] | None = None
    try:
        for words in reader:
            cells = [word.strip() for word in words]
            if not any(cells):
                continue
            if header is None:
                header = _header(cells, f"{name}:{reader.line_num}")
            else:
                yield reader.line_num, _values(header, cells, f"{name}:{reader.line_num}")
    except csv.Error as error:
        raise UserError(
            f"is not CSV: {error}", f"{name}:{reader.line_num}", "quote whole cells only, and close each quote"
        ) from error


def _header(cells: list[str], place: str) -> list[str]:
    expected = ",".join(_COLUMNS)
    for index, cell in enumerate(cells, start=1):
        if cell not in _COLUMNS:
            raise UserError(f"unknown column '{cell}'", f"{place}, column {index}", f"the columns are {expected}")
        if cell in cells[: index - 1]:
            raise UserError(f"column '{cell}' is given twice", f"{place}, column {index}", "name each column once")
    missing = [column for column in _COLUMNS if column not in cells]
    if missing:
        raise UserError(f"no column '{missing[0]}'", place, f"the columns are {expected}")
    return cells


def _values(header: list[str], cells: list[str], place: str) -> dict[str, str | float]:
    if len(cells) != len(header):
        where = f"{place}, column {min(len(cells), len(header)) + 1}"
        raise UserError(f"has {len(cells)} values", where, f"write {len(header)} values, as many as there are columns")
    values: dict[str, str | float] = {}
    for index, (column, cell) in enumerate(zip(header, cells, strict=True), start=1):
        read, right = _COLUMNS[column]
        values[column] = value_of(cell, read, f"a value of {column}", f"{place}, column {index}", f"write {right}")
    return values


IMPORTER: Final = Importer("table", f"CSV with the columns {','.join(_COLUMNS)}", recognises, read_table)
