# SPDX-License-Identifier: Apache-2.0
"""How fast do all processes together use MPI-IO (b_eff_io)?

The suite combines five ways to share a file with eight chunk sizes, each also 8 bytes longer. It writes, rewrites and
reads within a scheduled time, with several numbers of processes. It gives one number, averaged over patterns, for the
parallel I/O of a machine, and the rate of each pattern.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ullage.runs.inputs import ParsedOptions
from ullage.runs.suite import UsualSuite

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ullage.model.plan import Target


@dataclass(frozen=True)
class BEffIo(UsualSuite):
    """The suite ``b_eff_io``."""

    def quick(self, targets: "Sequence[Target]") -> ParsedOptions | None:
        """See ``Quick``: two processes on the first target, in 20 s. That is far from the rules, and says so."""
        from ullage.runs.options.reading import settled
        from ullage.uri import target_path

        found = [target for target in targets if target_path(target) is not None]
        return settled(self.options, targets=found[:1], ranks=2, quick=True) if found else None


SUITE = BEffIo("b_eff_io", __doc__ or "", "options:BEffIoOptions", "prepare:prepare_b_eff_io", "summarise:summarise")
