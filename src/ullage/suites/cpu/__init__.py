# SPDX-License-Identifier: Apache-2.0
"""How fast do the cores compute, instruction set by instruction set, and how near do DGEMM and a solve come to it?

Every arithmetic kernel this CPU can run, with the clock measured beside each; then matrix products and the linear
solve that gives the HPL number, with the BLAS of the site and that of the package. Where hpcc is installed, its HPL and
DGEMM stand beside.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ullage.suites import Asked, Ground, SuiteSummary
from ullage.suites.cpu.words import cpu_words

if TYPE_CHECKING:
    from ullage.model.plan import Target
    from ullage.model.request import Request
    from ullage.result import ResultFolder
    from ullage.rows import RowContext
    from ullage.suites import Prepared

_DOC = __doc__ or ""


@dataclass(frozen=True)
class Cpu:
    """The suite ``cpu``."""

    name: str = "cpu"
    doc: str = _DOC
    options: Callable[..., Asked] = cpu_words

    def quick(self, _targets: "Sequence[Target]") -> Asked | None:
        """See ``Quick``: the best kernel of each type, with 1 thread and with all."""
        return cpu_words(quick=True)

    def prepare(self, request: "Request", ground: Ground) -> "Prepared":
        """See ``Suite``."""
        from ullage.suites.cpu.prepare import prepare_cpu

        return prepare_cpu(request, ground)

    def summarise(self, result: "ResultFolder", request: "Request", context: "RowContext") -> SuiteSummary:
        """See ``Summarising``."""
        from ullage.suites.cpu.summarise import summarise

        return summarise(result, request, context)


SUITE = Cpu()
