# SPDX-License-Identifier: Apache-2.0
"""Metrics of training samples that are read ahead of accelerators."""

from collections.abc import Callable
from typing import Final

from ullage.analysis.metrics import Metric
from ullage.analysis.metrics.arithmetic import per_second, seconds
from ullage.model.record import PhaseRecord

_LEAST_USE: Final = "least_use"


def accelerator_use(phase: PhaseRecord, prefix: str = "") -> float | None:
    """Return compute time over all time of all accelerators of an epoch, in each without its first step.

    ``prefix`` ``all_``: of this epoch and all before it. None where no accelerator has a second step.
    """
    compute, run = phase.gauges.get(f"{prefix}compute_s"), phase.gauges.get(f"{prefix}run_s")
    return compute.sum / run.sum if compute is not None and run is not None and run.sum > 0 else None


def _is_epoch(phase: PhaseRecord) -> bool:
    return _LEAST_USE in phase.gauges


def _least_use(phase: PhaseRecord) -> float | None:
    return phase.gauges[_LEAST_USE].least if accelerator_use(phase) is not None else None


def _part(part: str, field: str) -> Callable[[PhaseRecord], float | None]:
    def sample(phase: PhaseRecord) -> float | None:
        found = phase.latency_parts.get(part)
        if not _is_epoch(phase) or found is None or found.operations == 0:
            return None
        return seconds(getattr(found, field))

    return sample


METRICS: Final = (
    Metric(
        "accelerator_use",
        "of time",
        "more",
        "compute time over all time of the accelerators in an epoch, without their first steps (AU)",
        accelerator_use,
    ),
    Metric(
        "run_use",
        "of time",
        "more",
        "compute time over all time of the accelerators in this epoch and those before it (AU)",
        lambda phase: accelerator_use(phase, "all_"),
    ),
    Metric("least_use", "of time", "more", "the least AU of any accelerator in an epoch", _least_use),
    Metric(
        "sample_rate",
        "samples/s",
        "more",
        "samples over the time of the epoch",
        lambda phase: per_second(phase.counters.get("samples", 0), phase.elapsed_ns) if _is_epoch(phase) else None,
    ),
    Metric(
        "client_cores",
        "cores",
        "less",
        "cores that user and system time of all ranks kept busy in an epoch",
        lambda phase: phase.cpu_ns / phase.elapsed_ns if _is_epoch(phase) and phase.elapsed_ns else None,
    ),
    Metric("sample_open", "s", "less", "median time to open the file of a sample", _part("open", "p50_ns")),
    Metric("sample_read_p50", "s", "less", "median time to read a sample", _part("read", "p50_ns")),
    Metric(
        "sample_read_p99", "s", "less", "time that 99 of 100 reads of a sample stayed below", _part("read", "p99_ns")
    ),
    Metric(
        "step_wait_p99",
        "s",
        "less",
        "time that 99 of 100 steps waited at most for their batch",
        _part("wait", "p99_ns"),
    ),
    Metric(
        "wake_up_late_p99",
        "s",
        "less",
        "time by which 99 of 100 ends of steps were noticed late at most",
        _part("late", "p99_ns"),
    ),
)
