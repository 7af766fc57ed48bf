# SPDX-License-Identifier: Apache-2.0
"""Rows that follow from others: clocks, operations and threads beside each other, and what cores do together. Pure."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from ullage.analysis.contests import compare_rows
from ullage.analysis.verdicts.grades import worst_grade
from ullage.grouping import grouped
from ullage.model.summary import Row
from ullage.quantity import percent
from ullage.results.rows import RowFrame
from ullage.suites.cpu.libraries import NARROW
from ullage.suites.cpu.rows import ROOF_TYPE, Measurement, best_of, best_of_types

CLOCK_RATIO = "clock_ratio"
RATE_RATIO = "rate_ratio"
THREAD_RATIO = "thread_ratio"
CORE_SHARE = "core_share"
_WIDE = "avx512"
_MATRIX = "amx"
_SPECIAL = ("int8", "bf16")
_RATE = "compute_rate"
# All ratios of a run hold together at 95 %, up to 50 of them.
_LEVEL: Final = 0.999
_OF_ROWS: Final = 0.95


def ratio_rows(found: Iterable[Measurement]) -> list[Row]:
    """Return the rows that follow from others.

    For each type's best kernel they give the rate of k threads over that of one.
    """
    kernels = [one for one in found if one.is_kernel]
    pairs = [
        pair for _, same in sorted(grouped((one.threads, one) for one in kernels).items()) for pair in _compared(same)
    ]
    for best in best_of_types(kernels):
        first, *others = sorted((one for one in kernels if one.name == best.name), key=lambda one: one.threads)
        pairs += [(THREAD_RATIO, _RATE, one, first) for one in others if first.threads == 1]
    shared = [row for one in kernels if one.threads > 1 for row in _core_share(one, kernels)]
    return [*(row for pair in pairs for row in _ratio(*pair)), *shared]


def _core_share(one: Measurement, kernels: Iterable[Measurement]) -> list[Row]:
    """Return what a core does of its instructions a cycle alone when all do: in the best windows, free of others.

    Only of the FMA in double precision, repetition by repetition.
    """
    alone = next((other for other in kernels if other.name == one.name and other.threads == 1), None)
    if alone is None or one.params["type"] != ROOF_TYPE or one.params["operation"] != "fma":
        return []
    sides = [(side.rows.get("best_compute_rate"), side.rows.get("clock")) for side in (one, alone)]
    cycles: list[list[float]] = []
    for best, clock in sides:
        if best is None or clock is None or min(clock.repetitions) <= 0:
            return []
        cycles.append([rate / hz for rate, hz in zip(best.repetitions, clock.repetitions, strict=False)])
    values = [all_ / one.threads / single for all_, single in zip(*cycles, strict=False)]
    grade = worst_grade((one.first.grade, alone.first.grade))
    params = {**one.params, "over": f"{one.name} with 1 thread"}
    frame = RowFrame(CORE_SHARE, "x", one.first.target, params, grade=grade)
    made = frame.row(values, _OF_ROWS)
    return [
        made.model_copy(update={"notes": ["instructions a cycle of the best windows, per thread, over those alone"]})
    ]


def _compared(same: Sequence[Measurement]) -> Iterator[tuple[str, str, Measurement | None, Measurement | None]]:
    """Yield what is compared at a thread count: the metric of the ratio, that of both sides, and both.

    They are the clock of the FMA in double precision under AVX-512 and under scalar instructions, AMX and the fastest
    vector kernel of its type, and the dots of each short type and single precision.
    """
    named = {one.name: one for one in same}
    yield CLOCK_RATIO, "clock", named.get(f"{_WIDE}/fp64/fma"), named.get(f"{NARROW}/fp64/fma")
    base = best_of(one for one in same if one.params["type"] == "fp32")
    if base is None:
        return
    vectors = grouped((one.params["type"], one) for one in same if one.params["isa"] != _MATRIX)
    for best in best_of_types(one for one in same if one.params["isa"] == _MATRIX):
        yield RATE_RATIO, _RATE, best, best_of(vectors.get(best.params["type"], []))
    for type_ in _SPECIAL:
        dots = (one for one in same if one.params["type"] == type_ and one.params["operation"] == "dot")
        yield RATE_RATIO, _RATE, best_of(dots), base


def _ratio(metric: str, of: str, first: Measurement | None, second: Measurement | None) -> list[Row]:
    """Return ``first`` over ``second`` with the interval of their comparison, where both carry one."""
    if first is None or second is None or first is second:
        return []
    a, b = first.rows.get(of), second.rows.get(of)
    if a is None or b is None or b.median <= 0:
        return []
    over = f"{second.name} with {second.threads} thread{'s' if second.threads > 1 else ''}"
    found = compare_rows(a, b, _LEVEL)
    return [
        Row(
            metric=metric,
            unit="x",
            better="more",
            target=a.target,
            params={**a.params, "over": over},
            median=a.median / b.median,
            low=found.low,
            high=found.high,
            repetitions=[a.median / b.median],
            verdict="none",
            notes=[f"{of} of {first.name} over that of {over}: two medians, interval at {percent(_LEVEL, 1)}"],
            grade=worst_grade((a.grade, b.grade)),
        )
    ]
