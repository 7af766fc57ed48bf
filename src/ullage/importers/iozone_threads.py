# SPDX-License-Identifier: Apache-2.0
"""What ``iozone -t`` prints: for each test the rate of all children, and the least, largest and mean of one.

kB are 1,024 bytes. The rate of the children is the sum of their own rates; the parent's includes how they started.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Final

from ullage.importers.forms import Form, Found, Measured, Rule, as_printed, by_rules, disagree, given, whole
from ullage.importers.printed import Printed
from ullage.importers.sources import Line

_UNITS: Final = {"kb": 1024.0, "mb": 1024.0**2, "gb": 1024.0**3, "ops": 1.0}
_TESTS: Final = {
    "initial writers": ("write", "sequential"),
    "rewriters": ("rewrite", "sequential"),
    "readers": ("read", "sequential"),
    "re-readers": ("reread", "sequential"),
    "reverse readers": ("read", "backward"),
    "stride readers": ("read", "strided"),
    "random readers": ("read", "random"),
    "mixed workload": ("mixed", "random"),
    "random writers": ("write", "random"),
    "pwrite writers": ("write", "pwrite"),
    "pread readers": ("read", "pread"),
    "fwriters": ("write", "stdio"),
    "freaders": ("read", "stdio"),
}


@dataclass
class _Run:
    """The sizes of a run, and the test whose mean of a child is still to come."""

    sizes: dict[str, int] = field(default_factory=dict[str, int])
    found: Measured | None = None
    line: Line = field(default=Line("", 0))
    shown: Printed | None = None
    children: int = 0


def _sizes(run: _Run, line: Line, match: re.Match[str]) -> None:
    run.sizes = {"file_bytes": whole(match[1], line) * 1024, "block_bytes": whole(match[2], line) * 1024}


def _children(run: _Run, line: Line, match: re.Match[str]) -> Iterator[Found]:
    yield from _end(run)
    run.children, run.line, run.shown = whole(match[1], line), line, as_printed(match[3], line)
    name, unit = " ".join(match[2].split()), match[4].lower()
    access, order = _TESTS.get(name, (name, ""))
    params = given(access=access, order=order, threads=run.children)
    metric = ("operation_rate", "op/s") if unit == "ops" else ("bandwidth", "B/s")
    run.found = Measured(*metric, run.shown.value * _UNITS[unit], {**params, **run.sizes}, target="iozone")


def _mean(run: _Run, line: Line, match: re.Match[str]) -> Iterator[Found]:
    if run.found is not None and run.shown is not None:
        again = as_printed(match[1], line).times(run.children)
        yield from _end(run, disagree(run.shown, again, "the rate of the children", 1e-6, run.line))


def _end(run: _Run, doubt: str = "") -> Iterator[Found]:
    if run.found is not None:
        yield replace(run.found, doubt=doubt)
    run.found = None


_RULES: Final[tuple[Rule[_Run], ...]] = (
    (
        r"\s*Each (?:process|thread) writes a (\d+) [kK](?:B|[bB]ytes?) file in (\d+) [kK](?:B|[bB]ytes?) records",
        _sizes,
    ),
    (r"(?i)\s*Children see throughput for\s+(\d+) (.+?)\s*=\s*(\S+) (kB|KB|Kb|MB|GB|ops)/sec", _children),
    (r"\s*Avg throughput per (?:process|thread)\s*=\s*(\S+) ", _mean),
)
FORM: Final = Form(
    "iozone_threads",
    "what iozone -t prints",
    "storage",
    ("Children see throughput for ",),
    by_rules(_Run, _RULES, _end),
    begin=r"Children ",
)
