# SPDX-License-Identifier: Apache-2.0
"""What does it cost that all processes send at once, and that neighbours are far apart? HPC Challenge's rings.

Latency and bandwidth of the naturally ordered ring, of random rings and of single pairs, by the definitions of HPC
Challenge, whose own numbers stand beside where it is installed: their ratio says what kind of network this is.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ullage.runs.parsed_options import ParsedOptions
from ullage.runs.suite import EngineContext, SuiteSummary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ullage.model.plan import Target
    from ullage.model.request import Request
    from ullage.model.summary import Finding, Row
    from ullage.results.folder import ResultFolder
    from ullage.results.rows import RowContext
    from ullage.runs.suite import Prepared
    from ullage.suites.rings.options import RingsOptions

_DOC = __doc__ or ""


@dataclass(frozen=True)
class Rings:
    """The suite ``rings``."""

    name: str = "rings"
    doc: str = _DOC

    @property
    def options(self) -> "type[RingsOptions]":
        """See ``Suite``."""
        from ullage.suites.rings.options import RingsOptions

        return RingsOptions

    def quick(self, _targets: "Sequence[Target]") -> ParsedOptions | None:
        """See ``Quick``: two processes, three times."""
        from ullage.runs.options.reading import settled

        return settled(self.options, ranks=2, quick=True)

    def prepare(self, request: "Request", engine_context: EngineContext) -> "Prepared":
        """See ``Suite``."""
        from ullage.suites.rings.prepare import prepare_rings

        return prepare_rings(request, engine_context)

    def summarise(self, result: "ResultFolder", request: "Request", context: "RowContext") -> SuiteSummary:
        """See ``Summarising``."""
        from ullage.suites.rings.summarise import summarise

        return summarise(result, request, context)

    def across(self, rows: "Sequence[Row]") -> "list[Finding]":
        """See ``Comparing``: messages and memory over what the cores compute."""
        from ullage.suites.rings.balance import balance_findings

        return balance_findings(rows)


SUITE = Rings()
