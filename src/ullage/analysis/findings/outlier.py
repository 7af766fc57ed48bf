# SPDX-License-Identifier: Apache-2.0
"""Cells far from what their neighbours say: a single one, or a whole block size or rank count."""

import math
from collections.abc import Sequence
from typing import Final

from ullage.analysis.findings.neighbours import AXES, Cell, OutlyingLine, Residual, odd_cells, odd_lines, residuals
from ullage.analysis.findings.phrasing import columns, numbers_of, on_axis, operations, place, setting_text
from ullage.analysis.findings.study import Grid, Numbers, Study
from ullage.model.summary import Finding
from ullage.quantity import plural, show, times

_RECHECK: Final = "--recheck"


def find_outliers(study: Study) -> list[Finding]:
    """Report odd lines first; their cells are not looked at again one by one, and do not predict others."""
    again = _RECHECK if _RECHECK in study.settable.options else ""
    return [finding for grid in study.grids for finding in _of_grid(grid, again)]


def _of_grid(grid: Grid, again: str) -> list[Finding]:
    scores, found = dict(grid.scores), list[Finding]()
    while odd := odd_lines(scores):
        found.append(_line(grid, odd[0], scores, again))
        for cell in odd[0].cells:
            scores.pop(cell)
    single = odd_cells(scores)
    ordered = sorted(single, key=lambda cell: -_least(single[cell]))
    return [*found, *(_cell(grid, cell, single[cell], again) for cell in ordered)]


def _least(said: Sequence[Residual]) -> float:
    return min(abs(residual.deviations) for residual in said)


def _numbers(grid: Grid, cells: Sequence[Cell], factor: float, deviations: float) -> Numbers:
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


def _line(grid: Grid, odd: OutlyingLine, scores: dict[Cell, float], again: str) -> Finding:
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
    numbers = _numbers(grid, odd.cells, odd.factor, odd.deviations) | numbers
    title = f"{who} do not fit their neighbours"
    return Finding(kind="outlier", title=title, text=text, severity="advice", numbers=numbers)


def _expected(grid: Grid, cell: Cell, log: float) -> str:
    """Format the value that the neighbours predict for the cell."""
    sign = 1 if grid.better == "more" else -1
    return show(math.exp(sign * (grid.scores[cell] - log)), grid.unit)


def _cell(grid: Grid, cell: Cell, said: tuple[Residual, ...], again: str) -> Finding:
    nearest = min(said, key=lambda residual: abs(residual.log))
    axes = "ranks and blocks" if len(said) == len(AXES) else "cells"
    who = f"{grid.target} {operations(grid.access)} with {place(*cell)}{setting_text(grid.setting)}"
    text = (
        f"{who} lie at least {_how_far(nearest.factor)} what the neighbouring {axes} predict. "
        f"{show(grid.cells[cell].median, grid.unit)} was measured, {_expected(grid, cell, nearest.log)} would be "
        f"expected. {_advice(again)}"
    )
    title = f"{who} do not fit their neighbours"
    numbers = _numbers(grid, [cell], nearest.factor, _least(said)) | columns(scope="cell") | _again(again)
    return Finding(kind="outlier", title=title, text=text, severity="advice", numbers=numbers)


FINDERS: Final = ((50, find_outliers),)
