# SPDX-License-Identifier: Apache-2.0
"""Metrics of tiles of a data set: frames a second, and the rate as MPI Tile I/O has it."""

from typing import Final

from ullage.analysis.metrics import Metric
from ullage.analysis.metrics.arithmetic import longest_of, per_second
from ullage.model.record import PhaseRecord


def _frame_rate(phase: PhaseRecord) -> float | None:
    frames = phase.facts.get("frames")
    return per_second(frames, phase.elapsed_ns) if isinstance(frames, int) else None


def _tile_bandwidth(phase: PhaseRecord) -> float | None:
    moved_s = longest_of(phase, "transfer")
    return phase.bytes / moved_s if phase.bytes and moved_s and "frame_bytes" in phase.facts else None


METRICS: Final = (
    Metric(
        "frame_rate",
        "frame/s",
        "more",
        "frames over the time from the first rank's open to the last rank's close",
        _frame_rate,
    ),
    # The original's number: it has no sync, and no time between ranks.
    Metric(
        "tile_bandwidth",
        "B/s",
        "more",
        "bytes of all tiles over the time that the slowest rank spent in transfers",
        _tile_bandwidth,
    ),
    Metric(
        "move_time",
        "s",
        "less",
        "time that the slowest rank spent in transfers",
        lambda phase: longest_of(phase, "transfer"),
    ),
)
