# SPDX-License-Identifier: Apache-2.0
"""How much slower do a few ranks' messages become when the others fill the network? Mean and tail, by GPCNeT's tests.

Some ranks exchange small and large messages in random rings and add up a number, first alone, then while the others all
send to one of them, or each to each.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ullage.runs.suite import EngineContext, SuiteSummary

if TYPE_CHECKING:
    from ullage.model.request import Request
    from ullage.results.folder import ResultFolder
    from ullage.results.rows import RowContext
    from ullage.runs.suite import Prepared
    from ullage.suites.congestion.options import CongestionOptions

_DOC = __doc__ or ""


@dataclass(frozen=True)
class Congestion:
    """The suite ``congestion``."""

    name: str = "congestion"
    doc: str = _DOC

    @property
    def options(self) -> "type[CongestionOptions]":
        """See ``Suite``."""
        from ullage.suites.congestion.options import CongestionOptions

        return CongestionOptions

    def prepare(self, request: "Request", engine_context: EngineContext) -> "Prepared":
        """See ``Suite``."""
        from ullage.suites.congestion.prepare import prepare_congestion

        return prepare_congestion(request, engine_context)

    def summarise(self, result: "ResultFolder", request: "Request", context: "RowContext") -> SuiteSummary:
        """See ``Summarising``."""
        from ullage.suites.congestion.summarise import summarise

        return summarise(result, request, context)


SUITE = Congestion()
