# SPDX-License-Identifier: Apache-2.0
"""Metrics of work on cores, from gauges of a known phase."""

import pytest

from support.make_records import make_phase
from ullage.analysis.metrics import metric_named
from ullage.model.record import Gauge, PhaseRecord


def phase(ranks: int = 2, **gauges: tuple[float, float, float]) -> PhaseRecord:
    known = {name: Gauge(sum=sum_, least=least, most=most) for name, (sum_, least, most) in gauges.items()}
    return make_phase(access="none", bytes_=0, ranks=ranks, operations=20, gauges=known)


# Two ranks with 10 windows each.
FULL = phase(
    operations=(4e9, 2e9, 2e9),
    instructions=(1e9, 5e8, 5e8),
    kernel_s=(0.21, 0.1, 0.11),
    shortest_window_s=(0.02, 0.0095, 0.0105),
    clock_hz=(7e9, 3.4e9, 3.6e9),
    cycles=(5e8, 2.4e8, 2.6e8),
)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("compute_rate", 4e9 / 0.11),
        ("best_compute_rate", 4e9 / 10 / 0.0095),
        ("clock", 3.5e9),
        ("instructions_per_cycle", 2.0),
    ],
)
def test_a_metric_of_a_known_phase(name: str, value: float) -> None:
    assert metric_named(name).sample(FULL) == pytest.approx(value)
    assert metric_named(name).better == "more"


@pytest.mark.parametrize("name", ["compute_rate", "best_compute_rate", "clock", "instructions_per_cycle"])
def test_what_a_record_does_not_say_is_no_sample(name: str) -> None:
    sample = metric_named(name).sample
    assert sample(phase()) is None
    zero = (0.0, 0.0, 0.0)
    nothing = dict.fromkeys(("operations", "instructions", "kernel_s", "shortest_window_s", "clock_hz", "cycles"), zero)
    assert sample(phase(**nothing)) is None
