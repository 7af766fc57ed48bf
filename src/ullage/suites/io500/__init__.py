# SPDX-License-Identifier: Apache-2.0
"""How fast is this storage by the rules of IO500, phase by phase, and does the score stand?

Runs the official phases in the official order with the official parameters: bulk writes and reads, made easy and hard;
files made, looked at, read, found and removed. Sizes calibrate themselves so that each writing phase lasts as long as
the rules ask for; every reason why a number does not count is said.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ullage.runs.suite import EngineContext, ParsedOptions
from ullage.suites.io500.words import io500_words

if TYPE_CHECKING:
    from ullage.model.plan import Target
    from ullage.model.request import Request
    from ullage.results.folder import ResultFolder
    from ullage.results.rows import RowContext
    from ullage.runs.suite import Prepared, SuiteSummary


_DOC = __doc__ or ""


@dataclass(frozen=True)
class Io500:
    """The suite ``io500``."""

    name: str = "io500"
    doc: str = _DOC
    options: Callable[..., ParsedOptions] = io500_words

    def quick(self, targets: "Sequence[Target]") -> ParsedOptions | None:
        """See ``Quick``: walls of 1 s on the first target. That is far from the rules, and says so."""
        from ullage.runs.composite.asking import target_words

        return io500_words(target=target_words(targets[:1]), stonewall="1s", time="40s") if targets else None

    def prepare(self, request: "Request", engine_context: EngineContext) -> "Prepared":
        """See ``Suite``."""
        from ullage.suites.io500.prepare import prepare_io500

        return prepare_io500(request, engine_context)

    def summarise(self, result: "ResultFolder", request: "Request", context: "RowContext") -> "SuiteSummary":
        """See ``Summarising``."""
        from ullage.suites.io500.summarise import summarise

        return summarise(result, request, context)


SUITE = Io500()
