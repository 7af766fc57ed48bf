# SPDX-License-Identifier: Apache-2.0
"""Metrics of messages between ranks: rings, pairs, collective operations, congestion, sockets."""

from statistics import fmean, median
from typing import Final, cast

from ullage.analysis.metrics import Declared, Sample, metric
from ullage.analysis.metrics.arithmetic import NS_PER_S, bytes_over, largest, most, over, total
from ullage.model.record import Latency, PhaseRecord
from ullage.pair_tables import pair_table

# -- HPC Challenge's numbers: rings in which all send, and pairs of which one at a time does (HPCC 1.5, bench_lat_bw) --


_SIZE: Final = "message_bytes"
_RING: Final = most("ring_s")
_LEAST_TIME, _MEAN_TIME, _MOST_TIME = map(most, ("least_one_way_s", "mean_one_way_s", "most_one_way_s"))


@metric("B/s", "more")
def ping_pong_bandwidth(phase: PhaseRecord) -> float | None:
    """Bytes of a message over its one-way time, mean over the pairs.

    Return the mean of the pairs' rates, not the rate of their mean time.
    """
    size = most(_SIZE)(phase)
    known = [seconds for seconds in _one_way_seconds(phase) if seconds > 0]
    return size * fmean(1 / seconds for seconds in known) if known and size is not None else None


def _one_way_seconds(phase: PhaseRecord) -> list[float]:
    """Return the time of each ordered pair that was measured, from the record or from the table that it names."""
    table = pair_table(phase.facts)
    if table is not None:
        return cast("list[float]", table.seconds.tolist())
    told = phase.facts.get("one_way_s")
    if not isinstance(told, list):
        return []
    entries = [cast("list[object]", one) for one in cast("list[object]", told) if isinstance(one, list)]
    return [float(one[2]) for one in entries if len(one) == 3 and isinstance(one[2], (int, float))]


def _times(phase: PhaseRecord, traffic: str) -> list[float]:
    if phase.facts.get("traffic") != traffic:
        return []
    return [seconds for seconds in _one_way_seconds(phase) if seconds > 0]


def _latency(phase: PhaseRecord) -> float | None:
    times = _times(phase, "ping-pong")
    return median(times) if times else None


def _one_way(phase: PhaseRecord) -> float | None:
    times = _times(phase, "one-way")
    return median(times) if times else None


SHARED_MEMORY: Final = "shared-memory"
COLLECTIVE: Final = "collective"
ONE_SIDED: Final = "one-sided"


def _in(name: str, sample: Sample) -> Sample:
    """Sample phases of that name alone."""
    return lambda phase: sample(phase) if phase.phase == name else None


@metric("of call", "more")
def overlap(phase: PhaseRecord) -> float | None:
    """Share of the nonblocking operation's own time that overlaps with computation: 1 - (both - computation) /
    operation, as OSU has it, by times added over the ranks.
    """
    found = [phase.gauges.get(name) for name in ("call_s", "compute_s", "overall_s")]
    call, compute, overall = (None if gauge is None else gauge.sum for gauge in found)
    if call is None or compute is None or overall is None or call <= 0:
        return None
    return min(1.0, max(0.0, 1 - (overall - compute) / call))


ISOLATED: Final = "isolated"
CONGESTED: Final = "congested"


def state_of(phase: PhaseRecord) -> tuple[str, str] | None:
    """Split the phase's name into test and state; None for a phase of other work."""
    test, _, state = phase.phase.rpartition("-")
    return (test, state) if test and state in (ISOLATED, CONGESTED) else None


def _histogram(phase: PhaseRecord) -> Latency | None:
    if state_of(phase) is None or phase.latency is None or phase.latency.operations == 0:
        return None
    return phase.latency


def _mean(phase: PhaseRecord) -> float | None:
    found = _histogram(phase)
    return None if found is None else found.sum_ns / NS_PER_S / found.operations


@metric("s", "less")
def congestion_time_p99(phase: PhaseRecord) -> float | None:
    """Time that 99 of 100 exchanges or allreduces of the victims stayed below."""
    found = _histogram(phase)
    return None if found is None else found.p99_ns / NS_PER_S


@metric("B/s", "more")
def congestion_bandwidth(phase: PhaseRecord) -> float | None:
    """Bytes that a victim sends over the mean time of its exchanges."""
    return over(largest("operation_bytes"), _mean)(phase) if phase.phase.startswith("bandwidth-") else None


def _arrived(name: str) -> Sample:
    """Sample a gauge added over the ranks, 0 where nothing arrived; None where nothing was tried."""

    def sample(phase: PhaseRecord) -> float | None:
        gauge, pairs = phase.gauges.get(name), phase.gauges.get("pairs")
        was_tried = pairs is not None and pairs.sum > 0 and "unavailable" not in phase.facts
        return gauge.sum if gauge is not None and was_tried else None

    return sample


@metric("of messages", "less")
def loss_share(phase: PhaseRecord) -> float | None:
    """Datagrams that did not arrive, or requests without an answer."""
    expected = phase.counters.get("expected", 0)
    if expected > 0:
        return phase.counters.get("lost", 0) / expected
    # The receiver knows no number for a stream of datagrams of which none has come.
    was_sent = phase.counters.get("sent_bytes", 0) > 0 and "datagrams_by" in phase.facts
    return 1.0 if was_sent else None


METRICS: Final[Declared] = {
    ("s", "less"): {
        "ring_latency": ("time of a message while every process sends to both neighbours", _RING),
        "ping_pong_least_latency": ("one-way time between the fastest pair of processes", _LEAST_TIME),
        "ping_pong_latency": ("one-way time of a message, mean over the pairs", _MEAN_TIME),
        "ping_pong_most_latency": ("one-way time of a message between the slowest pair", _MOST_TIME),
        "pair_latency": ("half a message there and back, median over the ordered pairs", _latency),
        "worst_pair_latency": (
            "half a message there and back, of the slowest ordered pair",
            lambda phase: max(_times(phase, "ping-pong"), default=None),
        ),
        "collective_latency": (
            "time of a call, mean over calls and ranks, as OSU has it",
            _in(COLLECTIVE, over(total("call_s"), total("calls"))),
        ),
        "collective_latency_slowest": (
            "time of a call, mean over calls, of the slowest rank",
            _in(COLLECTIVE, over(lambda _phase: 1.0, over(most("calls"), most("call_s")))),
        ),
        "one_sided_latency": (
            "time of the origins over the operations, what ends them included",
            _in(ONE_SIDED, over(total("elapsed_s"), total("operations"))),
        ),
        "line_latency": (
            "a cache line one way between two cores by plain loads and stores, of the fastest pair",
            _in(SHARED_MEMORY, most("least_line_s")),
        ),
        "worst_line_latency": (
            "a cache line one way between two cores, of the slowest pair",
            _in(SHARED_MEMORY, most("most_line_s")),
        ),
        "congestion_time": ("time of one exchange or allreduce of the victims, mean", _mean),
        "jitter": ("interarrival jitter by RFC 3550 of the worst rank, between receiving calls", most("jitter_s")),
    },
    ("B/s", "more"): {
        "ring_bandwidth": ("bytes of a message over ring_latency, of each process", over(most(_SIZE), _RING)),
        "ping_pong_least_bandwidth": (
            "bytes of a message over the one-way time of the slowest pair",
            over(most(_SIZE), _MOST_TIME),
        ),
        "ping_pong_most_bandwidth": (
            "bytes of a message over the one-way time of the fastest pair",
            over(most(_SIZE), _LEAST_TIME),
        ),
        "pair_bandwidth": (
            "messages one way over their time, median over ordered pairs",
            over(largest(_SIZE), _one_way),
        ),
        "worst_pair_bandwidth": (
            "messages one way over their time, of the slowest ordered pair",
            over(largest(_SIZE), lambda phase: max(_times(phase, "one-way"), default=None)),
        ),
        "exchange_bandwidth": (
            "bytes of all messages of a pattern, each counted once, over the time of the slowest rank",
            over(total("bytes"), most("elapsed_s")),
        ),
        "link_bandwidth": (
            "bytes that have to cross a rank's link, as nccl-tests count them (busbw), over the slowest rank's time",
            _in(COLLECTIVE, over(most("link_bytes"), most("call_s"))),
        ),
        "one_sided_bandwidth": (
            "bytes of all origins over the time of the slowest",
            _in(ONE_SIDED, bytes_over(most("most_elapsed_s"))),
        ),
        "one_copy_bandwidth": (
            "bytes of a message over the time of one copy out of another core's memory, of the slowest rank",
            _in(SHARED_MEMORY, over(largest(_SIZE), most("least_copy_s"))),
        ),
        "network_bandwidth": (
            "payload that arrived at the receivers over the measured time, all pairs and both ways together",
            _arrived("goodput_bytes_per_s"),
        ),
        "bandwidth_per_core": (
            "payload that arrived for each second of a core, both ends",
            over(_arrived("goodput_bytes_per_s"), _arrived("cpu_cores")),
        ),
    },
    ("op/s", "more"): {
        "message_rate": ("messages that arrived, or round trips, over the measured time", _arrived("messages_per_s"))
    },
    ("cores", "less"): {
        "network_cpu": (
            "processor time of both ends, threads and kernel on their behalf, over the measured time",
            _arrived("cpu_cores"),
        )
    },
}
