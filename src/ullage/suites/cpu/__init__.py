# SPDX-License-Identifier: Apache-2.0
"""How fast do the cores compute, instruction set by instruction set, and how near do DGEMM and a solve come to it?

Every arithmetic kernel this CPU can run, with the clock measured beside each; then matrix products and the linear
solve that gives the HPL number, with the BLAS of the site and that of the package. Where hpcc is installed, its HPL and
DGEMM stand beside.
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
    from ullage.suites.cpu.options import CpuOptions

_DOC = __doc__ or ""


@dataclass(frozen=True)
class Cpu:
    """The suite ``cpu``."""

    name: str = "cpu"
    doc: str = _DOC

    @property
    def options(self) -> "type[CpuOptions]":
        """See ``Suite``."""
        from ullage.suites.cpu.options import CpuOptions

        return CpuOptions

    def quick(self, _targets: "Sequence[Target]") -> ParsedOptions | None:
        """See ``Quick``: the best kernel of each type, with 1 thread and with all."""
        from ullage.runs.options.reading import settled

        return settled(self.options, quick=True)

    def prepare(self, request: "Request", engine_context: EngineContext) -> "Prepared":
        """See ``Suite``."""
        from ullage.suites.cpu.prepare import prepare_cpu

        return prepare_cpu(request, engine_context)

    def summarise(self, result: "ResultFolder", request: "Request", context: "RowContext") -> SuiteSummary:
        """See ``Summarising``."""
        from ullage.suites.cpu.summarise import summarise

        return summarise(result, request, context)


SUITE = Cpu()
