# SPDX-License-Identifier: Apache-2.0
"""Which storage target is fastest, at which ranks and blocks?

The suite writes and reads every target with every number of ranks and every block size. The order is shuffled and
interleaved. A cell is repeated until the interval of its median is narrow enough or the time is over.
"""

from typing import TYPE_CHECKING, Final

from ullage.runs.inputs import ParsedOptions
from ullage.runs.suite import PlannedSuite

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ullage.model.plan import Target


_QUICK_BLOCKS: Final = (128 << 10, 1 << 20, 8 << 20)


class Sweep(PlannedSuite):
    """The suite ``sweep``."""

    def quick(self, targets: "Sequence[Target]") -> ParsedOptions | None:
        """See ``Quick``: three sizes of block on every target."""
        from ullage.runs.options.reading import settled

        return settled(self.options, targets=targets, blocks=_QUICK_BLOCKS, time_s=40.0) if targets else None


SUITE = Sweep("sweep", __doc__ or "", "cells:SweepOptions", "prepare:prepare_sweep")
