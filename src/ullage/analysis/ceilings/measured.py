# SPDX-License-Identifier: Apache-2.0
"""Ceilings of kind ``measured``: what the same cores, memory or device showed in the same minutes. Pure.

Such a bound is the best that a program reached that does the least any such work must do. A suite's ``report`` sets
``BOUNDS``, a tuple of ``Bound``.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from ullage.analysis.ceilings.rows import FEWEST_SAMPLES, is_of_device, with_ceiling
from ullage.analysis.verdicts.grades import is_sound
from ullage.grouping import grouped
from ullage.model.flags import DIRTY_USED
from ullage.model.summary import Ceiling, Row
from ullage.quantity import format_quantity

MOST_ABOVE: Final = 1.02
"""A share above this says that the bound was too low."""


def is_clean(row: Row) -> bool:
    """Tell whether ``row`` may bound others: sound, answered by no cache, with undisturbed samples enough."""
    return is_sound(row) and is_of_device(row) and len(_undisturbed(row)) >= FEWEST_SAMPLES


def _undisturbed(row: Row) -> list[float]:
    """Return the repetitions of ``row``, the best first, without as many of the best as were disturbed."""
    disturbed = sum(int(flag.detail) for flag in row.flags if flag.kind == DIRTY_USED)
    return sorted(row.repetitions, reverse=row.better == "more")[disturbed:]


def best_clean(rows: Sequence[Row]) -> float | None:
    """Return what the best undisturbed repetition of ``rows``, all of one direction, reached at least; None without."""
    values = [value for row in rows for value in _undisturbed(row) if value > 0]
    if not values:
        return None
    return max(values) if rows[0].better == "more" else min(values)


@dataclass(frozen=True)
class Bound:
    """A rule by which rows bound others.

    ``metric`` and ``bounds``: which rows are bounded; a row that a cache answered is the business of ``bounds``.
    ``gives``: which rows, of any suite and metric, show the bound. Rows with the same ``key`` (the same bytes,
    direction, cores) bound each other. ``source``: describes the giving row that was best. ``why``: one sentence on
    what is bounded, and why an expert accepts it. ``value``: of clean giving rows, in the unit of those bounded.
    ``times``: how many times the value bounds a row, where that depends on the row (its requests in flight).
    ``is_own_best``: it is no more than the best of the same part, so it stands only where nothing is declared or
    detected.
    """

    metric: str
    bounds: Callable[[Row], bool]
    gives: Callable[[Row], bool]
    key: Callable[[Row], Hashable]
    source: Callable[[Row], str]
    why: str
    value: Callable[[Sequence[Row]], float | None] = best_clean
    times: Callable[[Row], float] = lambda _row: 1.0
    is_own_best: bool = False


def with_measured(rows: Sequence[Row], bounds: Iterable[Bound], at: str = "") -> list[Row]:
    """Return ``rows`` in their order, under the bounds that were measured ``at`` a time.

    Such a bound stands where no declared or detected ceiling does, or where it is lower than that, and of several the
    lowest. A row above the bound by more than ``MOST_ABOVE`` is left as it was, without the best of the run: the bound
    has to be measured again.
    """
    found: dict[int, list[Ceiling]] = {}
    clean = [row for row in rows if is_clean(row)]
    for bound in bounds:
        bounded = [index for index, row in enumerate(rows) if row.metric == bound.metric and bound.bounds(row)]
        if not bounded:
            continue
        giving = grouped((bound.key(row), row) for row in clean if bound.gives(row))
        ceilings = {key: _ceiling(bound, some, at) for key, some in giving.items()}
        for index in bounded:
            if bound.is_own_best and _known(rows[index]) is not None:
                continue
            if (ceiling := ceilings.get(bound.key(rows[index]))) is not None:
                times = bound.times(rows[index])
                own = ceiling if times == 1 else ceiling.model_copy(update={"value": times * ceiling.value})
                found.setdefault(index, []).append(own)
    return [under_measured(row, found[index]) if index in found else row for index, row in enumerate(rows)]


def _ceiling(bound: Bound, giving: Sequence[Row], at: str) -> Ceiling | None:
    value = bound.value(giving)
    if value is None or value <= 0:
        return None
    best = max(giving, key=lambda row: _undisturbed(row)[0] * (1 if row.better == "more" else -1))
    return Ceiling(value=value, kind="measured", source=bound.source(best), why=bound.why, at=at)


def under_measured(row: Row, ceilings: Sequence[Ceiling]) -> Row:
    """Return ``row`` under the lowest of ``ceilings``, as ``with_measured`` says."""
    tightest = min if row.better == "more" else max
    ceiling = tightest(ceilings, key=lambda one: one.value)
    known = _known(row)
    if row.median <= 0 or (known is not None and tightest(known.value, ceiling.value) == known.value):
        return row
    share = row.median / ceiling.value if row.better == "more" else ceiling.value / row.median
    said = f"{format_quantity(ceiling.value, row.unit)} ({ceiling.source})"
    if share > MOST_ABOVE:
        left = row if known is not None else with_ceiling(row, None)
        return _noted(left, f"the measured bound of {said} was below this number: measure it again")
    bounded = with_ceiling(row, ceiling)
    if known is None:
        return bounded
    return _noted(bounded, f"the {known.kind} ceiling is {format_quantity(known.value, row.unit)} ({known.source})")


def _known(row: Row) -> Ceiling | None:
    return row.ceiling if row.ceiling is not None and row.ceiling.kind in ("declared", "detected") else None


def _noted(row: Row, note: str) -> Row:
    return row.model_copy(update={"notes": [*row.notes, note]})
