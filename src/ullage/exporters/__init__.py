# SPDX-License-Identifier: Apache-2.0
"""Forms a result can be written in, one file each, found by walking this package.

An exporter's file sets ``EXPORTER = Exporter(...)``. ``render`` is pure: it gives the content of one file or of many.
"""

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ullage.report.data import ReportData

Content = str | bytes


@dataclass(frozen=True)
class Exporter:
    """``default`` is where the output goes below the result folder when no other place is named; empty: to stdout.

    ``render`` returns a text, or the files of a folder by their names; ``beside`` the files that the text refers to, by
    their paths from the folder it is written to.
    """

    name: str
    doc: str
    default: str
    render: Callable[[ReportData], Content | Mapping[str, Content]]
    beside: Callable[[ReportData], Mapping[str, Content]] | None = None


def load_exporters() -> dict[str, Exporter]:
    """All exporters of this package by name."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_"))
    exporters: list[Exporter] = [importlib.import_module(f"{__name__}.{name}").EXPORTER for name in names]
    return {exporter.name: exporter for exporter in exporters}
