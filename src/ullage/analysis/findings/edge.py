# SPDX-License-Identifier: Apache-2.0
"""The best stands at the rim of what was tried and was still growing: the peak is not in the table."""

from dataclasses import dataclass

from ullage.analysis.findings.neighbours import AXES, Axis
from ullage.analysis.findings.study import Cell, Grid, Numbers, Study, compare_rows
from ullage.analysis.findings.words import block, cell_of, numbers_of, place, subject
from ullage.model.summary import Finding
from ullage.quantity import listing, plural, show_row, times

ORDER = 70


@dataclass(frozen=True, slots=True)
class Rim:
    """Where along ``axis`` the table ends, ``upper`` or lower, with ``beside`` the next value inwards."""

    axis: Axis
    value: int
    beside: int
    upper: bool

    def inner(self, cell: Cell) -> Cell:
        """The cell beside ``cell``, one step inwards."""
        return (self.beside, cell[1]) if self.axis == "ranks" else (cell[0], self.beside)


def rims(grid: Grid) -> list[Rim]:
    """Ends that can be moved: upwards always, downwards from more than one rank or any block size."""
    found: list[Rim] = []
    for axis, values in zip(AXES, (grid.ranks, grid.blocks), strict=True):
        if len(values) > 1:
            found.append(Rim(axis, values[-1], values[-2], upper=True))
        if len(values) > 1 and (axis == "block_bytes" or values[0] > 1):
            found.append(Rim(axis, values[0], values[1], upper=False))
    return found


def find(study: Study) -> list[Finding]:
    """One finding for each end at which the best of a grid stands and still gains beyond the noise."""
    found = [_edge(grid, rim, study.level) for grid in study.grids for rim in rims(grid)]
    return [finding for finding in found if finding is not None]


def gain_at(grid: Grid, rim: Rim, cell: Cell, level: float) -> float | None:
    """How much better ``cell`` is than the one beside it; None when it is not at ``rim`` or not better for sure."""
    if cell[AXES.index(rim.axis)] != rim.value or rim.inner(cell) not in grid.cells:
        return None
    found = compare_rows(grid.cells[cell], grid.cells[rim.inner(cell)], level, grid.noise)
    if found.verdict != "faster":
        return None
    return found.ratio if grid.better == "more" else 1 / found.ratio


def _edge(grid: Grid, rim: Rim, level: float) -> Finding | None:
    best = grid.best()
    gain = None if best is None else gain_at(grid, rim, cell_of(best), level)
    if best is None or gain is None:
        return None
    growing = _still_growing(grid, rim, level)
    unit = plural(rim.value, "rank") if rim.axis == "ranks" else f"{block(rim.value)} blocks"
    extreme = ("most" if rim.upper else "fewest") if rim.axis == "ranks" else ("largest" if rim.upper else "smallest")
    option = "ranks" if rim.axis == "ranks" else "block"
    extend = f"--extend {option}" if rim.upper else f"smaller values of --{option}"
    text = (
        f"{subject(grid)} do best at the rim of the table, with {place(*cell_of(best))}: {show_row(best)}, "
        f"{times(gain)} the value beside it. They were still growing at {unit}, the {extreme} that were tried"
        f"{_others(grid, rim, growing)}: further testing is needed ({extend})."
    )
    return Finding(kind="edge", text=text, severity="advice", numbers=_numbers(grid, rim, gain, growing, best.case))


def _still_growing(grid: Grid, rim: Rim, level: float) -> list[int]:
    """Values of the other axis whose own best stands at the rim beyond the noise."""
    across = grid.blocks if rim.axis == "ranks" else grid.ranks
    found: list[int] = []
    for value in across:
        cells = [cell for cell in grid.cells if cell[1 - AXES.index(rim.axis)] == value]
        best = max(cells, key=lambda cell: grid.scores[cell])
        if gain_at(grid, rim, best, level) is not None:
            found.append(value)
    return found


def _others(grid: Grid, rim: Rim, growing: list[int]) -> str:
    across = grid.blocks if rim.axis == "ranks" else grid.ranks
    if len(across) < 2:
        return ""
    if len(growing) == len(across):
        return f", and so at every {'block size' if rim.axis == 'ranks' else 'rank count'}"
    names = [block(value) if rim.axis == "ranks" else str(value) for value in growing]
    return f", and so with {listing(names)}{'' if rim.axis == 'ranks' else ' ranks'}"


def _numbers(grid: Grid, rim: Rim, gain: float, growing: list[int], case: str) -> Numbers:
    return numbers_of(
        grid,
        axis=rim.axis,
        side="upper" if rim.upper else "lower",
        value=rim.value,
        ratio=gain,
        **{"growing_block_bytes" if rim.axis == "ranks" else "growing_ranks": growing},
        case=case,
    )
