# SPDX-License-Identifier: Apache-2.0
"""What nccl-tests (and rccl-tests) and nvbandwidth print, and GPCNeT's tables.

GB of the first two are 10^9 bytes. ``algbw`` is bytes over time, ``busbw`` what a link had to carry for it.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from statistics import fmean
from typing import Final

from ullage.importers import forms
from ullage.importers.forms import GIGA, MIB, US, Form, Found, Measured, Rule, as_printed, disagree, number, whole
from ullage.importers.printed import known_to
from ullage.importers.rows import RefusedError
from ullage.importers.sources import Line
from ullage.model.flags import INVALID_VERIFICATION, Flag
from ullage.reading import child, children

_WRONG: Final = Flag(code=INVALID_VERIFICATION, reason="nccl-tests found wrong elements")


@dataclass
class _Nccl:
    """One run: its ranks, its collective where it is named, and all bus bandwidths, whose mean it states at its end."""

    ranks: int = 0
    operation: str = "collective"
    buses: list[float] = field(default_factory=list[float])


def _nccl_rank(state: _Nccl, line: Line, match: re.Match[str]) -> None:
    state.ranks = max(state.ranks, whole(match[1], line) + 1)


def _nccl_line(state: _Nccl, line: Line, match: re.Match[str]) -> Iterator[Found]:
    words = match[0].split()
    begin = 3 + sum(not forms.is_number(one) for one in words[3:5])
    if len(words) < begin + 8:
        raise RefusedError("is not a whole line of results", line.number)
    size, redop = whole(words[0], line), words[3] if not forms.is_number(words[3]) and words[3] != "none" else ""
    params: forms.Params = {"access": state.operation, "message_bytes": size, "type": words[2]}
    params |= forms.given(redop=redop, ranks=state.ranks)
    for place, cells in (("out-of-place", words[-8:-4]), ("in-place", words[-4:])):
        time, algorithm, bus, wrong = cells
        if time == "N/A":
            continue
        shown, seconds = as_printed(algorithm, line), as_printed(time, line, "time")
        doubt = disagree(shown, seconds.under(size / US / GIGA), "algbw in GB/s", 5e-3, line)
        flags = (_WRONG,) if wrong.isdecimal() and int(wrong) > 0 else ()
        own: forms.Params = {**params, "place": place}
        state.buses.append(number(bus, line, "busbw"))
        yield Measured("collective_latency", "s", seconds.value * US, own, doubt, flags)
        yield Measured("message_bandwidth", "B/s", shown.value * GIGA, own, doubt, flags)
        yield Measured("bus_bandwidth", "B/s", state.buses[-1] * GIGA, {**own, "device": "gpu"}, doubt, flags)


def _nccl_mean(state: _Nccl, line: Line, match: re.Match[str]) -> Iterator[Found]:
    shown, again = as_printed(match[1], line), known_to(fmean(state.buses), 0.005) if state.buses else None
    doubt = disagree(shown, again, "the mean of busbw in GB/s", 1e-3, line)
    params = {"access": state.operation, "device": "gpu"}
    yield Measured("mean_bus_bandwidth", "B/s", shown.value * GIGA, params, doubt)
    state.buses = []


_NCCL_RULES: Final[tuple[Rule[_Nccl], ...]] = (
    (r"# (?:Collective test starting: |.*/)?(\w+)_perf\b", forms.keep(operation=forms.text)),
    (r"# nThread ", forms.anew(kept=("operation",))),
    (r"#\s+Rank\s+(\d+)\s", _nccl_rank),
    (r"\s*\d+\s+\d+\s+[a-z]\w*\s.*\d.*$", _nccl_line),
    (r"# Avg bus bandwidth\s*:\s*(\S+)", _nccl_mean),
)


@dataclass
class _Nvbandwidth:
    """One test, its unit, and its cells, of which it states the sum."""

    test: str = ""
    unit: str = "GB/s"
    columns: list[str] = field(default_factory=list[str])
    cells: dict[tuple[str, str], float] = field(default_factory=dict[tuple[str, str], float])


def _row(state: _Nvbandwidth, line: Line, match: re.Match[str]) -> None:
    row, *values = match[0].split()
    for column, value in forms.cells_of(state.columns, values, line).items():
        if value != "N/A":
            state.cells[row, column] = number(value, line)


def _sum(state: _Nvbandwidth, line: Line, match: re.Match[str]) -> Iterator[Found]:
    again = known_to(sum(state.cells.values()), 0.006 * len(state.cells))
    yield from _cells(state, disagree(as_printed(match[2], line), again, f"the sum of {match[1]}", line=line))


def _cells(state: _Nvbandwidth, doubt: str = "") -> Iterator[Found]:
    metric, unit, factor = ("access_time", "s", 1e-9) if state.unit == "ns" else ("copy_bandwidth", "B/s", GIGA)
    for (row, column), value in state.cells.items():
        params: forms.Params = {"access": state.test, "row": row, "column": column, "device": "gpu"}
        yield Measured(metric, unit, value * factor, params, doubt, target="nvbandwidth")
    state.cells = {}


_NVBANDWIDTH_RULES: Final[tuple[Rule[_Nvbandwidth], ...]] = (
    (r"Running (\w+)\.", forms.anew(_cells, test=forms.text)),
    (r"mem\w+ .*\((GB/s|ns)\)\s*$", forms.keep(unit=forms.text)),
    (r"(\s{5,}\d+(?:\s+\d+)*)\s*$", forms.keep(columns=lambda text, _: text.split())),
    (r"\s*\d+(?:\s+(?:\d+\.\d+|N/A))+\s*$", _row),
    (r"SUM (\w+) (\S+)", _sum),
)


def read_nvbandwidth_json(document: Mapping[str, object]) -> Iterator[Found]:
    """Yield the cells of every test of nvbandwidth -j."""
    for test in map(child, children(document, "nvbandwidth", "testcases")):
        state = _Nvbandwidth(
            forms.word(test, "name"), "ns" if "(ns)" in forms.word(test, "bandwidth_description") else ""
        )
        for r, row in enumerate(children(test, "bandwidth_matrix")):
            for c, text in enumerate(children(row)):
                if (value := forms.amount({"cell": text}, "cell")) is not None:
                    state.cells[str(r), str(c)] = value
        stated, doubt = forms.amount(test, "sum"), ""
        if stated is not None and state.cells:
            again = known_to(sum(state.cells.values()), 0.006 * len(state.cells))
            doubt = disagree(known_to(stated, 0.006), again, f"the sum of {state.test}", 1e-4)
        yield from _cells(state, doubt)


_SIZE: Final = re.compile(r"\s*\((\d+) B\)$")
_COLUMNS: Final = {"Avg": "", "Min": "_min", "Max": "_max", "99%": "_p99", "99.9%": "_p999"}


@dataclass
class _Gpcnet:
    """One run: the title of its table, and the columns of that."""

    ranks: int = 0
    nodes: int = 0
    load: str = ""
    columns: list[str] = field(default_factory=list[str])


def _gpcnet_line(state: _Gpcnet, line: Line, match: re.Match[str]) -> Iterator[Found]:
    words = [word.strip() for word in match[1].split("|")]
    if len(words) == 1:
        state.load, state.columns = words[0].lower(), []
    elif words[0] == "Name":
        state.columns = words
    elif state.columns and words[-1] in ("usec", "MiB/s/rank"):
        yield from _gpcnet_cells(state, line, forms.cells_of(state.columns, words, line))


def _gpcnet_cells(state: _Gpcnet, line: Line, cells: dict[str, str]) -> Iterator[Found]:
    name, message = _SIZE.sub("", cells["Name"]), _SIZE.search(cells["Name"])
    is_time = cells[state.columns[-1]] == "usec"
    params: forms.Params = {"access": name, "load": state.load}
    params |= {"message_bytes": whole(message[1], line)} if message else {}
    params |= forms.given(ranks=state.ranks, nodes=state.nodes, each="" if is_time else "rank")
    metric, unit, factor = ("network_latency", "s", US) if is_time else ("network_bandwidth", "B/s", float(MIB))
    for column, cell in cells.items():
        if column in _COLUMNS and cell != "N/A":
            yield Measured(f"{metric}{_COLUMNS[column]}", unit, number(cell, line) * factor, params, target="gpcnet")


_GPCNET_RULES: Final[tuple[Rule[_Gpcnet], ...]] = (
    (r"\s*Test with (\d+) MPI ranks \((\d+) nodes\)", forms.anew(ranks=whole, nodes=whole)),
    (r"\|(.*)\|\s*$", _gpcnet_line),
)

FORMS: Final = (
    Form(
        "nccl_tests",
        "what nccl-tests and rccl-tests print",
        "accelerators",
        ("# nThread ", "# Avg bus bandwidth"),
        forms.by_rules(_Nccl, _NCCL_RULES),
    ),
    Form(
        "nvbandwidth",
        "what nvbandwidth prints",
        "accelerators",
        ("nvbandwidth Version:",),
        forms.by_rules(_Nvbandwidth, _NVBANDWIDTH_RULES, _cells),
    ),
    Form(
        "nvbandwidth_json",
        "what nvbandwidth -j prints",
        "accelerators",
        ('"nvbandwidth"',),
        read_document=read_nvbandwidth_json,
    ),
    Form(
        "gpcnet",
        "what GPCNeT prints",
        "messages",
        ("Isolated Network Tests", "Network Tests running with Congestion Tests"),
        forms.by_rules(_Gpcnet, _GPCNET_RULES),
        begin=r"\|\s+\w",
    ),
)
