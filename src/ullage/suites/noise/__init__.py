# SPDX-License-Identifier: Apache-2.0
"""How much of the cores' time is lost to others: interrupts, daemons, a hypervisor, other programs?

Every thread does the same piece of work again and again, and then watches the clock. What takes longer than the
shortest piece, at the same clock rate, is noise.
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
    from ullage.suites.noise.options import NoiseOptions

_DOC = __doc__ or ""


@dataclass(frozen=True)
class Noise:
    """The suite ``noise``."""

    name: str = "noise"
    doc: str = _DOC

    @property
    def options(self) -> "type[NoiseOptions]":
        """See ``Suite``."""
        from ullage.suites.noise.options import NoiseOptions

        return NoiseOptions

    def quick(self, _targets: "Sequence[Target]") -> ParsedOptions | None:
        """See ``Quick``: all threads, three times."""
        from ullage.runs.options.reading import settled

        return settled(self.options, quick=True)

    def prepare(self, request: "Request", engine_context: EngineContext) -> "Prepared":
        """See ``Suite``."""
        from ullage.suites.noise.prepare import prepare_noise

        return prepare_noise(request, engine_context)

    def summarise(self, result: "ResultFolder", request: "Request", context: "RowContext") -> SuiteSummary:
        """See ``Summarising``."""
        from ullage.suites.noise.summarise import summarise

        return summarise(result, request, context)


SUITE = Noise()
