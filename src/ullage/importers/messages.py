# SPDX-License-Identifier: Apache-2.0
"""Tables over message sizes: OSU Micro-Benchmarks 5 to 7 and Intel MPI Benchmarks.

OSU's MB are 10^6 bytes. IMB's are 2^20 before its releases named by years, and 10^6 since; bytes over time tell it too.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from ullage.importers.forms import (
    MEGA,
    MIB,
    US,
    Form,
    Found,
    Measured,
    RefusedError,
    Rule,
    as_printed,
    at_line,
    by_rules,
    disagree,
    number,
    whole,
)
from ullage.importers.printed import Printed, known_to
from ullage.importers.sources import Line
from ullage.model.flags import INVALID_VERIFICATION, Flag

if TYPE_CHECKING:
    from ullage.model.plan import Scalar

_WRONG: Final = Flag(code=INVALID_VERIFICATION, reason="the program says that data came back wrong")
_SLACK: Final = 0.02

# Columns of OSU by their names in small letters without blanks: metric, unit, factor, further parameters. The first
# word of a metric is put before it: ping_pong, collective.
_OSU: Final[Mapping[str, tuple[str, str, float, Mapping[str, str]]]] = {
    "latency(us)": ("latency", "s", US, {}),
    "avglatency(us)": ("latency", "s", US, {}),
    "minlatency(us)": ("latency", "s", US, {"of": "fastest"}),
    "maxlatency(us)": ("latency", "s", US, {"of": "slowest"}),
    "overall(us)": ("latency", "s", US, {"of": "overlapped"}),
    "purecomm.(us)": ("latency", "s", US, {}),
    "overlap(%)": ("overlap", "of call", 0.01, {}),
    "bandwidth(mb/s)": ("message_bandwidth", "B/s", MEGA, {}),
    "mb/s": ("message_bandwidth", "B/s", MEGA, {}),
    "messages/s": ("message_rate", "op/s", 1.0, {}),
    "messagerate": ("message_rate", "op/s", 1.0, {}),
    **{f"p{p}taillat(us)": (f"latency_p{p}", "s", US, {}) for p in (50, 90, 95, 99)},
}
_ONE_WAY: Final = ("Latency", "Multi Latency", "Multi-threaded Latency", "Multi-process Latency")


@dataclass
class _Osu:
    test: str = ""
    columns: list[str] = field(default_factory=list[str])
    pairs: int = 0


def _osu_test(state: _Osu, _: Line, match: re.Match[str]) -> None:
    state.__init__(test=" ".join(match[2].split()))


def _osu_other(state: _Osu, *_: object) -> None:
    state.__init__()


def _osu_pairs(state: _Osu, line: Line, match: re.Match[str]) -> None:
    state.pairs = whole(match[1], line)


def _osu_columns(state: _Osu, line: Line, _: re.Match[str]) -> None:
    if state.test:
        names = re.split(r"\s{2,}|(?<=\))\s+(?=[A-Z])", line.text.lstrip("# ").strip())
        state.columns = [re.sub(r"\s", "", name).lower() for name in names]


def _osu_line(state: _Osu, line: Line, match: re.Match[str]) -> Iterator[Found]:
    words = match[0].split()
    if not state.columns or len(words) > len(state.columns):
        return
    if len(words) < len(state.columns):
        raise RefusedError(f"has {len(words)} values below {len(state.columns)} columns", line.number)
    cells = dict(zip(state.columns, words, strict=True))
    flags = (_WRONG,) if cells.get("validation", "").lower() == "fail" else ()
    params: dict[str, Scalar] = {"access": state.test.lower()}
    if "size" in cells:
        params["message_bytes"] = whole(cells["size"], line)
    params |= {"pairs": state.pairs} if state.pairs else {}
    doubt = at_line(line, _osu_doubt(cells, line))
    before = "ping_pong_" if state.test in _ONE_WAY else "collective_"
    for name, text in cells.items():
        if name in _OSU:
            metric, unit, factor, more = _OSU[name]
            full = f"{before}{metric}" if metric.startswith("latency") else metric
            yield Measured(full, unit, number(text, line, name) * factor, {**params, **more}, doubt, flags)


def _osu_doubt(cells: dict[str, str], line: Line) -> str:
    rate = cells.get("messages/s", cells.get("messagerate"))
    band = cells.get("mb/s", cells.get("bandwidth(mb/s)"))
    if rate is not None and band is not None and "size" in cells:
        again = number(rate, line) * whole(cells["size"], line) / MEGA
        return disagree(as_printed(band), known_to(again), "the bandwidth in MB/s", _SLACK)
    parts = [cells.get(f"{side}latency(us)") for side in ("min", "avg", "max")]
    values = [number(part, line) for part in parts if part is not None]
    return "" if values == sorted(values) else f"the mean latency is not between {values[0]:g} and {values[-1]:g} us"


_OSU_RULES: Final[tuple[Rule[_Osu], ...]] = (
    (re.compile(r"#?\s*OSU (MPI|OpenSHMEM|UPC|UPCXX|NCCL)\S* (.+?)(?: Test)? v\d"), _osu_test),
    (re.compile(r"# \[ pairs: (\d+) \]"), _osu_pairs),
    (re.compile(r"#\s+(?:Size\s|Avg Latency|Latency|Overall)"), _osu_columns),
    (re.compile(r"\s*\d[\d.,]*(?:\s+(?:-?[\d.,]+(?:e[+-]\d+)?|Pass|Fail|-))*\s*$", re.IGNORECASE), _osu_line),
    (re.compile(r"# OSU"), _osu_other),
)


# -- IMB ---------------------------------------------------------------------------------------------------------------


@dataclass
class _Imb:
    """One table. ``mega``: bytes of an MB, by the release."""

    mega: float = MEGA
    test: str = ""
    ranks: int = 0
    columns: list[str] = field(default_factory=list[str])


_TIMES: Final = {"PingPong": "ping_pong_latency", "PingPing": "ping_pong_latency"}
# Bytes that a process moves in one step of these, in messages.
_MOVES: Final = {"PingPong": 1, "PingPing": 1, "Sendrecv": 2, "Exchange": 4}


def _imb_release(state: _Imb, _: Line, match: re.Match[str]) -> None:
    state.__init__(mega=MEGA if match[1].startswith("20") else MIB)


def _imb_test(state: _Imb, _: Line, match: re.Match[str]) -> None:
    state.__init__(mega=state.mega, test=match[1])


def _imb_ranks(state: _Imb, line: Line, match: re.Match[str]) -> None:
    state.ranks = whole(match[1], line)


def _imb_columns(state: _Imb, line: Line, _: re.Match[str]) -> None:
    state.columns = line.text.split() if state.test else []


def _imb_line(state: _Imb, line: Line, match: re.Match[str]) -> Iterator[Found]:
    words = match[0].split()
    if not state.columns:
        return
    if len(words) != len(state.columns):
        raise RefusedError(f"has {len(words)} values below {len(state.columns)} columns", line.number)
    cells = dict(zip(state.columns, words, strict=True))
    params: dict[str, Scalar] = {"access": state.test.lower()}
    params |= {"ranks": state.ranks} if state.ranks else {}
    if "#bytes" in cells:
        params["message_bytes"] = whole(cells["#bytes"], line)
    defects = cells.get("defects", "0")
    flags = (_WRONG,) if number(defects, line) > 0 else ()
    time = cells.get("t[usec]", cells.get("t_avg[usec]", ""))
    mega, doubt = _imb_unit(state, cells, line)
    if time:
        metric = _TIMES.get(state.test, "collective_latency")
        yield Measured(metric, "s", number(time, line, "time") * US, params, doubt, flags)
    if slowest := cells.get("t_max[usec]"):
        yield Measured("collective_latency", "s", number(slowest, line) * US, {**params, "of": "slowest"}, doubt, flags)
    if rate := cells.get("Mbytes/sec"):
        yield Measured("message_bandwidth", "B/s", number(rate, line, "rate") * mega, params, doubt, flags)
    if rate := cells.get("Msg/sec"):
        yield Measured("message_rate", "op/s", number(rate, line, "rate"), params, doubt, flags)


def _imb_unit(state: _Imb, cells: dict[str, str], line: Line) -> tuple[float, str]:
    """Return the bytes of an MB that bytes over time confirm, and a doubt where neither of the two does."""
    moves, time = _MOVES.get(state.test), cells.get("t[usec]", cells.get("t_max[usec]", ""))
    if moves is None or not time or "Mbytes/sec" not in cells:
        return state.mega, ""
    number(time, line)
    seconds, shown = as_printed(time), as_printed(cells["Mbytes/sec"])
    if seconds.low <= 0 or shown.value == 0:
        return state.mega, ""
    moved = moves * whole(cells["#bytes"], line) / US
    said = ""
    for mega in (state.mega, MIB if state.mega == MEGA else MEGA):
        again = Printed(*(moved / mega / each for each in (seconds.value, seconds.high, seconds.low)))
        doubt = disagree(shown, again, f"the rate of {state.test} in MB/s", 2e-3)
        if not doubt:
            return mega, ""
        said = said or doubt
    return state.mega, at_line(line, said)


_IMB_RULES: Final[tuple[Rule[_Imb], ...]] = (
    (re.compile(r"#\s*Intel ?\(R\) MPI Benchmarks?(?: Suite)?,? *V?(\d+)"), _imb_release),
    (re.compile(r"#\s*Benchmarking (\S+)"), _imb_test),
    (re.compile(r"#\s*#processes\s*=\s*(\d+)"), _imb_ranks),
    (re.compile(r"\s*#(?:bytes|repetitions)\s"), _imb_columns),
    (re.compile(r"\s*\d+(?:\s+\d[\d.,]*(?:e[+-]\d+)?)+\s*$", re.IGNORECASE), _imb_line),
)

FORMS: Final = (
    Form(
        "osu",
        "what the OSU Micro-Benchmarks print, 5 to 7",
        "messages",
        ("# OSU MPI", "# OSU OpenSHMEM", "# OSU UPC", "# OSU NCCL"),
        by_rules(_Osu, _OSU_RULES),
    ),
    Form("imb", "what the Intel MPI Benchmarks print", "messages", ("# Benchmarking ",), by_rules(_Imb, _IMB_RULES)),
)
