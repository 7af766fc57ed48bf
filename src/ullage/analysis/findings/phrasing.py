# SPDX-License-Identifier: Apache-2.0
"""The parts sentences are made of, in people's units; and how much better a number becomes by a change."""

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from itertools import islice, takewhile
from typing import Final, Literal, TypeVar, cast

from ullage.analysis.findings.study import Grid, Numbers, Setting
from ullage.analysis.statistics.comparison import Comparison
from ullage.model.plan import Scalar
from ullage.model.summary import Finding, Gain, Row
from ullage.quantity import format_param, listing, param_label, plural, processes
from ullage.units import format_bytes

_NOUNS: Final = {"write": "writes", "read": "reads", "rewrite": "rewrites", "reread": "rereads"}
T = TypeVar("T", bound=Hashable)


def crowded(on_a_node: int, cores: int) -> str:
    """Say that more processes run on a node than it has cores."""
    return f"oversubscribed: {processes(on_a_node)} on a node share {plural(cores, 'core')}"


def noun(access: str) -> str:
    """Turn ``write`` into ``writes``, and so for reads, rewrites and rereads; other words stay, none is ``work``."""
    return _NOUNS.get(access, access or "work")


def operations(access: str) -> str:
    """Name the operations of ``access`` as the plural subject of a sentence: ``writes``, ``stat operations``."""
    return _NOUNS.get(access) or f"{access} operations".lstrip()


def block(bytes_: int) -> str:
    """Format a block size, as ``128K``."""
    return format_bytes(bytes_)


def place(ranks: int, bytes_: int) -> str:
    """Name a cell, as ``64 ranks and 256K blocks``; without a block size (0) only the ranks."""
    return f"{plural(ranks, 'rank')} and {block(bytes_)} blocks" if bytes_ else plural(ranks, "rank")


def cell_of(row: Row) -> tuple[int, int]:
    """Return ranks and block size (0 without one) of a row of a grid."""
    return row.ranks, row.count("block_bytes", 0)


def setting_text(setting: Setting) -> str:
    """Write what else sets a grid apart, as ``, order random``; empty when nothing does. No bytes are no setting."""
    told = [(name, value) for name, value in setting if value != 0 or not name.endswith("_bytes")]
    return "".join(f", {param_label(name)} {format_param(name, value)}" for name, value in told)


LONGEST_SETTING: Final = 24
"""Settings of more letters, as lists of phases, are read in the sentence of a finding and not above it."""
# With one of these begin the own numbers of a finding on a grid, after its target, access, metric and setting.
_FIRST_OWN: Final = frozenset({"against", "axis", "overall", "ranks", "scope"})


def setting_of(numbers: Numbers, longest: int) -> Setting:
    """Return the setting of the grid that a finding with ``numbers_of`` it is about, without values of more letters."""
    names = takewhile(lambda name: name not in _FIRST_OWN, islice(numbers, 3, None))
    found = ((name, cast("Scalar", numbers[name])) for name in names)
    return tuple((name, value) for name, value in found if len(str(value)) <= longest)


def on_axis(axis: str, value: int) -> str:
    """Name a value of an axis of a grid: ``64 ranks``, ``256K blocks``."""
    return plural(value, "rank") if axis == "ranks" else f"{block(value)} blocks"


def subject(grid: Grid) -> str:
    """Begin a sentence about a grid: ``nvme writes``, with the setting where there is one."""
    return f"{grid.target} {operations(grid.access)}{setting_text(grid.setting)}"


def span(values: Sequence[int], every: Sequence[int]) -> str:
    """Write block sizes as ``128K to 512K`` where three or more are neighbours in ``every``, else each one."""
    names = [block(value) for value in values]
    places = [every.index(value) for value in values]
    if len(values) > 2 and places == list(range(places[0], places[0] + len(places))):
        return f"{names[0]} to {names[-1]}"
    return listing(names)


def most_common(values: Iterable[T]) -> T:
    """Return the value that is met most often, the first of equals."""
    return Counter(values).most_common(1)[0][0]


def numbers_of(grid: Grid, **numbers: Scalar | Sequence[Scalar] | None) -> Numbers:
    """Return the numbers of a finding, first those that say which grid it is about."""
    found: Numbers = {"target": grid.target, "access": grid.access, "metric": grid.metric, **dict(grid.setting)}
    return found | columns(**numbers)


def finding(
    kind: str,
    title: str,
    text: str,
    severity: Literal["info", "advice", "warning"] = "info",
    /,
    **numbers: Scalar | Sequence[Scalar] | None,
) -> Finding:
    """Make a finding from a title, sentences and numbers; a sequence becomes a list."""
    return Finding(kind=kind, title=title, text=text, severity=severity, numbers=columns(**numbers))


def capital(text: str) -> str:
    """Return ``text`` with a capital letter at its beginning."""
    return text[:1].upper() + text[1:]


def columns(**numbers: Scalar | Sequence[Scalar] | None) -> Numbers:
    """Return the numbers by name; a sequence becomes a list."""
    return {
        name: value if value is None or isinstance(value, (bool, int, float, str)) else list(value)
        for name, value in numbers.items()
    }


def gain_of(found: Comparison) -> Gain | None:
    """Return how many times better the first side is, with its interval; None unless it is proved faster."""
    if found.verdict != "faster" or found.low is None or found.high is None:
        return None
    if found.ratio > 1:
        return Gain(factor=found.ratio, low=found.low, high=found.high)
    return Gain(factor=1 / found.ratio, low=1 / found.high, high=1 / found.low)


def with_gain(finding: Finding, gain: Gain | None, change: str) -> Finding:
    """Return ``finding`` with the gain and the change that brings it; unchanged where there is no gain."""
    return finding if gain is None else finding.model_copy(update={"gain": gain, "change": change})


def least_gain(gains: Iterable[Gain | None]) -> Gain | None:
    """Return the gain that promises least, for a sentence on several; None where one is missing or none is given."""
    found = list(gains)
    told = [gain for gain in found if gain is not None]
    if not told or len(told) < len(found):
        return None
    return min(told, key=lambda gain: math.log(gain.low or 1.0))


def level_of_part(level: float, parts: int) -> float:
    """Return the level at which to judge one of ``parts`` groups of comparisons, so that all hold (Bonferroni)."""
    return 1 - (1 - level) / parts
