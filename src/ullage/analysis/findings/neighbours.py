# SPDX-License-Identifier: Apache-2.0
"""What the neighbours of a cell say of it, in log space, along ranks and along block sizes.

A cell is predicted by a straight line through two of its neighbours (a power law between them). A prediction is only
as good as those two, so a cell is called odd only when every pair says so: the smallest residual counts.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from statistics import median
from typing import Final, Literal, TypeAlias

from ullage.analysis.statistics.order import NORMAL_CONSISTENCY, mad
from ullage.grouping import grouped, nested

Cell = tuple[int, int]
Scores: TypeAlias = Mapping[Cell, float]
Axis: TypeAlias = Literal["ranks", "block_bytes"]
AXES: Final[tuple[Axis, Axis]] = ("ranks", "block_bytes")
# A step of a line below this counts as none: the noise of a table of perfect curves is not zero.
LEAST_NOISE: Final = 0.02
_FEWEST_TRIPLES: Final = 4
_FEWEST_OTHERS: Final = 3


@dataclass(frozen=True, slots=True)
class Residual:
    """How far a cell lies from what its neighbours say: ``log`` of the factor, and that in standard deviations."""

    log: float
    deviations: float

    @property
    def factor(self) -> float:
        """Below 1: lower than the neighbours say."""
        return math.exp(self.log)


def _place(cell: Cell, axis: Axis) -> int:
    return cell[0] if axis == "ranks" else cell[1]


def lines(cells: Iterable[Cell], axis: Axis) -> dict[int, list[Cell]]:
    """Group cells that differ in ``axis`` only by their other coordinate; each line rises."""
    other = AXES[1 - AXES.index(axis)]
    found = grouped((_place(cell, other), cell) for cell in cells)
    return {key: sorted(line) for key, line in found.items()}


@lru_cache(maxsize=4096)
def _log(value: int) -> float:
    return math.log(max(value, 1))


def _position(cell: Cell, axis: Axis) -> float:
    return _log(_place(cell, axis))


def axis_noise(scores: Scores, axis: Axis) -> float | None:
    """Estimate the standard deviation of one cell around the line through its two neighbours along ``axis``.

    The estimate is robust (by the median deviation). Return None where there are too few neighbours.
    """
    misses: list[float] = []
    for line in lines(scores, axis).values():
        for index in range(1, len(line) - 1):
            miss, scale = _miss(scores, axis, line[index], line[index - 1], line[index + 1])
            misses.append(abs(miss) / scale)
    return median(misses) * NORMAL_CONSISTENCY if len(misses) >= _FEWEST_TRIPLES else None


def relative_noise(scores: Scores) -> float | None:
    """Return the noise of the quieter axis, at least ``LEAST_NOISE``; None where there are too few neighbours.

    What bends the lines of one axis must not count as noise.
    """
    known = [noise for axis in AXES if (noise := axis_noise(scores, axis)) is not None]
    return max(min(known), LEAST_NOISE) if known else None


def _miss(scores: Scores, axis: Axis, cell: Cell, a: Cell, b: Cell) -> tuple[float, float]:
    """Return the distance from the line through ``a`` and ``b``, and by how much the three cells' noise widens it."""
    start, end = _position(a, axis), _position(b, axis)
    weight = (_position(cell, axis) - start) / (end - start)
    predicted = scores[a] * (1 - weight) + scores[b] * weight
    return scores[cell] - predicted, math.sqrt(1 + (1 - weight) ** 2 + weight**2)


def _pairs(line: list[Cell], index: int) -> list[tuple[Cell, Cell]]:
    """Pair neighbours on both sides, up to two away; at an end take any two of the next three."""
    below, above = line[max(0, index - 2) : index], line[index + 1 : index + 3]
    if below and above:
        return [(a, b) for a in below for b in above]
    near = line[1:4] if index == 0 else line[max(0, index - 3) : index]
    return [(a, b) for i, a in enumerate(near) for b in near[i + 1 :]]


def residuals(scores: Scores, axis: Axis) -> dict[Cell, Residual]:
    """Return the smallest residual of every cell with neighbours along ``axis``; 0 where pairs disagree on the sign.

    It is empty where the noise is unknown.
    """
    noise = axis_noise(scores, axis)
    if noise is None:
        return {}
    scale = max(noise, LEAST_NOISE)
    found: dict[Cell, Residual] = {}
    for line in lines(scores, axis).values():
        for index, cell in enumerate(line):
            misses = [_miss(scores, axis, cell, a, b) for a, b in _pairs(line, index)]
            if misses:
                found[cell] = _kindest(misses, scale)
    return found


def _kindest(misses: list[tuple[float, float]], scale: float) -> Residual:
    if min(miss for miss, _ in misses) < 0 < max(miss for miss, _ in misses):
        return Residual(0.0, 0.0)
    miss, widening = min(misses, key=lambda pair: abs(pair[0]) / pair[1])
    return Residual(miss, miss / widening / scale)


@dataclass(frozen=True, slots=True)
class OutlyingLine:
    """All cells of one block size (``axis`` block_bytes) or rank count lie to one side of the lines beside it."""

    axis: Axis
    value: int
    cells: tuple[Cell, ...]
    factor: float
    deviations: float


def odd_lines(scores: Scores, least_factor: float = 1.5, least_deviations: float = 4.0) -> list[OutlyingLine]:
    """Find lines of three cells or more, three quarters of them on one side, that are odd only taken together.

    An odd line at a rim makes the one beside it look odd: of such neighbours the one counts without which the rest is
    smoothest.
    """
    found: list[OutlyingLine] = []
    for axis in AXES:
        by_cell = residuals(scores, axis)
        columns = lines(by_cell, AXES[1 - AXES.index(axis)])
        for value, line in columns.items():
            odd = _odd_line(axis, value, line, by_cell)
            if odd and abs(math.log(odd.factor)) >= math.log(least_factor) and odd.deviations >= least_deviations:
                found.append(_culprit(scores, odd, columns, by_cell))
    return sorted(found, key=lambda line: -line.deviations)


def _culprit(
    scores: Scores, odd: OutlyingLine, columns: Mapping[int, list[Cell]], by_cell: Mapping[Cell, Residual]
) -> OutlyingLine:
    values = sorted(columns)
    place = values.index(odd.value)
    suspects = values[max(0, place - 1) : place + 2]
    value = min(suspects, key=lambda suspect: _roughness(scores, odd.axis, leave_out=columns[suspect]))
    if value == odd.value:
        return odd
    factor = math.exp(median([by_cell[cell].log for cell in columns[value]]))
    return OutlyingLine(odd.axis, value, tuple(columns[value]), factor, odd.deviations)


def _roughness(scores: Scores, axis: Axis, leave_out: Iterable[Cell]) -> float:
    """Sum all distances from the line through the two neighbours along ``axis``, without the cells of ``leave_out``."""
    left_out = set(leave_out)
    total = 0.0
    for line in lines((cell for cell in scores if cell not in left_out), axis).values():
        for a, cell, b in zip(line, line[1:], line[2:], strict=False):
            miss, widening = _miss(scores, axis, cell, a, b)
            total += abs(miss) / widening
    return total


def _odd_line(axis: Axis, value: int, line: list[Cell], by_cell: Mapping[Cell, Residual]) -> OutlyingLine | None:
    deviations = [by_cell[cell].deviations for cell in line]
    same_side = max(sum(d < 0 for d in deviations), sum(d > 0 for d in deviations))
    if len(line) < 3 or same_side < 0.75 * len(line):
        return None
    together = abs(sum(deviations)) / math.sqrt(len(line))
    factor = math.exp(median([by_cell[cell].log for cell in line]))
    return OutlyingLine(axis, value, tuple(line), factor, together)


def odd_cells(
    scores: Scores, least_factor: float = 1.5, least_deviations: float = 3.0
) -> dict[Cell, tuple[Residual, ...]]:
    """Find cells that lie far from their neighbours along every axis that has any, and to the same side on each.

    Where only one axis has neighbours half a deviation more is asked.
    """
    along = [found for axis in AXES if (found := residuals(scores, axis))]
    odd: dict[Cell, tuple[Residual, ...]] = {}
    for cell in scores:
        said = tuple(found[cell] for found in along if cell in found)
        needed = least_deviations if len(said) > 1 else least_deviations + 0.5
        far = all(abs(r.deviations) >= needed and abs(r.log) >= math.log(least_factor) for r in said)
        if said and far and len({r.log > 0 for r in said}) == 1:
            odd[cell] = said
    return odd


@dataclass(frozen=True, slots=True)
class Drop:
    """Between two rank counts one block size falls behind the others: own and typical factor of that step."""

    cell: Cell
    before: Cell
    factor: float
    others: float
    deviations: float


def drops(scores: Scores, least_factor: float = 2.0, least_deviations: float = 3.0) -> list[Drop]:
    """Find steps along ranks that lose against the same step of three or more other block sizes; largest loss first.

    The scale is how much block sizes differ in that step or, where that is more, in all steps of the table: a few
    block sizes may agree in one step by chance.
    """
    steps = [step for step in _steps(scores).values() if len(step) > _FEWEST_OTHERS]
    if not steps:
        return []
    usual = mad([value - median(list(step.values())) for step in steps for value in step.values()], consistent=True)
    found = [drop for step in steps for cells in step if (drop := _behind(step, cells, usual)) is not None]
    least_behind = math.log(least_factor)
    large = [d for d in found if math.log(d.others / d.factor) >= least_behind and d.deviations >= least_deviations]
    return sorted(large, key=lambda drop: drop.factor / drop.others)


Step = dict[tuple[Cell, Cell], float]


def _steps(scores: Scores) -> dict[tuple[int, int], Step]:
    """Return the gain (of the log) of every block size, by the two neighbouring rank counts."""
    return nested(
        ((before[0], after[0]), (before, after), scores[after] - scores[before])
        for line in lines(scores, "ranks").values()
        for before, after in pairwise(line)
    )


def _behind(step: Step, cells: tuple[Cell, Cell], usual: float) -> Drop | None:
    """Measure how far the step of one block size lies behind the median of the others; None when it does not."""
    others = [value for other, value in step.items() if other != cells]
    typical = median(others)
    scale = max(mad(others, consistent=True), usual, LEAST_NOISE)
    behind = typical - step[cells]
    before, after = cells
    return Drop(after, before, math.exp(step[cells]), math.exp(typical), behind / scale) if behind > 0 else None
