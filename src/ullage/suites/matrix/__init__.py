# SPDX-License-Identifier: Apache-2.0
"""How fast are files of every size with records of every size: IOzone's thirteen tests, each as a map?

Writes, reads, rereads, jumps, goes backward, mixes, through lseek, pread, preadv and the C library, on one rank, and
says of each number whether a cache or the target answered.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ullage.runs.suite import EngineContext, SuiteSummary

if TYPE_CHECKING:
    from ullage.model.request import Request
    from ullage.results.folder import ResultFolder
    from ullage.results.rows import RowContext
    from ullage.runs.suite import Prepared
    from ullage.suites.matrix.options import MatrixOptions

_DOC = __doc__ or ""


@dataclass(frozen=True)
class Matrix:
    """The suite ``matrix``."""

    name: str = "matrix"
    doc: str = _DOC

    @property
    def options(self) -> "type[MatrixOptions]":
        """See ``Suite``."""
        from ullage.suites.matrix.options import MatrixOptions

        return MatrixOptions

    def prepare(self, request: "Request", engine_context: EngineContext) -> "Prepared":
        """See ``Suite``."""
        from ullage.suites.matrix.prepare import prepare_matrix

        return prepare_matrix(request, engine_context)

    def summarise(self, result: "ResultFolder", request: "Request", context: "RowContext") -> SuiteSummary:
        """See ``Summarising``."""
        from ullage.suites.matrix.summarise import summarise

        return summarise(result, request, context)


SUITE = Matrix()
