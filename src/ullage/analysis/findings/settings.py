# SPDX-License-Identifier: Apache-2.0
"""Which settings are best, where numbers drop, and where the end of a range was best."""

import math
from dataclasses import dataclass
from typing import Final

from ullage.analysis.ceilings.rows import is_of_device
from ullage.analysis.contests import compare_rows, contest_of, spread_of
from ullage.analysis.findings.doubts import verdict_word
from ullage.analysis.findings.neighbours import AXES, Axis, Drop, drops
from ullage.analysis.findings.phrasing import (
    LONGEST_SETTING,
    block,
    cell_of,
    gain_of,
    numbers_of,
    on_axis,
    operations,
    place,
    setting_text,
    subject,
    with_gain,
)
from ullage.analysis.findings.study import Cell, Grid, Numbers, Settable, Study
from ullage.analysis.statistics.comparison import Comparison, beaten_by_best, level_of_each
from ullage.analysis.statistics.spread import Spread
from ullage.model.flags import OVERSUBSCRIBED
from ullage.model.plan import Scalar
from ullage.model.summary import Finding, Row
from ullage.quantity import listing, plural, show, show_row, times


def find_best(study: Study) -> list[Finding]:
    """Make one finding for each target and access, over all settings of both; none where there is only one."""
    return [found for grids in study.groups if (found := _best(study, grids)) is not None]


def _best(study: Study, grids: list[Grid]) -> Finding | None:
    bests = [(grid, row) for grid in grids if (row := grid.best()) is not None]
    tried = sum(len(other.cells) for other in grids)
    if tried < 2:
        return None
    grid, best = max(bests, key=lambda pair: pair[0].scores[cell_of(pair[1])])
    spread = spread_of((row for other in grids for row in other.cells.values()), grid.dependence)
    rivals = _rivals(grids, (grid, best), study.error_of_best, spread)
    what = f"{grid.target} {operations(grid.access)} {_superlative(grid, rivals)} with {place(*cell_of(best))}"
    title = what + setting_text(
        tuple((name, value) for name, value in grid.setting if len(str(value)) <= LONGEST_SETTING)
    )
    text = f"{what}{setting_text(grid.setting)}: {show_row(best)}, verdict {best.verdict}. "
    text += _rivals_text(rivals, tried, cell_of(best)[0])
    found = Finding(kind="best", title=title, text=text, numbers=_best_numbers(grid, best, rivals, tried))
    scored = [(grid.scores[cell], row) for grid in grids for cell, row in grid.cells.items()]
    ordered = sorted(scored, key=lambda pair: pair[0])
    usual = ordered[len(ordered) // 2][1] if len(ordered) > 2 else None
    gain = None if usual is None else gain_of(_against_usual(grids, (grid, best), usual, study.error_of_best, spread))
    is_alike = usual is not None and verdict_word(usual) == verdict_word(best)
    # Ranks that share cores show what a node does under that load: nobody is told to run so. What a cache gains is no
    # gain of the storage.
    if gain is None or usual is None or not is_alike or best.has_flag(OVERSUBSCRIBED) or not is_of_device(best):
        return found
    text += f" The middle setting has {show(usual.median, usual.unit)}: the best one is {times(gain.factor)} as fast."
    found, parameters = found.model_copy(update={"text": text}), _parameters(grid, best)
    # What no option sets is another kind of work, such as the order of accesses: nobody can change to it.
    return with_gain(found, gain, study.settable.change(parameters)) if study.settable.can_set(parameters) else found


def _superlative(grid: Grid, rivals: list[tuple[Grid, Row]]) -> str:
    """Say that the best setting is fastest, or where rivals remain only that its median is best."""
    if rivals:
        return "have the highest median" if grid.better == "more" else "have the lowest median"
    return "are fastest"


def _against_usual(
    grids: list[Grid], of_best: tuple[Grid, Row], usual: Row, error: float, spread: Spread
) -> Comparison:
    """Compare the best with another setting at the level that holds for any two of all settings.

    The level has to hold for any two because the numbers themselves chose these.
    """
    grid, best = of_best
    level = level_of_each(1 - error, [sum(len(other.cells) for other in grids)])
    return compare_rows(best, usual, level, grid.noise, spread)


def _parameters(grid: Grid, best: Row) -> dict[str, Scalar]:
    ranks, size = cell_of(best)
    return {"ranks": ranks, **({"block_bytes": size} if size else {}), **dict(grid.setting)}


def _rivals(grids: list[Grid], of_best: tuple[Grid, Row], error: float, spread: Spread) -> list[tuple[Grid, Row]]:
    """Return the settings that may be as good as the best: all that are not proved worse."""
    grid, best = of_best
    others = [(other, row) for other in grids for row in other.cells.values() if row is not best]
    contests = [contest_of(best, row, grid.noise, spread) for _, row in others]
    return [one for one, is_worse in zip(others, beaten_by_best(contests, error), strict=True) if not is_worse]


def _rivals_text(rivals: list[tuple[Grid, Row]], tried: int, ranks: int) -> str:
    """Say how many settings may be as good as the best, and name one with fewer than its ``ranks``."""
    if not rivals:
        others = "The other setting is" if tried == 2 else f"Each of the {tried - 1} other settings is"
        return f"{others} slower beyond the noise."
    grid, least = min(rivals, key=lambda pair: cell_of(pair[1]))
    where = f"{place(*cell_of(least))}{setting_text(grid.setting)}"
    if len(rivals) == 1:
        return f"One other setting cannot be told apart from it: {where}."
    fewer = f" One of them has only {where}." if cell_of(least)[0] < ranks else ""
    return f"{len(rivals)} other settings cannot be told apart from it.{fewer}"


def _best_numbers(grid: Grid, best: Row, rivals: list[tuple[Grid, Row]], tried: int) -> Numbers:
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
        settings=tried,
        rival_ranks=[cell[0] for cell in cells],
        rival_block_bytes=[cell[1] for cell in cells],
        rival_case=[row.case for _, row in rivals],
    )


_MOST: Final = 5
_FLAT: Final = 0.9


def find_drops(study: Study) -> list[Finding]:
    """Report the largest drops of each grid, at most 5, the largest of all first.

    A drop counts only where the repetitions confirm it: the interval of the step must lie below the step of the other
    block sizes.
    """
    found: list[tuple[Grid, Drop]] = []
    for grid in study.grids:
        level = study.level_of_lines(grid)
        sure = [drop for drop in drops(grid.scores) if _is_sure(grid, drop, level)]
        found.extend((grid, drop) for drop in sure[:_MOST])
    found.sort(key=lambda pair: pair[1].factor / pair[1].others)
    return [_finding(grid, drop) for grid, drop in found]


def _is_sure(grid: Grid, drop: Drop, level: float) -> bool:
    rows = grid.cells[drop.cell], grid.cells[drop.before]
    step = compare_rows(*rows, level, grid.noise, grid.spread)
    if step.low is None or step.high is None:
        return False
    most = step.high if grid.better == "more" else 1 / step.low
    return most < drop.others


def _finding(grid: Grid, drop: Drop) -> Finding:
    (ranks, size), (before, _) = drop.cell, drop.before
    row, earlier = grid.cells[drop.cell], grid.cells[drop.before]
    kind = "drop" if drop.factor < _FLAT else "stop rising"
    who = f"{subject(grid)} with {block(size)} blocks {kind}"
    text = (
        f"{who} from {before} to {plural(ranks, 'rank')}: {times(drop.factor)} ({show(earlier.median, grid.unit)} to "
        f"{show(row.median, grid.unit)}). Other block sizes change by {times(drop.others)} there."
    )
    title = f"{who} at {plural(ranks, 'rank')}"
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
    return Finding(kind="drop", title=title, text=text, severity="advice", numbers=numbers)


@dataclass(frozen=True, slots=True)
class TableEdge:
    """Where along ``axis`` the table ends, ``upper`` or lower, with ``beside`` the next value inwards."""

    axis: Axis
    value: int
    beside: int
    upper: bool

    def inner(self, cell: Cell) -> Cell:
        """Return the cell beside ``cell``, one step inwards."""
        return (self.beside, cell[1]) if self.axis == "ranks" else (cell[0], self.beside)


def rims(grid: Grid) -> list[TableEdge]:
    """List the ends that can be moved: upwards always, downwards from more than one rank or any block size."""
    found: list[TableEdge] = []
    for axis, values in zip(AXES, (grid.ranks, grid.blocks), strict=True):
        if len(values) > 1:
            found.append(TableEdge(axis, values[-1], values[-2], upper=True))
        if len(values) > 1 and (axis == "block_bytes" or values[0] > 1):
            found.append(TableEdge(axis, values[0], values[1], upper=False))
    return found


def find_edges(study: Study) -> list[Finding]:
    """Make one finding for each end at which the best of a grid stands and still gains beyond the noise."""
    found = [_edge(grid, rim, study.level_of_lines(grid), study.settable) for grid in study.grids for rim in rims(grid)]
    return [finding for finding in found if finding is not None]


def gain_at(grid: Grid, rim: TableEdge, cell: Cell, level: float) -> float | None:
    """Return how many times better ``cell`` is than the one beside it.

    Return None when it is not at ``rim``, or not better beyond the noise.
    """
    if cell[AXES.index(rim.axis)] != rim.value or rim.inner(cell) not in grid.cells:
        return None
    found = compare_rows(grid.cells[cell], grid.cells[rim.inner(cell)], level, grid.noise, grid.spread)
    gain = math.exp(grid.scores[cell] - grid.scores[rim.inner(cell)])
    return gain if found.verdict == "faster" and gain > 1 else None


def _edge(grid: Grid, rim: TableEdge, level: float, settable: Settable) -> Finding | None:
    best = grid.best()
    gain = None if best is None else gain_at(grid, rim, cell_of(best), level)
    if best is None or gain is None:
        return None
    growing = _still_growing(grid, rim, level)
    unit = on_axis(rim.axis, rim.value)
    extreme = ("most" if rim.upper else "fewest") if rim.axis == "ranks" else ("largest" if rim.upper else "smallest")
    further = _further(rim, settable, best.count("nodes", 1))
    text = (
        f"{subject(grid)} have their best median at the edge of the table, with {place(*cell_of(best))}: "
        f"{show_row(best)}. That is {times(gain)} the value beside it. They still gain at {unit}, the {extreme} tried"
        f"{_others(grid, rim, growing)}. {f'Test {further}' if further else 'They use all cores'}."
    )
    numbers = numbers_of(
        grid,
        axis=rim.axis,
        side="upper" if rim.upper else "lower",
        value=rim.value,
        ratio=gain,
        **{"growing_block_bytes" if rim.axis == "ranks" else "growing_ranks": growing},
        case=best.case,
        test=further,
    )
    title = f"{subject(grid)} still gain at {unit}"
    return Finding(kind="edge", title=title, text=text, severity="advice" if further else "info", numbers=numbers)


def _further(rim: TableEdge, settable: Settable, nodes: int) -> str:
    """Name the next value beyond the rim (twice or half of it), and the option that sets it.

    Return nothing where so many ranks have not a core each.
    """
    value = rim.value * 2 if rim.upper else max(rim.value // 2, 1)
    if rim.axis == "ranks" and rim.upper and not settable.has_room(value, nodes):
        return ""
    what = on_axis(rim.axis, value)
    option = settable.by_parameter.get(rim.axis, "")
    extend = settable.aside("--extend", option.lstrip("-")) if rim.upper else ""
    return f"{what}{extend or settable.aside(option)}"


def _still_growing(grid: Grid, rim: TableEdge, level: float) -> list[int]:
    """Return values of the other axis whose own best stands at the rim beyond the noise."""
    across = grid.blocks if rim.axis == "ranks" else grid.ranks
    found: list[int] = []
    for value in across:
        cells = [cell for cell in grid.cells if cell[1 - AXES.index(rim.axis)] == value]
        best = max(cells, key=lambda cell: grid.scores[cell])
        if gain_at(grid, rim, best, level) is not None:
            found.append(value)
    return found


def _others(grid: Grid, rim: TableEdge, growing: list[int]) -> str:
    across = grid.blocks if rim.axis == "ranks" else grid.ranks
    if len(across) < 2:
        return ""
    if len(growing) == len(across):
        return f", at every {'block size' if rim.axis == 'ranks' else 'rank count'}"
    names = [block(value) if rim.axis == "ranks" else str(value) for value in growing]
    return f" ({'blocks of' if rim.axis == 'ranks' else 'rank counts'} {listing(names)})"


FINDERS: Final = ((10, find_best), (60, find_drops), (70, find_edges))
