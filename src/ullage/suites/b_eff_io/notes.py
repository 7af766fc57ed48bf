# SPDX-License-Identifier: Apache-2.0
"""Sentences about how a run went, as events of its records. Pure."""

from collections.abc import Sequence
from typing import Final

from ullage.quantity import listing, processes
from ullage.suites.b_eff_io.measured import Attempt, CellKey
from ullage.suites.b_eff_io.patterns import PATTERNS

_MOST_CELLS: Final = 4


def _cell_text(key: CellKey, where: str = "") -> str:
    return f"{key.access} of type {key.type} by {processes(key.ranks)}{where}"


def hang_text(hung: Attempt, watchdog_s: float, where: str = "") -> str:
    """``where``: what else tells its case from others."""
    number = hung.hung if hung.hung is not None else -1
    size = PATTERNS[number].size if 0 <= number < len(PATTERNS) else "unknown"
    return (
        f"pattern {number} ({size}) made no progress for {watchdog_s:g} s in the {_cell_text(hung.key, where)} on "
        f"{hung.key.target}: the run goes on without it"
    )


def given_up_text(key: CellKey, patterns: Sequence[int], where: str = "") -> str:
    """After hangs in several patterns of a type."""
    numbers = listing([str(number) for number in patterns])
    place = f"{processes(key.ranks)}{where} on {key.target}"
    return f"patterns {numbers} of type {key.type} hung with {place}: the rest of the type is given up there"


def again_text(again: Sequence[CellKey]) -> str:
    """Data of an earlier launch that is gone."""
    cells = listing([_cell_text(key) for key in again], _MOST_CELLS)
    return f"run again for the data that is gone: {cells}; the first value counts"
