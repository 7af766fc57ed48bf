# SPDX-License-Identifier: Apache-2.0
"""Which settings are best, where another becomes best, where numbers drop, and where the end of a range was best."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from ullage.analysis.findings.neighbours import AXES, Axis, Drop, drops, lines
from ullage.analysis.findings.study import Cell, Grid, Numbers, Pair, Study, compare_rows
from ullage.analysis.findings.words import block, cell_of, noun, numbers_of, place, setting_text, span, subject
from ullage.model.summary import Finding, Row
from ullage.quantity import listing, plural, show, show_row, times

_BEST_ORDER: Final = 10


def find_best(study: Study) -> list[Finding]:
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
    return Finding(kind="best", text=text, numbers=_best_numbers(grid, best, rivals))


def _rivals_text(rivals: list[tuple[Grid, Row]], tried: int) -> str:
    if not rivals:
        return "no other setting comes near" if tried > 1 else "no other setting was tried"
    grid, least = min(rivals, key=lambda pair: cell_of(pair[1]))
    ranks, block = cell_of(least)
    what = f"{plural(len(rivals), 'other setting')} cannot be told apart from it"
    return f"{what}, the one with fewest ranks has {place(ranks, block)}{setting_text(grid.setting)}"


def _best_numbers(grid: Grid, best: Row, rivals: list[tuple[Grid, Row]]) -> Numbers:
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


# -- where another becomes best ----------------------------------------------------------------------------------------


_CROSSOVER_ORDER: Final = 30


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


def find_crossovers(study: Study) -> list[Finding]:
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
    return Finding(kind="crossover", text=text, numbers=_crossover_numbers(pair, axis, found, undecided))


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


def _crossover_numbers(pair: Pair, axis: Axis, found: Sequence[Line], undecided: int) -> Numbers:
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


# -- where numbers drop ------------------------------------------------------------------------------------------------


_DROP_ORDER: Final = 60
_MOST: Final = 5
_FLAT: Final = 0.9


def find_drops(study: Study) -> list[Finding]:
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


# -- where the end of a range was best ---------------------------------------------------------------------------------


_EDGE_ORDER: Final = 70


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


def find_edges(study: Study) -> list[Finding]:
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
    return Finding(
        kind="edge", text=text, severity="advice", numbers=_edge_numbers(grid, rim, gain, growing, best.case)
    )


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


def _edge_numbers(grid: Grid, rim: Rim, gain: float, growing: list[int], case: str) -> Numbers:
    return numbers_of(
        grid,
        axis=rim.axis,
        side="upper" if rim.upper else "lower",
        value=rim.value,
        ratio=gain,
        **{"growing_block_bytes" if rim.axis == "ranks" else "growing_ranks": growing},
        case=case,
    )


FINDERS: Final = (
    (_BEST_ORDER, find_best),
    (_CROSSOVER_ORDER, find_crossovers),
    (_DROP_ORDER, find_drops),
    (_EDGE_ORDER, find_edges),
)
