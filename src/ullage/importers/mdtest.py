# SPDX-License-Identifier: Apache-2.0
"""What mdtest prints, releases 1.9 to 4.1: a table of rates for each number of tasks, and later ones of times.

The table has the mean over iterations, and where there is one iteration over the ranks' own ends. The rate when the
wall was reached is a line of its own. Releases head the times ``ms/op`` or ``ops/sec``; they are seconds in all.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from ullage.importers import forms
from ullage.importers.forms import Found, Measured, Rule, as_printed, disagree, whole
from ullage.importers.printed import Printed
from ullage.importers.sources import Line
from ullage.model.flags import Flag

MEAN_OF: Final = "mean-of-repetitions"
_ACCESSES: Final = {"creation": "create", "removal": "remove", "create (stonewall)": "create"}


@dataclass
class _Run:
    ranks: int = 0
    nodes: int = 0
    items: int = 0
    hit: int = 0
    iterations: int = 1
    kind: str = ""
    program: str = ""
    finished: str = ""
    command: str = ""
    rates: dict[str, tuple[Line, list[str], str]] = field(default_factory=dict[str, tuple[Line, list[str], str]])
    times: dict[str, list[str]] = field(default_factory=dict[str, list[str]])


def _tasks(run: _Run, line: Line, match: re.Match[str]) -> Iterator[Found]:
    yield from _rates(run)
    run.ranks, run.items, run.hit = whole(match[1], line), whole(match[2], line), 0


def _row(run: _Run, line: Line, match: re.Match[str]) -> None:
    name, cells = f"{match[1]} {match[2]}", match[3].split()
    if run.kind == " time":
        run.times[name] = cells
    else:
        run.rates[name] = (line, cells, match[1])


def _end(run: _Run) -> Iterator[Found]:
    yield from _rates(run)
    if run.program and not run.finished:
        yield forms.Remark("ends before mdtest had printed all: what is there is read")


def _rates(run: _Run) -> Iterator[Found]:
    for name, (line, cells, item) in run.rates.items():
        access = name.partition(" ")[2]
        params = {"access": _ACCESSES.get(access, access), "item": item.lower(), "ranks": run.ranks}
        params |= forms.given(nodes=run.nodes)
        is_wall = name.endswith("(stonewall)")
        high, low, mean = (None if cell == "NA" else as_printed(cell, line, "rate") for cell in cells[:3])
        if mean is None:
            raise forms.RefusedError(f"has no mean of {name}", line.number)
        doubt = forms.at_line(line, "" if is_wall else _doubt(run, name, high, low, mean))
        flags: tuple[Flag, ...] = ()
        if run.iterations > 1 and high is not None and low is not None:
            mean_of = f"mdtest prints the mean of {run.iterations} iterations"
            reason = f"{mean_of}, from {low.value:g} to {high.value:g} op/s"
            flags = (Flag(code=f"{MEAN_OF}:{run.iterations}", reason=reason),)
        metric = "stonewall_operation_rate" if is_wall else "operation_rate"
        yield Measured(metric, "op/s", mean.value, params, doubt, flags, target="mdtest")
    run.rates, run.times = {}, {}


def _doubt(run: _Run, name: str, high: Printed | None, low: Printed | None, mean: Printed) -> str:
    """Compare the mean with the extremes, and with items over their time where it is known how many there were."""
    if high is not None and low is not None and not low.low <= mean.high <= high.high + mean.high - mean.low:
        return f"the mean of {name}, {mean.value:g}, is not between {low.value:g} and {high.value:g}"
    is_counted = run.iterations == 1 and name.startswith(("File", "Directory")) and run.items
    times = run.times.get(name)
    if not is_counted or times is None or (name != "File creation" and " '-x'" in f" {run.command}"):
        return ""
    time, doubts = as_printed(times[2]), list[str]()
    for items in {run.items, run.hit * run.ranks or run.items}:
        doubts.append(disagree(mean, time.under(items), f"the rate of {name} in op/s", 1e-3))
    return doubts[-1] if all(doubts) else ""


_RULES: Final[tuple[Rule[_Run], ...]] = (
    (
        r"\s*(mdtest-\S+) was launched with (\d+) total task\(s\) on (\d+) node",
        forms.anew(_rates, program=forms.text, ranks=whole, nodes=whole),
    ),
    (r"(Command line used:.*)", forms.keep(command=forms.text)),
    (r"\s*(\d+) tasks?, (\d+) (?:files|directories)", _tasks),
    (r"\s*Continue stonewall hit min: \d+ max: (\d+)", forms.keep(hit=whole)),
    (r"\s*SUMMARY( rate| time)?.*?:?\s*\(of (\d+) iterations?\)", forms.keep(kind=forms.text, iterations=whole)),
    (
        r"\s*(File|Directory|Tree) (creation|create \(stonewall\)|stat|read|rename|removal)\s*:?((?:\s+\S+){4})\s*$",
        _row,
    ),
    (r"-- (finished) at", forms.keep(finished=forms.text)),
)
FORM: Final = forms.Form(
    "mdtest",
    "what mdtest prints, 1.9 to 4.1",
    "storage",
    (" was launched with ",),
    forms.by_rules(_Run, _RULES, _end),
    begin=r"mdtest-\S+ was",
)
