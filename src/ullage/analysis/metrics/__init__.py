# SPDX-License-Identifier: Apache-2.0
"""Metrics, found by walking this package: a module for each kind of work has functions that are ``metric``s.

What is put together from the samples of ``arithmetic`` stands in its ``METRICS``, by ``metrics``.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Literal, TypeAlias

from ullage.discovery import gathered, modules_in
from ullage.errors import UserError
from ullage.model.record import PhaseRecord

Sample: TypeAlias = Callable[[PhaseRecord], float | None]


@dataclass(frozen=True, slots=True)
class Metric:
    """A pure function from a phase record to one sample in ``unit``; None where the record does not say."""

    name: str
    unit: str
    better: Literal["more", "less"]
    doc: str
    sample: Sample

    @property
    def is_rate_of_bytes(self) -> bool:
        """Whether it is a rate of bytes; only these can be compared with a ceiling in bytes/s."""
        return self.unit == "B/s"


def metric(unit: str, better: Literal["more", "less"]) -> Callable[[Sample], Metric]:
    """Return what makes a function a metric of its name. The first paragraph of its documentation is the metric's."""

    def made(sample: Sample) -> Metric:
        doc = " ".join((sample.__doc__ or "").partition("\n\n")[0].split())
        return Metric(sample.__name__, unit, better, f"{doc[:1].lower()}{doc[1:].removesuffix('.')}", sample)

    return made


def metrics(unit: str, better: Literal["more", "less"], **declared: tuple[str, Sample]) -> list[Metric]:
    """Return metrics of one unit and direction by their names: what each is, and its sample."""
    return [Metric(name, unit, better, doc, sample) for name, (doc, sample) in declared.items()]


@cache
def load_metrics() -> dict[str, Metric]:
    """Return all metrics of this package by name."""
    modules = modules_in(__name__)
    alone = [one for module in modules for one in vars(module).values() if isinstance(one, Metric)]
    found: list[Metric] = [*alone, *gathered(modules, "METRICS")]
    return {one.name: one for one in sorted(found, key=lambda one: one.name)}


def metric_named(name: str) -> Metric:
    """Return the metric ``name``; raise UserError when there is none."""
    metrics = load_metrics()
    if name not in metrics:
        raise UserError("no such metric", f"'{name}'", f"one of {', '.join(metrics)}")
    return metrics[name]
