# SPDX-License-Identifier: Apache-2.0
"""RAW and OBSERVED rates, by h5bench's definitions."""

import pytest

from support.make_records import make_phase
from ullage.analysis.metrics import load_metrics
from ullage.analysis.metrics.programs import observed_rate
from ullage.model.record import Gauge, PhaseRecord

BY_NAME = {name: metric.sample for name, metric in load_metrics().items() if name.startswith(("raw_", "observed_"))}


def phase(raw_s: float, emulated_s: float) -> PhaseRecord:
    gauge = Gauge(sum=2 * raw_s, least=raw_s, most=raw_s)
    return make_phase(
        elapsed_ns=6_138_000_000, bytes_=2_560_000_000, gauges={"raw_s": gauge}, facts={"emulated_s": emulated_s}
    )


def test_the_published_sample_of_h5bench_gives_its_rate() -> None:
    """2560 MB in 6.138 s, of which 4 s were emulated computation: 1197 MB/s."""
    rate = observed_rate(2560e6, 6.138, 4.0)
    assert rate is not None
    assert round(rate / 1e6) == 1197
    assert BY_NAME["observed_bandwidth"](phase(1.5, 4.0)) == pytest.approx(rate)


def test_the_raw_rate_is_over_the_calls_of_the_slowest_rank_alone() -> None:
    assert BY_NAME["raw_bandwidth"](phase(1.28, 4.0)) == pytest.approx(2e9)
    assert BY_NAME["raw_time"](phase(1.28, 4.0)) == 1.28


def test_without_time_or_gauges_nothing_is_said() -> None:
    assert observed_rate(1e6, 2.0, 2.0) is None
    assert observed_rate(0, 2.0, 1.0) is None
    assert all(sample(make_phase()) is None for sample in BY_NAME.values())
    assert BY_NAME["raw_bandwidth"](phase(0.0, 4.0)) is None
