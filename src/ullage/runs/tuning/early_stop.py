# SPDX-License-Identifier: Apache-2.0
"""Ends a trial that cannot become the best: all its repetitions so far are far slower than those of the best setting.

The rates of phases are compared here, not the objective: that is read from rows as of every other trial. So a trial
that ends early has a value like others, from fewer repetitions.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean, stdev
from typing import Final, TypeAlias

from ullage.analysis.statistics.order import two_sided_quantile
from ullage.model.record import PhaseRecord
from ullage.results.records import AnyRecord

Rates: TypeAlias = dict[str, list[float]]
"""Logarithms of the rates of repetitions, by phase."""
FEWEST: Final = 3
"""Repetitions of each phase that a trial has at least before it may end."""
# Each look has this error, to both sides; a trial whose interval lies below this share of the best ends.
_ERROR: Final = 0.01
_FAR: Final = math.log(0.8)
_LEAST_SPREAD: Final = 1e-6


def rates_of(records: Iterable[AnyRecord], words: str) -> list[Rates]:
    """Return the rates of each case, of those phases that ``words`` of an objective name, else of all."""
    found: dict[str, Rates] = {}
    for record in records:
        add(found, record)
    return [named(rates, words) for rates in found.values()]


def named(rates: Mapping[str, list[float]], words: str) -> Rates:
    """Return the phases that ``words`` name, else all."""
    wanted = {word.lower() for word in words.split()}
    chosen = {phase: logs for phase, logs in rates.items() if phase in wanted}
    return dict(chosen or rates)


def add(found: dict[str, Rates], record: AnyRecord) -> None:
    """Add the repetition of ``record``, where it is a phase that counts."""
    if not isinstance(record, PhaseRecord) or record.status != "ok" or record.warmup:
        return
    amount = record.bytes or record.operations
    if amount > 0 and record.elapsed_ns > 0:
        found.setdefault(record.case, {}).setdefault(record.phase, []).append(math.log(amount / record.elapsed_ns))


class Watch:
    """Listens to a trial. ``best``: means of the best setting's logarithms by phase; ``cases``: how many it has."""

    def __init__(self, best: Mapping[str, float], cases: int, words: str) -> None:
        self._best, self._cases, self._words = best, cases, words
        self._found: dict[str, Rates] = {}
        self._is_new = False

    def hear(self, record: AnyRecord) -> None:
        """Take a record of the trial."""
        self._is_new = self._is_new or isinstance(record, PhaseRecord)
        add(self._found, record)

    def is_enough(self) -> bool:
        """Tell whether the interval of every phase lies far below the best. It costs nothing between repetitions."""
        if not self._is_new or len(self._found) != self._cases:
            return False
        self._is_new = False
        by_phase = by_phases([named(one, self._words) for one in self._found.values()])
        if set(by_phase) != set(self._best):
            return False
        return all(_is_below(rows, self._best[phase] + _FAR) for phase, rows in by_phase.items())


def by_phases(cases: Sequence[Rates]) -> dict[str, list[list[float]]]:
    """Return for each phase the repetitions of every case that has it."""
    found: dict[str, list[list[float]]] = {}
    for rates in cases:
        for phase, logs in rates.items():
            found.setdefault(phase, []).append(logs)
    return found


def means(cases: Sequence[Rates]) -> dict[str, float]:
    """Return the mean over cases of the mean logarithm of each phase."""
    return {phase: fmean(map(fmean, rows)) for phase, rows in by_phases(cases).items()}


def _is_below(rows: Sequence[Sequence[float]], limit: float) -> bool:
    """Tell whether the mean of the cases' means lies below ``limit`` for certain, but for the error of a look."""
    if any(len(row) < FEWEST for row in rows):
        return False
    variance = sum(max(stdev(row), _LEAST_SPREAD) ** 2 / len(row) for row in rows) / len(rows) ** 2
    freedom = min(len(row) for row in rows) - 1
    return fmean(map(fmean, rows)) + two_sided_quantile(1 - _ERROR, freedom) * math.sqrt(variance) < limit
