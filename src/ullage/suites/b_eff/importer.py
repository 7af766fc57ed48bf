# SPDX-License-Identifier: Apache-2.0
"""What the original b_eff writes: .prot and .short with the values by size, .sum with one table of them.

It takes the best of its repetitions and methods. Its latency of rings alone lacks the number of processes in the text,
so that of the table is taken.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from ullage.importers import forms
from ullage.importers.forms import (
    MEGA,
    MIB,
    US,
    Form,
    Found,
    Measured,
    Remark,
    Rule,
    as_printed,
    disagree,
    number,
    whole,
)
from ullage.importers.printed import Printed
from ullage.importers.sources import Line
from ullage.model.flags import Flag
from ullage.suites.b_eff.formula import PING_PONG
from ullage.suites.b_eff.suite import AT_SIZE, BOTH, LATENCY, PAIR_BANDWIDTH, PAIR_LATENCY

_VALUE: Final = "b_eff"
_BEST: Final = Flag(code="best-of-repetitions", reason="b_eff takes the best of its repetitions and methods")
_ROUNDED: Final = 1e-3


@dataclass
class _BEff:
    """One run. ``by_size``: message and bandwidth of all processes; ``value``: b_eff as the text has it."""

    is_by_size: bool = False
    by_size: list[tuple[int, Printed]] = field(default_factory=list[tuple[int, Printed]])
    value: Printed | None = None
    ranks: int = 0
    lmax_mib: float = 0.0
    shown: set[str] = field(default_factory=set[str])

    def found(self, metric: str, unit: str, value: float, patterns: str, size: int = 0, doubt: str = "") -> Found:
        """Return a number of the run, with its processes and largest message."""
        self.shown.add(f"{metric} {patterns}")
        params = forms.given(patterns=patterns, message_bytes=size, ranks=self.ranks, lmax_bytes=self.largest)
        return Measured(metric, unit, value, params, doubt, (_BEST,))

    @property
    def largest(self) -> int:
        """The bytes of the largest message; Lmax is printed in whole MiB."""
        return self.by_size[-1][0] if self.by_size else round(self.lmax_mib * MIB)


def _section(state: _BEff, _: Line, match: re.Match[str]) -> None:
    state.is_by_size = match[1] == "BEGIN"


def _size(state: _BEff, line: Line, match: re.Match[str]) -> None:
    if state.is_by_size:
        size, accumulated, *_ = match[0].split()
        state.by_size.append((whole(size, line), as_printed(accumulated, line)))


def _headline(state: _BEff, line: Line, match: re.Match[str]) -> None:
    state.value, state.ranks = as_printed(match[1], line), whole(match[2], line)


def _per_process(state: _BEff, line: Line, match: re.Match[str]) -> Iterator[Found]:
    """Yield b_eff, unless the line is of another number, and the values by size."""
    if state.value is None or f"{_VALUE} {BOTH}" in state.shown:
        return
    again = as_printed(match[1], line).times(state.ranks)
    doubt = disagree(state.value, again, "b_eff in MByte/s", line=line)
    yield state.found(_VALUE, "B/s", state.value.value * MEGA, BOTH, doubt=doubt)
    for size, bandwidth in state.by_size:
        yield state.found(AT_SIZE, "B/s", bandwidth.value * MEGA, BOTH, size)


def _at_lmax(state: _BEff, line: Line, match: re.Match[str]) -> Iterator[Found]:
    """Yield the rings alone; the value of both is that of the last size, where these are there."""
    if match[1] or not state.by_size:
        patterns = "rings" if match[1] else BOTH
        yield state.found(AT_SIZE, "B/s", number(match[2], line) * MEGA, patterns, state.largest)


def _pair(state: _BEff, line: Line, match: re.Match[str]) -> Iterator[Found]:
    if match[1] == "latency":
        yield state.found(PAIR_LATENCY, "s", number(match[2], line) * US, PING_PONG, 1)
    else:
        yield state.found(PAIR_BANDWIDTH, "B/s", number(match[2], line) * MEGA, PING_PONG, state.largest)


def _table(state: _BEff, line: Line, match: re.Match[str]) -> Iterator[Found]:
    """Yield what the text before has not said: of .sum all of it."""
    cells = [as_printed(text, line) for text in match.groups()]
    doubt = disagree(state.value, cells[1], "b_eff in MByte/s", _ROUNDED, line)
    state.ranks, state.lmax_mib = round(cells[0].value), cells[2].value
    last = state.largest
    for metric, unit, factor, cell, patterns, size in (
        (_VALUE, "B/s", MEGA, cells[1], BOTH, 0),
        (AT_SIZE, "B/s", MEGA, cells[3], BOTH, last),
        (AT_SIZE, "B/s", MEGA, cells[4], "rings", last),
        (LATENCY, "s", US, cells[5], BOTH, 1),
        (LATENCY, "s", US, cells[6], "rings", 1),
        (PAIR_LATENCY, "s", US, cells[7], PING_PONG, 1),
        (PAIR_BANDWIDTH, "B/s", MEGA, cells[8], PING_PONG, last),
    ):
        if f"{metric} {patterns}" not in state.shown:
            yield state.found(metric, unit, cell.value * factor, patterns, size, doubt)


def _end(state: _BEff) -> Iterator[Found]:
    if state.is_by_size or (state.by_size and state.value is None):
        yield Remark("is cut off: b_eff ended before its summary")


_N: Final = r"\s*([\d.]+)"
_RULES: Final[tuple[Rule[_BEff], ...]] = (
    (r"b_eff\.c, Revision ", forms.anew(_end)),
    (r"SECTION-BY-MSGLNG-(BEGIN|END)", _section),
    (r"\s*\d+(?:\s+\d+\.\d+){5,8}\s*$", _size),
    (rf"The effective bandwidth is b_eff ={_N} MByte/s on (\d+) processes", _headline),
    (rf"\s*\( ={_N} MByte/s\s+\*\s*\d+ processes\)", _per_process),
    (rf"Lmax:{_N} MB", forms.keep(lmax_mib=number)),
    (rf"b_eff at Lmax( \(ring pattern\))?:{_N} MByte/s", _at_lmax),
    (rf"Ping-pong (latency|bandwidth)(?: at Lmax)?:{_N}", _pair),
    (rf"accumulated \|{_N}{_N}{_N} MB{_N}{_N}{_N}{_N}{_N}{_N}", _table),
)
FORMS: Final = (
    Form(
        "b_eff",
        "what b_eff 3 writes: .prot, .short and .sum",
        "messages",
        ("b_eff.c, Revision", "The effective bandwidth is b_eff ="),
        forms.by_rules(_BEff, _RULES, _end),
    ),
)
