# SPDX-License-Identifier: Apache-2.0
"""What mdtest prints, releases 1.9 to 4.1: a table of rates for each number of tasks, and later ones of times.

The table has the mean over iterations, and where there is one iteration over the ranks' own ends. The rate when the
wall was reached is a line of its own. Releases head the times ``ms/op`` or ``ops/sec``; they are seconds in all.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from ullage.importers.forms import (
    Form,
    Found,
    Measured,
    RefusedError,
    Remark,
    Rule,
    as_printed,
    at_line,
    by_rules,
    disagree,
    number,
)
from ullage.importers.printed import Printed
from ullage.importers.sources import Line
from ullage.model.flags import Flag

if TYPE_CHECKING:
    from ullage.model.plan import Scalar

MEAN_OF: Final = "mean-of-repetitions"
_ACCESSES: Final = {"creation": "create", "removal": "remove", "create (stonewall)": "create"}


@dataclass
class _Run:
    ranks: int = 0
    nodes: int = 0
    items: int = 0
    hit: int = 0
    iterations: int = 1
    is_rate: bool = True
    is_open: bool = False
    command: str = ""
    rates: dict[str, tuple[Line, list[str], str]] = field(default_factory=dict[str, tuple[Line, list[str], str]])
    times: dict[str, list[str]] = field(default_factory=dict[str, list[str]])


def _launched(run: _Run, _: Line, match: re.Match[str]) -> Iterator[Found]:
    yield from _rates(run)
    run.__init__(ranks=int(match[1]), nodes=int(match[2]), is_open=True)


def _tasks(run: _Run, _: Line, match: re.Match[str]) -> Iterator[Found]:
    yield from _rates(run)
    run.ranks, run.items, run.hit = int(match[1]), int(match[2]), 0


def _command(run: _Run, line: Line, _: re.Match[str]) -> None:
    run.command = line.text


def _wall(run: _Run, _: Line, match: re.Match[str]) -> None:
    run.hit = int(match[1])


def _table(run: _Run, _: Line, match: re.Match[str]) -> None:
    run.is_rate, run.iterations = match[1] != " time", int(match[2])


def _row(run: _Run, line: Line, match: re.Match[str]) -> None:
    name, cells = f"{match[1]} {match[2]}", match[3].split()
    if run.is_rate:
        run.rates[name] = (line, cells, match[1])
    else:
        run.times[name] = cells


def _finished(run: _Run, *_: object) -> None:
    run.is_open = False


def _end(run: _Run) -> Iterator[Found]:
    yield from _rates(run)
    if run.is_open:
        yield Remark("ends before mdtest had printed all: what is there is read")


def _rates(run: _Run) -> Iterator[Found]:
    for name, (line, cells, item) in run.rates.items():
        params: dict[str, Scalar] = {"access": _access(name), "item": item.lower(), "ranks": run.ranks}
        params |= {"nodes": run.nodes} if run.nodes else {}
        is_wall = name.endswith("(stonewall)")
        high, low, mean = (None if cell == "NA" else as_printed(_checked(cell, line)) for cell in cells[:3])
        if mean is None:
            raise RefusedError(f"has no mean of {name}", line.number)
        doubt = _doubt(run, name, high, low, mean) if not is_wall else ""
        several = run.iterations > 1 and high is not None and low is not None
        reason = (
            ""
            if not several or high is None or low is None
            else (f"mdtest prints the mean of {run.iterations} iterations, from {low.value:g} to {high.value:g} op/s")
        )
        flags = (Flag(code=f"{MEAN_OF}:{run.iterations}", reason=reason),) if several else ()
        metric = "stonewall_operation_rate" if is_wall else "operation_rate"
        yield Measured(metric, "op/s", mean.value, params, at_line(line, doubt), flags, target="mdtest")
    run.rates, run.times = {}, {}


def _access(name: str) -> str:
    word = name.partition(" ")[2]
    return _ACCESSES.get(word, word)


def _checked(cell: str, line: Line) -> str:
    number(cell, line, "rate")
    return cell


def _doubt(run: _Run, name: str, high: Printed | None, low: Printed | None, mean: Printed) -> str:
    """Compare the mean with the extremes, and with items over their time where it is known how many there were."""
    if high is not None and low is not None and not low.low <= mean.high <= high.high + mean.high - mean.low:
        return f"the mean of {name}, {mean.value:g}, is not between {low.value:g} and {high.value:g}"
    is_counted = run.iterations == 1 and name.startswith(("File", "Directory")) and run.items
    times = run.times.get(name)
    if not is_counted or times is None or (name != "File creation" and " '-x'" in f" {run.command}"):
        return ""
    time = as_printed(times[2])
    if time.low <= 0:
        return ""
    found = ""
    for items in {run.items, run.hit * run.ranks or run.items}:
        again = Printed(items / time.value, items / time.high, items / time.low)
        found = disagree(mean, again, f"the rate of {name} in op/s", 1e-3)
        if not found:
            return ""
    return found


_RULES: Final[tuple[Rule[_Run], ...]] = (
    (re.compile(r".*mdtest-\S+ was launched with (\d+) total task\(s\) on (\d+) node"), _launched),
    (re.compile(r"Command line used:"), _command),
    (re.compile(r"\s*(\d+) tasks?, (\d+) (?:files|directories)"), _tasks),
    (re.compile(r"\s*Continue stonewall hit min: \d+ max: (\d+)"), _wall),
    (re.compile(r"\s*SUMMARY( rate| time)?.*?:?\s*\(of (\d+) iterations?\)"), _table),
    (
        re.compile(
            r"\s*(File|Directory|Tree) (creation|create \(stonewall\)|stat|read|rename|removal)\s*:?"
            r"((?:\s+\S+){4})\s*$"
        ),
        _row,
    ),
    (re.compile(r"-- finished at"), _finished),
)
FORMS: Final = (
    Form(
        "mdtest",
        "what mdtest prints, 1.9 to 4.1",
        "storage",
        (" was launched with ",),
        by_rules(_Run, _RULES, _end),
        begin=r"mdtest-\S+ was",
    ),
)
