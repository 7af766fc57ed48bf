# SPDX-License-Identifier: Apache-2.0
"""Tables over message sizes: OSU Micro-Benchmarks 5 to 7 and Intel MPI Benchmarks.

OSU's MB are 10^6 bytes. IMB's are 2^20 before its releases named by years, and 10^6 since; bytes over time tell it too.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from ullage.importers import forms
from ullage.importers.forms import MEGA, MIB, US, Form, Found, Measured, Rule, as_printed, disagree, number, whole
from ullage.importers.printed import known_to
from ullage.importers.sources import Line
from ullage.model.flags import INVALID_VERIFICATION, Flag

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


def _osu_columns(state: _Osu, line: Line, _: re.Match[str]) -> None:
    if state.test:
        names = re.split(r"\s{2,}|(?<=\))\s+(?=[A-Z])", line.text.lstrip("# ").strip())
        state.columns = [re.sub(r"\s", "", name).lower() for name in names]


def _osu_line(state: _Osu, line: Line, match: re.Match[str]) -> Iterator[Found]:
    words = match[0].split()
    if not state.columns or len(words) > len(state.columns):
        return
    cells = forms.cells_of(state.columns, words, line)
    flags = (_WRONG,) if cells.get("validation", "").lower() == "fail" else ()
    params: forms.Params = {"access": state.test.lower()}
    params |= {"message_bytes": whole(cells["size"], line)} if "size" in cells else {}
    params |= forms.given(pairs=state.pairs)
    doubt = forms.at_line(line, _osu_doubt(cells, line))
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
    (
        r"#?\s*OSU (?:MPI|OpenSHMEM|UPC|UPCXX|NCCL)\S* (.+?)(?: Test)? v\d",
        forms.anew(test=lambda text, _: " ".join(text.split())),
    ),
    (r"# \[ pairs: (\d+) \]", forms.keep(pairs=whole)),
    (r"#\s+(?:Size\s|Avg Latency|Latency|Overall)", _osu_columns),
    (r"(?i)\s*\d[\d.,]*(?:\s+(?:-?[\d.,]+(?:e[+-]\d+)?|Pass|Fail|-))*\s*$", _osu_line),
    (r"# OSU", forms.anew()),
)


@dataclass
class _Imb:
    """One table. ``mega``: bytes of an MB, by the release."""

    mega: float = MEGA
    test: str = ""
    ranks: int = 0
    columns: list[str] = field(default_factory=list[str])


# Bytes that a process moves in one step of these, in messages.
_MOVES: Final = {"PingPong": 1, "PingPing": 1, "Sendrecv": 2, "Exchange": 4}


def _imb_columns(state: _Imb, line: Line, _: re.Match[str]) -> None:
    state.columns = line.text.split() if state.test else []


def _imb_line(state: _Imb, line: Line, match: re.Match[str]) -> Iterator[Found]:
    if not state.columns:
        return
    cells = forms.cells_of(state.columns, match[0].split(), line)
    params: forms.Params = {"access": state.test.lower(), **forms.given(ranks=state.ranks)}
    params |= {"message_bytes": whole(cells["#bytes"], line)} if "#bytes" in cells else {}
    flags = (_WRONG,) if number(cells.get("defects", "0"), line) > 0 else ()
    mega, doubt = _imb_unit(state, cells, line)
    time = "ping_pong_latency" if state.test in ("PingPong", "PingPing") else "collective_latency"
    for column, metric, unit, factor, more in (
        ("t[usec]" if "t[usec]" in cells else "t_avg[usec]", time, "s", US, {}),
        ("t_max[usec]", "collective_latency", "s", US, {"of": "slowest"}),
        ("Mbytes/sec", "message_bandwidth", "B/s", mega, {}),
        ("Msg/sec", "message_rate", "op/s", 1.0, {}),
    ):
        if column in cells:
            yield Measured(metric, unit, number(cells[column], line) * factor, {**params, **more}, doubt, flags)


def _imb_unit(state: _Imb, cells: dict[str, str], line: Line) -> tuple[float, str]:
    """Return the bytes of an MB that bytes over time confirm, and a doubt where neither of the two does."""
    moves, time = _MOVES.get(state.test), cells.get("t[usec]", cells.get("t_max[usec]", ""))
    sides = [number(cells[name], line) for name in ("t_min[usec]", "t_avg[usec]", "t_max[usec]") if name in cells]
    if sides != sorted(sides):
        return state.mega, forms.at_line(line, f"the mean time is not between {sides[0]:g} and {sides[-1]:g} us")
    if moves is None or not time or "Mbytes/sec" not in cells:
        return state.mega, ""
    seconds, shown = as_printed(time, line), as_printed(cells["Mbytes/sec"], line)
    if seconds.low <= 0 or shown.value == 0:
        return state.mega, ""
    moved = moves * whole(cells["#bytes"], line) / US
    said: list[str] = []
    for mega in (state.mega, MIB if state.mega == MEGA else MEGA):
        said.append(disagree(shown, seconds.under(moved / mega), f"the rate of {state.test} in MB/s", 2e-3, line))
        if not said[-1]:
            return mega, ""
    return state.mega, said[0]


_IMB_RULES: Final[tuple[Rule[_Imb], ...]] = (
    (
        r"#\s*Intel ?\(R\) MPI Benchmarks?(?: Suite)?,? *V?(\d+)",
        forms.anew(mega=lambda release, _: MEGA if release.startswith("20") else MIB),
    ),
    (r"#\s*Benchmarking (\S+)", forms.anew(kept=("mega",), test=forms.text)),
    (r"#\s*#processes\s*=\s*(\d+)", forms.keep(ranks=whole)),
    (r"\s*#(?:bytes|repetitions)\s", _imb_columns),
    (r"(?i)\s*\d+(?:\s+\d[\d.,]*(?:e[+-]\d+)?)+\s*$", _imb_line),
)

FORMS: Final = (
    Form(
        "osu",
        "what the OSU Micro-Benchmarks print, 5 to 7",
        "messages",
        ("# OSU MPI", "# OSU OpenSHMEM", "# OSU UPC", "# OSU NCCL"),
        forms.by_rules(_Osu, _OSU_RULES),
    ),
    Form(
        "imb", "what the Intel MPI Benchmarks print", "messages", ("# Benchmarking ",), forms.by_rules(_Imb, _IMB_RULES)
    ),
)
