# SPDX-License-Identifier: Apache-2.0
"""A rank count at which one block size loses what the others keep: more ranks than it can feed."""

from typing import Final

from ullage.analysis.findings.neighbours import Drop, drops
from ullage.analysis.findings.study import Grid, Study, compare_rows
from ullage.analysis.findings.words import block, numbers_of, subject
from ullage.model.summary import Finding
from ullage.quantity import plural, show, times

ORDER = 60
_MOST: Final = 5
_FLAT: Final = 0.9


def find(study: Study) -> list[Finding]:
    """The largest drops of each grid, at most 5, the largest of all first.

    Only what the repetitions confirm: the interval of the step must lie below the step of the other block sizes.
    """
    found: list[tuple[Grid, Drop]] = []
    for grid in study.grids:
        sure = [drop for drop in drops(grid.scores) if _is_sure(grid, drop, study.level)]
        found.extend((grid, drop) for drop in sure[:_MOST])
    found.sort(key=lambda pair: pair[1].factor / pair[1].others)
    return [_finding(grid, drop) for grid, drop in found]


def _is_sure(grid: Grid, drop: Drop, level: float) -> bool:
    rows = grid.cells[drop.cell], grid.cells[drop.before]
    step = compare_rows(*rows, level, grid.noise)
    if step.low is None or step.high is None:
        return False
    most = step.high if grid.better == "more" else 1 / step.low
    return most < drop.others


def _finding(grid: Grid, drop: Drop) -> Finding:
    (ranks, size), (before, _) = drop.cell, drop.before
    row, earlier = grid.cells[drop.cell], grid.cells[drop.before]
    kind = "drop" if drop.factor < _FLAT else "flatten out"
    text = (
        f"{subject(grid)} with {block(size)} blocks {kind} from {before} to {plural(ranks, 'rank')}: "
        f"{times(drop.factor)} ({show(earlier.median, grid.unit)} to {show(row.median, grid.unit)}) "
        f"where other block sizes have {times(drop.others)}."
    )
    numbers = numbers_of(
        grid,
        ranks=ranks,
        before_ranks=before,
        block_bytes=size,
        case=row.case,
        ratio=drop.factor,
        others=drop.others,
        deviations=drop.deviations,
        shape="drops" if drop.factor < _FLAT else "flattens",
    )
    return Finding(kind="drop", text=text, severity="advice", numbers=numbers)
