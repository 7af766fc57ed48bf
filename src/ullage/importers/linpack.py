# SPDX-License-Identifier: Apache-2.0
"""What HPL prints, and hpccoutf.txt of HPCC: its summary, compared with what its parts have printed before.

HPL counts 2/3 N^3 + 3/2 N^2 operations. All G of HPCC are 10^9.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from typing import Final

from ullage.importers import forms
from ullage.importers.forms import GIGA, US, Form, Found, Measured, Rule, as_printed, disagree, is_number, number, whole
from ullage.importers.printed import Printed, known_to
from ullage.importers.sources import Line
from ullage.model.flags import INVALID_VERIFICATION, Flag

_FAILED: Final = Flag(code=INVALID_VERIFICATION, reason="HPL says that a residual is too large: FAILED")


@dataclass
class _Hpl:
    """A result whose check of the residual is still to come."""

    found: Measured | None = None


def _pending(state: _Hpl, *_: object) -> Iterator[Found]:
    if state.found is not None:
        yield state.found
    state.found = None


def _operations(n: float) -> float:
    return (2 / 3 * n + 1.5) * n * n


def _result(state: _Hpl, line: Line, match: re.Match[str]) -> Iterator[Found]:
    yield from _pending(state)
    n, nb, p, q = (whole(word, line) for word in match.groups()[1:5])
    seconds, shown = as_printed(match[6], line), as_printed(match[7], line)
    again = seconds.under(_operations(n) / GIGA) if shown.value > 0 else None
    doubt = disagree(shown, again, "the rate in Gflop/s", 1e-3, line)
    params: forms.Params = {"access": "solve", "type": "fp64", "n": n, "nb": nb, "ranks": p * q}
    params |= {"rows": p, "columns": q, "variant": match[1]}
    state.found = Measured("compute_rate", "op/s", shown.value * GIGA, params, doubt)


def _failed(state: _Hpl, *_: object) -> None:
    if state.found is not None:
        state.found = replace(state.found, flags=(_FAILED,))


_HPL_LINE: Final = r"\s*(W[RC]\w+)\s+(\d+)\s+(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(\S+)"
_HPL_RULES: Final[tuple[Rule[_Hpl], ...]] = (
    (_HPL_LINE, _result),
    (r".*\|\|.*\.{3,}\s*FAILED", _failed),
    (r"=+\s*$", _pending),
)


_SCOPES: Final = {"Star": "each", "Single": "one", "MPI": "all"}
_RINGS: Final = {"RandomlyOrdered": "random", "NaturallyOrdered": "natural"}
_SIDES: Final = {"Max": "max", "Min": "min", "Avg": "mean"}
_Entry = tuple[str, str, float, forms.Params]


def _entries(
    names: str, metric: str, unit: str, factor: float, fixed: dict[str, str], **words: dict[str, str]
) -> dict[str, _Entry]:
    """Return metric, unit, factor and parameters by ``names``, in which each of ``words`` stands for its ``{}``."""
    found: dict[str, _Entry] = {}
    for chosen in product(*(of.items() for of in words.values())):
        params = fixed | dict(zip(words, (value for _, value in chosen), strict=True))
        found[names.format(*(name for name, _ in chosen))] = (metric, unit, factor, forms.given(**params))
    return found


_SUMMARY: Final = {
    **_entries("HPL_Tflops", "compute_rate", "op/s", 1e12, {"access": "solve", "type": "fp64"}),
    **_entries("PTRANS_GBs", "transpose_bandwidth", "B/s", GIGA, {"access": "transpose"}),
    **_entries(
        *("{}RandomAccess{}_GUPs", "update_rate", "update/s", GIGA, {"access": "update"}),
        scope=_SCOPES,
        generator={"": "", "_LCG": "lcg"},
    ),
    **_entries(
        *("{}{}_Gflops", "compute_rate", "op/s", GIGA, {"access": "", "type": "fp64"}),
        scope=_SCOPES,
        access={"DGEMM": "multiply", "FFT": "fft"},
    ),
    **_entries(
        *("{}STREAM_{}", "memory_bandwidth", "B/s", GIGA, {"access": ""}),
        scope={name: _SCOPES[name] for name in ("Star", "Single")},
        access={name.title(): name for name in ("copy", "scale", "add", "triad")},
    ),
    **_entries("{}RingLatency_usec", "ring_latency", "s", US, {"access": "ring"}, order=_RINGS),
    **_entries("{}RingBandwidth_GBytes", "ring_bandwidth", "B/s", GIGA, {"access": "ring"}, order=_RINGS),
    **_entries("{}PingPongLatency_usec", "ping_pong_latency", "s", US, {"access": "ping-pong"}, of_pairs=_SIDES),
    **_entries(
        *("{}PingPongBandwidth_GBytes", "ping_pong_bandwidth", "B/s", GIGA, {"access": "ping-pong"}), of_pairs=_SIDES
    ),
}


@dataclass
class _Hpcc:
    """The part that lines are of, what the parts have printed by the summary's names, and what the summary says."""

    part: str = ""
    printed: dict[str, Printed] = field(default_factory=dict[str, Printed])
    summary: dict[str, tuple[Line, str]] = field(default_factory=dict[str, tuple[Line, str]])
    ended: str = ""


def _solved(state: _Hpcc, _: Line, match: re.Match[str]) -> None:
    if is_number(match[7]):
        tera, before = as_printed(match[7]).times(1e-3), state.printed.get("HPL_Tflops")
        state.printed["HPL_Tflops"] = tera if before is None or tera.value > before.value else before


def _of_part(names: str, state: _Hpcc, _: Line, match: re.Match[str]) -> None:
    *kernel, value = match.groups()
    name = f"{state.part}_{names.format(*kernel)}"
    if name in _SUMMARY and is_number(value):
        state.printed[name] = as_printed(value)


def _of_network(state: _Hpcc, _: Line, match: re.Match[str]) -> None:
    """Note a latency in ms or bandwidth in MB/s, which the summary has in us and GB/s."""
    which, what, value = match.groups()
    kind = f"{which}PingPong" if which in _SIDES else f"{which}OrderedRing"
    unit, factor = ("usec", 1e3) if what == "Latency" else ("GBytes", 1e-3)
    if is_number(value):
        state.printed[f"{kind}{what}_{unit}"] = as_printed(value).times(factor)


def _summarised(state: _Hpcc, line: Line, match: re.Match[str]) -> None:
    state.summary.setdefault(match[1], (line, match[2]))


def _hpcc(state: _Hpcc) -> Iterator[Found]:
    ranks = state.summary.get("CommWorldProcs")
    of_all: forms.Params = {} if ranks is None else {"ranks": whole(ranks[1], ranks[0])}
    for name, (metric, unit, factor, params) in _SUMMARY.items():
        own = state.printed.get(name)
        if name in state.summary:
            line, text = state.summary[name]
            if text.startswith("-"):
                continue
            shown = as_printed(text, line, name)
            doubt = disagree(shown, own, name, 2e-3, line)
            if name == "HPL_Tflops" and not doubt and {"HPL_N", "HPL_time"} <= state.summary.keys():
                n, time = (number(state.summary[one][1], line) for one in ("HPL_N", "HPL_time"))
                again = known_to(_operations(n) / time / 1e12 if time else 0.0)
                doubt = disagree(shown, again, name, 2e-3, line)
        elif own is not None and not state.ended:
            shown, doubt = own, ""
        else:
            continue
        yield Measured(metric, unit, shown.value * factor, {**params, **of_all}, doubt, target="hpcc")
    if (state.summary or state.printed) and not state.ended:
        yield forms.Remark("ends before HPCC had written its whole summary: what is there is read")


_HPCC_RULES: Final[tuple[Rule[_Hpcc], ...]] = (
    (r"This is the DARPA/DOE HPC Challenge", forms.anew(_hpcc)),
    (r"Begin of (\w+) section", forms.keep(part=forms.text)),
    (_HPL_LINE, _solved),
    (r"(?:Single STREAM|Average) (\w+) GB/s (\S+)", partial(_of_part, "{}")),
    (r"(?:Single|Average)(?: DGEMM| FFT)? Gflop/s (\S+)", partial(_of_part, "Gflops")),
    (r"(?:Single|Average) GUP/s (\S+)", partial(_of_part, "GUPs")),
    (r"(Max|Min|Naturally|Randomly)\s+(?:Ping Pong|Ordered Ring) (Latency|Bandwidth):\s+(\S+)", _of_network),
    (r"Gflop/s:\s+(\S+)", partial(_of_part, "Gflops")),
    (r"(\S+) Billion\(10\^9\) Updates\s+per second", partial(_of_part, "GUPs")),
    (r"(End) of Summary section", forms.keep(ended=forms.text)),
    (r"([A-Za-z]\w*)=(\S*)\s*$", _summarised),
)

FORMS: Final = (
    Form(
        "hpl",
        "what HPL prints, 1.0 to 2.3, and programs with its table",
        "processors",
        ("NB     P     Q               Time                 Gflops",),
        forms.by_rules(_Hpl, _HPL_RULES, _pending),
        begin=r"T/V ",
    ),
    Form(
        "hpcc",
        "hpccoutf.txt of HPCC",
        "processors",
        ("This is the DARPA/DOE HPC Challenge", "StarDGEMM_Gflops="),
        forms.by_rules(_Hpcc, _HPCC_RULES, _hpcc),
        hides=("hpl", "stream"),
    ),
)
