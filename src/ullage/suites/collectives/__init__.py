# SPDX-License-Identifier: Apache-2.0
"""How long do collective operations of MPI take, over ranks and sizes? Which of them are slower than they need to be?

Blocking ones, with --nonblocking what of them hides behind computation, with --one-sided put, get and accumulate. Each
operation is held against others of the same library that do its work.
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
    from ullage.suites.collectives.options import CollectivesOptions

_DOC = __doc__ or ""


@dataclass(frozen=True)
class Collectives:
    """The suite ``collectives``."""

    name: str = "collectives"
    doc: str = _DOC

    @property
    def options(self) -> "type[CollectivesOptions]":
        """See ``Suite``."""
        from ullage.suites.collectives.options import CollectivesOptions

        return CollectivesOptions

    def quick(self, _targets: "Sequence[Target]") -> ParsedOptions | None:
        """See ``Quick``: two ranks, the operations most programs live by."""
        from ullage.runs.options.reading import settled

        return settled(self.options, ranks=[2], quick=True)

    def prepare(self, request: "Request", engine_context: EngineContext) -> "Prepared":
        """See ``Suite``."""
        from ullage.suites.collectives.prepare import prepare_collectives

        return prepare_collectives(request, engine_context)

    def summarise(self, result: "ResultFolder", request: "Request", context: "RowContext") -> SuiteSummary:
        """See ``Summarising``."""
        from ullage.suites.collectives.summarise import summarise

        return summarise(result, request, context)


SUITE = Collectives()
