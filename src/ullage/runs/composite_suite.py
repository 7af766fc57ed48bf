# SPDX-License-Identifier: Apache-2.0
"""Suites that are made of others. It stands above the summary, which puts together those of the parts."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ullage.runs.suite import SuiteWithOptions

if TYPE_CHECKING:
    from ullage.model.request import Request
    from ullage.runs.inputs import EngineContext
    from ullage.runs.suite import Prepared


@dataclass(frozen=True)
class CompositeSuite(SuiteWithOptions):
    """A suite that is made of others: its options say what is asked of each part."""

    def prepare(self, request: "Request", engine_context: "EngineContext") -> "Prepared":
        from ullage.runs.composite.prepared import prepare_parts
        from ullage.runs.summary import build_summary

        return prepare_parts(request, engine_context, build_summary)
