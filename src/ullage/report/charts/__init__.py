# SPDX-License-Identifier: Apache-2.0
"""Charts, one file each, found by walking this package.

A chart's file sets ``CHART = Chart(...)``. Its ``build`` is pure: from what the result says to figures, or to none.
"""

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ullage.report.data import ReportData
from ullage.report.vega import Spec, with_config


@dataclass(frozen=True)
class Figure:
    """A Vega-Lite spec without title and configuration, and the words around it. ``wide`` takes a whole row."""

    title: str
    caption: str
    spec: Spec
    wide: bool = False


@dataclass(frozen=True)
class Chart:
    """``name`` is a file name and an anchor, ``title`` a heading, ``doc`` the sentence that says how to read it."""

    name: str
    title: str
    doc: str
    order: int
    build: Callable[[ReportData], list[Figure]]


def load_charts() -> list[Chart]:
    """All charts of this package, in the order of the report."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_"))
    charts: list[Chart] = [importlib.import_module(f"{__name__}.{name}").CHART for name in names]
    return sorted(charts, key=lambda chart: (chart.order, chart.name))


def documents(data: ReportData) -> Iterator[tuple[str, Spec]]:
    """Every figure as a document of its own, with title, caption and look inside, and a name for its file."""
    for chart in load_charts():
        for index, figure in enumerate(chart.build(data), start=1):
            yield f"{chart.name}-{index:02}", with_config(figure.spec, f"{chart.title}: {figure.title}", figure.caption)
