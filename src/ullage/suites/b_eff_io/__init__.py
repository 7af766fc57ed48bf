# SPDX-License-Identifier: Apache-2.0
"""How much data can all processes together write and read a second through MPI-IO, averaged over patterns (b_eff_io)?

Five ways to share a file, eight sizes of chunks, well-formed and 8 bytes longer, written, rewritten and read within a
scheduled time, by several numbers of processes: one number for the I/O of a machine, and what each pattern reached.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ullage.runs.suite import EngineContext, ParsedOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ullage.model.plan import Target
    from ullage.model.request import Request
    from ullage.results.folder import ResultFolder
    from ullage.results.rows import RowContext
    from ullage.runs.suite import Prepared, SuiteSummary
    from ullage.suites.b_eff_io.options import BEffIoOptions

_DOC = __doc__ or ""


@dataclass(frozen=True)
class BEffIo:
    """The suite ``b_eff_io``."""

    name: str = "b_eff_io"
    doc: str = _DOC

    @property
    def options(self) -> "type[BEffIoOptions]":
        """See ``Suite``."""
        from ullage.suites.b_eff_io.options import BEffIoOptions

        return BEffIoOptions

    def quick(self, targets: "Sequence[Target]") -> ParsedOptions | None:
        """See ``Quick``: two processes on the first target, in 20 s. That is far from the rules, and says so."""
        from ullage.runs.options.reading import settled
        from ullage.uri import target_path

        found = [target for target in targets if target_path(target) is not None]
        return settled(self.options, targets=found[:1], ranks=2, quick=True) if found else None

    def prepare(self, request: "Request", engine_context: EngineContext) -> "Prepared":
        """See ``Suite``."""
        from ullage.suites.b_eff_io.prepare import prepare_b_eff_io

        return prepare_b_eff_io(request, engine_context)

    def summarise(self, result: "ResultFolder", request: "Request", context: "RowContext") -> "SuiteSummary":
        """See ``Summarising``."""
        from ullage.suites.b_eff_io.summarise import summarise

        return summarise(result, request, context)


SUITE = BEffIo()
