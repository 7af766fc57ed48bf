# SPDX-License-Identifier: Apache-2.0
"""What STREAM, mbw, sysbench and pmbw print.

STREAM counts bytes read and written, in MB of 10^6 bytes, by the best time of all but the first pass. mbw counts the
bytes that it copies, once, in MiB. ``memory_bandwidth`` here counts both ways as STREAM does, so a copy counts twice.

pmbw (stats.txt) has a line each function, area and round: ``RESULT``, then ``name=value`` by tabs. ``areasize`` is of
all threads together, ``bandwidth`` in bytes/s. ``rate`` is elapsed time over the accesses of all threads, which falls
with threads: times the threads it is the time of one access, kept for the chases alone.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from ullage.errors import UserError
from ullage.grouping import grouped
from ullage.importers import forms
from ullage.importers.forms import MEGA, MIB, MS, Form, Found, Measured, Rule, as_printed, disagree, number, whole
from ullage.importers.printed import Printed, known_to, positive_number, whole_number
from ullage.importers.rows import IMPORT_SUITE, Importer, ValueT, imported_row, value_of
from ullage.importers.sources import Line
from ullage.model.flags import Flag
from ullage.model.summary import Row, Summary

_STREAMS: Final = {"copy": 2, "scale": 2, "add": 3, "triad": 3}
_BOTH_WAYS: Final = 2


@dataclass
class _Stream:
    elements: int = 0
    element_bytes: int = 8
    threads: int = 0


def _kernel(state: _Stream, line: Line, match: re.Match[str]) -> Iterator[Found]:
    kernel, shown, array_bytes = match[1].lower(), as_printed(match[2], line), state.elements * state.element_bytes
    moved = _STREAMS[kernel] * array_bytes
    again = as_printed(match[3], line).under(moved / MEGA) if state.elements else None
    doubt = disagree(shown, again, f"the rate of {kernel} in MB/s", 1e-4, line)
    params = {"access": kernel, **forms.given(threads=state.threads, working_set_bytes=3 * array_bytes)}
    yield Measured("memory_bandwidth", "B/s", shown.value * MEGA, params, doubt)


_STREAM_RULES: Final[tuple[Rule[_Stream], ...]] = (
    (r"This system uses (\d+) bytes per (?:array element|DOUBLE)", forms.keep(element_bytes=whole)),
    (r"Array size = (\d+)", forms.anew(kept=("element_bytes",), elements=whole)),
    (r"Number of Threads (?:counted|requested) = (\d+)", forms.keep(threads=whole)),
    (r"(?i)\s*(Copy|Scale|Add|Triad):?\s+(\S+)\s+\S+\s+(\S+)\s+\S+\s*$", _kernel),
)


@dataclass
class _Copies:
    samples: dict[str, list[float]] = field(default_factory=dict[str, list[float]])


def _copy(state: _Copies, line: Line, match: re.Match[str]) -> Iterator[Found]:
    run, method, seconds, mib, rate = match.groups()
    shown, moved = as_printed(rate, line), number(mib, line)
    doubt = disagree(shown, as_printed(seconds, line).under(moved), f"the rate of {method} in MiB/s", 1e-3, line)
    alone = state.samples.pop(method, [])
    if run != "AVG":
        state.samples[method] = [*alone, shown.value]
    elif alone:
        return
    params: forms.Params = {"access": "copy", "method": method.lower(), "array_bytes": round(moved * MIB)}
    yield Measured("copy_bandwidth", "B/s", shown.value * MIB, params, doubt)
    yield Measured("memory_bandwidth", "B/s", _BOTH_WAYS * shown.value * MIB, params, doubt)


_MBW_RULES: Final[tuple[Rule[_Copies], ...]] = (
    (r"(\d+|AVG)\s+Method:\s*(\w+)\s+Elapsed:\s*(\S+)\s+MiB:\s*(\S+)\s+Copy:\s*(\S+) MiB/s", _copy),
)


_ACCESSES: Final = {"read": "read", "written": "write", "reads": "read", "writes": "write", "fsyncs": "sync"}


@dataclass
class _Sysbench:
    """One run of sysbench: what its test does, by what it prints before the numbers."""

    threads: int = 0
    mode: str = "event"
    operation: str = ""
    block: str = ""
    total: str = ""
    primes: str = ""
    rate: tuple[Line, Printed] | None = None
    seconds: float = 0.0

    @property
    def params(self) -> forms.Params:
        """The parameters of its rows."""
        sizes = {"block_bytes": forms.size(self.block), "working_set_bytes": forms.size(self.total)}
        more = forms.given(threads=self.threads, **sizes, primes=self.primes)
        return {"access": self.operation or self.mode, **more}


def _rate(state: _Sysbench, doubt: str = "") -> Iterator[Found]:
    if state.rate is not None:
        yield Measured("operation_rate", "op/s", state.rate[1].value, state.params, doubt)
    state.rate = None


def _events_rate(state: _Sysbench, line: Line, match: re.Match[str]) -> Iterator[Found]:
    yield from _rate(state)
    state.rate = line, as_printed(match[1], line)


def _events(state: _Sysbench, line: Line, match: re.Match[str]) -> Iterator[Found]:
    doubt = ""
    if state.rate is not None and state.seconds:
        again = known_to(whole(match[1], line) / state.seconds)
        doubt = disagree(state.rate[1], again, "the events per second", 0.02, state.rate[0])
    yield from _rate(state, doubt)


def _moved(
    metric: str, unit: str, factor: float, state: _Sysbench, line: Line, match: re.Match[str]
) -> Iterator[Found]:
    params = state.params
    access = _ACCESSES.get(match[1], params["access"])
    yield Measured(metric, unit, number(match[2], line) * factor, {**params, "access": access})


def _latency(state: _Sysbench, line: Line, match: re.Match[str]) -> Iterator[Found]:
    name = {"avg": "latency", "max": "latency_max"}.get(match[1]) or f"latency_{forms.quantile(match[2])}"
    yield Measured(name, "s", number(match[3], line) * MS, state.params)


_SYSBENCH_RULES: Final[tuple[Rule[_Sysbench], ...]] = (
    (r"sysbench \d", forms.anew(_rate)),
    (r"Number of threads: (\d+)", forms.keep(threads=whole)),
    (r"Prime numbers limit: (\d+)", forms.keep(primes=forms.text)),
    (r"\s*operation: (\w+)", forms.keep(operation=forms.text)),
    (r"\s*(?:block size|Block size):? (\S+)", forms.keep(block=forms.text)),
    (r"\s*total size: (\S+)", forms.keep(total=forms.text)),
    (r"Doing (.*) test", forms.keep(mode=forms.text)),
    (r"\s*events per second:\s+(\S+)", _events_rate),
    (r"Total operations: \d+ \(\s*(\S+) per second\)", _events_rate),
    (r"Operations performed: \d+ \(\s*(\S+) ops/sec\)", _events_rate),
    (r"\s*total time:\s+(\S+?)s?\s*$", forms.keep(seconds=number)),
    (r"\s*total number of events:\s+(\d+)", _events),
    (r"\S+ Mi?B (transferred) \((\S+) Mi?B/sec\)", partial(_moved, "memory_bandwidth", "B/s", MIB)),
    (r"\s*(reads|writes|fsyncs)/s:\s+(\S+)", partial(_moved, "operation_rate", "op/s", 1)),
    (r"\s*(read|written), MiB/s:\s+(\S+)", partial(_moved, "bandwidth", "B/s", MIB)),
    (r"\s*(avg|max|(?:approx\.\s+)?(\d+)(?:th)? percentile):\s+(\d\S*?)(?:ms)?\s*$", _latency),
)

FORMS: Final = (
    Form(
        "stream",
        "what STREAM prints, version 5",
        "memory",
        ("STREAM version $Revision", "Function    Best Rate MB/s", "Function      Rate (MB/s)"),
        forms.by_rules(_Stream, _STREAM_RULES),
    ),
    Form(
        "mbw",
        "what mbw prints",
        "memory",
        ("Method: MEMCPY", "Method: DUMB", "Method: MCBLOCK"),
        forms.by_rules(_Copies, _MBW_RULES),
        begin=r"(?:\d+|AVG)\s+Method",
    ),
    Form(
        "sysbench",
        "what sysbench 1.0 prints of cpu, memory and fileio",
        "memory",
        ("sysbench 1", "sysbench 0"),
        forms.by_rules(_Sysbench, _SYSBENCH_RULES, _rate),
    ),
)


_MARK: Final = "RESULT"
# Some notes spell the first name with one letter less.
_NAMES: Final = ("funcname", "funname")
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
    for count, line in enumerate(text.splitlines(), start=1):
        mark, tab, rest = line.partition("\t")
        if mark != _MARK or not tab:
            continue
        place = f"{name}:{count}"
        words = {key: value for key, _, value in (word.partition("=") for word in rest.split("\t"))}
        function = next((words[name] for name in _NAMES if words.get(name)), "")
        if not 0 < len(function) <= _LONGEST_NAME or not function.isprintable():
            raise UserError("names no function", place, "name it, for example funcname=ScanRead64PtrUnrollLoop")
        threads, area = (_value(words, name, place, *_WHOLE) for name in ("nthreads", "areasize"))
        host = (words.get("host") or "pmbw")[:_LONGEST_NAME]
        yield (host, function, threads, area, "memory_bandwidth"), _value(words, "bandwidth", place, *_POSITIVE)
        if function.startswith("PermRead"):
            yield (host, function, threads, area, "access_time"), threads * _value(words, "rate", place, *_POSITIVE)


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
