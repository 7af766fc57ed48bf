# SPDX-License-Identifier: Apache-2.0
"""What IOR prints, releases 2.10 to 4.1: a line for each repetition, the maxima, and a summary of all tests.

Bandwidths are MiB/s over the whole time of an access. A line of a repetition is rounded to a few digits, so of a single
repetition the maximum is taken, which has two decimals. Parameters are those of rows of ``ior_json``.

What mdtest prints, releases 1.9 to 4.1, has the mean over iterations, and where there is one iteration over the ranks'
own ends. The rate when the wall was reached is a line of its own. Releases head the times ``ms/op`` or ``ops/sec``;
they are seconds in all.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from ullage.grouping import grouped
from ullage.importers import forms
from ullage.importers.forms import MIB, Form, Found, Measured, Params, Rule, as_printed, disagree, is_number, whole
from ullage.importers.printed import Printed, whole_number
from ullage.importers.rows import RefusedError
from ullage.importers.sources import Line
from ullage.model.flags import Flag

_ACCESSES: Final = ("write", "rewrite", "read", "reread")
_CLIENTS: Final = re.compile(r"(\d+) \((\d+) per node\)")
_MB_IN_MIB: Final = 1e6 / MIB


@dataclass
class _Repetition:
    """A line of a table: its bandwidth, its cells, and the bytes that a warning before it says were moved."""

    access: str
    line: Line
    shown: Printed
    cells: dict[str, str]
    moved: str


@dataclass
class _Test:
    """One test: what it was, its lines, and what the maxima and the summary say of each access."""

    number: int = 0
    moved: str = ""
    facts: dict[str, str] = field(default_factory=dict[str, str])
    lines: list[_Repetition] = field(default_factory=list[_Repetition])
    stated: dict[str, list[tuple[Line, Printed, str]]] = field(
        default_factory=dict[str, list[tuple[Line, Printed, str]]]
    )
    summary: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])


@dataclass
class _Run:
    """The tests so far of one run, and the heads of the tables that lines stand in."""

    program: str = ""
    tests: list[_Test] = field(default_factory=lambda: [_Test()])
    columns: list[str] = field(default_factory=list[str])
    head: list[str] = field(default_factory=list[str])

    @property
    def last(self) -> _Test:
        """The test that lines are of."""
        return self.tests[-1]


def _end(run: _Run, *_: object) -> Iterator[Found]:
    if run.program:
        common = run.tests[0].facts if run.tests else {}
        several = grouped(
            (tuple(_params(test, common, access).items()), test.number) for test in run.tests for access in _ACCESSES
        )
        for test in run.tests:
            for access in _ACCESSES:
                params = _params(test, common, access)
                if len(set(several[tuple(params.items())])) > 1:
                    params["test"] = test.number
                yield from _of_access(test, access, params)
    run.program = ""


def _next(run: _Run, _: Line, match: re.Match[str]) -> None:
    """Begin the next test; what stands before the first is of all."""
    if len(run.tests) > 1 or run.last.lines or run.last.stated:
        run.tests.append(_Test())
    run.last.number, run.columns = int(match[1] or match[2]), []


def _head(run: _Run, line: Line, _: re.Match[str]) -> None:
    run.head = re.sub(r"\s+\(", "(", line.text).replace("Std Dev", "StdDev").split()
    run.columns = []


def _moved(run: _Run, _: Line, match: re.Match[str]) -> None:
    run.last.moved = match[1]


def _numbers(run: _Run, line: Line, _: re.Match[str]) -> None:
    words = line.text.split()
    if run.columns:
        cells = forms.cells_of(run.columns, words, line)
        shown = as_printed(cells["bw(MiB/s)"], line, "bandwidth")
        run.last.lines.append(_Repetition(words[0], line, shown, cells, run.last.moved))
        run.last.moved = ""
    elif run.head and len(words) > 1 and is_number(words[1]):
        _summarised(run.tests, line, run.head, words)


def _fact(run: _Run, _: Line, match: re.Match[str]) -> None:
    if not run.last.lines:
        run.last.facts.setdefault(" ".join(match[1].split()), match[2])


def _maximum(run: _Run, line: Line, match: re.Match[str]) -> None:
    access, shown = match[1].lower(), as_printed(match[2], line, "bandwidth")
    again = as_printed(match[3], line, "bandwidth").times(_MB_IN_MIB) if match[3] else None
    doubt = disagree(shown, again, f"the maximum of {access} in MiB/s", 1e-6, line)
    run.last.stated.setdefault(access, []).append((line, shown, doubt))


def _summarised(tests: list[_Test], line: Line, head: list[str], words: list[str]) -> None:
    cells: dict[str, str] = {}
    for name, value in zip(head, words, strict=False):
        cells.setdefault(name, value)
    of = tests[-1]
    if (said := cells.get("Test#", "")).isdigit():
        of = next((test for test in reversed(tests) if test.number == int(said)), of)
    of.summary[words[0]] = cells
    shown = as_printed(cells.get("Max(MiB)", ""), line, "bandwidth")
    of.stated.setdefault(words[0], []).append((line, shown, ""))


def _of_access(test: _Test, access: str, params: Params) -> Iterator[Found]:
    lines = [one for one in test.lines if one.access == access]
    stated = test.stated.get(access, [])
    doubts = [doubt for _, _, doubt in stated]
    for line, shown, _ in stated:
        best = max((one.shown for one in lines), key=lambda one: one.value, default=stated[0][1])
        doubts.append(disagree(shown, best, f"the maximum of {access} in MiB/s", 1e-9, line))
    doubts += [_from_time(test, one) for one in lines]
    doubt = "; ".join(dict.fromkeys(filter(None, doubts)))
    for shown in [stated[0][1]] if len(lines) <= 1 and stated else [one.shown for one in lines]:
        yield Measured("bandwidth", "B/s", shown.value * MIB, params, doubt, target="ior")
    repetitions = test.facts.get("repetitions", "")
    if lines and repetitions.isdigit() and len(lines) < int(repetitions):
        yield forms.Remark(f"has {len(lines)} of {repetitions} repetitions of {access}")


def _from_time(test: _Test, one: _Repetition) -> str:
    """Compare a line with bytes over its time, where both are printed."""
    total, seconds = test.facts.get("aggregate filesize", "").split(), one.cells.get("total(s)", "")
    if len(total) != 2 or not (is_number(total[0]) and is_number(seconds)) or as_printed(seconds).low <= 0:
        return ""
    factor = 1 / MIB if one.moved else (forms.size(f"1 {total[1]}") or 0) / MIB
    moved, time = as_printed(one.moved or total[0]).times(factor), as_printed(seconds)
    again = Printed(moved.value / time.value, moved.low / time.high, moved.high / time.low)
    return disagree(one.shown, again, f"the bandwidth of {one.access} in MiB/s", 1e-3, one.line)


def _params(test: _Test, common: dict[str, str], access: str) -> Params:
    """Return the parameters of an access as ``ior_json`` has them, as far as the text says them."""
    facts, cells = {**common, **test.facts}, test.summary.get(access, {})
    clients = _CLIENTS.match(facts.get("clients", ""))
    said = (
        facts.get("tasks") or (clients[1] if clients else cells.get("#Tasks", "")),
        facts.get("clients per node") or (clients[2] if clients else cells.get("tPN", "")),
        facts.get("nodes", ""),
    )
    ranks, each, nodes = (whole_number(text) or 0 for text in said)
    if each and not nodes and ranks % each == 0:
        nodes = ranks // each
    api, shape, order = (facts.get(name, "") for name in ("api", "access", "ordering in a file"))
    return forms.given(
        access=access,
        ranks=ranks,
        nodes=nodes if ranks else 0,
        block_bytes=whole_number(cells.get("xsize", "")) or forms.size(facts.get("xfersize", "")),
        backend=api.lower().partition(" ")[0],
        file_mode=("per-process" if shape.startswith("file-per-proc") else "shared") if shape else "",
        order=("random" if order.startswith("random") else "sequential") if order else "",
    )


_RULES: Final[tuple[Rule[_Run], ...]] = (
    (r"\s*(IOR-\S+): MPI Coordinated", forms.anew(_end, program=forms.text)),
    (r"\s*(?:TestID\s*:\s*(\d+)|Test (\d+)(?: started|:))", _next),
    (r"(\s*access\s.*bw\(MiB/s\).*)", forms.keep(columns=lambda text, _: text.split())),
    (r"\s*Operation\s.*Max.*Mean", _head),
    (r"\s*(?:ior )?WARNING: Using actual aggregate bytes moved\s*=\s*(\d{1,19})\b", _moved),
    (r"\s*Max (Write|Read):\s+(\S+) MiB/sec(?: \((\S+) MB/sec\))?", _maximum),
    (rf"\s*(?:{'|'.join(_ACCESSES)})\s", _numbers),
    (r"\s*(?:Run )?[Ff]inished\s*:", _end),
    (r"\s*([A-Za-z][^=:]*?)\s*[=:]\s*(.*?)\s*$", _fact),
)
IOR: Final = Form(
    "ior",
    "what IOR prints, 2.10 to 4.1",
    "storage",
    (": MPI Coordinated Test of Parallel I/O",),
    forms.by_rules(_Run, _RULES, _end),
    begin=r"IOR-\S+: MPI",
)


MEAN_OF: Final = "mean-of-repetitions"
_MDTEST_ACCESSES: Final = {"creation": "create", "removal": "remove", "create (stonewall)": "create"}


@dataclass
class _MdtestRun:
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


def _tasks(run: _MdtestRun, line: Line, match: re.Match[str]) -> Iterator[Found]:
    yield from _rates(run)
    run.ranks, run.items, run.hit = whole(match[1], line), whole(match[2], line), 0


def _row(run: _MdtestRun, line: Line, match: re.Match[str]) -> None:
    name, cells = f"{match[1]} {match[2]}", match[3].split()
    if run.kind == " time":
        run.times[name] = cells
    else:
        run.rates[name] = (line, cells, match[1])


def _end_of_run(run: _MdtestRun) -> Iterator[Found]:
    yield from _rates(run)
    if run.program and not run.finished:
        yield forms.Remark("ends before mdtest had printed all: what is there is read")


def _rates(run: _MdtestRun) -> Iterator[Found]:
    for name, (line, cells, item) in run.rates.items():
        access = name.partition(" ")[2]
        params = {"access": _MDTEST_ACCESSES.get(access, access), "item": item.lower(), "ranks": run.ranks}
        params |= forms.given(nodes=run.nodes)
        is_wall = name.endswith("(stonewall)")
        high, low, mean = (None if cell == "NA" else as_printed(cell, line, "rate") for cell in cells[:3])
        if mean is None:
            raise RefusedError(f"has no mean of {name}", line.number)
        doubt = forms.at_line(line, "" if is_wall else _doubt(run, name, high, low, mean))
        flags: tuple[Flag, ...] = ()
        if run.iterations > 1 and high is not None and low is not None:
            mean_of = f"mdtest prints the mean of {run.iterations} iterations"
            reason = f"{mean_of}, from {low.value:g} to {high.value:g} op/s"
            flags = (Flag(code=f"{MEAN_OF}:{run.iterations}", reason=reason),)
        metric = "stonewall_operation_rate" if is_wall else "operation_rate"
        yield Measured(metric, "op/s", mean.value, params, doubt, flags, target="mdtest")
    run.rates, run.times = {}, {}


def _doubt(run: _MdtestRun, name: str, high: Printed | None, low: Printed | None, mean: Printed) -> str:
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


_MDTEST_RULES: Final[tuple[Rule[_MdtestRun], ...]] = (
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
MDTEST: Final = Form(
    "mdtest",
    "what mdtest prints, 1.9 to 4.1",
    "storage",
    (" was launched with ",),
    forms.by_rules(_MdtestRun, _MDTEST_RULES, _end_of_run),
    begin=r"mdtest-\S+ was",
)
FORMS: Final = (IOR, MDTEST)
