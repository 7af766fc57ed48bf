# SPDX-License-Identifier: Apache-2.0
"""The parts sentences are made of, in people's units; and how much better a number becomes by a change."""

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from typing import Final, Literal, TypeVar

from ullage.analysis.findings.study import Grid, Numbers, Setting
from ullage.analysis.statistics import Comparison
from ullage.model.plan import Scalar
from ullage.model.summary import Finding, Gain, Row
from ullage.quantity import format_param, listing, param_label, plural, processes
from ullage.units import format_bytes

_NOUNS: Final = {"write": "writes", "read": "reads", "rewrite": "rewrites", "reread": "rereads"}
T = TypeVar("T", bound=Hashable)


def crowded(on_a_node: int, cores: int) -> str:
    """More processes on a node than it has cores."""
    return f"oversubscribed: {processes(on_a_node)} on a node share {plural(cores, 'core')}"


def noun(access: str) -> str:
    """``write`` reads ``writes``; other words stay."""
    return _NOUNS.get(access, access or "work")


def block(bytes_: int) -> str:
    """``128K``."""
    return format_bytes(bytes_)


def place(ranks: int, bytes_: int) -> str:
    """``64 ranks and 256K blocks``; without a block size only the ranks."""
    return f"{plural(ranks, 'rank')} and {block(bytes_)} blocks" if bytes_ else plural(ranks, "rank")


def cell_of(row: Row) -> tuple[int, int]:
    """Ranks and block size of a row of a grid."""
    return int(row.params["ranks"]), int(row.params.get("block_bytes", 0))


def setting_text(setting: Setting) -> str:
    """``, order random``: what else sets a grid apart; empty when nothing does."""
    return "".join(f", {param_label(name)} {format_param(name, v)}" for name, v in setting)


def subject(grid: Grid) -> str:
    """``nvme writes``, with the setting where there is one: the beginning of a sentence."""
    return f"{grid.target} {noun(grid.access)}{setting_text(grid.setting)}"


def span(values: Sequence[int], every: Sequence[int]) -> str:
    """Block sizes: ``128K to 512K`` where they stand side by side in ``every``, else each one."""
    names = [block(value) for value in values]
    places = [every.index(value) for value in values]
    if len(values) > 2 and places == list(range(places[0], places[0] + len(places))):
        return f"{names[0]} to {names[-1]}"
    return listing(names)


def most_common(values: Iterable[T]) -> T:
    """The value met most often, of equals the first."""
    return Counter(values).most_common(1)[0][0]


def numbers_of(grid: Grid, **numbers: Scalar | Sequence[Scalar] | None) -> Numbers:
    """The numbers of a finding, first those that say which grid it is about."""
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
    """A heading, sentences and their numbers; a sequence becomes a list."""
    return Finding(kind=kind, title=title, text=text, severity=severity, numbers=columns(**numbers))


def capital(text: str) -> str:
    """With a capital where it begins."""
    return text[:1].upper() + text[1:]


def columns(**numbers: Scalar | Sequence[Scalar] | None) -> Numbers:
    """Numbers by name; a sequence becomes a list."""
    return {
        name: value if value is None or isinstance(value, (bool, int, float, str)) else list(value)
        for name, value in numbers.items()
    }


def gain_of(found: Comparison) -> Gain | None:
    """How many times better the first side is, with the interval by which it is told; None where it is not told."""
    if found.verdict != "faster" or found.low is None or found.high is None:
        return None
    if found.ratio > 1:
        return Gain(factor=found.ratio, low=found.low, high=found.high)
    return Gain(factor=1 / found.ratio, low=1 / found.high, high=1 / found.low)


def with_gain(finding: Finding, gain: Gain | None, change: str) -> Finding:
    """``finding`` with what brings the gain; as it is where there is none."""
    return finding if gain is None else finding.model_copy(update={"gain": gain, "change": change})


def least_gain(gains: Iterable[Gain | None]) -> Gain | None:
    """The one that promises least, for a sentence on several; None where one of them is not told, or there is none."""
    found = list(gains)
    told = [gain for gain in found if gain is not None]
    if not told or len(told) < len(found):
        return None
    return min(told, key=lambda gain: math.log(gain.low or 1.0))


def level_of_part(level: float, parts: int) -> float:
    """At which level to judge one of so many groups of comparisons, for all of them to hold together (Bonferroni)."""
    return 1 - (1 - level) / parts
