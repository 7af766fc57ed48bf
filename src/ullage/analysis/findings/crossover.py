# SPDX-License-Identifier: Apache-2.0
"""Where the winner of two targets changes: along ranks for each block size, along block sizes for each rank count."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ullage.analysis.findings.neighbours import AXES, Axis, lines
from ullage.analysis.findings.study import Cell, Numbers, Pair, Study
from ullage.analysis.findings.words import block, noun, numbers_of, setting_text, span
from ullage.model.summary import Finding
from ullage.quantity import listing, plural

ORDER = 30


@dataclass(frozen=True, slots=True)
class Line:
    """Cells along one axis at a fixed other coordinate ``value``; ``wins``: the first target's median is better."""

    value: int
    cells: tuple[Cell, ...]
    wins: tuple[bool, ...]

    @property
    def changes(self) -> list[int]:
        """Indices at which another target wins than just before."""
        return [index for index in range(1, len(self.wins)) if self.wins[index] != self.wins[index - 1]]

    @property
    def pattern(self) -> str:
        """``first``, ``second``, ``gains`` (second, then first), ``loses`` or ``mixed``."""
        if not self.changes:
            return "first" if self.wins[0] else "second"
        if len(self.changes) > 1:
            return "mixed"
        return "gains" if self.wins[-1] else "loses"


def find(study: Study) -> list[Finding]:
    """One finding for each two targets, access and axis that has lines of at least two cells."""
    return [found for pair in study.pairs for axis in AXES if (found := _along(pair, axis)) is not None]


def _along(pair: Pair, axis: Axis) -> Finding | None:
    found = [
        Line(value, tuple(cells), tuple(pair.wins(cell) for cell in cells))
        for value, cells in sorted(lines(pair.shared, axis).items())
        if len(cells) > 1
    ]
    if not found:
        return None
    undecided = sum(pair.comparisons[cell].verdict == "cannot tell" for line in found for cell in line.cells)
    total = sum(len(line.cells) for line in found)
    what = f"{noun(pair.first.access).capitalize()}{setting_text(pair.first.setting)}"
    start = f"{what}, {pair.first.target} against {pair.second.target} by the medians: "
    sentences = [text for text in _sentences(pair, axis, found) if text]
    tail = f" {undecided} of {plural(total, 'cell')} cannot be told from a tie." if undecided else ""
    text = f"{start}{'; '.join(sentences)}.{tail}"
    return Finding(kind="crossover", text=text, numbers=_numbers(pair, axis, found, undecided))


def _sentences(pair: Pair, axis: Axis, found: Sequence[Line]) -> Iterable[str]:
    first, second = pair.first.target, pair.second.target
    everywhere = "at every rank count" if axis == "ranks" else "with every block size"
    by = _grouped(found)
    every = [line.value for line in found]
    for pattern, winner in (("first", first), ("second", second)):
        if values := [line.value for line in by.get(pattern, [])]:
            yield f"{winner} wins {everywhere} {_at(axis, values, every)}"
    for pattern, winner in (("gains", first), ("loses", second)):
        if group := by.get(pattern):
            yield f"{winner} wins only from {_starts(axis, group)}"
    if mixed := by.get("mixed"):
        yield f"the winner changes more than once {_at(axis, [line.value for line in mixed], every)}"


def _grouped(found: Sequence[Line]) -> dict[str, list[Line]]:
    groups: dict[str, list[Line]] = {}
    for line in found:
        groups.setdefault(line.pattern, []).append(line)
    return groups


def _at(axis: Axis, values: list[int], every: Sequence[int]) -> str:
    if axis == "ranks":
        return f"for blocks of {span(values, every)}" if any(values) else ""
    return f"at {listing([str(value) for value in values])}{_ranks_word(values)}"


def _ranks_word(values: Sequence[int]) -> str:
    return " rank" if list(values) == [1] else " ranks"


def _starts(axis: Axis, group: Sequence[Line]) -> str:
    """``8 ranks on with 2M, 32 with 4M``."""
    along, across = (str, block) if axis == "ranks" else (block, str)
    unit = " ranks on with" if axis == "ranks" else " blocks on at"
    other = " with" if axis == "ranks" else " at"
    parts = [f"{along(_first_win(line, axis))}{{}} {across(line.value)}" for line in group]
    texts = [part.format(unit if index == 0 else other) for index, part in enumerate(parts)]
    return listing(texts, most=12) + ("" if axis == "ranks" else _ranks_word([line.value for line in group]))


def _first_win(line: Line, axis: Axis) -> int:
    return line.cells[line.changes[0]][AXES.index(axis)]


def _numbers(pair: Pair, axis: Axis, found: Sequence[Line], undecided: int) -> Numbers:
    """``before`` and ``after``: the values around the first change of winner; empty words where there is none."""
    place = AXES.index(axis)
    other = AXES[1 - place]
    return numbers_of(
        pair.first,
        against=pair.second.target,
        axis=axis,
        **{other: [line.value for line in found]},
        pattern=[line.pattern for line in found],
        before=[line.cells[line.changes[0] - 1][place] if line.changes else "" for line in found],
        after=[line.cells[line.changes[0]][place] if line.changes else "" for line in found],
        undecided=undecided,
    )
