# SPDX-License-Identifier: Apache-2.0
"""What the original b_eff writes: .short with the values by size, .sum with one table, .prot with the value alone."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from ullage.importers import forms
from ullage.importers.forms import MEGA, MIB, US, Form, Found, Measured, Params, Rule, as_printed, disagree, whole
from ullage.importers.printed import Printed
from ullage.importers.sources import Line
from ullage.model.flags import Flag
from ullage.suites.b_eff.formula import PING_PONG
from ullage.suites.b_eff.suite import AT_SIZE, BOTH, LATENCY, PAIR_BANDWIDTH, PAIR_LATENCY

_BEST: Final = (Flag(code="best-of-repetitions", reason="b_eff takes the best of its repetitions and methods"),)


@dataclass
class _BEff:
    """One run. ``by_size``: message and bandwidth of all processes; ``shown``: b_eff as the table has it."""

    is_by_size: bool = False
    by_size: list[tuple[int, Printed]] = field(default_factory=list[tuple[int, Printed]])
    shown: Printed | None = None
    lmax: int = 0


def _section(state: _BEff, _: Line, match: re.Match[str]) -> None:
    state.is_by_size = match[1] == "BEGIN"


def _size(state: _BEff, line: Line, match: re.Match[str]) -> None:
    if state.is_by_size:
        size, accumulated, *_ = match[0].split()
        state.by_size.append((whole(size, line), as_printed(accumulated, line)))


def _table(state: _BEff, line: Line, match: re.Match[str]) -> Iterator[Found]:
    """Yield the values by size, and what the table alone has: its latency of rings is right, that of the text not."""
    ranks, state.shown, lmax, *cells = (as_printed(text, line) for text in match.groups())
    # The table has Lmax in whole MiB.
    state.lmax = state.by_size[-1][0] if state.by_size else round(lmax.value * MIB)
    place = forms.given(ranks=round(ranks.value), lmax_bytes=state.lmax)
    at_lmax, *others = zip(cells, _CELLS, strict=True)
    for size, bandwidth in state.by_size or [(state.lmax, at_lmax[0])]:
        params: Params = {"patterns": BOTH, "message_bytes": size, **place}
        yield Measured(AT_SIZE, "B/s", bandwidth.value * MEGA, params, flags=_BEST)
    for cell, (metric, unit, factor, patterns) in others:
        size = 1 if unit == "s" else state.lmax
        params = {"patterns": patterns, "message_bytes": size, **place}
        yield Measured(metric, unit, cell.value * factor, params, flags=_BEST)


def _value(state: _BEff, line: Line, match: re.Match[str]) -> Iterator[Found]:
    value, each, ranks = as_printed(match[1], line), as_printed(match[2], line), whole(match[3], line)
    doubt = disagree(value, each.times(ranks), "b_eff in MB/s", line=line)
    doubt = doubt or disagree(state.shown, value, "b_eff in the table", line=line)
    params = forms.given(patterns=BOTH, ranks=ranks, lmax_bytes=state.lmax)
    yield Measured("b_eff", "B/s", value.value * MEGA, params, doubt, _BEST)


# The columns of the table behind Lmax: metric, unit, factor, patterns.
_CELLS: Final = (
    (AT_SIZE, "B/s", MEGA, BOTH),
    (AT_SIZE, "B/s", MEGA, "rings"),
    (LATENCY, "s", US, BOTH),
    (LATENCY, "s", US, "rings"),
    (PAIR_LATENCY, "s", US, PING_PONG),
    (PAIR_BANDWIDTH, "B/s", MEGA, PING_PONG),
)
_N: Final = r"\s*([\d.]+)"
_RULES: Final[tuple[Rule[_BEff], ...]] = (
    (r"b_eff\.c, Revision ", forms.anew()),
    (r"SECTION-BY-MSGLNG-(BEGIN|END)", _section),
    (r"\s*\d+(?:\s+\d+\.\d+){5,8}\s*$", _size),
    (rf"accumulated \|{_N}{_N}{_N} MB{_N * 6}", _table),
    (rf"b_eff\S* ={_N} MB/s ={_N} \*\s*(\d+) PEs", _value),
)
FORMS: Final = (
    Form(
        "b_eff",
        "what b_eff 3 writes: .short, .sum and .prot",
        "messages",
        ("b_eff.c, Revision",),
        forms.by_rules(_BEff, _RULES),
    ),
)
