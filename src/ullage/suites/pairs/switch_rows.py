# SPDX-License-Identifier: Apache-2.0
"""Rows of the pairs within and between switches, each with the interval of its median pair."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from ullage.analysis.statistics import Dependence, median_interval, pooled_dependence
from ullage.grouping import grouped
from ullage.model.flags import DEPENDENT, NOT_CONVERGED
from ullage.model.summary import Row
from ullage.results.row_checks import check_values
from ullage.results.rows import RowFrame
from ullage.suites.pairs.effects import PairMatrix
from ullage.suites.pairs.switches import SwitchPair, switch_pairs

LATENCY: Final = "switch_pair_latency"
BANDWIDTH: Final = "switch_pair_bandwidth"
_OF_ALL: Final = {"pair_latency": LATENCY, "pair_bandwidth": BANDWIDTH}
MOST_SWITCHES: Final = 32
"""Beyond this a row for each two switches would be too many: rows are then of all pairs within and between switches."""


@dataclass(frozen=True)
class _Cell:
    """``base``: the row of all pairs of the same case, with which it has all in common but its pairs."""

    base: Row
    pair: SwitchPair
    samples: tuple[float, ...]


def switch_rows(matrices: Sequence[PairMatrix], rows: Sequence[Row], level: float) -> list[Row]:
    """Return a row for each two switches, by the order of ``switch_pairs``; none where less than two are known.

    ``rows``: of the suite; ``level``: confidence of intervals.
    """
    bases = {row.case: row for row in rows if row.metric in _OF_ALL}
    cells = [cell for matrix in matrices if matrix.case in bases for cell in _cells(matrix, bases[matrix.case])]
    samples = grouped((cell.base.metric, cell.samples) for cell in cells)
    known = {metric: pooled_dependence(of_metric) for metric, of_metric in samples.items()}
    return [_row(cell, level, known[cell.base.metric]) for cell in cells]


def _cells(matrix: PairMatrix, base: Row) -> Iterator[_Cell]:
    has_many = len({*matrix.leaves}) > MOST_SWITCHES
    for pair in switch_pairs(matrix):
        if pair.is_all or not has_many:
            yield _Cell(base, pair, tuple(matrix.value(seconds) for seconds in pair.each))


def _row(cell: _Cell, level: float, dependence: Dependence) -> Row:
    base, pair = cell.base, cell.pair
    frame = RowFrame(
        metric=_OF_ALL[base.metric],
        unit=base.unit,
        target=base.target,
        params={**base.params, "from_switch": pair.sender, "to_switch": pair.receiver, "pairs": pair.pairs},
        case=base.case,
        better=base.better,
        grade=base.grade,
        last_flags=[flag for flag in base.flags if flag.code not in _of_values(base, level)],
        notes=base.notes,
    )
    row = frame.row(cell.samples, level, dependence=dependence)
    return row.model_copy(update={"verdict": base.verdict, "verdict_reasons": base.verdict_reasons})


def _of_values(row: Row, level: float) -> set[str]:
    """Return the codes of the flags that a row has for its own samples."""
    found = check_values(row.repetitions, median_interval(row.repetitions, level), None, None)
    return {DEPENDENT, NOT_CONVERGED, *(flag.code for flag in found)}
