# SPDX-License-Identifier: Apache-2.0
"""Metrics, found by walking this package: a module for each kind of work has functions that are ``metric``s.

What is put together from the samples of ``arithmetic`` stands in its ``METRICS``.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal, TypeAlias

from ullage.discovery import modules_in
from ullage.errors import UserError
from ullage.model.record import PhaseRecord

Sample: TypeAlias = Callable[[PhaseRecord], float | None]
Better: TypeAlias = Literal["more", "less"]
Declared: TypeAlias = Mapping[tuple[str, Better], Mapping[str, tuple[str, Sample]]]
"""Metrics by unit and direction, then by name: what each is, and its sample."""


@dataclass(frozen=True, slots=True)
class Metric:
    """A pure function from a phase record to one sample in ``unit``; None where the record does not say."""

    name: str
    unit: str
    better: Better
    doc: str
    sample: Sample

    @property
    def is_rate_of_bytes(self) -> bool:
        """Whether it is a rate of bytes; only these can be compared with a ceiling in bytes/s."""
        return self.unit == "B/s"


def metric(unit: str, better: Better) -> Callable[[Sample], Metric]:
    """Return what makes a function a metric of its name. The first paragraph of its documentation is the metric's."""

    def made(sample: Sample) -> Metric:
        doc = " ".join((sample.__doc__ or "").partition("\n\n")[0].split())
        return Metric(sample.__name__, unit, better, f"{doc[:1].lower()}{doc[1:].removesuffix('.')}", sample)

    return made


@cache
def load_metrics() -> dict[str, Metric]:
    """Return all metrics of this package by name."""
    modules = modules_in(__name__)
    found = [one for module in modules for one in vars(module).values() if isinstance(one, Metric)]
    for module in modules:
        declared: Declared = vars(module).get("METRICS", {})
        for (unit, better), own in declared.items():
            found += [Metric(name, unit, better, doc, sample) for name, (doc, sample) in own.items()]
    return {one.name: one for one in sorted(found, key=lambda one: one.name)}


def metric_named(name: str) -> Metric:
    """Return the metric ``name``; raise UserError when there is none."""
    metrics = load_metrics()
    if name not in metrics:
        raise UserError("no such metric", f"'{name}'", f"one of {', '.join(metrics)}")
    return metrics[name]
