# SPDX-License-Identifier: Apache-2.0
"""What tells rows apart: their parameters, which of them differ, and in which order their values stand. Pure."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Final

from ullage.grouping import grouped
from ullage.model.plan import Scalar
from ullage.model.summary import Row

_PHASE_KEY: Final = "phase"
ACCESS_KEYS: Final = (_PHASE_KEY, "access")


def access_of(row: Row) -> str:
    """Return ``write``, ``read`` or the name of the benchmark's phase; empty when the suite has no such parameter."""
    return next((str(row.params[key]) for key in ACCESS_KEYS if key in row.params), "")


def phase_of(row: Row) -> str:
    """Return the benchmark's name of the phase, such as ``ior-easy-write``; empty for a row of no named phase."""
    return str(row.params.get(_PHASE_KEY, ""))


def select(rows: Iterable[Row], metric: str, **params: Scalar | None) -> list[Row]:
    """Return the rows of that metric with these parameters, in their order; None of one that a row must not have."""
    return [
        row
        for row in rows
        if row.metric == metric and all(row.params.get(name) == value for name, value in params.items())
    ]


def first(rows: Iterable[Row], metric: str, **params: Scalar) -> Row | None:
    """Return the first row of that metric with these parameters, or None without any."""
    return next(iter(select(rows, metric, **params)), None)


def sort_key(value: Scalar | None) -> tuple[int, float, str]:
    """Return a key that sorts numbers by size, then words by letter."""
    if isinstance(value, (int, float)):
        return (0, float(value), "")
    return (1, 0.0, str(value))


def values_by_key(rows: Iterable[Row]) -> dict[str, set[Scalar]]:
    """Return every parameter with the set of values that it takes."""
    values: defaultdict[str, set[Scalar]] = defaultdict(set)
    for row in rows:
        for key, value in row.params.items():
            values[key].add(value)
    return dict(values)


def separating_keys(rows: Iterable[Row], place: Callable[[Row], tuple[object, ...]]) -> list[str]:
    """Return the parameters that still differ between rows of one place, in the order in which they are met.

    A parameter that follows from the place separates nothing.
    """
    cells = grouped((place(row), row) for row in rows)
    keys: dict[str, None] = {}
    for found in cells.values():
        if len(found) > 1:
            keys.update(dict.fromkeys(key for key, values in values_by_key(found).items() if len(values) > 1))
    return list(keys)
