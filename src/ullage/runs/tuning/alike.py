# SPDX-License-Identifier: Apache-2.0
"""Whether two settings were measured alike: only then is the one with the higher value an improvement."""

from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import Final

from ullage.analysis.verdicts.grades import worst_grade
from ullage.grouping import grouped
from ullage.model.record import Grade, PhaseRecord
from ullage.model.summary import Row
from ullage.model.tuning import TuneObjective, TuneTrial

# Rates in bytes count the work themselves. Of latencies only the bytes of an operation matter.
_OF_BYTES: Final = ("B/s",)
_LATENCY: Final = "latency"
_ALIKE: Final = 0.01
_PER_OPERATION: Final = ("B/op", "op/s", "s/op")


def verdict_of(rows: Sequence[Row]) -> str:
    """Return the verdicts of rows without their shares, for example ``mixed`` of ``mixed 37 %``."""
    return " and ".join(sorted({row.verdict.split()[0] for row in rows if row.verdict}))


def grade_of(rows: Sequence[Row]) -> Grade | None:
    """Return the grade that promises least."""
    return worst_grade(row.grade for row in rows)


def work_of(phases: Iterable[PhaseRecord], rows: Sequence[Row]) -> list[float]:
    """Return the bytes of an operation and of a repetition in the cases of ``rows``; nothing where they move none."""
    cases = {row.case for row in rows}
    own = [one for one in phases if one.case in cases and one.status == "ok" and not one.warmup]
    moved, operations = sum(one.bytes for one in own), sum(one.operations for one in own)
    if moved <= 0 or operations <= 0:
        return []
    by_phase = grouped(((one.case, one.phase), float(one.bytes)) for one in own)
    return [moved / operations, sum(map(fmean, by_phase.values()))]


def difference(goals: Sequence[TuneObjective], default: Sequence[TuneTrial], best: Sequence[TuneTrial]) -> str:
    """Say what makes trials of ``default`` and ``best`` different measurements; return nothing where they are alike."""
    before, after = _verdicts(default), _verdicts(best)
    if before and after and before != after:
        return f"the default was measured {_joined(before)} and this setting {_joined(after)} (verdict)"
    works = [[one.work for one in trials if one.work] for trials in (default, best)]
    if not all(works):
        return ""
    for place, what in enumerate(("bytes in an operation", "bytes in a repetition")):
        ratio = fmean(one[place] for one in works[1]) / fmean(one[place] for one in works[0])
        if abs(ratio - 1) > _ALIKE and any(_counts(goal, place) for goal in goals):
            return f"it moves {ratio:.3g} x the {what}, which is different work"
    return ""


def _counts(goal: TuneObjective, place: int) -> bool:
    """Tell whether the bytes of an operation (place 0) or of a repetition are part of what an objective compares."""
    if not goal.unit or goal.unit in _OF_BYTES:
        return False
    is_per_operation = goal.unit in _PER_OPERATION or _LATENCY in goal.metric
    return is_per_operation if place == 0 else not is_per_operation


def _verdicts(trials: Sequence[TuneTrial]) -> set[str]:
    return {word for one in trials for word in one.verdict.split(" and ") if word}


def _joined(words: set[str]) -> str:
    return " and ".join(sorted(words))
