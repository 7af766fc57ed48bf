# SPDX-License-Identifier: Apache-2.0
"""What HPL prints, and hpccoutf.txt of HPCC: its summary, compared with what its parts have printed before.

HPL counts 2/3 N^3 + 3/2 N^2 operations. All G of HPCC are 10^9.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from ullage.importers.forms import (
    GIGA,
    US,
    Form,
    Found,
    Measured,
    Remark,
    Rule,
    as_printed,
    at_line,
    by_rules,
    disagree,
    is_number,
    number,
    whole,
)
from ullage.importers.printed import Printed
from ullage.importers.sources import Line
from ullage.model.flags import INVALID_VERIFICATION, Flag

if TYPE_CHECKING:
    from ullage.model.plan import Scalar

_FAILED: Final = Flag(code=INVALID_VERIFICATION, reason="HPL says that a residual is too large: FAILED")


@dataclass
class _Hpl:
    """A result whose check of the residual is still to come."""

    found: Measured | None = None


def _result(state: _Hpl, line: Line, match: re.Match[str]) -> Iterator[Found]:
    yield from _pending(state)
    n, nb, p, q = (whole(word, line) for word in match.groups()[1:5])
    time, rate = match[6], match[7]
    number(time, line)
    number(rate, line)
    seconds, shown = as_printed(time), as_printed(rate)
    operations, doubt = (2 / 3 * n + 1.5) * n * n, ""
    if seconds.low > 0 and shown.value > 0:
        again = Printed(*(operations / GIGA / each for each in (seconds.value, seconds.high, seconds.low)))
        doubt = at_line(line, disagree(shown, again, "the rate in Gflop/s", 1e-3))
    params: dict[str, Scalar] = {"access": "solve", "type": "fp64", "n": n, "nb": nb, "ranks": p * q}
    params |= {"rows": p, "columns": q, "variant": match[1]}
    state.found = Measured("compute_rate", "op/s", shown.value * GIGA, params, doubt)


def _residual(state: _Hpl, _: Line, match: re.Match[str]) -> Iterator[Found]:
    if state.found is not None and match[1] == "FAILED":
        found = state.found
        state.found = Measured(found.metric, found.unit, found.value, found.params, found.doubt, (_FAILED,))
    return iter(())


def _pending(state: _Hpl, *_: object) -> Iterator[Found]:
    if state.found is not None:
        yield state.found
    state.found = None


_HPL_RULES: Final[tuple[Rule[_Hpl], ...]] = (
    (re.compile(r"\s*(W[RC]\w+)\s+(\d+)\s+(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(\S+)"), _result),
    (re.compile(r".*\|\|.*\.{3,}\s*(PASSED|FAILED)"), _residual),
    (re.compile(r"=+\s*$"), _pending),
)


# -- HPCC --------------------------------------------------------------------------------------------------------------

# Names of the summary by a pattern: metric, unit, factor, parameters.
_SCOPES: Final = {"Star": "each", "Single": "one", "MPI": "all"}
_KERNELS: Final = {"Copy": "copy", "Scale": "scale", "Add": "add", "Triad": "triad"}
_RINGS: Final = {"RandomlyOrdered": "random", "NaturallyOrdered": "natural"}
_SIDES: Final = {"Max": "max", "Min": "min", "Avg": "mean"}
_SUMMARY: Final = {
    "HPL_Tflops": ("compute_rate", "op/s", 1e12, {"access": "solve", "type": "fp64"}),
    "PTRANS_GBs": ("transpose_bandwidth", "B/s", GIGA, {"access": "transpose"}),
    **{
        f"{scope}RandomAccess{kind}_GUPs": (
            "update_rate",
            "update/s",
            GIGA,
            {"access": "update", "scope": word, **more},
        )
        for scope, word in _SCOPES.items()
        for kind, more in (("", {}), ("_LCG", {"generator": "lcg"}))
    },
    **{
        f"{scope}{name}_Gflops": ("compute_rate", "op/s", GIGA, {"access": access, "type": "fp64", "scope": word})
        for scope, word in _SCOPES.items()
        for name, access in (("DGEMM", "multiply"), ("FFT", "fft"))
    },
    **{
        f"{scope}STREAM_{name}": ("memory_bandwidth", "B/s", GIGA, {"access": kernel, "scope": _SCOPES[scope]})
        for scope in ("Star", "Single")
        for name, kernel in _KERNELS.items()
    },
    **{
        f"{name}RingLatency_usec": ("ring_latency", "s", US, {"access": "ring", "order": order})
        for name, order in _RINGS.items()
    },
    **{
        f"{name}RingBandwidth_GBytes": ("ring_bandwidth", "B/s", GIGA, {"access": "ring", "order": order})
        for name, order in _RINGS.items()
    },
    **{
        f"{name}PingPongLatency_usec": ("ping_pong_latency", "s", US, {"access": "ping-pong", "of_pairs": side})
        for name, side in _SIDES.items()
    },
    **{
        f"{name}PingPongBandwidth_GBytes": (
            "ping_pong_bandwidth",
            "B/s",
            GIGA,
            {"access": "ping-pong", "of_pairs": side},
        )
        for name, side in _SIDES.items()
    },
}


@dataclass
class _Hpcc:
    """The part that lines are of, what the parts have printed by the summary's names, and what the summary says."""

    part: str = ""
    printed: dict[str, Printed] = field(default_factory=dict[str, Printed])
    summary: dict[str, tuple[Line, str]] = field(default_factory=dict[str, tuple[Line, str]])
    is_ended: bool = False


def _again(state: _Hpcc, *_: object) -> Iterator[Found]:
    yield from _hpcc(state)
    state.__init__()


def _part(state: _Hpcc, _: Line, match: re.Match[str]) -> None:
    state.part = match[1]


def _solved(state: _Hpcc, _: Line, match: re.Match[str]) -> None:
    if is_number(match[7]):
        shown, before = as_printed(match[7]), state.printed.get("HPL_Tflops")
        tera = Printed(shown.value / 1e3, shown.low / 1e3, shown.high / 1e3)
        state.printed["HPL_Tflops"] = tera if before is None or tera.value > before.value else before


def _of_part(state: _Hpcc, _: Line, match: re.Match[str]) -> None:
    kernel, unit, value = match.groups()
    is_stream = unit == "GB/s" and state.part.endswith("STREAM")
    name = f"{state.part}_{kernel}" if is_stream else f"{state.part}_{'GUPs' if unit == 'GUP/s' else 'Gflops'}"
    if name in _SUMMARY and is_number(value):
        state.printed[name] = as_printed(value)


def _summarised(state: _Hpcc, line: Line, match: re.Match[str]) -> None:
    state.summary.setdefault(match[1], (line, match[2]))


def _ended(state: _Hpcc, *_: object) -> None:
    state.is_ended = True


def _hpcc(state: _Hpcc) -> Iterator[Found]:
    ranks = state.summary.get("CommWorldProcs")
    of_all: dict[str, Scalar] = {} if ranks is None else {"ranks": whole(ranks[1], ranks[0])}
    for name, (metric, unit, factor, params) in _SUMMARY.items():
        own = state.printed.get(name)
        if name in state.summary:
            line, text = state.summary[name]
            if text.startswith("-"):
                continue
            number(text, line, name)
            shown = as_printed(text)
            doubt = "" if own is None else at_line(line, disagree(shown, own, name, 2e-3))
        elif own is not None and not state.is_ended:
            shown, doubt = own, ""
        else:
            continue
        yield Measured(metric, unit, shown.value * factor, {**params, **of_all}, doubt, target="hpcc")
    if (state.summary or state.printed) and not state.is_ended:
        yield Remark("ends before HPCC had written its whole summary: what is there is read")


_HPCC_RULES: Final[tuple[Rule[_Hpcc], ...]] = (
    (re.compile(r"This is the DARPA/DOE HPC Challenge"), _again),
    (re.compile(r"Begin of (\w+) section"), _part),
    (_HPL_RULES[0][0], _solved),
    (re.compile(r"Single STREAM (\w+) (GB/s) (\S+)"), _of_part),
    (re.compile(r"Average (\w+) (GB/s) (\S+)"), _of_part),
    (re.compile(r"(?:Single|Average)( DGEMM| FFT)? (Gflop/s|GUP/s) (\S+)"), _of_part),
    (re.compile(r"End of Summary section"), _ended),
    (re.compile(r"([A-Za-z]\w*)=(\S*)\s*$"), _summarised),
)

FORMS: Final = (
    Form(
        "hpl",
        "what HPL prints, 1.0 to 2.3, and programs with its table",
        "processors",
        ("NB     P     Q               Time                 Gflops",),
        by_rules(_Hpl, _HPL_RULES, _pending),
        begin=r"T/V ",
    ),
    Form(
        "hpcc",
        "hpccoutf.txt of HPCC",
        "processors",
        ("This is the DARPA/DOE HPC Challenge", "StarDGEMM_Gflops="),
        by_rules(_Hpcc, _HPCC_RULES, _hpcc),
        hides=("hpl", "stream"),
    ),
)
