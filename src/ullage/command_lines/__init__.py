# SPDX-License-Identifier: Apache-2.0
"""Command lines of other benchmarks: split, read flag by flag, and carried out as plans.

A suite ``from-TOOL`` states the tool's flags and what they mean (a ``Translator``); all else is shared here.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from ullage.runs.suite import SuiteWithOptions

if TYPE_CHECKING:
    from ullage.command_lines.options import LineOptions
    from ullage.model.request import Request
    from ullage.runs.inputs import EngineContext
    from ullage.runs.suite import Prepared


@dataclass(frozen=True)
class LineSuite(SuiteWithOptions):
    """A suite whose options are ``LineOptions``."""

    def prepare(self, request: "Request", engine_context: "EngineContext") -> "Prepared":
        from ullage.command_lines.prepared import prepare_lines

        return prepare_lines(request, engine_context, cast("type[LineOptions]", self.options))
