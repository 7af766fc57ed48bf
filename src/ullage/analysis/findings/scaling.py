# SPDX-License-Identifier: Apache-2.0
"""What more ranks give: of each block size what is told of its curve, and of all together where they go; odd cells."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final, Literal, TypeAlias

from ullage.analysis.contests import compare_rows, contest_of
from ullage.analysis.findings.neighbours import AXES, Cell, OutlyingLine, Residual, odd_cells, odd_lines, residuals
from ullage.analysis.findings.phrasing import (
    block,
    columns,
    most_common,
    numbers_of,
    on_axis,
    operations,
    place,
    setting_text,
    subject,
)
from ullage.analysis.findings.study import Grid, Numbers, Study
from ullage.analysis.statistics.comparison import Contest, compare_on_average, compare_two
from ullage.model.summary import Finding, Row
from ullage.quantity import listing, plural, show, times

Shape: TypeAlias = Literal["rises", "falls", "peaks", "flat", "dips"]
_VERBS: Final[dict[str, str]] = {
    "rises": "rise with ranks",
    "falls": "fall with ranks",
    "peaks": "are highest at a rank count in between",
    "flat": "are not shown to change with ranks",
    "dips": "are lowest at a rank count in between",
}
_RANKS: Final = " with ranks"
_MOST: Final = 0.75
# As long as nobody knows how much launches differ, nothing is said of ranks that had one each.
_UNKNOWN: Final = "unknown"


@dataclass(frozen=True, slots=True)
class Curve:
    """One block size along ranks. ``change``: last rank count over first, above 1 is better. ``is_told``: the best rank
    count is better than every other."""

    block: int
    shape: Shape
    best_ranks: int
    first_ranks: int
    last_ranks: int
    change: float
    is_told: bool


def find_scaling(study: Study) -> list[Finding]:
    """Make one finding for each grid with more than one rank count."""
    return [found for grid in study.grids if (found := _scaling(grid, study.level_of_lines(grid))) is not None]


def curves(grid: Grid, level: float) -> list[Curve]:
    """Return a curve for each block size of ``grid`` that has at least two rank counts."""
    lines = [(size, grid.along_ranks(size)) for size in grid.blocks]
    return [_curve(grid, size, line, level) for size, line in lines if len(line) > 1]


def _curve(grid: Grid, size: int, line: Sequence[tuple[int, Row]], level: float) -> Curve:
    (first_ranks, first), (last_ranks, last) = line[0], line[-1]
    best_ranks, best = max(line, key=lambda item: grid.scores[item[0], size])
    worst = min(line, key=lambda item: grid.scores[item[0], size])[1]

    def better(a: Row, b: Row) -> bool:
        return compare_rows(a, b, level, grid.noise, grid.spread).verdict == "faster"

    ratio = last.median / first.median
    change = ratio if grid.better == "more" else 1 / ratio
    shape = _shape(
        better(best, first), better(best, last), better(first, worst), better(last, worst), better(best, worst)
    )
    if shape == "dips":
        # An end is better than the middle: the two ends tell which way the curve goes as a whole.
        shape = "rises" if better(last, first) else "falls" if better(first, last) else "dips"
    is_told = all(row is best or better(best, row) for _, row in line)
    return Curve(size, shape, best_ranks, first_ranks, last_ranks, change, is_told)


def _shape(over_first: bool, over_last: bool, first_over: bool, last_over: bool, any_change: bool) -> Shape:  # noqa: FBT001
    """Classify a curve by what can be told: the best over first and last, both over the worst, best over worst."""
    if not any_change:
        return "flat"
    if over_first and over_last:
        return "peaks"
    if over_first:
        return "rises"
    if over_last:
        return "falls"
    return "dips" if first_over or last_over else "flat"


def _overall(grid: Grid, found: Sequence[Curve], level: float) -> str:
    """Return the shape of three quarters of the block sizes, else the direction that so many share.

    The direction is from first to last rank count. It counts only where all curves together prove it; else ``mixed``.
    """
    shape, count = Counter(curve.shape for curve in found).most_common(1)[0]
    if count >= _MOST * len(found):
        return shape
    verdict = compare_on_average([_ends(grid, curve) for curve in found], level).verdict
    if verdict == "faster" and sum(curve.change > 1 for curve in found) >= _MOST * len(found):
        return "rises"
    if verdict == "slower" and sum(curve.change < 1 for curve in found) >= _MOST * len(found):
        return "falls"
    return "mixed"


def _ends(grid: Grid, curve: Curve) -> Contest:
    first, last = (grid.cells[ranks, curve.block] for ranks in (curve.first_ranks, curve.last_ranks))
    return contest_of(last, first, grid.noise, grid.spread)


def _scaling(grid: Grid, level: float) -> Finding | None:
    found = curves(grid, level)
    if not found:
        return None
    was_repeated = any(len(row.repetitions) > 1 for row in grid.cells.values())
    # Where each rank count was measured in one launch, nothing tells these from ranks.
    if was_repeated and all(compare_two(_ends(grid, curve)).low is None for curve in found):
        return _untold(grid, found)
    overall = _overall(grid, found, level)
    first, last = min(c.first_ranks for c in found), max(c.last_ranks for c in found)
    typical = median([curve.change for curve in found])
    low, high = min(c.change for c in found), max(c.change for c in found)
    verb = _VERBS.get(overall, "do not go one way with ranks")
    spread = f" ({times(low)} to {times(high)})" if len(found) > 1 else ""
    text = (
        f"{subject(grid)} {verb}{_exceptions(found, overall)}. {plural(last, 'rank')} reach {times(typical)} the rate "
        f"of {first}{spread}.{_best_ranks(found)}"
    )
    title = f"{subject(grid)} {verb}"
    return Finding(kind="scaling", title=title, text=text, numbers=_numbers(grid, found, overall, typical))


def _untold(grid: Grid, found: Sequence[Curve]) -> Finding:
    title = f"{subject(grid)}: launches cannot be told from ranks"
    text = (
        f"{title}, because each rank count was measured in one launch, and how much launches differ is not known. "
        "So nothing says whether they change with ranks. Give more --time."
    )
    typical = median([curve.change for curve in found])
    return Finding(kind="scaling", title=title, text=text, numbers=_numbers(grid, found, _UNKNOWN, typical))


def _exceptions(found: Sequence[Curve], overall: str) -> str:
    """Say how many block sizes have another shape, or that all agree; empty for a single one."""
    if len(found) == 1:
        return ""
    others = Counter(_VERBS[curve.shape] for curve in found if curve.shape != overall)
    if not others:
        return f" at all {plural(len(found), 'block size')}"
    parts = [
        f"at {count} of {len(found)} block sizes they {verb.removesuffix(_RANKS)}" for verb, count in others.items()
    ]
    return f" ({', '.join(parts)})"


def _best_ranks(found: Sequence[Curve]) -> str:
    """Name the best rank count where it is proved; for other curves that change, name the best median."""
    told = [curve for curve in found if curve.is_told]
    others = [curve for curve in found if not curve.is_told and curve.shape != "flat"]
    text = f" They are best at {_at(told, every=len(told) == len(found))}." if told else ""
    if others:
        text += f" The best medians cannot be told from all others: {_at(others, every=len(others) == len(found))}."
    return text


def _at(found: Sequence[Curve], *, every: bool) -> str:
    """Name the best rank counts, as ``8 ranks for every block size except 1M (4)``."""
    usual = most_common(curve.best_ranks for curve in found)
    if len(found) == 1:
        return plural(usual, "rank") + _with(found[0])
    odd = [f"{block(curve.block)} ({curve.best_ranks})" for curve in found if curve.best_ranks != usual]
    if len(odd) > len(found) / 2:
        return listing([f"{plural(curve.best_ranks, 'rank')}{_with(curve)}" for curve in found], most=12)
    names = "every block size" if every else "blocks of " + listing([block(c.block) for c in found], most=12)
    return f"{plural(usual, 'rank')} for {names}" + (f" except {listing(odd)}" if odd else "")


def _with(curve: Curve) -> str:
    return f" with {block(curve.block)}" if curve.block else ""


def _numbers(grid: Grid, found: Sequence[Curve], overall: str, typical: float) -> Numbers:
    return numbers_of(
        grid,
        overall=overall,
        ratio=typical,
        first_ranks=min(c.first_ranks for c in found),
        last_ranks=max(c.last_ranks for c in found),
        block_bytes=[curve.block for curve in found],
        shape=[curve.shape for curve in found],
        best_ranks=[curve.best_ranks for curve in found],
        change=[curve.change for curve in found],
    )


_RECHECK: Final = "--recheck"


def find_outliers(study: Study) -> list[Finding]:
    """Report odd lines first; their cells are not looked at again one by one, and do not predict others."""
    again = _RECHECK if _RECHECK in study.settable.options else ""
    return [finding for grid in study.grids for finding in _of_grid(grid, again)]


def _of_grid(grid: Grid, again: str) -> list[Finding]:
    scores, found = dict(grid.scores), list[Finding]()
    while odd := odd_lines(scores):
        found.append(_odd_line(grid, odd[0], scores, again))
        for cell in odd[0].cells:
            scores.pop(cell)
    single = odd_cells(scores)
    ordered = sorted(single, key=lambda cell: -_least(single[cell]))
    return [*found, *(_odd_cell(grid, cell, single[cell], again) for cell in ordered)]


def _least(said: Sequence[Residual]) -> float:
    return min(abs(residual.deviations) for residual in said)


def _numbers_of_cells(grid: Grid, cells: Sequence[Cell], factor: float, deviations: float) -> Numbers:
    """Return the finding's numbers: ``ratio`` is measured over expected, and above 1 is better.

    ``deviations`` is how many standard deviations that is.
    """
    return numbers_of(
        grid,
        ranks=[cell[0] for cell in cells],
        block_bytes=[cell[1] for cell in cells],
        cells=len(cells),
        case=[grid.cells[cell].case for cell in cells],
        ratio=factor,
        deviations=deviations,
    )


def _advice(again: str) -> str:
    return f"Measure it again before you use it{f' ({again})' if again else ''}."


def _again(again: str) -> Numbers:
    """Return the option that measures again as an entry of the numbers; empty where the suite has none."""
    return {"again": again} if again else {}


def _how_far(factor: float) -> str:
    size, side = (1 / factor, "below") if factor < 1 else (factor, "above")
    return f"a factor of {times(size).removesuffix(' x')} {side}"


def _odd_line(grid: Grid, odd: OutlyingLine, scores: dict[Cell, float], again: str) -> Finding:
    which = f"{'at' if odd.axis == 'ranks' else 'with'} {on_axis(odd.axis, odd.value)}"
    beside = "the block sizes beside it" if odd.axis == "block_bytes" else "the rank counts beside it"
    by_cell = residuals(scores, odd.axis)
    worst = max(odd.cells, key=lambda cell: abs(by_cell[cell].log))
    who = f"{grid.target} {operations(grid.access)} {which}{setting_text(grid.setting)}"
    text = (
        f"{who} lie {_how_far(odd.factor)} what {beside} predict (median of {plural(len(odd.cells), 'cell')}). "
        f"The farthest is {place(*worst)}: {show(grid.cells[worst].median, grid.unit)}, where "
        f"{_expected(grid, worst, by_cell[worst].log)} would be expected. {_advice(again)}"
    )
    ratios = [by_cell[cell].factor for cell in odd.cells]
    numbers = columns(scope="line", axis=odd.axis, value=odd.value, ratios=ratios) | _again(again)
    numbers = _numbers_of_cells(grid, odd.cells, odd.factor, odd.deviations) | numbers
    title = f"{who} do not fit their neighbours"
    return Finding(kind="outlier", title=title, text=text, severity="advice", numbers=numbers)


def _expected(grid: Grid, cell: Cell, log: float) -> str:
    sign = 1 if grid.better == "more" else -1
    return show(math.exp(sign * (grid.scores[cell] - log)), grid.unit)


def _odd_cell(grid: Grid, cell: Cell, said: tuple[Residual, ...], again: str) -> Finding:
    nearest = min(said, key=lambda residual: abs(residual.log))
    axes = "ranks and blocks" if len(said) == len(AXES) else "cells"
    who = f"{grid.target} {operations(grid.access)} with {place(*cell)}{setting_text(grid.setting)}"
    text = (
        f"{who} lie at least {_how_far(nearest.factor)} what the neighbouring {axes} predict. "
        f"{show(grid.cells[cell].median, grid.unit)} was measured, {_expected(grid, cell, nearest.log)} would be "
        f"expected. {_advice(again)}"
    )
    title = f"{who} do not fit their neighbours"
    numbers = _numbers_of_cells(grid, [cell], nearest.factor, _least(said)) | columns(scope="cell") | _again(again)
    return Finding(kind="outlier", title=title, text=text, severity="advice", numbers=numbers)


FINDERS: Final = ((40, find_scaling), (50, find_outliers))
