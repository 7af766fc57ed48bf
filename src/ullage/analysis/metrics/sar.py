# SPDX-License-Identifier: Apache-2.0
"""Metrics of a pipeline of images: images and files a second, and what the calls of an operation take."""

from collections.abc import Callable
from typing import Final

from ullage.analysis.metrics import Metric
from ullage.analysis.metrics.arithmetic import per_second, seconds
from ullage.model.record import PhaseRecord


def _counted(name: str) -> Callable[[PhaseRecord], float | None]:
    return lambda phase: per_second(phase.counters.get(name, 0), phase.elapsed_ns)


def _median_of(part: str) -> Callable[[PhaseRecord], float | None]:
    def sample(phase: PhaseRecord) -> float | None:
        found = phase.latency_parts.get(part)
        return None if found is None or found.operations == 0 else seconds(found.p50_ns)

    return sample


METRICS: Final = (
    Metric(
        "image_rate",
        "image/s",
        "more",
        "images that were read, stored or looked up over the time of the phase",
        _counted("images"),
    ),
    Metric(
        "file_rate", "file/s", "more", "files that were made or opened over the time of the phase", _counted("files")
    ),
    Metric(
        "image_open",
        "s",
        "less",
        "median time to open or make the files of an operation",
        _median_of("open"),
    ),
    Metric(
        "image_transfer",
        "s",
        "less",
        "median time to transfer the whole pieces of an operation: raw data, an image, a pair, or a group",
        _median_of("transfer"),
    ),
    Metric(
        "subimage_read",
        "s",
        "less",
        "median time to read all sub-images of a pair, row by row",
        _median_of("subimages"),
    ),
    Metric(
        "detection_write",
        "s",
        "less",
        "median time to write the sub-images of a pair, or its records",
        _median_of("write"),
    ),
    Metric("image_close", "s", "less", "median time to close the files of an operation", _median_of("close")),
)
