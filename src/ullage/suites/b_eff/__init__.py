# SPDX-License-Identifier: Apache-2.0
"""How much data do all processes together exchange a second, averaged over message sizes and patterns (b_eff)?

Six sets of rings and thirty random rings, each with 21 message sizes, by three ways to send, three times: one number
for the communication of a machine, its curves over the message size, and thirteen further patterns beside it.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ullage.runs.parsed_options import ParsedOptions
from ullage.runs.suite import EngineContext, SuiteSummary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ullage.model.plan import Target
    from ullage.model.request import Request
    from ullage.results.folder import ResultFolder
    from ullage.results.rows import RowContext
    from ullage.runs.suite import Prepared
    from ullage.suites.b_eff.options import BEffOptions

_DOC = __doc__ or ""
_QUICK_S: Final = 12.0


@dataclass(frozen=True)
class BEff:
    """The suite ``b_eff``."""

    name: str = "b_eff"
    doc: str = _DOC

    @property
    def options(self) -> "type[BEffOptions]":
        """See ``Suite``."""
        from ullage.suites.b_eff.options import BEffOptions

        return BEffOptions

    def quick(self, _targets: "Sequence[Target]") -> ParsedOptions | None:
        """See ``Quick``: two processes, short loops, messages of up to 1 MiB."""
        from ullage.runs.options.reading import settled

        return settled(self.options, ranks=2, quick=True, time_s=_QUICK_S)

    def prepare(self, request: "Request", engine_context: EngineContext) -> "Prepared":
        """See ``Suite``."""
        from ullage.suites.b_eff.prepare import prepare_b_eff

        return prepare_b_eff(request, engine_context)

    def summarise(self, result: "ResultFolder", request: "Request", context: "RowContext") -> SuiteSummary:
        """See ``Summarising``."""
        from ullage.suites.b_eff.summarise import summarise

        return summarise(result, request, context)


SUITE = BEff()
