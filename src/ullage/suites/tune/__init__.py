# SPDX-License-Identifier: Apache-2.0
"""Which setting of a suite is best, and is it better than the default?

The verb ``ullage tune`` runs it, so ``ullage run`` does not list it. Every trial is a run of the suite that is tuned.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ullage.model.request import Request
    from ullage.results.folder import ResultFolder
    from ullage.results.rows import RowContext
    from ullage.runs.inputs import EngineContext
    from ullage.runs.suite import Prepared, SuiteSummary
    from ullage.runs.tuning.options import TuneOptions


@dataclass(frozen=True)
class Tune:
    """See ``Suite``."""

    name: str
    doc: str

    @property
    def options(self) -> "type[TuneOptions]":
        from ullage.runs.tuning.options import TuneOptions

        return TuneOptions

    def prepare(self, request: "Request", engine_context: "EngineContext") -> "Prepared":
        from ullage.runs.summary import build_summary
        from ullage.runs.tuning.searching import prepare_tune

        return prepare_tune(request, engine_context, build_summary)

    def summarise(self, result: "ResultFolder", request: "Request", _context: "RowContext") -> "SuiteSummary":
        from ullage.runs.tuning.summarise import summarise_tune

        return summarise_tune(result, request)


SUITE_OF_VERB = Tune("tune", __doc__ or "")
