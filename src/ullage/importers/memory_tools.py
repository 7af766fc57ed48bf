# SPDX-License-Identifier: Apache-2.0
"""What STREAM, mbw and sysbench print.

STREAM counts bytes read and written, in MB of 10^6 bytes, by the best time of all but the first pass. mbw counts the
bytes that it copies, once, in MiB. ``memory_bandwidth`` here counts both ways as STREAM does, so a copy counts twice.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Final

from ullage.importers.forms import (
    MEGA,
    MIB,
    MS,
    Form,
    Found,
    Measured,
    Rule,
    as_printed,
    at_line,
    by_rules,
    disagree,
    number,
    size,
    whole,
)
from ullage.importers.printed import Printed, known_to
from ullage.importers.sources import Line

if TYPE_CHECKING:
    from ullage.model.plan import Scalar

_STREAMS: Final = {"copy": 2, "scale": 2, "add": 3, "triad": 3}
_BOTH_WAYS: Final = 2


@dataclass
class _Stream:
    elements: int = 0
    element_bytes: int = 8
    threads: int = 0


def _elements(state: _Stream, line: Line, match: re.Match[str]) -> None:
    state.__init__(elements=whole(match[1], line), element_bytes=state.element_bytes)


def _element_bytes(state: _Stream, line: Line, match: re.Match[str]) -> None:
    state.element_bytes = whole(match[1], line)


def _threads(state: _Stream, line: Line, match: re.Match[str]) -> None:
    state.threads = whole(match[1], line)


def _kernel(state: _Stream, line: Line, match: re.Match[str]) -> Iterator[Found]:
    kernel = match[1].lower()
    params: dict[str, Scalar] = {"access": kernel}
    params |= {"threads": state.threads} if state.threads else {}
    number(match[2], line)
    moved, shown, doubt = _STREAMS[kernel] * state.elements * state.element_bytes, as_printed(match[2]), ""
    if state.elements:
        params["working_set_bytes"] = 3 * state.elements * state.element_bytes
        time = as_printed(match[3])
        if time.low > 0:
            again = Printed(*(moved / MEGA / each for each in (time.value, time.high, time.low)))
            doubt = at_line(line, disagree(shown, again, f"the rate of {kernel} in MB/s", 1e-4))
    yield Measured("memory_bandwidth", "B/s", shown.value * MEGA, params, doubt)


_STREAM_RULES: Final[tuple[Rule[_Stream], ...]] = (
    (re.compile(r"This system uses (\d+) bytes per (?:array element|DOUBLE)"), _element_bytes),
    (re.compile(r"Array size = (\d+)"), _elements),
    (re.compile(r"Number of Threads (?:counted|requested) = (\d+)"), _threads),
    (re.compile(r"\s*(Copy|Scale|Add|Triad):?\s+(\S+)\s+\S+\s+(\S+)\s+\S+\s*$", re.IGNORECASE), _kernel),
)


# -- mbw ---------------------------------------------------------------------------------------------------------------


@dataclass
class _Copies:
    samples: dict[str, list[float]] = field(default_factory=dict[str, list[float]])


def _copy(state: _Copies, line: Line, match: re.Match[str]) -> Iterator[Found]:
    run, method, seconds, mib, rate = match.groups()
    shown, moved, time = as_printed(rate), number(mib, line), as_printed(seconds)
    doubt = ""
    if time.low > 0:
        again = Printed(moved / time.value, moved / time.high, moved / time.low)
        doubt = at_line(line, disagree(shown, again, f"the rate of {method} in MiB/s", 1e-3))
    alone = state.samples.pop(method, [])
    if run != "AVG":
        state.samples[method] = [*alone, shown.value]
    elif alone:
        return
    params: dict[str, Scalar] = {"access": "copy", "method": method.lower(), "array_bytes": round(moved * MIB)}
    yield Measured("copy_bandwidth", "B/s", shown.value * MIB, params, doubt)
    yield Measured("memory_bandwidth", "B/s", _BOTH_WAYS * shown.value * MIB, params, doubt)


_MBW_RULES: Final[tuple[Rule[_Copies], ...]] = (
    (
        re.compile(r"(\d+|AVG)\s+Method:\s*(\w+)\s+Elapsed:\s*(\S+)\s+MiB:\s*(\S+)\s+Copy:\s*(\S+) MiB/s"),
        _copy,
    ),
)


# -- sysbench ----------------------------------------------------------------------------------------------------------


@dataclass
class _Sysbench:
    """One run of sysbench: what its test does, by what it prints before the numbers."""

    threads: int = 0
    facts: dict[str, str] = field(default_factory=dict[str, str])
    rate: tuple[Line, Printed] | None = None
    seconds: float = 0.0

    @property
    def params(self) -> "dict[str, Scalar]":
        """The parameters of its rows."""
        found: dict[str, Scalar] = {"access": self.facts.get("operation", self.facts.get("mode", "event"))}
        found |= {"threads": self.threads} if self.threads else {}
        for ours, theirs in (("block_bytes", "block size"), ("working_set_bytes", "total size")):
            if (bytes_ := size(self.facts.get(theirs, ""))) is not None:
                found[ours] = bytes_
        return found | ({"primes": self.facts["primes"]} if "primes" in self.facts else {})


def _sysbench(state: _Sysbench, *_: object) -> Iterator[Found]:
    yield from _rate(state, "")
    state.__init__()


def _fact(name: str, state: _Sysbench, _: Line, match: re.Match[str]) -> None:
    state.facts[name] = match[1]


def _sysbench_threads(state: _Sysbench, line: Line, match: re.Match[str]) -> None:
    state.threads = whole(match[1], line)


def _events_rate(state: _Sysbench, line: Line, match: re.Match[str]) -> Iterator[Found]:
    yield from _rate(state, "")
    number(match[1], line)
    state.rate = line, as_printed(match[1])


def _seconds(state: _Sysbench, line: Line, match: re.Match[str]) -> None:
    state.seconds = number(match[1], line)


def _events(state: _Sysbench, line: Line, match: re.Match[str]) -> Iterator[Found]:
    doubt = ""
    if state.rate is not None and state.seconds:
        again = known_to(whole(match[1], line) / state.seconds)
        doubt = at_line(state.rate[0], disagree(state.rate[1], again, "the events per second", 0.02))
    yield from _rate(state, doubt)


def _rate(state: _Sysbench, doubt: str = "") -> Iterator[Found]:
    if state.rate is not None:
        yield Measured("operation_rate", "op/s", state.rate[1].value, state.params, doubt)
    state.rate = None


def _moved(state: _Sysbench, line: Line, match: re.Match[str]) -> Iterator[Found]:
    yield Measured("memory_bandwidth", "B/s", number(match[2], line) * MIB, state.params)


def _of_files(state: _Sysbench, line: Line, match: re.Match[str]) -> Iterator[Found]:
    access = {"read": "read", "written": "write"}[match[1]]
    yield Measured("bandwidth", "B/s", number(match[2], line) * MIB, {**state.params, "access": access})


def _file_operations(state: _Sysbench, line: Line, match: re.Match[str]) -> Iterator[Found]:
    access = {"reads": "read", "writes": "write", "fsyncs": "sync"}[match[1]]
    yield Measured("operation_rate", "op/s", number(match[2], line), {**state.params, "access": access})


def _latency(state: _Sysbench, line: Line, match: re.Match[str]) -> Iterator[Found]:
    name = {"avg": "latency", "max": "latency_max"}.get(match[1], "")
    if not name:
        name = f"latency_p{whole(match[2] or '0', line)}"
    yield Measured(name, "s", number(match[3], line) * MS, state.params)


_SYSBENCH_RULES: Final[tuple[Rule[_Sysbench], ...]] = (
    (re.compile(r"sysbench \d"), _sysbench),
    (re.compile(r"Number of threads: (\d+)"), _sysbench_threads),
    (re.compile(r"Prime numbers limit: (\d+)"), partial(_fact, "primes")),
    (re.compile(r"\s*operation: (\w+)"), partial(_fact, "operation")),
    (re.compile(r"\s*(?:block size|Block size):? (\S+)"), partial(_fact, "block size")),
    (re.compile(r"\s*total size: (\S+)"), partial(_fact, "total size")),
    (re.compile(r"Doing (.*) test"), partial(_fact, "mode")),
    (re.compile(r"\s*events per second:\s+(\S+)"), _events_rate),
    (re.compile(r"Total operations: \d+ \(\s*(\S+) per second\)"), _events_rate),
    (re.compile(r"Operations performed: \d+ \(\s*(\S+) ops/sec\)"), _events_rate),
    (re.compile(r"\s*total time:\s+(\S+?)s?\s*$"), _seconds),
    (re.compile(r"\s*total number of events:\s+(\d+)"), _events),
    (re.compile(r"(\S+) Mi?B transferred \((\S+) Mi?B/sec\)"), _moved),
    (re.compile(r"\s*(reads|writes|fsyncs)/s:\s+(\S+)"), _file_operations),
    (re.compile(r"\s*(read|written), MiB/s:\s+(\S+)"), _of_files),
    (re.compile(r"\s*(avg|max|(?:approx\.\s+)?(\d+)(?:th)? percentile):\s+(\d\S*?)(?:ms)?\s*$"), _latency),
)

FORMS: Final = (
    Form(
        "stream",
        "what STREAM prints, version 5",
        "memory",
        ("STREAM version $Revision", "Function    Best Rate MB/s", "Function      Rate (MB/s)"),
        by_rules(_Stream, _STREAM_RULES),
    ),
    Form(
        "mbw", "what mbw prints", "memory", ("Method: ",), by_rules(_Copies, _MBW_RULES), begin=r"(?:\d+|AVG)\s+Method"
    ),
    Form(
        "sysbench",
        "what sysbench 1.0 prints of cpu, memory and fileio",
        "memory",
        ("sysbench 1", "sysbench 0"),
        by_rules(_Sysbench, _SYSBENCH_RULES, _rate),
    ),
)
