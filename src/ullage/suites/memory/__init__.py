# SPDX-License-Identifier: Apache-2.0
"""How fast is memory: bandwidth and access time of every level, copies in blocks, cores, load, NUMA, random updates.

Measures what each cache and the memory behind them carry and how long a load from them takes, with the size of pages,
the kind of stores and the number of threads as part of every row; where mbw, sysbench or HPC Challenge are installed,
their numbers stand beside.
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
    from ullage.suites.memory.options import MemoryOptions

_DOC = __doc__ or ""


@dataclass(frozen=True)
class Memory:
    """The suite ``memory``."""

    name: str = "memory"
    doc: str = _DOC

    @property
    def options(self) -> "type[MemoryOptions]":
        """See ``Suite``."""
        from ullage.suites.memory.options import MemoryOptions

        return MemoryOptions

    def quick(self, _targets: "Sequence[Target]") -> ParsedOptions | None:
        """See ``Quick``: fewer sizes, one thread and all."""
        from ullage.runs.options.reading import settled

        return settled(self.options, quick=True)

    def prepare(self, request: "Request", engine_context: EngineContext) -> "Prepared":
        """See ``Suite``."""
        from ullage.suites.memory.prepare import prepare_memory

        return prepare_memory(request, engine_context)

    def summarise(self, result: "ResultFolder", request: "Request", context: "RowContext") -> SuiteSummary:
        """See ``Summarising``."""
        from ullage.suites.memory.summarise import summarise

        return summarise(result, request, context)


SUITE = Memory()
