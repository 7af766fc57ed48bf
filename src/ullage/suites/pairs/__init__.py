# SPDX-License-Identifier: Apache-2.0
"""How fast is the way between every two nodes, and which links and nodes are slow? All pairs, bisections, incast.

Between the ranks of one node where there is one node only. Every pair is measured in both directions, and what is slow
is named by a test that tells a slow node from a slow link.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ullage.runs.parsed_options import ParsedOptions
from ullage.runs.suite import EngineContext, SuiteSummary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ullage.model.plan import Target
    from ullage.model.request import Request
    from ullage.results.folder import ResultFolder
    from ullage.results.rows import RowContext
    from ullage.runs.suite import Prepared
    from ullage.suites.pairs.options import PairsOptions

_DOC = __doc__ or ""


@dataclass(frozen=True)
class Pairs:
    """The suite ``pairs``."""

    name: str = "pairs"
    doc: str = _DOC

    @property
    def options(self) -> "type[PairsOptions]":
        """See ``Suite``."""
        from ullage.suites.pairs.options import PairsOptions

        return PairsOptions

    def quick(self, _targets: "Sequence[Target]") -> ParsedOptions | None:
        """See ``Quick``: two ranks here."""
        from ullage.runs.options.reading import settled

        return settled(self.options, ranks=2, quick=True)

    def prepare(self, request: "Request", engine_context: EngineContext) -> "Prepared":
        """See ``Suite``."""
        from ullage.suites.pairs.prepare import prepare_pairs

        return prepare_pairs(request, engine_context)

    def summarise(self, result: "ResultFolder", request: "Request", context: "RowContext") -> SuiteSummary:
        """See ``Summarising``."""
        from ullage.suites.pairs.summarise import summarise

        return summarise(result, request, context)


SUITE = Pairs()
