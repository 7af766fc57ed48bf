# SPDX-License-Identifier: Apache-2.0
"""Which storage target, with how many ranks and which block size?

Writes and reads every target with every rank count and block size, in an order that is shuffled and interleaved, until
the median of each is known well enough or the time is over.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ullage.runs.suite import EngineContext, ParsedOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ullage.model.plan import Target
    from ullage.model.request import Request
    from ullage.runs.suite import Prepared
    from ullage.suites.sweep.options import SweepOptions


_DOC = __doc__ or ""
_QUICK_BLOCKS: Final = (128 << 10, 1 << 20, 8 << 20)
_QUICK_S: Final = 40.0


@dataclass(frozen=True)
class Sweep:
    """The suite ``sweep``."""

    name: str = "sweep"
    doc: str = _DOC

    @property
    def options(self) -> "type[SweepOptions]":
        """See ``Suite``."""
        from ullage.suites.sweep.options import SweepOptions

        return SweepOptions

    def quick(self, targets: "Sequence[Target]") -> ParsedOptions | None:
        """See ``Quick``: three sizes of block on every target."""
        from ullage.runs.options.reading import settled

        return settled(self.options, targets=targets, blocks=_QUICK_BLOCKS, time_s=_QUICK_S) if targets else None

    def prepare(self, request: "Request", engine_context: EngineContext) -> "Prepared":
        """See ``Suite``."""
        from ullage.suites.sweep.prepare import prepare_sweep

        return prepare_sweep(request, engine_context)


SUITE = Sweep()
