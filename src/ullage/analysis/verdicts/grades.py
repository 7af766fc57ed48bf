# SPDX-License-Identifier: Apache-2.0
"""Contamination grades: of a row, by its phases; and which rows a sentence may rest on. docs/verdicts.md has the rules.

The engine grades each phase by what others took of the ranks' time (engine/probes/core_use.hpp). The kernel's accounts
have a grain, which is much of a short phase and little of several together: a row is graded by all its repetitions.
"""

import math
from collections.abc import Iterable, Sequence
from operator import mul
from typing import Final

from ullage.model.flags import ABOVE_THREADS, REMOVED_LATELY
from ullage.model.record import Contamination, Grade, PhaseRecord
from ullage.model.summary import Row

GRADES: Final[tuple[Grade, ...]] = ("A", "B", "?", "C")
"""The grades in order, from the least foreign load to the most."""
_CLEAN_BELOW: Final = 0.01
DIRTY_FROM: Final = 0.05
# Of the two ticks of the uncertainty, idle time and waiting for I/O have one each, and steal has one.
_TICKS: Final = 2
_MILLION: Final = 1e6


def worst_grade(grades: Iterable[Grade | None]) -> Grade | None:
    """Return the grade that promises least; None where none is known."""
    known: list[Grade] = [grade for grade in grades if grade is not None]
    return max(known, key=GRADES.index) if known else None


def row_grade(phases: Sequence[PhaseRecord]) -> Grade | None:
    """Grade the repetitions of a phase by what others took of all of them; not above B where one was disturbed.

    Where an account is missing, the recorded grade that promises least is that of the row.
    """
    recorded = worst_grade(phase.grade for phase in phases)
    taken = _taken_by_others([phase.contamination for phase in phases])
    if recorded is None or taken is None:
        return recorded
    least, most, used = taken
    found: Grade = "C" if least >= DIRTY_FROM else "A" if most < _CLEAN_BELOW else "B" if most < DIRTY_FROM else "?"
    disturbed = used >= DIRTY_FROM or any(phase.grade in ("B", "C") for phase in phases)
    return worst_grade((found, "B" if disturbed else "A"))


def _taken_by_others(accounts: Sequence[Contamination | None]) -> tuple[float, float, float] | None:
    """Return the share of the ranks' time that others took in all phases together, at least and at most.

    The last is what they had of the cores at least.

    The core time of a phase is the grain over its uncertainty, and the weight of its shares. The grain is the same time
    in each of them and its errors have nothing to do with each other, so they add up as squares.
    """
    known = [one for one in accounts if one is not None and one.uncertainty_ppm]
    if not known or len(known) < len(accounts):
        return None
    weights = [1 / one.uncertainty_ppm for one in known if one.uncertainty_ppm]
    unsure = math.sqrt(len(known)) / sum(weights) / _MILLION

    def share(values: Iterable[int | None]) -> float | None:
        found = [value for value in values if value is not None]
        return None if len(found) < len(known) else sum(map(mul, found, weights)) / sum(weights) / _MILLION

    foreign, steal = share(one.foreign_cpu_ppm for one in known) or 0.0, share(one.steal_ppm for one in known) or 0.0
    kernel = share(one.kernel_threads_ppm for one in known)
    waited = share(None if one.oversubscribed else one.run_delay_ppm for one in known)
    used, most = foreign + steal - unsure, foreign + steal + unsure
    least = used
    if waited is not None:
        cores = max(one.cores_per_rank for one in known)
        least, most = _wait_caused(waited, (foreign - unsure, foreign + unsure), kernel or 0.0, cores)
        least, most = least + max(0.0, steal - unsure / _TICKS), most + steal + unsure / _TICKS
    # What cannot be told from other processes may be work for our own data.
    return (least if kernel is not None else 0.0), most, used


def _wait_caused(
    waited: float, foreign: tuple[float, float], kernel: float, cores_per_rank: float
) -> tuple[float, float]:
    """Return what others caused of the time that ranks ``waited`` for a core, at least and at most.

    No more than the core time that they had. All that kernel threads did not have the time to cause, and where
    others ran for certain at least their part of the time of both.
    """
    others_least, others_most = max(0.0, foreign[0]), max(0.0, foreign[1])
    most = min(waited, cores_per_rank * others_most)
    least = max(0.0, waited - cores_per_rank * kernel)
    if others_least > 0:
        least = max(least, waited * others_least / (others_least + kernel))
    return min(least, most), most


def is_sound(row: Row) -> bool:
    """Tell whether a sentence may rest on ``row``: it breaks no limit of physics, and is not known to be disturbed.

    Rows of grade ``?`` count: their intervals hold what noise there was, and short runs have no others.
    """
    disturbed = row.grade == "C" or row.has_flag(REMOVED_LATELY)
    return not (row.is_invalid or disturbed or row.has_flag(ABOVE_THREADS))


def sound_rows(rows: Iterable[Row]) -> list[Row]:
    """Return the rows on which a sentence may rest, in their order: results that are sound."""
    return [row for row in rows if is_sound(row) and not row.is_bound]
