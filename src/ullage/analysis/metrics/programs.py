# SPDX-License-Identifier: Apache-2.0
"""Metrics of the I/O of programs: of arrays, particles, tiles, images, states of a simulation, and training samples."""

from typing import Final

from ullage.analysis.metrics import Declared, Sample, metric
from ullage.analysis.metrics.arithmetic import (
    bytes_over,
    counted,
    having,
    largest,
    longest,
    most,
    over,
    part,
    per_second,
    seconds,
    total,
)
from ullage.model.record import PhaseRecord

_METADATA: Final = most("metadata_s")
_UNKNOWNS: Final = most("unknowns_s")


@metric("B/s", "more")
def flash_bandwidth(phase: PhaseRecord) -> float | None:
    """Bytes over the sum of the slowest ranks' times for header, unknowns, sync and close.

    That is the rate of the FLASH I/O benchmark itself, which counts no sync.
    """
    parts = [_METADATA(phase), _UNKNOWNS(phase)]
    if None in parts or phase.bytes <= 0:
        return None
    stages = (longest(stage)(phase) for stage in ("open", "sync", "close"))
    total_s = sum(found for found in (*parts, *stages) if found is not None)
    return phase.bytes / total_s if total_s > 0 else None


# RAW and OBSERVED are those of h5bench: opening, metadata, sync and closing are in the second.

_RAW: Final = "raw_s"


def observed_rate(moved_bytes: float, completion_s: float, emulated_s: float) -> float | None:
    """Return bytes/s over ``completion_s`` without ``emulated_s``; None where no time is left."""
    left_s = completion_s - emulated_s
    return moved_bytes / left_s if moved_bytes > 0 and left_s > 0 else None


@metric("B/s", "more")
def observed_bandwidth(phase: PhaseRecord) -> float | None:
    """Bytes over the time of the phase without the emulated computation (OBSERVED)."""
    emulated = phase.facts.get("emulated_s")
    if not isinstance(emulated, (int, float)) or _RAW not in phase.gauges:
        return None
    return observed_rate(phase.bytes, phase.elapsed_ns / 1e9, float(emulated))


@metric("frame/s", "more")
def frame_rate(phase: PhaseRecord) -> float | None:
    """Frames over the time from the first rank's open to the last rank's close."""
    frames = phase.facts.get("frames")
    return per_second(frames, phase.elapsed_ns) if isinstance(frames, int) else None


@metric("B/s", "more")
def tile_bandwidth(phase: PhaseRecord) -> float | None:
    """Bytes of all tiles over the time that the slowest rank spent in transfers.

    The original's number: it has no sync, and no time between ranks.
    """
    return bytes_over(longest("transfer"))(phase) if "frame_bytes" in phase.facts else None


_COMPUTE: Final = "compute_s"
_EXPOSED: Final = "exposed"


def exposed_s(phase: PhaseRecord) -> float | None:
    """Return the time of the phase beyond the computation of the rank that computed longest."""
    computed = phase.gauges.get(_COMPUTE)
    return None if computed is None else max(0.0, phase.elapsed_ns / 1e9 - computed.most)


def io_seconds_of_a_state(phase: PhaseRecord) -> float | None:
    """Return the mean time of all calls for one state on one rank, whether the rank waited for them or not."""
    parts = [phase.latency_parts.get(name) for name in ("open", "transfer", "sync", "close", "remove")]
    known = [found for found in parts if found is not None and found.operations > 0]
    states = phase.counters.get("states", 0)
    return sum(found.sum_ns for found in known) / states / 1e9 if known and states else None


_LEAST_USE: Final = "least_use"


def accelerator_use(phase: PhaseRecord, prefix: str = "") -> float | None:
    """Return compute time over all time of all accelerators of an epoch, in each without its first step.

    ``prefix`` ``all_``: of this epoch and all before it. None where no accelerator has a second step.
    """
    compute, run = phase.gauges.get(f"{prefix}compute_s"), phase.gauges.get(f"{prefix}run_s")
    return compute.sum / run.sum if compute is not None and run is not None and run.sum > 0 else None


@metric("of time", "more")
def least_use(phase: PhaseRecord) -> float | None:
    """The least AU of any accelerator in an epoch."""
    return phase.gauges[_LEAST_USE].least if accelerator_use(phase) is not None else None


def _of_epoch(sample: Sample) -> Sample:
    return having(_LEAST_USE, sample)


# All times are added over the ranks. They are those of the same batches, with the same calls: ``io_s`` of the I/O
# alone, ``compute_s`` of the computation alone, ``both_s`` of both at once, ``blocking_s`` of one after the other.

_IO: Final = "io_s"
_BOTH: Final = "both_s"
_BLOCKING: Final = "blocking_s"


def share_that_overlaps(io_s: float, compute_s: float, both_s: float) -> float:
    """Return the part of the shorter of I/O and computation that does not lengthen both together, between 0 and 1."""
    return min(1.0, max(0.0, (io_s + compute_s - both_s) / min(io_s, compute_s)))


@metric("of shorter", "more")
def overlap_share(phase: PhaseRecord) -> float | None:
    """Share of the shorter of I/O and computation that overlaps: (I/O + computation - both) / shorter."""
    found = [total(name)(phase) for name in (_IO, _COMPUTE, _BOTH)]
    known = [one for one in found if one is not None]
    return share_that_overlaps(*known) if len(known) == len(found) else None


def _together(upper: str, lower: str) -> Sample:
    return having(_BOTH, over(total(upper), total(lower)))


METRICS: Final[Declared] = {
    ("s", "less"): {
        "metadata_time": ("time that the slowest rank spent on the arrays that describe the blocks", _METADATA),
        "unknowns_time": ("time that the slowest rank spent on the unknowns", _UNKNOWNS),
        "raw_time": ("time that the slowest rank spent in the calls that move particles", most(_RAW)),
        "move_time": ("time that the slowest rank spent in transfers", longest("transfer")),
        "image_open": ("median time to open or make the files of an operation", part("open")),
        "image_transfer": (
            "median time to transfer the whole pieces of an operation: raw data, an image, a pair, or a group",
            part("transfer"),
        ),
        "subimage_read": ("median time to read all sub-images of a pair, row by row", part("subimages")),
        "detection_write": ("median time to write the sub-images of a pair, or its records", part("write")),
        "image_close": ("median time to close the files of an operation", part("close")),
        "phase_time": (
            "time from the first rank's open to the last rank's close",
            lambda phase: seconds(phase.elapsed_ns) if phase.elapsed_ns else None,
        ),
        "exposed_io": ("time of the phase beyond the computation of the rank that computed longest", exposed_s),
        "turn_round": (
            "longest time of a rank from its last computation forward to the first state that its adjoint reads",
            largest("turn_round_s"),
        ),
        "exposed_step_p50": ("time without computation that half of the steps stayed below", part(_EXPOSED)),
        "exposed_step_p99": ("time without computation that 99 of 100 steps stayed below", part(_EXPOSED, "p99_ns")),
        "exposed_step_max": ("longest time of a step without computation", part(_EXPOSED, "max_ns")),
        "state_open": ("median time to open or make the file of a state", part("open")),
        "state_transfer": ("median time to transfer a state", part("transfer")),
        "state_close": ("median time to close the file of a state", part("close")),
        "sample_open": ("median time to open the file of a sample", _of_epoch(part("open"))),
        "sample_read_p50": ("median time to read a sample", _of_epoch(part("read"))),
        "sample_read_p99": ("time that 99 of 100 reads of a sample stayed below", _of_epoch(part("read", "p99_ns"))),
        "step_wait_p99": (
            "time that 99 of 100 steps waited at most for their batch",
            _of_epoch(part("wait", "p99_ns")),
        ),
        "wake_up_late_p99": (
            "time by which 99 of 100 ends of steps were noticed late at most",
            _of_epoch(part("late", "p99_ns")),
        ),
        "batch_io_time": ("time of the I/O of a batch alone, mean over batches and ranks", _together(_IO, "batches")),
        "batch_compute_time": (
            "time of the computation of a batch alone, mean over batches and ranks",
            _together(_COMPUTE, "batches"),
        ),
        "batch_both_time": (
            "time of a batch with both at once, mean over batches and ranks",
            _together(_BOTH, "batches"),
        ),
        "batch_blocking_time": (
            "time of a batch with blocking calls before its computation, mean over batches and ranks",
            _together(_BLOCKING, "batches"),
        ),
    },
    ("B/s", "more"): {
        "raw_bandwidth": ("bytes over the time of the calls that move particles (RAW)", bytes_over(most(_RAW))),
        "io_alone_rate": (
            "bytes of all ranks over the time of the slowest rank's I/O alone",
            having(_BOTH, over(total("bytes"), most(_IO))),
        ),
    },
    ("image/s", "more"): {
        "image_rate": ("images that were read, stored or looked up over the time of the phase", counted("images"))
    },
    ("file/s", "more"): {"file_rate": ("files that were made or opened over the time of the phase", counted("files"))},
    ("op/s", "more"): {
        "state_rate": ("states written or read over the time of the phase", having(_COMPUTE, counted("states")))
    },
    ("samples/s", "more"): {"sample_rate": ("samples over the time of the epoch", _of_epoch(counted("samples")))},
    ("of time", "more"): {
        "accelerator_use": (
            "compute time over all time of the accelerators in an epoch, without their first steps (AU)",
            accelerator_use,
        ),
        "run_use": (
            "compute time over all time of the accelerators in this epoch and those before it (AU)",
            lambda phase: accelerator_use(phase, "all_"),
        ),
    },
    ("cores", "less"): {
        "client_cores": (
            "cores that user and system time of all ranks kept busy in an epoch",
            _of_epoch(lambda phase: phase.cpu_ns / phase.elapsed_ns if phase.elapsed_ns else None),
        )
    },
    ("x alone", "less"): {
        "compute_slowdown": (
            "time of the computation while I/O goes on over its time alone",
            _together("beside_s", _COMPUTE),
        )
    },
    ("x", "more"): {
        "overlap_gain": (
            "time of blocking calls and computation over the time of both at once",
            _together(_BLOCKING, _BOTH),
        )
    },
    ("of I/O", "less"): {
        "start_share": (
            "time of the calls that begin transfers over the time of the I/O alone",
            _together("start_s", _IO),
        )
    },
}
