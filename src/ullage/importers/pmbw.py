# SPDX-License-Identifier: Apache-2.0
"""Result lines of pmbw (stats.txt): ``RESULT``, then ``name=value`` by tabs; a line each function, area and round.

``areasize`` is of all threads together, ``bandwidth`` in bytes/s. ``rate`` is elapsed time over the accesses of all
threads, which falls with threads: times the threads it is the time of one access, kept for the chases alone.
"""

from collections.abc import Callable, Iterator
from typing import Final

from ullage.errors import UserError
from ullage.grouping import grouped
from ullage.importers.printed import positive_number, whole_number
from ullage.importers.rows import IMPORT_SUITE, Importer, ValueT, imported_row, value_of
from ullage.model.flags import Flag
from ullage.model.summary import Row, Summary

_MARK: Final = "RESULT"
# Some notes spell the first name with one letter less.
_NAMES: Final = ("funcname", "funname")
_CHASE: Final = "PermRead"
# Passes over a chase of up to so many bytes overlap, because each begins at the same place again.
_OVERLAPPING_BYTES: Final = 64 << 10
PASSES_OVERLAP: Final = "passes-overlap"
_RESTARTS: Final = "pmbw begins each pass of a chase at the same place: passes overlap, and the time is too short"
_LONGEST_NAME: Final = 64
_WHOLE: Final = (whole_number, "a whole number, 1 or more")
_POSITIVE: Final = (positive_number, "a number above 0")
Key = tuple[str, str, int, int, str]


def recognises(text: str) -> bool:
    """Tell whether a line begins with the mark and gives a number of threads."""
    return any(line.startswith(f"{_MARK}\t") and "nthreads=" in line for line in text.splitlines())


def read_pmbw(text: str, name: str) -> Summary:
    """Read a row of bandwidth for each function, thread count and area, and one of access time where it chases.

    Further lines of the same are further repetitions. Raise ``UserError`` with the line of the first mistake.
    """
    cells = grouped((key, value) for key, value in _samples(text, name))
    if not cells:
        raise UserError("contains no result of pmbw", name, f"lines that begin with {_MARK} and a tab")
    rows = [_row(key, values, name) for key, values in cells.items()]
    return Summary(suite=IMPORT_SUITE, run_id="imported", created="", rows=rows)


def _samples(text: str, name: str) -> Iterator[tuple[Key, float]]:
    for number, line in enumerate(text.splitlines(), start=1):
        mark, tab, rest = line.partition("\t")
        if mark != _MARK or not tab:
            continue
        place = f"{name}:{number}"
        words = {key: value for key, _, value in (word.partition("=") for word in rest.split("\t"))}
        function = _function(words, place)
        threads, area = (_value(words, name, place, *_WHOLE) for name in ("nthreads", "areasize"))
        host = (words.get("host") or "pmbw")[:_LONGEST_NAME]
        yield (host, function, threads, area, "memory_bandwidth"), _value(words, "bandwidth", place, *_POSITIVE)
        if function.startswith(_CHASE):
            yield (host, function, threads, area, "access_time"), threads * _value(words, "rate", place, *_POSITIVE)


def _function(words: dict[str, str], place: str) -> str:
    found = next((words[name] for name in _NAMES if words.get(name)), "")
    if not 0 < len(found) <= _LONGEST_NAME or not found.isprintable():
        raise UserError("names no function", place, "name it, for example funcname=ScanRead64PtrUnrollLoop")
    return found


def _value(words: dict[str, str], name: str, place: str, read: Callable[[str], ValueT | None], right: str) -> ValueT:
    return value_of(words.get(name, ""), read, f"a value of {name}", place, right)


def _row(key: Key, values: list[float], name: str) -> Row:
    host, function, threads, area, metric = key
    is_time = metric == "access_time"
    restarts = is_time and area // threads <= _OVERLAPPING_BYTES
    flags = [Flag(code=PASSES_OVERLAP, reason=_RESTARTS)] if restarts else []
    unit, params = ("s" if is_time else "B/s"), {"access": function, "threads": threads, "working_set_bytes": area}
    return imported_row(name, metric, unit, host, {**params}, values, flags)


IMPORTER: Final = Importer("pmbw", "result lines of pmbw", recognises, read_pmbw, files=("stats.txt",), kind="memory")
