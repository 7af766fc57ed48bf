# SPDX-License-Identifier: Apache-2.0
"""Operations against others of the same library: only what is certain counts as broken."""

import math
from random import Random
from statistics import median

import pytest

from support.collective_world import latency_row
from support.data import some
from support.flags import flags_of
from ullage.model.summary import Row
from ullage.suites.collectives.findings import GUIDELINES, guideline_findings, verdicts
from ullage.suites.collectives.suite import size_of


def judged(rows: list[Row], text: str) -> list[tuple[int, int, bool]]:
    return [(one.own.ranks, size_of(one.own), one.broken) for one in verdicts(rows, 0.95) if one.guideline.text == text]


def test_a_sum_of_parts_is_what_an_operation_is_held_against() -> None:
    parts = [latency_row("reduce", 4, 8, 1e-6), latency_row("bcast", 4, 8, 1e-6)]
    assert judged([*parts, latency_row("allreduce", 4, 8, 1.9e-6)], "allreduce <= reduce + bcast") == [(4, 8, False)]
    assert judged([*parts, latency_row("allreduce", 4, 8, 2.5e-6)], "allreduce <= reduce + bcast") == [(4, 8, True)]


def test_parts_of_other_ranks_or_unmeasured_ones_prove_nothing() -> None:
    rows = [latency_row("allreduce", 4, 8, 1.0), latency_row("reduce", 2, 8, 1e-6), latency_row("bcast", 4, 8, 1e-6)]
    assert judged(rows, "allreduce <= reduce + bcast") == []


def test_a_larger_part_stands_for_one_that_was_not_measured() -> None:
    rows = [latency_row("allgather", 4, 8, 5e-6), latency_row("gather", 4, 8, 1e-6), latency_row("bcast", 4, 64, 1e-6)]
    # A bcast of 4 x 8 bytes takes no longer than one of 64.
    assert judged(rows, "allgather <= gather + bcast") == [(4, 8, True)]
    assert judged([*rows[:2], latency_row("bcast", 4, 16, 1e-6)], "allgather <= gather + bcast") == []


def test_equal_times_break_nothing_however_many_are_compared() -> None:
    """Each of 64 equal pairs has intervals of 95 %, and some of these lie apart by chance."""
    draw = Random(5)
    rows = [
        latency_row(name, ranks, size, 1e-6).model_copy(
            update={
                "median": median(times := [1e-6 * math.exp(draw.gauss(0, 0.15)) for _ in range(6)]),
                "low": min(times),
                "high": max(times),
                "repetitions": times,
            }
        )
        for name in ("allgather", "alltoall", "alltoallv")
        for ranks in (2, 4, 8, 16)
        for size in (8 << step for step in range(16))
    ]
    assert not any(one.broken for one in some(verdicts(rows, 0.95)))


@pytest.mark.parametrize("spread", [0.0, 0.3])
def test_intervals_that_meet_break_nothing(spread: float) -> None:
    rows = [latency_row("allgather", 2, 8, 1.3e-6, spread=spread), latency_row("alltoall", 2, 8, 1e-6, spread=spread)]
    assert judged(rows, "allgather <= alltoall") == [(2, 8, spread == 0.0)]


def test_single_samples_and_crowded_ranks_prove_nothing() -> None:
    slow, fast = latency_row("allgather", 2, 8, 9e-6), latency_row("alltoall", 2, 8, 1e-6)
    assert judged([slow, fast], "allgather <= alltoall") == [(2, 8, True)]
    single = slow.model_copy(update={"repetitions": [slow.median]})
    assert judged([single, fast], "allgather <= alltoall") == [(2, 8, False)]
    crowded = [one.model_copy(update={"flags": flags_of("oversubscribed")}) for one in (slow, fast)]
    assert verdicts(crowded, 0.95) == []
    assert guideline_findings(crowded, 0.95) == []


def test_a_finding_names_the_worst_place_and_the_guidelines_that_held() -> None:
    rows = [
        latency_row("allgather", 2, 8, 2e-6),
        latency_row("alltoall", 2, 8, 1e-6),
        latency_row("allgather", 2, 64, 6e-6),
        latency_row("alltoall", 2, 64, 1e-6),
        latency_row("alltoallv", 2, 64, 1e-6),
    ]
    broken, held = guideline_findings(rows, 0.95)
    assert broken.kind == "guideline"
    assert broken.text.startswith("allgather of 64 with 2 ranks takes 6.00 us, 6.00 x the time of alltoall")
    assert (broken.numbers["broken"], broken.numbers["compared"]) == (2, 2)
    assert held.kind == "guidelines-held"
    assert "alltoall <= alltoallv" in held.text
    assert held.numbers["comparisons"] == 2


def test_no_guideline_compares_an_operation_with_itself_alone() -> None:
    assert all(guideline.operation not in {name for name, _ in guideline.parts} for guideline in some(GUIDELINES))
