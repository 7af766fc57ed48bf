# SPDX-License-Identifier: Apache-2.0
"""Rows arranged for questions: a grid of ranks by block sizes for each target, access and further setting.

``Settable``: what can be set on the command line of the suite that a finding is of. Advice names no other option.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import Final, Literal, TypeAlias

from ullage.analysis.contests import compare_rows, contest_of, sampled, spread_of
from ullage.analysis.findings.neighbours import relative_noise
from ullage.analysis.statistics.comparison import Comparison, compare_all, pairs_on
from ullage.analysis.statistics.dependence import Dependence
from ullage.analysis.statistics.spread import Spread, dependence_within
from ullage.analysis.verdicts.grades import is_sound
from ullage.grouping import grouped
from ullage.model.plan import Scalar
from ullage.model.summary import Row
from ullage.quantity import format_param


@dataclass(frozen=True, slots=True)
class Settable:
    """Says which options can set what a finding advises.

    ``options``: as typed. ``by_parameter``: which option sets a parameter of rows.

    ``targets``: what is typed for a target, by its name. All are empty for rows that no suite made, as of an import.

    ``cores``: those of a node that ranks may use; 0: not known.
    """

    options: frozenset[str] = frozenset()
    by_parameter: Mapping[str, str] = field(default_factory=dict[str, str])
    targets: Mapping[str, str] = field(default_factory=dict[str, str])
    cores: int = 0

    def has_room(self, ranks: int, nodes: int) -> bool:
        """Tell whether so many ranks have a core each, as far as is known: nobody is told to test more."""
        return not self.cores or ranks <= self.cores * nodes

    def change(self, parameters: Mapping[str, Scalar]) -> str:
        """Write options, and settings that have none, for ``parameters``: ``--ranks 4 --block 1M order=random``."""
        return " ".join(self._one(name, value) for name, value in parameters.items())

    def can_set(self, parameters: Mapping[str, Scalar]) -> bool:
        """Tell whether each of ``parameters`` has an option; True for rows of no suite, whose options are unknown."""
        return not self.options or all(name in self.by_parameter for name in parameters)

    def aside(self, option: str, value: str = "") -> str:
        """Return `` (--block)``, or `` (--extend ranks)`` with ``value``; empty where the suite has no such option."""
        return f" ({f'{option} {value}'.rstrip()})" if option in self.options else ""

    def _one(self, name: str, value: Scalar) -> str:
        text = self.targets.get(str(value), str(value)) if name == "target" else format_param(name, value)
        option = self.by_parameter.get(name)
        return f"{option} {text}" if option else f"{name.removesuffix('_bytes')}={text}"


NOTHING_SETTABLE: Final = Settable()


Cell = tuple[int, int]
Setting = tuple[tuple[str, Scalar], ...]
Numbers: TypeAlias = dict[str, Scalar | list[Scalar] | None]
_AXES: Final = frozenset({"access", "ranks", "block_bytes", "nodes"})
# The error that all sentences of a report may make together is shared out in these parts: to sentences about the best
# setting, to those along lines of a grid (what more ranks give, steps), and to those that compare two targets.
_PART_OF_BEST: Final = 2.0
_PART_OF_LINES: Final = 1.0
_PART_OF_PAIRS: Final = 2.0


@dataclass(frozen=True, slots=True)
class Failed:
    """A case that did not go well: how often, of how many repetitions, and its first error.

    ``text`` is the same for all cases that failed alike; ``where`` names rank, node and path.
    """

    target: str
    case: str
    ranks: int
    repetitions_failed: int
    repetitions: int
    text: str
    where: str = ""


@dataclass(frozen=True)
class Grid:
    """Rows of one metric that differ in ranks and block size only; those on which no sentence may rest are left out.

    ``dependence``: of repetitions, by all grids together.
    """

    target: str
    access: str
    metric: str
    unit: str
    better: Literal["more", "less"]
    setting: Setting
    cells: dict[Cell, Row]
    dependence: Dependence | None = None

    @cached_property
    def ranks(self) -> list[int]:
        """Rank counts, rising."""
        return sorted({ranks for ranks, _ in self.cells})

    @cached_property
    def blocks(self) -> list[int]:
        """Block sizes in bytes, rising."""
        return sorted({block for _, block in self.cells})

    def along_ranks(self, block: int) -> list[tuple[int, Row]]:
        """Return rank counts and rows of one block size, rising."""
        return [(ranks, self.cells[ranks, block]) for ranks in self.ranks if (ranks, block) in self.cells]

    @cached_property
    def scores(self) -> dict[Cell, float]:
        """Natural logs of the medians, turned so that more is better."""
        sign = 1 if self.better == "more" else -1
        return {cell: sign * math.log(row.median) for cell, row in self.cells.items()}

    @cached_property
    def noise(self) -> float | None:
        """Standard deviation of the log of one value, as far as neighbours tell; None where they are too few."""
        return relative_noise(self.scores)

    @cached_property
    def spread(self) -> Spread:
        """What all cells say together of the noise of one value, as far as they were repeated."""
        return spread_of(self.cells.values(), self.dependence)

    @cached_property
    def steps(self) -> int:
        """How many two cells there are that differ in one axis only."""
        lines = Counter(ranks for ranks, _ in self.cells), Counter(block for _, block in self.cells)
        return pairs_on(count for line in lines for count in line.values())

    def best(self, cells: Iterable[Cell] | None = None) -> Row | None:
        """Return the best row of all, or of ``cells``; None where there is none."""
        among = self.cells if cells is None else [cell for cell in cells if cell in self.cells]
        cell = max(among, key=lambda place: self.scores[place], default=None)
        return None if cell is None else self.cells[cell]

    def best_of_block(self, block: int) -> Row | None:
        """Return the best row of one block size; None where there is none."""
        return self.best((ranks, block) for ranks in self.ranks)


@dataclass(frozen=True)
class Pair:
    """Two targets in the same setting; ratios are ``first`` over ``second``. ``error``: how often any of what is said
    of the two may be wrong."""

    first: Grid
    second: Grid
    error: float

    @cached_property
    def shared(self) -> list[Cell]:
        """Cells that both have, by block size and then ranks."""
        return sorted(self.first.cells.keys() & self.second.cells.keys(), key=lambda cell: (cell[1], cell[0]))

    @cached_property
    def noise(self) -> float | None:
        """The noise of one value, both sides pooled."""
        sides = (self.first.noise, self.second.noise)
        known = [side for side in sides if side is not None]
        return math.sqrt(sum(side * side for side in known) / 2) if len(known) == 2 else None

    @cached_property
    def spread(self) -> Spread:
        """What the repetitions of both sides say of the noise of one value."""
        rows = (row for grid in (self.first, self.second) for row in grid.cells.values())
        return spread_of(rows, self.first.dependence)

    def compare_bests(self, first: Row, second: Row) -> Comparison:
        """Compare the best of ``first`` with that of ``second``, over all cells or those of a block size.

        That a best is beaten is wrong only where one cell of the other side was far off: as many errors are possible
        as there are cells.
        """
        level = 1 - self.error / 4 / max(len(self.first.cells), len(self.second.cells))
        return compare_rows(first, second, level, self.noise, self.spread)

    @cached_property
    def comparisons(self) -> dict[Cell, Comparison]:
        """Cell by cell, all of them right together."""
        rows = ((self.first.cells[cell], self.second.cells[cell]) for cell in self.shared)
        found = compare_all([contest_of(*both, self.noise, self.spread) for both in rows], 1 - self.error / 2)
        return dict(zip(self.shared, found, strict=True))

    def wins(self, cell: Cell) -> bool:
        """Tell whether the median of ``first`` is the better one, proved or not."""
        return self.first.scores[cell] > self.second.scores[cell]


@dataclass(frozen=True)
class Study:
    """Everything the finders look at. ``rows`` holds all of them, ``grids`` the main metric of each access only.

    ``level``: how often nothing that is said of equals is wrong, all findings together. Its error is shared out
    (Bonferroni): whatever is compared, is compared at its part. ``settable``: what advice may name.
    """

    rows: tuple[Row, ...]
    grids: tuple[Grid, ...]
    failed: tuple[Failed, ...] = ()
    level: float = 0.95
    order: tuple[str, ...] = field(default=())
    settable: Settable = NOTHING_SETTABLE

    @cached_property
    def main_rows(self) -> list[Row]:
        """Rows of each access's first metric, the INVALID ones too."""
        metrics = _main_metrics(self.rows)
        return [row for row in self.rows if row.metric == metrics[row.access]]

    @cached_property
    def pairs(self) -> list[Pair]:
        """Every two targets in every setting that both have; first the one that wins more cells over all accesses."""
        wins: dict[tuple[str, str], int] = {}
        error = _PART_OF_PAIRS * self._part
        for a, b in self._matches():
            pair = Pair(a, b, error)
            won = sum(1 if pair.wins(cell) else -1 for cell in pair.shared)
            wins[a.target, b.target] = wins.get((a.target, b.target), 0) + won
        ordered = ((a, b) if wins[a.target, b.target] >= 0 else (b, a) for a, b in self._matches())
        pairs = [Pair(a, b, error) for a, b in ordered]
        return [pair for pair in pairs if pair.shared]

    @cached_property
    def groups(self) -> list[list[Grid]]:
        """The grids of each target and access."""
        found = grouped(((grid.target, grid.access), grid) for grid in self.grids)
        return list(found.values())

    @cached_property
    def _part(self) -> float:
        """The error that one part may make."""
        parts = _PART_OF_BEST * len(self.groups) + _PART_OF_LINES * len(self.grids)
        parts += _PART_OF_PAIRS * sum(1 for a, b in self._matches() if a.cells.keys() & b.cells.keys())
        return (1 - self.level) / max(parts, 1.0)

    @cached_property
    def error_of_best(self) -> float:
        """The error of all that is said of the best of a target and access and its rivals."""
        return _PART_OF_BEST * self._part

    def level_of_lines(self, grid: Grid) -> float:
        """Return the level at which to compare two cells of ``grid`` that differ in one axis only, or in the reread."""
        return 1 - _PART_OF_LINES * self._part / max(grid.steps + (grid.access == "reread"), 1)

    def _matches(self) -> Iterator[tuple[Grid, Grid]]:
        places = grouped(((grid.access, grid.metric, grid.setting), grid) for grid in self.grids)
        for grids in places.values():
            yield from combinations(sorted(grids, key=lambda grid: self.order.index(grid.target)), 2)


def make_study(
    rows: Iterable[Row], failed: Iterable[Failed] = (), level: float = 0.95, settable: Settable = NOTHING_SETTABLE
) -> Study:
    """Group ``rows`` into grids, in the order in which they come."""
    all_rows = tuple(rows)
    metrics = _main_metrics(all_rows)
    usable = [row for row in all_rows if row.metric == metrics[row.access] and _is_usable(row)]
    names = _setting_names(usable)
    groups: dict[tuple[str, str, Setting], dict[Cell, Row]] = {}
    for row in usable:
        setting = tuple((name, row.params[name]) for name in names if name in row.params)
        groups.setdefault((row.target, row.access, setting), {})[row.ranks, row.count("block_bytes", 0)] = row
    dependence = dependence_within([sampled(row) for row in usable])
    grids = [
        Grid(target, access, first.metric, first.unit, first.better, setting, cells, dependence)
        for (target, access, setting), cells in groups.items()
        for first in [next(iter(cells.values()))]
    ]
    order = tuple(dict.fromkeys(row.target for row in all_rows))
    return Study(all_rows, tuple(grids), tuple(failed), level, order, settable)


def _main_metrics(rows: Sequence[Row]) -> dict[str, str]:
    """Return the metric that comes first for each access."""
    metrics: dict[str, str] = {}
    for row in rows:
        metrics.setdefault(row.access, row.metric)
    return metrics


def _is_usable(row: Row) -> bool:
    ranks, positive = row.params.get("ranks"), bool(row.repetitions) and min(row.repetitions) > 0
    return isinstance(ranks, int) and positive and is_sound(row)


def _setting_names(rows: Sequence[Row]) -> list[str]:
    """Return the parameters other than the axes that take several values on one target.

    A parameter that differs between targets only, as the backend does, must not keep these from being compared.
    """
    values: dict[tuple[str, str], set[Scalar]] = {}
    for row in rows:
        for name, value in row.params.items():
            if name not in _AXES:
                values.setdefault((row.target, name), set()).add(value)
    return list(dict.fromkeys(name for (_, name), found in values.items() if len(found) > 1))
