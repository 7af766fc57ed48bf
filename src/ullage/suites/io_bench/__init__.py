# SPDX-License-Identifier: Apache-2.0
"""Which share of its peak does a disk give one process: sequential, random and backward, by size of record?

Six streams of one process, each a write or a read in one of three orders, past the page cache where the target
serves that: what a single application's I/O can expect.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ullage.runs.suite import EngineContext, SuiteSummary

if TYPE_CHECKING:
    from ullage.model.request import Request
    from ullage.results.folder import ResultFolder
    from ullage.results.rows import RowContext
    from ullage.runs.suite import Prepared
    from ullage.suites.io_bench.options import IoBenchOptions

_DOC = __doc__ or ""


@dataclass(frozen=True)
class IoBench:
    """The suite ``io_bench``."""

    name: str = "io_bench"
    doc: str = _DOC

    @property
    def options(self) -> "type[IoBenchOptions]":
        """See ``Suite``."""
        from ullage.suites.io_bench.options import IoBenchOptions

        return IoBenchOptions

    def prepare(self, request: "Request", engine_context: EngineContext) -> "Prepared":
        """See ``Suite``."""
        from ullage.suites.io_bench.prepare import prepare_io_bench

        return prepare_io_bench(request, engine_context)

    def summarise(self, result: "ResultFolder", request: "Request", context: "RowContext") -> SuiteSummary:
        """See ``Summarising``."""
        from ullage.suites.io_bench.summarise import summarise

        return summarise(result, request, context)


SUITE = IoBench()
