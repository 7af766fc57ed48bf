# SPDX-License-Identifier: Apache-2.0
"""What the rows say, as sentences with numbers. One file a kind, found by walking this package.

A file sets ``ORDER`` (its place among the kinds) and ``find(study) -> list[Finding]``, pure over the rows of a study.
"""

from collections.abc import Callable, Iterable
from typing import cast

from ullage.analysis.findings.study import Failed, Study, make_study
from ullage.discovery import modules_in
from ullage.model.summary import Finding, Row

__all__ = ["Failed", "Study", "find_all", "make_study"]
Finder = Callable[[Study], list[Finding]]


def find_all(rows: Iterable[Row], failed: Iterable[Failed] = (), level: float = 0.95) -> list[Finding]:
    """All findings, kinds in their order. ``failed``: cases that left no good repetition behind, or lost some."""
    study = make_study(rows, failed, level)
    return [finding for find in load_finders() for finding in find(study)]


def load_finders() -> list[Finder]:
    """The ``find`` of every file of this package that has one."""
    finders = [module for module in modules_in(__name__) if hasattr(module, "find")]
    return [cast("Finder", module.find) for module in sorted(finders, key=lambda module: cast("int", module.ORDER))]
