# SPDX-License-Identifier: Apache-2.0
"""What nccl-tests (and rccl-tests) and nvbandwidth print, and GPCNeT's tables.

GB of the first two are 10^9 bytes. ``algbw`` is bytes over time, ``busbw`` what a link had to carry for it.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from statistics import fmean
from typing import TYPE_CHECKING, Final

from ullage.importers.forms import (
    GIGA,
    MIB,
    US,
    Form,
    Found,
    Measured,
    RefusedError,
    Rule,
    amount,
    as_printed,
    at_line,
    by_rules,
    child,
    children,
    disagree,
    is_number,
    number,
    whole,
    word,
)
from ullage.importers.printed import Printed, known_to
from ullage.importers.sources import Line
from ullage.model.flags import INVALID_VERIFICATION, Flag

if TYPE_CHECKING:
    from ullage.model.plan import Scalar

_WRONG: Final = Flag(code=INVALID_VERIFICATION, reason="nccl-tests found wrong elements")


@dataclass
class _Nccl:
    """One run: its ranks, its collective where it is named, and all bus bandwidths, whose mean it states at its end."""

    ranks: int = 0
    operation: str = ""
    buses: list[float] = field(default_factory=list[float])


def _nccl_run(state: _Nccl, *_: object) -> None:
    state.__init__(operation=state.operation)


def _nccl_operation(state: _Nccl, _: Line, match: re.Match[str]) -> None:
    state.operation = match[1]


def _nccl_rank(state: _Nccl, line: Line, match: re.Match[str]) -> None:
    state.ranks = max(state.ranks, whole(match[1], line) + 1)


def _nccl_line(state: _Nccl, line: Line, match: re.Match[str]) -> Iterator[Found]:
    words = match[0].split()
    begin = 3 + sum(not is_number(one) for one in words[3:5])
    if len(words) < begin + 8:
        raise RefusedError("is not a whole line of results", line.number)
    size = whole(words[0], line)
    params: dict[str, Scalar] = {"access": state.operation or "collective", "message_bytes": size, "type": words[2]}
    params |= {"redop": words[3]} if not is_number(words[3]) and words[3] != "none" else {}
    params |= {"ranks": state.ranks} if state.ranks else {}
    for place, cells in (("out-of-place", words[-8:-4]), ("in-place", words[-4:])):
        time, algorithm, bus, wrong = cells
        if time == "N/A":
            continue
        number(time, line, "time")
        shown, seconds = as_printed(algorithm), as_printed(time)
        doubt = ""
        if seconds.low > 0:
            again = Printed(*(size / (each * US) / GIGA for each in (seconds.value, seconds.high, seconds.low)))
            doubt = at_line(line, disagree(shown, again, "algbw in GB/s", 5e-3))
        flags = (_WRONG,) if is_number(wrong) and number(wrong) > 0 and "." not in wrong and "e" not in wrong else ()
        own: dict[str, Scalar] = {**params, "place": place}
        state.buses.append(number(bus, line, "busbw"))
        yield Measured("collective_latency", "s", seconds.value * US, own, doubt, flags)
        yield Measured("message_bandwidth", "B/s", shown.value * GIGA, own, doubt, flags)
        yield Measured("bus_bandwidth", "B/s", state.buses[-1] * GIGA, {**own, "device": "gpu"}, doubt, flags)


def _nccl_mean(state: _Nccl, line: Line, match: re.Match[str]) -> Iterator[Found]:
    number(match[1], line)
    shown, doubt = as_printed(match[1]), ""
    if state.buses:
        doubt = at_line(line, disagree(shown, known_to(fmean(state.buses), 0.005), "the mean of busbw in GB/s", 1e-3))
    params: dict[str, Scalar] = {"access": state.operation or "collective", "device": "gpu"}
    yield Measured("mean_bus_bandwidth", "B/s", shown.value * GIGA, params, doubt)
    state.buses = []


_NCCL_RULES: Final[tuple[Rule[_Nccl], ...]] = (
    (re.compile(r"# (?:Collective test starting: |.*/)?(\w+)_perf\b"), _nccl_operation),
    (re.compile(r"# nThread "), _nccl_run),
    (re.compile(r"#\s+Rank\s+(\d+)\s"), _nccl_rank),
    (re.compile(r"\s*\d+\s+\d+\s+[a-z]\w*\s.*\d.*$"), _nccl_line),
    (re.compile(r"# Avg bus bandwidth\s*:\s*(\S+)"), _nccl_mean),
)


# -- nvbandwidth -------------------------------------------------------------------------------------------------------


@dataclass
class _Nvbandwidth:
    """One test, its unit, and its cells, of which it states the sum."""

    test: str = ""
    is_time: bool = False
    columns: list[str] = field(default_factory=list[str])
    cells: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])


def _test(state: _Nvbandwidth, _: Line, match: re.Match[str]) -> Iterator[Found]:
    yield from _cells(state, "")
    state.__init__(test=match[1])


def _unit(state: _Nvbandwidth, _: Line, match: re.Match[str]) -> None:
    state.is_time = match[1] == "ns"


def _head(state: _Nvbandwidth, _: Line, match: re.Match[str]) -> None:
    state.columns = match[0].split()


def _row(state: _Nvbandwidth, line: Line, match: re.Match[str]) -> None:
    row, *values = match[0].split()
    if len(values) != len(state.columns):
        raise RefusedError(f"has {len(values)} values below {len(state.columns)} columns", line.number)
    for column, value in zip(state.columns, values, strict=True):
        if value != "N/A":
            number(value, line)
            state.cells[row, column] = value


def _sum(state: _Nvbandwidth, line: Line, match: re.Match[str]) -> Iterator[Found]:
    number(match[2], line)
    again = sum(number(value) for value in state.cells.values())
    off = 0.006 * len(state.cells)
    doubt = at_line(line, disagree(as_printed(match[2]), known_to(again, off), f"the sum of {match[1]}"))
    yield from _cells(state, doubt)


def _cells(state: _Nvbandwidth, doubt: str = "") -> Iterator[Found]:
    for (row, column), value in state.cells.items():
        yield _cell(state.test, row, column, number(value), doubt, is_time=state.is_time)
    state.cells = {}


def _cell(test: str, row: str, column: str, value: float, doubt: str, *, is_time: bool) -> Measured:
    params: dict[str, Scalar] = {"access": test, "row": row, "column": column, "device": "gpu"}
    metric, unit, factor = ("access_time", "s", 1e-9) if is_time else ("copy_bandwidth", "B/s", GIGA)
    return Measured(metric, unit, value * factor, params, doubt, target="nvbandwidth")


_NVBANDWIDTH_RULES: Final[tuple[Rule[_Nvbandwidth], ...]] = (
    (re.compile(r"Running (\w+)\."), _test),
    (re.compile(r"mem\w+ .*\((GB/s|ns)\)\s*$"), _unit),
    (re.compile(r"\s{5,}\d+(?:\s+\d+)*\s*$"), _head),
    (re.compile(r"\s*\d+(?:\s+(?:\d+\.\d+|N/A))+\s*$"), _row),
    (re.compile(r"SUM (\w+) (\S+)"), _sum),
)


def read_nvbandwidth_json(document: Mapping[str, object]) -> Iterator[Found]:
    """Yield the cells of every test of nvbandwidth -j."""
    for test in children(document, "nvbandwidth", "testcases"):
        of = child({"test": test}, "test")
        is_time = "(ns)" in word(of, "bandwidth_description")
        matrix = [children({"row": row}, "row") for row in children(of, "bandwidth_matrix")]
        cells = {
            (str(r), str(c)): value
            for r, row in enumerate(matrix)
            for c, text in enumerate(row)
            if (value := amount({"cell": text}, "cell")) is not None
        }
        stated = amount(of, "sum")
        again = known_to(sum(cells.values()), 0.006 * len(cells))
        doubt = (
            ""
            if stated is None or not cells
            else disagree(known_to(stated, 0.006), again, f"the sum of {word(of, 'name')}", 1e-4)
        )
        for (row, column), value in cells.items():
            yield _cell(word(of, "name"), row, column, value, doubt, is_time=is_time)


# -- GPCNeT ------------------------------------------------------------------------------------------------------------


@dataclass
class _Gpcnet:
    ranks: int = 0
    nodes: int = 0
    load: str = "isolated"


def _gpcnet_ranks(state: _Gpcnet, line: Line, match: re.Match[str]) -> None:
    state.__init__(ranks=whole(match[1], line), nodes=whole(match[2], line))


def _gpcnet_table(state: _Gpcnet, _: Line, match: re.Match[str]) -> None:
    title = match[1]
    state.load = "isolated" if title.startswith("Isolated") else "impact" if "Key Results" in title else "congested"


def _gpcnet_row(state: _Gpcnet, line: Line, match: re.Match[str]) -> Iterator[Found]:
    name, size, mean, tail, unit = (part.strip() for part in match.groups())
    if mean in ("Avg", "N/A"):
        return
    params: dict[str, Scalar] = {"access": name, "load": state.load}
    params |= {"message_bytes": whole(size, line)} if size else {}
    params |= {"each": "rank"} if unit != "usec" else {}
    params |= {"ranks": state.ranks, "nodes": state.nodes} if state.ranks else {}
    metric, ours, factor = ("network_latency", "s", US) if unit == "usec" else ("network_bandwidth", "B/s", float(MIB))
    for value, more in ((mean, ""), (tail, "_p99")):
        yield Measured(f"{metric}{more}", ours, number(value, line) * factor, params, target="gpcnet")


_GPCNET_RULES: Final[tuple[Rule[_Gpcnet], ...]] = (
    (re.compile(r"\s*Test with (\d+) MPI ranks \((\d+) nodes\)"), _gpcnet_ranks),
    (re.compile(r"\|\s*([A-Z][^|]*(?:Tests|Results)[^|]*?)\s*\|\s*$"), _gpcnet_table),
    (
        re.compile(r"\|\s*([^|(]+?)\s*(?:\((\d+) B\))?\s*\|([^|]+)\|(?:[^|]+\|)*?([^|]+)\|\s*(usec|MiB/s/rank)\s*\|"),
        _gpcnet_row,
    ),
)

FORMS: Final = (
    Form(
        "nccl_tests",
        "what nccl-tests and rccl-tests print",
        "accelerators",
        ("# nThread ", "# Avg bus bandwidth"),
        by_rules(_Nccl, _NCCL_RULES),
    ),
    Form(
        "nvbandwidth",
        "what nvbandwidth prints",
        "accelerators",
        ("nvbandwidth Version:",),
        by_rules(_Nvbandwidth, _NVBANDWIDTH_RULES, _cells),
    ),
    Form(
        "nvbandwidth_json",
        "what nvbandwidth -j prints",
        "accelerators",
        ('"nvbandwidth"',),
        read_document=read_nvbandwidth_json,
        begin=r"\{?\s*\"",
    ),
    Form(
        "gpcnet",
        "what GPCNeT prints",
        "messages",
        ("Isolated Network Tests", "Network Tests running with Congestion Tests"),
        by_rules(_Gpcnet, _GPCNET_RULES),
        begin=r"\|\s+\w",
    ),
)
