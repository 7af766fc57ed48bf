# SPDX-License-Identifier: Apache-2.0
"""Where another target becomes the faster one: between cells of which it is told who wins, and nowhere else."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Literal, TypeAlias

from ullage.analysis.findings.neighbours import AXES, Axis, lines
from ullage.analysis.findings.phrasing import block, numbers_of, operations, setting_text, span
from ullage.analysis.findings.study import Cell, Numbers, Pair, Study
from ullage.grouping import grouped
from ullage.model.summary import Finding
from ullage.quantity import listing, plural

_ORDER: Final = 30
Winner: TypeAlias = Literal["first", "second"]
_WINNERS: Final[dict[str, Winner]] = {"faster": "first", "slower": "second"}


@dataclass(frozen=True, slots=True)
class Line:
    """Cells along one axis at a fixed other coordinate ``value``; ``winners``: null where it cannot be told."""

    value: int
    cells: tuple[Cell, ...]
    winners: tuple[Winner | None, ...]

    @property
    def decided(self) -> list[tuple[Cell, Winner]]:
        """The cells of which it is told who wins."""
        return [(cell, winner) for cell, winner in zip(self.cells, self.winners, strict=True) if winner is not None]

    @property
    def changes(self) -> list[tuple[Cell, Cell]]:
        """Decided cells of different winners with no decided one between them."""
        told = self.decided
        return [(a, b) for (a, one), (b, other) in pairwise(told) if one != other]

    @property
    def pattern(self) -> str:
        """``first``, ``second``, ``gains`` (second, then first), ``loses``, ``mixed`` or ``undecided``."""
        told = self.decided
        if not told:
            return "undecided"
        if not self.changes:
            return told[0][1]
        if len(self.changes) > 1:
            return "mixed"
        return "gains" if told[-1][1] == "first" else "loses"


def find_crossovers(study: Study) -> list[Finding]:
    """Make one finding for each two targets, access and axis that has lines of at least two cells."""
    return [found for pair in study.pairs for axis in AXES if (found := _along(pair, axis)) is not None]


def _along(pair: Pair, axis: Axis) -> Finding | None:
    found = [
        Line(value, tuple(cells), tuple(_WINNERS.get(pair.comparisons[cell].verdict) for cell in cells))
        for value, cells in sorted(lines(pair.shared, axis).items())
        if len(cells) > 1
    ]
    if not found:
        return None
    undecided = sum(line.winners.count(None) for line in found)
    total = sum(len(line.cells) for line in found)
    what = f"{operations(pair.first.access).capitalize()}{setting_text(pair.first.setting)}"
    names = f"{pair.first.target} and {pair.second.target}"
    tail = f" In {undecided} of {plural(total, 'cell')} no difference can be told." if undecided else ""
    text = f"{what} on {names}: {'. '.join(_sentences(pair, axis, found))}.{tail}"
    by = "rank count" if axis == "ranks" else "block size"
    title = f"{what}: which of {names} is faster, by {by}"
    return Finding(kind="crossover", title=title, text=text, numbers=_numbers(pair, axis, found, undecided))


def _sentences(pair: Pair, axis: Axis, found: Sequence[Line]) -> Iterable[str]:
    names: dict[str, str] = {"first": pair.first.target, "second": pair.second.target}
    everywhere = "at every rank count" if axis == "ranks" else "with every block size"
    every = [line.value for line in found]
    both = f"{names['first']} and {names['second']}"
    by = grouped((line.pattern, line) for line in found)
    for winner in ("first", "second"):
        whole = [line.value for line in by.get(winner, []) if None not in line.winners]
        partly = [line.value for line in by.get(winner, []) if None in line.winners]
        if whole:
            yield f"{names[winner]} is faster {everywhere} {_at(axis, whole, every)}".rstrip()
        if partly:
            yield f"{names[winner]} is faster wherever a difference can be told {_at(axis, partly, every)}".rstrip()
    for pattern, winner in (("gains", "first"), ("loses", "second")):
        if group := by.get(pattern):
            yield f"{names[winner]} becomes the faster one: {_starts(axis, group)}"
    if mixed := by.get("mixed"):
        yield f"{both} change places more than once {_at(axis, [line.value for line in mixed], every)}".rstrip()
    if ties := by.get("undecided"):
        yield f"{both} cannot be told apart {_at(axis, [line.value for line in ties], every)}".rstrip()


def _at(axis: Axis, values: list[int], every: Sequence[int]) -> str:
    if axis == "ranks":
        return f"for blocks of {span(values, every)}" if any(values) else ""
    return f"at {listing([str(value) for value in values])}{_ranks_word(values)}"


def _ranks_word(values: Sequence[int]) -> str:
    return " rank" if list(values) == [1] else " ranks"


def _starts(axis: Axis, group: Sequence[Line]) -> str:
    """Name the nearest decided cells around each first change: ``between 4 and 8 ranks with 2M, 16 and 32 with 4M``."""
    along, across = (str, block) if axis == "ranks" else (block, str)
    unit, other = (" ranks with", " with") if axis == "ranks" else (" blocks at", " at")
    place = AXES.index(axis)
    texts: list[str] = []
    for line in group:
        before, after = line.changes[0]
        word = other if texts else unit
        texts.append(f"{along(before[place])} and {along(after[place])}{word} {across(line.value)}")
    ranks = "" if axis == "ranks" else _ranks_word([line.value for line in group])
    return "between " + listing(texts, most=12) + ranks


def _numbers(pair: Pair, axis: Axis, found: Sequence[Line], undecided: int) -> Numbers:
    """Return the finding's numbers; ``before`` and ``after`` are empty texts where the faster target never changes.

    Otherwise they are the values of the decided cells around the first change.
    """
    place = AXES.index(axis)
    return numbers_of(
        pair.first,
        against=pair.second.target,
        axis=axis,
        **{AXES[1 - place]: [line.value for line in found]},
        pattern=[line.pattern for line in found],
        before=[line.changes[0][0][place] if line.changes else "" for line in found],
        after=[line.changes[0][1][place] if line.changes else "" for line in found],
        undecided=undecided,
    )


FINDERS: Final = ((_ORDER, find_crossovers),)
