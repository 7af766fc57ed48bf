# SPDX-License-Identifier: Apache-2.0
"""Metrics of messages between ranks: rings, pairs, collective operations, congestion, sockets."""

from collections.abc import Callable
from statistics import fmean
from typing import Final, cast

from ullage.analysis.metrics import Metric, metric
from ullage.analysis.metrics.arithmetic import NS_PER_S, time_each
from ullage.analysis.statistics import median
from ullage.model.record import Latency, PhaseRecord
from ullage.pair_tables import pair_table

# -- HPC Challenge's numbers: rings in which all send, and pairs of which one at a time does (HPCC 1.5, bench_lat_bw) --


_RING: Final = "ring_s"
_SIZE: Final = "message_bytes"
_TIMES: Final = {"least": "least_one_way_s", "mean": "mean_one_way_s", "most": "most_one_way_s"}


def _gauge(phase: PhaseRecord, name: str) -> float | None:
    found = phase.gauges.get(name)
    return found.most if found is not None and found.most > 0 else None


def _time(name: str) -> Callable[[PhaseRecord], float | None]:
    return lambda phase: _gauge(phase, name)


def _ring_rate(name: str) -> Callable[[PhaseRecord], float | None]:
    def rate(phase: PhaseRecord) -> float | None:
        size, seconds = _gauge(phase, _SIZE), _gauge(phase, name)
        return None if size is None or seconds is None else size / seconds

    return rate


@metric("B/s", "more")
def ping_pong_bandwidth(phase: PhaseRecord) -> float | None:
    """Bytes of a message over its one-way time, mean over the pairs.

    Return the mean of the pairs' rates, not the rate of their mean time.
    """
    size = _gauge(phase, _SIZE)
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


_RINGS = (
    Metric("ring_latency", "s", "less", "time of a message while every process sends to both neighbours", _time(_RING)),
    Metric("ring_bandwidth", "B/s", "more", "bytes of a message over ring_latency, of each process", _ring_rate(_RING)),
    Metric(
        "ping_pong_least_latency",
        "s",
        "less",
        "one-way time between the fastest pair of processes",
        _time(_TIMES["least"]),
    ),
    Metric("ping_pong_latency", "s", "less", "one-way time of a message, mean over the pairs", _time(_TIMES["mean"])),
    Metric(
        "ping_pong_most_latency",
        "s",
        "less",
        "one-way time of a message between the slowest pair",
        _time(_TIMES["most"]),
    ),
    Metric(
        "ping_pong_least_bandwidth",
        "B/s",
        "more",
        "bytes of a message over the one-way time of the slowest pair",
        _ring_rate(_TIMES["most"]),
    ),
    Metric(
        "ping_pong_most_bandwidth",
        "B/s",
        "more",
        "bytes of a message over the one-way time of the fastest pair",
        _ring_rate(_TIMES["least"]),
    ),
)


# -- messages between pairs, and patterns with all ranks active --------------------------------------------------------


_LATENCY: Final = "ping-pong"
_BANDWIDTH: Final = "one-way"


def _times(phase: PhaseRecord, traffic: str) -> list[float]:
    if phase.facts.get("traffic") != traffic:
        return []
    return [seconds for seconds in _one_way_seconds(phase) if seconds > 0]


def _message_bytes(phase: PhaseRecord) -> float:
    gauge = phase.gauges.get("message_bytes")
    return 0.0 if gauge is None else gauge.most


def _latency(phase: PhaseRecord) -> float | None:
    times = _times(phase, _LATENCY)
    return median(times) if times else None


def _worst_latency(phase: PhaseRecord) -> float | None:
    return max(_times(phase, _LATENCY), default=None)


def _bandwidth(phase: PhaseRecord) -> float | None:
    times = _times(phase, _BANDWIDTH)
    return _message_bytes(phase) / median(times) if times else None


@metric("B/s", "more")
def worst_pair_bandwidth(phase: PhaseRecord) -> float | None:
    """Messages one way over their time, of the slowest ordered pair."""
    times = _times(phase, _BANDWIDTH)
    return _message_bytes(phase) / max(times) if times else None


@metric("B/s", "more")
def exchange_bandwidth(phase: PhaseRecord) -> float | None:
    """Bytes of all messages of a pattern, each counted once, over the time of the slowest rank."""
    moved, took = phase.gauges.get("bytes"), phase.gauges.get("elapsed_s")
    if moved is None or took is None or took.most <= 0 or moved.sum <= 0:
        return None
    return moved.sum / took.most


_PAIRS = (
    Metric("pair_latency", "s", "less", "half a message there and back, median over the ordered pairs", _latency),
    Metric(
        "worst_pair_latency", "s", "less", "half a message there and back, of the slowest ordered pair", _worst_latency
    ),
    Metric("pair_bandwidth", "B/s", "more", "messages one way over their time, median over ordered pairs", _bandwidth),
)


# -- collective and one-sided operations of MPI ------------------------------------------------------------------------


COLLECTIVE: Final = "collective"
ONE_SIDED: Final = "one-sided"


def _mean_time(phase: PhaseRecord) -> float | None:
    return time_each(phase, "call_s", "calls") if phase.phase == COLLECTIVE else None


def _largest_over_longest(phase: PhaseRecord, amount: str, seconds: str) -> float | None:
    """Divide the largest ``amount`` of a rank by the largest ``seconds``; None where either is missing or 0."""
    done, took = phase.gauges.get(amount), phase.gauges.get(seconds)
    if done is None or took is None or done.most <= 0 or took.most <= 0:
        return None
    return done.most / took.most


def _slowest_time(phase: PhaseRecord) -> float | None:
    rate = _largest_over_longest(phase, "calls", "call_s") if phase.phase == COLLECTIVE else None
    return None if rate is None else 1 / rate


@metric("B/s", "more")
def link_bandwidth(phase: PhaseRecord) -> float | None:
    """Bytes that have to cross a rank's link, as nccl-tests count them (busbw), over the slowest rank's time."""
    return _largest_over_longest(phase, "link_bytes", "call_s") if phase.phase == COLLECTIVE else None


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


@metric("s", "less")
def one_sided_latency(phase: PhaseRecord) -> float | None:
    """Time of the origins over the operations, what ends them included."""
    return time_each(phase, "elapsed_s", "operations") if phase.phase == ONE_SIDED else None


@metric("B/s", "more")
def one_sided_bandwidth(phase: PhaseRecord) -> float | None:
    """Bytes of all origins over the time of the slowest."""
    took = phase.gauges.get("most_elapsed_s")
    if phase.phase != ONE_SIDED or took is None or took.most <= 0 or phase.bytes <= 0:
        return None
    return phase.bytes / took.most


_COLLECTIVES = (
    Metric("collective_latency", "s", "less", "time of a call, mean over calls and ranks, as OSU has it", _mean_time),
    Metric(
        "collective_latency_slowest", "s", "less", "time of a call, mean over calls, of the slowest rank", _slowest_time
    ),
)


# -- messages of a few ranks, alone or beside others: mean and tail of the victims' histogram --------------------------


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
    mean, size = _mean(phase), phase.gauges.get("operation_bytes")
    return size.most / mean if mean and size is not None and phase.phase.startswith("bandwidth-") else None


_CONGESTION = (Metric("congestion_time", "s", "less", "time of one exchange or allreduce of the victims, mean", _mean),)


# -- sockets between pairs of ranks: of the measured time alone, by the clock of the receiver --------------------------


def _sum(phase: PhaseRecord, name: str) -> float | None:
    """Return a gauge added over the ranks, 0 where nothing arrived; None where nothing was tried."""
    gauge, pairs = phase.gauges.get(name), phase.gauges.get("pairs")
    if gauge is None or pairs is None or pairs.sum <= 0 or "unavailable" in phase.facts:
        return None
    return gauge.sum


def _per_core(phase: PhaseRecord) -> float | None:
    rate, cores = _sum(phase, "goodput_bytes_per_s"), _sum(phase, "cpu_cores")
    return None if rate is None or not cores else rate / cores


def _loss(phase: PhaseRecord) -> float | None:
    expected = phase.counters.get("expected", 0)
    if expected > 0:
        return phase.counters.get("lost", 0) / expected
    # The receiver knows no number for a stream of datagrams of which none has come.
    was_sent = phase.counters.get("sent_bytes", 0) > 0 and "datagrams_by" in phase.facts
    return 1.0 if was_sent else None


def _jitter(phase: PhaseRecord) -> float | None:
    gauge = phase.gauges.get("jitter_s")
    return None if gauge is None or gauge.most <= 0 else gauge.most


_SOCKETS = (
    Metric(
        "network_bandwidth",
        "B/s",
        "more",
        "payload that arrived at the receivers over the measured time, all pairs and both ways together",
        lambda phase: _sum(phase, "goodput_bytes_per_s"),
    ),
    Metric(
        "message_rate",
        "op/s",
        "more",
        "messages that arrived, or round trips, over the measured time",
        lambda phase: _sum(phase, "messages_per_s"),
    ),
    Metric(
        "network_cpu",
        "cores",
        "less",
        "processor time of both ends, threads and kernel on their behalf, over the measured time",
        lambda phase: _sum(phase, "cpu_cores"),
    ),
    Metric("bandwidth_per_core", "B/s", "more", "payload that arrived for each second of a core, both ends", _per_core),
    Metric("loss_share", "of messages", "less", "datagrams that did not arrive, or requests without an answer", _loss),
    Metric(
        "jitter", "s", "less", "interarrival jitter by RFC 3550 of the worst rank, between receiving calls", _jitter
    ),
)


METRICS: Final = (*_RINGS, *_PAIRS, *_COLLECTIVES, *_CONGESTION, *_SOCKETS)
