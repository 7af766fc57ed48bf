# SPDX-License-Identifier: Apache-2.0
"""What IOR prints, releases 2.10 to 4.1: a line for each repetition, the maxima, and a summary of all tests.

Bandwidths are MiB/s over the whole time of an access. A line of a repetition is rounded to a few digits, so of a single
repetition the maximum is taken, which has two decimals. Parameters are those of rows of ``ior_json``.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from ullage.grouping import grouped
from ullage.importers.forms import (
    MIB,
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
    is_number,
    number,
    size,
)
from ullage.importers.printed import Printed
from ullage.importers.sources import Line
from ullage.model.plan import Scalar

_MARK: Final = ": MPI Coordinated Test of Parallel I/O"
_ACCESSES: Final = ("write", "rewrite", "read", "reread")
_CLIENTS: Final = re.compile(r"(\d+) \((\d+) per node\)")
_MB_IN_MIB: Final = 1e6 / MIB


@dataclass
class _Test:
    """One test: what it was, its lines by access, and what the maxima and the summary say of them."""

    number: int = 0
    moved: int = 0
    facts: dict[str, str] = field(default_factory=dict[str, str])
    lines: list[tuple[str, Line, Printed, dict[str, str]]] = field(
        default_factory=list[tuple[str, Line, Printed, dict[str, str]]]
    )
    stated: dict[str, list[tuple[Line, Printed, str]]] = field(
        default_factory=dict[str, list[tuple[Line, Printed, str]]]
    )
    summary: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])


@dataclass
class _Run:
    """The tests so far of one run, and the heads of the tables that lines stand in."""

    tests: list[_Test] = field(default_factory=lambda: [_Test()])
    is_open: bool = False
    columns: list[str] = field(default_factory=list[str])
    head: list[str] = field(default_factory=list[str])

    @property
    def last(self) -> _Test:
        """The test that lines are of."""
        return self.tests[-1]


def _begin(run: _Run, *_: object) -> Iterator[Found]:
    found = _end(run) if run.is_open else iter(())
    yield from found
    run.__init__(is_open=True)


def _end(run: _Run, *_: object) -> Iterator[Found]:
    if run.is_open:
        yield from _of_run(run.tests)
    run.is_open = False


def _next(run: _Run, _: Line, match: re.Match[str]) -> None:
    """Begin the next test; what stands before the first is of all."""
    if len(run.tests) > 1 or run.last.lines or run.last.stated:
        run.tests.append(_Test())
    run.last.number, run.columns = int(match[1] or match[2]), []


def _columns(run: _Run, line: Line, _: re.Match[str]) -> None:
    run.columns = line.text.split()


def _head(run: _Run, line: Line, _: re.Match[str]) -> None:
    run.head = re.sub(r"\s+\(", "(", line.text).replace("Std Dev", "StdDev").split()
    run.columns = []


def _moved(run: _Run, _: Line, match: re.Match[str]) -> None:
    run.last.moved = int(match[1])


def _numbers(run: _Run, line: Line, _: re.Match[str]) -> None:
    words = line.text.split()
    if run.columns:
        _repetition(run.last, line, run.columns, words)
    elif run.head and len(words) > 1 and is_number(words[1]):
        _summarised(run.tests, line, run.head, words)


def _fact(run: _Run, _: Line, match: re.Match[str]) -> None:
    if not run.last.lines:
        run.last.facts.setdefault(" ".join(match[1].split()), match[2])


def _repetition(test: _Test, line: Line, columns: list[str], words: list[str]) -> None:
    if len(words) != len(columns):
        raise RefusedError(f"has {len(words)} values below {len(columns)} columns", line.number)
    cells = dict(zip(columns, words, strict=True))
    number(cells["bw(MiB/s)"], line, "bandwidth")
    cells["moved"], test.moved = str(test.moved or ""), 0
    test.lines.append((words[0], line, as_printed(cells["bw(MiB/s)"]), cells))


def _maximum(run: _Run, line: Line, match: re.Match[str]) -> None:
    number(match[2], line, "bandwidth")
    shown = as_printed(match[2])
    doubt = ""
    if match[3]:
        number(match[3], line, "bandwidth")
        mega = as_printed(match[3])
        again = Printed(*(each * _MB_IN_MIB for each in (mega.value, mega.low, mega.high)))
        doubt = at_line(line, disagree(shown, again, f"the maximum of {match[1].lower()} in MiB/s", 1e-6))
    run.last.stated.setdefault(match[1].lower(), []).append((line, shown, doubt))


def _summarised(tests: list[_Test], line: Line, head: list[str], words: list[str]) -> None:
    cells: dict[str, str] = {}
    for name, value in zip(head, words, strict=False):
        cells.setdefault(name, value)
    of = tests[-1]
    if (said := cells.get("Test#", "")).isdigit():
        of = next((test for test in reversed(tests) if test.number == int(said)), of)
    of.summary[words[0]] = cells
    shown = cells.get("Max(MiB)", "")
    number(shown, line, "bandwidth")
    of.stated.setdefault(words[0], []).append((line, as_printed(shown), ""))


def _of_run(tests: list[_Test]) -> Iterator[Found]:
    common = tests[0].facts if tests else {}
    several = grouped(
        (tuple(_params(test, common, access).items()), test.number) for test in tests for access in _ACCESSES
    )
    for test in tests:
        for access in _ACCESSES:
            params = _params(test, common, access)
            if len(set(several[tuple(params.items())])) > 1:
                params["test"] = test.number
            yield from _of_access(test, access, params)


def _of_access(test: _Test, access: str, params: dict[str, Scalar]) -> Iterator[Found]:
    lines = [(line, shown) for name, line, shown, _ in test.lines if name == access]
    stated = test.stated.get(access, [])
    doubts = [doubt for _, _, doubt in stated if doubt]
    for line, shown, _ in stated:
        best = max((value for _, value in lines), key=lambda one: one.value, default=stated[0][1])
        if said := disagree(shown, best, f"the maximum of {access} in MiB/s", 1e-9):
            doubts.append(at_line(line, said))
    doubts += [said for line, shown in lines if (said := _from_time(test, access, line, shown))]
    doubt = "; ".join(dict.fromkeys(doubts))
    if len(lines) <= 1 and stated:
        yield Measured("bandwidth", "B/s", stated[0][1].value * MIB, params, doubt, target="ior")
    else:
        for _, shown in lines:
            yield Measured("bandwidth", "B/s", shown.value * MIB, params, doubt, target="ior")
    repetitions = test.facts.get("repetitions", "")
    if lines and repetitions.isdigit() and len(lines) < int(repetitions):
        yield Remark(f"has {len(lines)} of {repetitions} repetitions of {access}")


def _from_time(test: _Test, access: str, line: Line, shown: Printed) -> str:
    """Compare a line with bytes over its time, where both are printed."""
    cells = next(cells for name, at, _, cells in test.lines if at == line and name == access)
    total, seconds = test.facts.get("aggregate filesize", "").split(), cells.get("total(s)", "")
    if len(total) != 2 or not (is_number(total[0]) and is_number(seconds)) or as_printed(seconds).low <= 0:
        return ""
    moved, time = as_printed(total[0]), as_printed(seconds)
    factor = (size(f"1 {total[1]}") or 0) / MIB
    if cells["moved"]:
        moved, factor = as_printed(cells["moved"]), 1 / MIB
    again = Printed(
        *(
            factor * mib / s
            for mib, s in zip((moved.value, moved.low, moved.high), (time.value, time.high, time.low), strict=True)
        )
    )
    return at_line(line, disagree(shown, again, f"the bandwidth of {access} in MiB/s", 1e-3))


def _params(test: _Test, common: dict[str, str], access: str) -> dict[str, Scalar]:
    """Return the parameters of an access as ``ior_json`` has them, as far as the text says them."""
    facts, cells = {**common, **test.facts}, test.summary.get(access, {})
    clients = _CLIENTS.match(facts.get("clients", ""))
    ranks = facts.get("tasks") or (clients[1] if clients else cells.get("#Tasks", ""))
    each = facts.get("clients per node") or (clients[2] if clients else cells.get("tPN", ""))
    found: dict[str, Scalar] = {"access": access}
    if ranks.isdigit():
        found["ranks"] = int(ranks)
        nodes = facts.get("nodes", "")
        if nodes.isdigit() and int(nodes) > 0:
            found["nodes"] = int(nodes)
        elif each.isdigit() and int(each) > 0 and int(ranks) % int(each) == 0:
            found["nodes"] = int(ranks) // int(each)
    exact = cells.get("xsize", "")
    transfer = int(exact) if exact.isdigit() else size(facts.get("xfersize", ""))
    if transfer:
        found["block_bytes"] = transfer
    if api := facts.get("api", "").split():
        found["backend"] = api[0].lower()
    if shape := facts.get("access", ""):
        found["file_mode"] = "per-process" if shape.startswith("file-per-proc") else "shared"
    if order := facts.get("ordering in a file", ""):
        found["order"] = "random" if order.startswith("random") else "sequential"
    return found


_RULES: Final[tuple[Rule[_Run], ...]] = (
    (re.compile(r".*IOR-\S+: MPI Coordinated"), _begin),
    (re.compile(r"\s*(?:TestID\s*:\s*(\d+)|Test (\d+)(?: started|:))"), _next),
    (re.compile(r"\s*access\s.*bw\(MiB/s\)"), _columns),
    (re.compile(r"\s*Operation\s.*Max.*Mean"), _head),
    (re.compile(r".*Using actual aggregate bytes moved\s*=\s*(\d{1,19})\b"), _moved),
    (re.compile(r"\s*Max (Write|Read):\s+(\S+) MiB/sec(?: \((\S+) MB/sec\))?"), _maximum),
    (re.compile(rf"\s*(?:{'|'.join(_ACCESSES)})\s"), _numbers),
    (re.compile(r"\s*(?:Run )?[Ff]inished\s*:"), _end),
    (re.compile(r"\s*([A-Za-z][^=:]*?)\s*[=:]\s*(.*?)\s*$"), _fact),
)
FORMS: Final = (
    Form(
        "ior", "what IOR prints, 2.10 to 4.1", "storage", (_MARK,), by_rules(_Run, _RULES, _end), begin=r"IOR-\S+: MPI"
    ),
)
