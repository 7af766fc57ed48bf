# SPDX-License-Identifier: Apache-2.0
"""Metrics, found by walking this package: a module for each kind of work sets ``METRICS``."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Literal

from ullage.discovery import gathered, modules_in
from ullage.errors import UserError
from ullage.model.record import PhaseRecord


@dataclass(frozen=True, slots=True)
class Metric:
    """A pure function from a phase record to one sample in ``unit``; None where the record does not say."""

    name: str
    unit: str
    better: Literal["more", "less"]
    doc: str
    sample: Callable[[PhaseRecord], float | None]

    @property
    def is_rate_of_bytes(self) -> bool:
        """Whether it is a rate of bytes; only these can be compared with a ceiling in bytes/s."""
        return self.unit == "B/s"


@cache
def load_metrics() -> dict[str, Metric]:
    """Return all metrics of this package by name."""
    found: list[Metric] = gathered(modules_in(__name__), "METRICS")
    return {metric.name: metric for metric in sorted(found, key=lambda metric: metric.name)}


def metric_named(name: str) -> Metric:
    """Return the metric ``name``; raise UserError when there is none."""
    metrics = load_metrics()
    if name not in metrics:
        raise UserError("no such metric", f"'{name}'", f"one of {', '.join(metrics)}")
    return metrics[name]
