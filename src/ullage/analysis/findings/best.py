# SPDX-License-Identifier: Apache-2.0
"""The best setting of each target and access, and the settings that cannot be told apart from it."""

from ullage.analysis.findings.study import Grid, Numbers, Study, compare_rows
from ullage.analysis.findings.words import cell_of, noun, numbers_of, place, setting_text
from ullage.model.summary import Finding, Row
from ullage.quantity import plural, show_row

ORDER = 10


def find(study: Study) -> list[Finding]:
    """One finding for each target and access, over all settings of both."""
    groups: dict[tuple[str, str], list[Grid]] = {}
    for grid in study.grids:
        groups.setdefault((grid.target, grid.access), []).append(grid)
    return [found for grids in groups.values() if (found := _best(grids, study.level)) is not None]


def _best(grids: list[Grid], level: float) -> Finding | None:
    bests = [(grid, row) for grid in grids if (row := grid.best()) is not None]
    if not bests:
        return None
    grid, best = max(bests, key=lambda pair: pair[0].scores[cell_of(pair[1])])
    rivals = [
        (other, row)
        for other in grids
        for row in other.cells.values()
        if row is not best and compare_rows(best, row, level, grid.noise).verdict == "cannot tell"
    ]
    ranks, block = cell_of(best)
    word = "do best" if grid.better == "more" else "take least"
    text = f"{grid.target} {noun(grid.access)} {word} with {place(ranks, block)}{setting_text(grid.setting)}: "
    tried = sum(len(other.cells) for other in grids)
    text += f"{show_row(best)}, verdict {best.verdict}; {_rivals_text(rivals, tried)}."
    return Finding(kind="best", text=text, numbers=_numbers(grid, best, rivals))


def _rivals_text(rivals: list[tuple[Grid, Row]], tried: int) -> str:
    if not rivals:
        return "no other setting comes near" if tried > 1 else "no other setting was tried"
    grid, least = min(rivals, key=lambda pair: cell_of(pair[1]))
    ranks, block = cell_of(least)
    what = f"{plural(len(rivals), 'other setting')} cannot be told apart from it"
    return f"{what}, the one with fewest ranks has {place(ranks, block)}{setting_text(grid.setting)}"


def _numbers(grid: Grid, best: Row, rivals: list[tuple[Grid, Row]]) -> Numbers:
    ranks, block = cell_of(best)
    cells = [cell_of(row) for _, row in rivals]
    return numbers_of(
        grid,
        ranks=ranks,
        block_bytes=block,
        case=best.case,
        value=best.median,
        unit=best.unit,
        low=best.low,
        high=best.high,
        verdict=best.verdict,
        rival_ranks=[cell[0] for cell in cells],
        rival_block_bytes=[cell[1] for cell in cells],
        rival_case=[row.case for _, row in rivals],
    )
