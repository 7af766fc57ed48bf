# SPDX-License-Identifier: Apache-2.0
"""Metrics of tiles of a data set: frames a second, and the rate as MPI Tile I/O has it."""

from typing import Final

from ullage.analysis.metrics import Metric, metric
from ullage.analysis.metrics.arithmetic import longest_of, per_second
from ullage.model.record import PhaseRecord


@metric("frame/s", "more")
def frame_rate(phase: PhaseRecord) -> float | None:
    """Frames over the time from the first rank's open to the last rank's close."""
    frames = phase.facts.get("frames")
    return per_second(frames, phase.elapsed_ns) if isinstance(frames, int) else None


@metric("B/s", "more")
def tile_bandwidth(phase: PhaseRecord) -> float | None:
    """Bytes of all tiles over the time that the slowest rank spent in transfers."""
    # The original's number: it has no sync, and no time between ranks.
    moved_s = longest_of(phase, "transfer")
    return phase.bytes / moved_s if phase.bytes and moved_s and "frame_bytes" in phase.facts else None


METRICS: Final = (
    Metric(
        "move_time",
        "s",
        "less",
        "time that the slowest rank spent in transfers",
        lambda phase: longest_of(phase, "transfer"),
    ),
)
