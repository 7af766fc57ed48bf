# SPDX-License-Identifier: Apache-2.0
"""Metrics of work in windows, of gauges that are known."""

import pytest

from support.make_records import make_phase
from ullage.analysis.metrics import load_metrics, metric_named
from ullage.model.record import PhaseRecord


def phase(**gauges: float | tuple[float, float]) -> PhaseRecord:
    """Each gauge is the sum over the ranks, or sum and largest."""
    pairs = {name: value if isinstance(value, tuple) else (value, value) for name, value in gauges.items()}
    return make_phase(gauges={name: {"sum": s, "least": 0.0, "most": m} for name, (s, m) in pairs.items()})


@pytest.mark.parametrize(
    ("metric", "gauge"),
    [
        ("memory_bandwidth", "application_bytes"),
        ("bus_bandwidth", "bus_bytes"),
        ("injected_bandwidth", "injected_bytes"),
        ("update_rate", "updates"),
    ],
)
def test_a_rate_is_the_sum_over_the_ranks_by_the_longest_time(metric: str, gauge: str) -> None:
    assert metric_named(metric).sample(phase(**{gauge: 6e9, "kernel_s": (3.0, 2.0)})) == 3e9
    assert metric_named(metric).sample(phase(**{gauge: 6e9})) is None
    assert metric_named(metric).sample(phase(**{gauge: 0.0, "kernel_s": 2.0})) is None
    assert metric_named(metric).sample(phase(**{gauge: 6e9, "kernel_s": 0.0})) is None


def test_an_access_takes_the_threads_time_over_the_accesses() -> None:
    metric = metric_named("access_time")
    assert metric.sample(phase(accesses=1e6, thread_s=0.2, kernel_s=0.1)) == pytest.approx(2e-7)
    assert metric.sample(phase(accesses=1e6, chase_s=0.15, kernel_s=0.2)) == pytest.approx(1.5e-7)
    assert metric.sample(phase(accesses=0.0, thread_s=0.2)) is None
    assert metric.better == "less"


def test_a_round_trip_takes_the_windows_time_over_their_number() -> None:
    metric = metric_named("core_round_trip")
    assert metric.sample(phase(round_trips=1e6, kernel_s=0.1)) == pytest.approx(1e-7)
    assert metric.sample(phase(kernel_s=0.1)) is None


def test_they_are_found_with_their_units() -> None:
    units = {name: metric.unit for name, metric in load_metrics().items()}
    assert units["memory_bandwidth"] == units["bus_bandwidth"] == units["injected_bandwidth"] == "B/s"
    assert (units["access_time"], units["core_round_trip"], units["update_rate"]) == ("s", "s", "update/s")
