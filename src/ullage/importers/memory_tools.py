# SPDX-License-Identifier: Apache-2.0
"""What STREAM, mbw and sysbench print.

STREAM counts bytes read and written, in MB of 10^6 bytes, by the best time of all but the first pass. mbw counts the
bytes that it copies, once, in MiB. ``memory_bandwidth`` here counts both ways as STREAM does, so a copy counts twice.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from ullage.importers import forms
from ullage.importers.forms import MEGA, MIB, MS, Form, Found, Measured, Rule, as_printed, disagree, number, whole
from ullage.importers.printed import Printed, known_to
from ullage.importers.sources import Line

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


# -- mbw ---------------------------------------------------------------------------------------------------------------


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


# -- sysbench ----------------------------------------------------------------------------------------------------------

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
