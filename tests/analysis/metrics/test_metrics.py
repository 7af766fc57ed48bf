# SPDX-License-Identifier: Apache-2.0
import pytest

from support.data import some
from support.make_records import MIB, SECOND_NS, make_phase
from ullage.analysis.metrics import load_metrics, metric_named
from ullage.errors import UserError
from ullage.model.record import Done, Ranks, RankTime, Stage, Stonewall

FULL = make_phase(
    elapsed_ns=4 * SECOND_NS,
    bytes_=400 * MIB,
    stages={
        "open": Stage(first_start_ns=0, last_stop_ns=10**8, longest_ns=9 * 10**7),
        "transfer": Stage(first_start_ns=10**8, last_stop_ns=21 * 10**8, longest_ns=2 * 10**9),
        "sync": Stage(first_start_ns=21 * 10**8, last_stop_ns=39 * 10**8, longest_ns=18 * 10**8),
        "close": Stage(first_start_ns=39 * 10**8, last_stop_ns=40 * 10**8, longest_ns=10**8),
    },
    first_done=Done(elapsed_ns=SECOND_NS, bytes=150 * MIB, operations=150),
    stonewall=Stonewall(
        deadline_ns=2 * SECOND_NS,
        at_wall=Done(elapsed_ns=2 * SECOND_NS, bytes=300 * MIB, operations=300),
        wear_out=True,
        least_operations=1,
        most_operations=2,
    ),
    by_rank=Ranks(
        fastest=RankTime(rank=1, node="n", elapsed_ns=5 * SECOND_NS // 2, bytes=200 * MIB),
        mean_ns=3 * SECOND_NS,
        slowest=[RankTime(rank=rank, node="n", elapsed_ns=(7 - rank) * SECOND_NS // 2, bytes=MIB) for rank in (0, 1)],
        least_bytes=MIB,
        most_bytes=200 * MIB,
    ),
)


def test_page_faults_are_of_each_mib_and_unknown_of_older_records() -> None:
    faults = metric_named("page_faults").sample
    assert faults(FULL) is None
    assert faults(FULL.model_copy(update={"minor_faults": 6000, "major_faults": 400})) == 16
    assert faults(FULL.model_copy(update={"minor_faults": 6000, "bytes": 0})) is None


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("bandwidth", 100 * MIB),
        ("transfer_bandwidth", 200 * MIB),
        ("first_done_bandwidth", 150 * MIB),
        ("stonewall_bandwidth", 150 * MIB),
        ("operation_rate", 100),
        ("open_time", 0.09),
        ("sync_time", 1.8),
        ("close_time", 0.1),
        ("fastest_rank_time", 2.5),
        ("mean_rank_time", 3),
        ("slowest_rank_time", 3.5),
        ("least_rank_bandwidth", MIB / 3.5),
        ("latency_p50", 0.02),
        ("latency_max", 0.02),
    ],
)
def test_a_metric_of_a_known_phase(name: str, expected: float) -> None:
    assert metric_named(name).sample(FULL) == pytest.approx(expected)


def test_percentiles_are_those_of_the_record() -> None:
    assert FULL.latency is not None
    latency = FULL.latency.model_copy(
        update={"p50_ns": 1000, "p95_ns": 2000, "p99_ns": 3000, "p999_ns": 4000, "max_ns": 5000}
    )
    phase = FULL.model_copy(update={"latency": latency})
    names = ("latency_p50", "latency_p95", "latency_p99", "latency_p999", "latency_max")
    assert [metric_named(name).sample(phase) for name in names] == pytest.approx([1e-6, 2e-6, 3e-6, 4e-6, 5e-6])


@pytest.mark.parametrize("name", sorted(load_metrics()))
def test_what_was_not_recorded_is_no_sample(name: str) -> None:
    empty = make_phase(bytes_=0, operations=0, elapsed_ns=0, stages={}, latency=None)
    assert metric_named(name).sample(empty) is None


# What nobody wants more of.
_LESS = ("s", "s/op", "of time", "cores", "of messages", "faults/MiB", "of I/O", "x alone")
# Shares of the time that is used, and not lost.
_USED = ("accelerator_use", "run_use", "least_use")


def test_every_metric_says_what_it_is() -> None:
    for metric in some(load_metrics().values()):
        assert metric.doc
        assert (metric.better == "less") == (metric.unit in _LESS and metric.name not in _USED)


def test_an_unknown_metric_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UserError, match=r"no such metric.*bandwidth"):
        metric_named("speed")
