# SPDX-License-Identifier: Apache-2.0
"""What the rows say, as sentences with numbers. A module a family of kinds, found by walking this package.

A module sets ``FINDERS``: pairs of a kind's place among the kinds and its function from a study to findings, pure over
the rows of the study.
"""

from collections.abc import Callable, Iterable

from ullage.analysis.findings.study import NOTHING_SETTABLE, Failed, Settable, Study, make_study
from ullage.discovery import gathered, modules_in
from ullage.model.summary import Finding, Row

__all__ = ["Failed", "Study", "find_all", "make_study"]
Finder = Callable[[Study], list[Finding]]


def find_all(
    rows: Iterable[Row], failed: Iterable[Failed] = (), level: float = 0.95, settable: Settable = NOTHING_SETTABLE
) -> list[Finding]:
    """Return all findings about ``rows``, in the order of their kinds.

    ``failed``: cases that left no good repetition behind, or lost some. ``settable``: what advice may name.
    """
    study = make_study(rows, failed, level, settable)
    return [finding for find in load_finders() for finding in find(study)]


def load_finders() -> list[Finder]:
    """Return the functions of all kinds, in the order of the kinds."""
    found: list[tuple[int, Finder]] = gathered(modules_in(__name__), "FINDERS")
    return [find for _, find in sorted(found, key=lambda one: one[0])]
