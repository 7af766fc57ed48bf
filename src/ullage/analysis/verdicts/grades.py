# SPDX-License-Identifier: Apache-2.0
"""Contamination grades: of a row, by its phases; and which rows a sentence may rest on. docs/verdicts.md has the rules.

The engine grades each phase by what others used of the cores at most. The kernel's accounts have a grain, which is much
of a short phase and little of several together: a row is graded by all its repetitions at once.
"""

import math
from collections.abc import Iterable, Sequence
from typing import Final

from ullage.model.flags import ABOVE_THREADS
from ullage.model.record import Grade, PhaseRecord
from ullage.model.summary import Row

GRADES: Final[tuple[Grade, ...]] = ("A", "B", "?", "C")
"""The grades in order, from the least foreign load to the most."""
_CLEAN_BELOW: Final = 0.01
_DIRTY_FROM: Final = 0.05
_MILLION: Final = 1e6


def worst_grade(grades: Iterable[Grade | None]) -> Grade | None:
    """Return the grade that promises least; None where none is known."""
    known: list[Grade] = [grade for grade in grades if grade is not None]
    return max(known, key=GRADES.index) if known else None


def row_grade(phases: Sequence[PhaseRecord]) -> Grade | None:
    """Grade the repetitions of a phase: C where one of them is, B where one was disturbed, else by all together."""
    recorded = worst_grade(phase.grade for phase in phases)
    most = _most_used_by_others(phases)
    if recorded in (None, "C") or most is None:
        return recorded
    disturbed: Grade = "B" if any(phase.grade == "B" for phase in phases) else "A"
    by_others: Grade = "A" if most < _CLEAN_BELOW else "B" if most < _DIRTY_FROM else "?"
    return worst_grade((disturbed, by_others))


def _most_used_by_others(phases: Iterable[PhaseRecord]) -> float | None:
    """Return the upper bound of the share of the cores that others had in all ``phases`` together.

    Return None where an account is missing or no phase is given.

    The grain is the same time in each of them and its errors have nothing to do with each other, so they add up as
    squares. The core time of a phase is the grain over its uncertainty.
    """
    used = core_time = 0.0
    count = 0
    for phase in phases:
        found = phase.contamination
        if found is None or not found.uncertainty_ppm:
            return None
        weight = _MILLION / found.uncertainty_ppm
        used += weight * (found.foreign_cpu_ppm + found.steal_ppm) / _MILLION
        core_time += weight
        count += 1
    return (used + math.sqrt(count)) / core_time if count else None


def is_sound(row: Row) -> bool:
    """Tell whether a sentence may rest on ``row``: it breaks no limit of physics, and is not known to be disturbed.

    Rows of grade ``?`` count: their intervals hold what noise there was, and short runs have no others.
    """
    return not row.is_invalid and row.grade != "C" and not row.has_flag(ABOVE_THREADS)


def sound_rows(rows: Iterable[Row]) -> list[Row]:
    """Return the rows on which a sentence may rest, in their order."""
    return [row for row in rows if is_sound(row)]
