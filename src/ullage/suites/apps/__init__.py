# SPDX-License-Identifier: Apache-2.0
"""Which access patterns is this target good and bad at?

The suite runs the small form of every kernel of parallel programs and writes one report. It states the rate of each
class of patterns, and which settings change a rate most.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ullage.runs.composite_suite import CompositeSuite

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ullage.model.summary import Finding, Row


@dataclass(frozen=True)
class Apps(CompositeSuite):
    """The suite ``apps``."""

    def across(self, rows: "Sequence[Row]") -> "list[Finding]":
        """See ``Comparing``: the classes of patterns and the settings of all kernels together."""
        from ullage.suites.apps.suite import findings_of

        return findings_of(rows)


SUITE = Apps("apps", __doc__ or "", "suite:AppsOptions")
