# SPDX-License-Identifier: Apache-2.0
"""Which storage target, with how many ranks and which block size?

Writes and reads every target with every rank count and block size, in an order that is shuffled and interleaved, until
the median of each is known well enough or the time is over.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ullage.runs.suite import EngineContext, ParsedOptions
from ullage.suites.sweep.words import sweep_words

if TYPE_CHECKING:
    from ullage.model.plan import Target
    from ullage.model.request import Request
    from ullage.runs.suite import Prepared


_DOC = __doc__ or ""


@dataclass(frozen=True)
class Sweep:
    """The suite ``sweep``."""

    name: str = "sweep"
    doc: str = _DOC
    options: Callable[..., ParsedOptions] = sweep_words

    def quick(self, targets: "Sequence[Target]") -> ParsedOptions | None:
        """See ``Quick``: three sizes of block on every target."""
        from ullage.runs.composite.asking import target_words

        return sweep_words(target=target_words(targets), block="128K:8M:x8", time="40s") if targets else None

    def prepare(self, request: "Request", engine_context: EngineContext) -> "Prepared":
        """See ``Suite``."""
        from ullage.suites.sweep.prepare import prepare_sweep

        return prepare_sweep(request, engine_context)


SUITE = Sweep()
