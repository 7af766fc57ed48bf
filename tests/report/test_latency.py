# SPDX-License-Identifier: Apache-2.0
"""Histograms added up."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.sample_result import bucket_of
from ullage.model.record import Latency
from ullage.report.latency import bucket_midpoint_ns, merge


def latency(values: list[int], *, buckets: bool = True) -> Latency:
    ordered = sorted(values)
    counts: dict[int, int] = {}
    for value in ordered:
        counts[bucket_of(value)] = counts.get(bucket_of(value), 0) + 1

    def at(permille: int) -> int:
        return ordered[max(0, -(-len(ordered) * permille // 1000) - 1)]

    return Latency(
        operations=len(ordered), sum_ns=sum(ordered), min_ns=ordered[0], max_ns=ordered[-1],
        p50_ns=at(500), p95_ns=at(950), p99_ns=at(990), p999_ns=at(999),
        buckets=sorted(counts.items()) if buckets else [],
    )  # fmt: skip


@given(st.integers(min_value=0, max_value=2**62))
def test_a_midpoint_is_at_most_one_256th_off(value: int) -> None:
    assert abs(bucket_midpoint_ns(bucket_of(value)) - value) <= value / 256


@given(st.lists(st.integers(min_value=1, max_value=10**10), min_size=1, max_size=200), st.integers(1, 3))
def test_merged_percentiles_are_those_of_all_calls_together(values: list[int], parts: int) -> None:
    pieces = [piece for index in range(parts) if (piece := values[index::parts])]
    found = merge([latency(piece) for piece in pieces])
    assert found is not None
    assert found.merged
    assert found.operations == len(values)
    whole = latency(values)
    for name, exact in (("p50", whole.p50_ns), ("p95", whole.p95_ns), ("p99", whole.p99_ns), ("p99.9", whole.p999_ns)):
        assert found.seconds[name] == pytest.approx(exact / 1e9, rel=1 / 200)
    assert found.seconds["max"] == whole.max_ns / 1e9


def test_without_buckets_the_slowest_repetition_stands_alone() -> None:
    found = merge([latency([10, 20, 30], buckets=False), latency([100, 200, 300], buckets=False)])
    assert found is not None
    assert not found.merged
    assert found.seconds["p50"] == 200 / 1e9


def test_nothing_measured_is_nothing() -> None:
    assert merge([]) is None
