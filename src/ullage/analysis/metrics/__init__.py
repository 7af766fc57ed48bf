# SPDX-License-Identifier: Apache-2.0
"""Metrics, found by walking this package: a file sets ``METRIC = Metric(...)`` or ``METRICS = (...)``."""

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Literal, cast

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
        """Only these can be held against a ceiling in bytes/s."""
        return self.unit == "B/s"


@cache
def load_metrics() -> dict[str, Metric]:
    """All metrics of this package by name."""
    names = sorted(info.name for info in pkgutil.iter_modules(__path__) if not info.name.startswith("_"))
    modules = [importlib.import_module(f"{__name__}.{name}") for name in names]
    found = [metric for module in modules for metric in _metrics_of(module)]
    return {metric.name: metric for metric in found}


def _metrics_of(module: object) -> tuple[Metric, ...]:
    single = cast("Metric | None", getattr(module, "METRIC", None))
    return cast("tuple[Metric, ...]", getattr(module, "METRICS", ())) if single is None else (single,)


def metric_named(name: str) -> Metric:
    """The metric ``name``; ``UserError`` when there is none."""
    metrics = load_metrics()
    if name not in metrics:
        raise UserError("no such metric", f"'{name}'", f"one of {', '.join(metrics)}")
    return metrics[name]
