# SPDX-License-Identifier: Apache-2.0
"""What goes through sockets between pairs of ranks: bytes that arrive, messages, processor time, loss, jitter.

All are of the measured time alone, by the clock of whoever receives or asks; pairs are added up.
"""

from ullage.analysis.metrics import Metric
from ullage.model.record import PhaseRecord


def _sum(phase: PhaseRecord, name: str) -> float | None:
    """0 counts: nothing arrived. None where nothing was tried."""
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
    # Of a stream of datagrams of which none has come the receiver knows no number.
    was_sent = phase.counters.get("sent_bytes", 0) > 0 and "datagrams_by" in phase.facts
    return 1.0 if was_sent else None


def _jitter(phase: PhaseRecord) -> float | None:
    gauge = phase.gauges.get("jitter_s")
    return None if gauge is None or gauge.most <= 0 else gauge.most


METRICS = (
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
