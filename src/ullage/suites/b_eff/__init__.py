# SPDX-License-Identifier: Apache-2.0
"""How much data do all processes together exchange a second, averaged over message sizes and patterns (b_eff)?

Six sets of rings and thirty random rings, each with 21 message sizes, by three ways to send, three times: one number
for the communication of a machine, its curves over the message size, and thirteen further patterns beside it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ullage.runs.suite import EngineContext, ParsedOptions, SuiteSummary
from ullage.suites.b_eff.words import b_eff_words, quick_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ullage.model.plan import Target
    from ullage.model.request import Request
    from ullage.results.folder import ResultFolder
    from ullage.results.rows import RowContext
    from ullage.runs.suite import Prepared

_DOC = __doc__ or ""


@dataclass(frozen=True)
class BEff:
    """The suite ``b_eff``."""

    name: str = "b_eff"
    doc: str = _DOC
    options: Callable[..., ParsedOptions] = b_eff_words

    def quick(self, _targets: "Sequence[Target]") -> ParsedOptions | None:
        """See ``Quick``: two processes, short loops, messages of up to 1 MiB."""
        return quick_words()

    def prepare(self, request: "Request", engine_context: EngineContext) -> "Prepared":
        """See ``Suite``."""
        from ullage.suites.b_eff.prepare import prepare_b_eff

        return prepare_b_eff(request, engine_context)

    def summarise(self, result: "ResultFolder", request: "Request", context: "RowContext") -> SuiteSummary:
        """See ``Summarising``."""
        from ullage.suites.b_eff.summarise import summarise

        return summarise(result, request, context)


SUITE = BEff()
