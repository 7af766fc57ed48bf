# SPDX-License-Identifier: Apache-2.0
"""How fast is this storage by the rules of IO500, phase by phase, and does the score stand?

Runs the official phases in the official order with the official parameters: bulk writes and reads, made easy and hard;
files made, looked at, read, found and removed. Sizes calibrate themselves so that each writing phase lasts as long as
the rules ask for; every reason why a number does not count is said.
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
    from ullage.suites.io500.options import Io500Options


_DOC = __doc__ or ""


@dataclass(frozen=True)
class Io500:
    """The suite ``io500``."""

    name: str = "io500"
    doc: str = _DOC

    @property
    def options(self) -> "type[Io500Options]":
        """See ``Suite``."""
        from ullage.suites.io500.options import Io500Options

        return Io500Options

    def quick(self, targets: "Sequence[Target]") -> ParsedOptions | None:
        """See ``Quick``: walls of 1 s on the first target. That is far from the rules, and says so."""
        from ullage.runs.options.reading import settled

        return settled(self.options, targets=targets[:1], stonewall_s=1.0, time_s=40.0) if targets else None

    def prepare(self, request: "Request", engine_context: EngineContext) -> "Prepared":
        """See ``Suite``."""
        from ullage.suites.io500.prepare import prepare_io500

        return prepare_io500(request, engine_context)

    def summarise(self, result: "ResultFolder", request: "Request", context: "RowContext") -> "SuiteSummary":
        """See ``Summarising``."""
        from ullage.suites.io500.summarise import summarise

        return summarise(result, request, context)


SUITE = Io500()
