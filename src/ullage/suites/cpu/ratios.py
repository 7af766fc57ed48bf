# SPDX-License-Identifier: Apache-2.0
"""Rows that follow from two others: what wide instructions cost in clock, and what special units give. Pure."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ullage.analysis.verdicts.grades import worst_grade
from ullage.model.summary import Row
from ullage.suites.cpu.kernels import NARROW
from ullage.suites.cpu.rows import Measurement

if TYPE_CHECKING:
    from ullage.model.plan import Scalar

CLOCK_RATIO = "clock_ratio"
RATE_RATIO = "rate_ratio"
THREAD_RATIO = "thread_ratio"
_WIDE = "avx512"
_MATRIX = "amx"
_SPECIAL = ("int8", "bf16")


def ratio_rows(found: Iterable[Measurement]) -> list[Row]:
    """At each thread count: the clock under AVX-512 over that under scalar instructions, AMX over vectors, the dots
    of each short type over single precision; and of each type's best kernel the rate of k threads over that of one."""
    all_ = [one for one in found if one.is_kernel]
    rows: list[Row] = []
    for threads in sorted({one.threads for one in all_}):
        same = [one for one in all_ if one.threads == threads]
        rows += [*_clock(same), *_special(same)]
    return [*rows, *_scaling(all_)]


def _clock(same: Sequence[Measurement]) -> list[Row]:
    """The clock ratio of the FMA in double precision, where that exists in both."""
    wide, narrow = _find(same, f"{_WIDE}/fp64/fma"), _find(same, f"{NARROW}/fp64/fma")
    return [] if wide is None or narrow is None else _ratio(CLOCK_RATIO, "clock", wide, narrow)


def _special(same: Sequence[Measurement]) -> list[Row]:
    base = best_of(one for one in same if one.params["type"] == "fp32")
    if base is None:
        return []
    rows = _matrix_units(same)
    for type_ in _SPECIAL:
        best = best_of(one for one in same if one.params["type"] == type_ and one.params["operation"] == "dot")
        rows += [] if best is None else _ratio(RATE_RATIO, "compute_rate", best, base)
    return rows


def _matrix_units(same: Sequence[Measurement]) -> list[Row]:
    """AMX over the fastest vector kernel of the same type."""
    rows: list[Row] = []
    for best in best_of_types(one for one in same if one.params["isa"] == _MATRIX):
        of_type = [one for one in same if one.params["type"] == best.params["type"] and one.params["isa"] != _MATRIX]
        vector = best_of(of_type)
        rows += [] if vector is None else _ratio(RATE_RATIO, "compute_rate", best, vector)
    return rows


def _scaling(all_: Sequence[Measurement]) -> list[Row]:
    rows: list[Row] = []
    for best in best_of_types(all_):
        line = sorted((one for one in all_ if one.name == best.name), key=lambda one: one.threads)
        if line[0].threads == 1:
            rows += [row for one in line[1:] for row in _ratio(THREAD_RATIO, "compute_rate", one, line[0])]
    return rows


def best_of_types(found: Iterable[Measurement]) -> list[Measurement]:
    """The fastest of each type, whatever its thread count."""
    types: dict[Scalar, list[Measurement]] = {}
    for one in found:
        types.setdefault(one.params["type"], []).append(one)
    return [best for of_type in types.values() if (best := best_of(of_type)) is not None]


def best_of(found: Iterable[Measurement]) -> Measurement | None:
    """The fastest of those that are no INVALID."""
    valid = [one for one in found if one.rate is not None and not one.rate.is_invalid]
    return max(valid, key=lambda one: one.value("compute_rate") or 0.0, default=None)


def _find(found: Iterable[Measurement], name: str) -> Measurement | None:
    return next((one for one in found if one.name == name), None)


def _ratio(metric: str, of: str, first: Measurement, second: Measurement) -> list[Row]:
    """``first`` over ``second``; its interval holds every ratio that the two intervals allow."""
    a, b = first.rows.get(of), second.rows.get(of)
    if a is None or b is None or b.median <= 0 or first is second:
        return []
    over = f"{second.name} with {second.threads} thread{'s' if second.threads > 1 else ''}"
    bounded = a.low is not None and a.high is not None and b.low and b.high
    row = Row(
        metric=metric,
        unit="x",
        better="more",
        target=a.target,
        params={**a.params, "over": over},
        median=a.median / b.median,
        low=a.low / b.high if bounded and a.low is not None and b.high else None,
        high=a.high / b.low if bounded and a.high is not None and b.low else None,
        repetitions=[a.median / b.median],
        verdict="none",
        notes=[f"{of} of {first.name} over that of {over}: two medians, bounded by their intervals"],
        grade=worst_grade((a.grade, b.grade)),
    )
    return [row]
