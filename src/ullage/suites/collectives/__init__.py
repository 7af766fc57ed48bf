# SPDX-License-Identifier: Apache-2.0
"""How long do collective operations of MPI take, over ranks and sizes? Which of them are slower than they need to be?

Blocking ones, with --nonblocking what of them hides behind computation, with --one-sided put, get and accumulate. Each
operation is held against others of the same library that do its work.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ullage.suites import Asked, Ground, SuiteSummary
from ullage.suites.collectives.words import collectives_words

if TYPE_CHECKING:
    from ullage.model.plan import Target
    from ullage.model.request import Request
    from ullage.result import ResultFolder
    from ullage.rows import RowContext
    from ullage.suites import Prepared

_DOC = __doc__ or ""


@dataclass(frozen=True)
class Collectives:
    """The suite ``collectives``."""

    name: str = "collectives"
    doc: str = _DOC
    options: Callable[..., Asked] = collectives_words

    def quick(self, _targets: "Sequence[Target]") -> Asked | None:
        """See ``Quick``: two ranks, the operations most programs live by."""
        return collectives_words(ranks="2", quick=True)

    def prepare(self, request: "Request", ground: Ground) -> "Prepared":
        """See ``Suite``."""
        from ullage.suites.collectives.prepare import prepare_collectives

        return prepare_collectives(request, ground)

    def summarise(self, result: "ResultFolder", request: "Request", context: "RowContext") -> SuiteSummary:
        """See ``Summarising``."""
        from ullage.suites.collectives.summarise import summarise

        return summarise(result, request, context)


SUITE = Collectives()
