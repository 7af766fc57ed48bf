# SPDX-License-Identifier: Apache-2.0
"""What does each part of this machine reach, and what to change first? A quick look with every suite there is.

Runs the quick form of every suite that has one, and puts them into one report whose front page says for each part what
it reaches, its ceiling, and how far it is below that.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ullage.runs.suite import EngineContext

if TYPE_CHECKING:
    from ullage.model.request import Request
    from ullage.runs.suite import Prepared
    from ullage.suites.overview.options import OverviewOptions

_DOC = __doc__ or ""


@dataclass(frozen=True)
class Overview:
    """The suite ``overview``."""

    name: str = "overview"
    doc: str = _DOC

    @property
    def options(self) -> "type[OverviewOptions]":
        """See ``Suite``."""
        from ullage.suites.overview.options import OverviewOptions

        return OverviewOptions

    def prepare(self, request: "Request", engine_context: EngineContext) -> "Prepared":
        """See ``Suite``."""
        from ullage.runs.composite.prepared import prepare_parts
        from ullage.runs.summary import build_summary

        return prepare_parts(request, engine_context, build_summary)


SUITE = Overview()
