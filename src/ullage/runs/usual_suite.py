# SPDX-License-Identifier: Apache-2.0
"""Suites of the usual parts: a model of options, a preparation, a summary; each where its package has it.

Imported for every command, ``--help`` included: the parts are imported when they are asked for.
"""

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, cast

from ullage.runs.suite import EngineContext, ParsedOptions, Prepared, SuiteSummary

if TYPE_CHECKING:
    from ullage.model.plan import Target
    from ullage.model.request import Request
    from ullage.results.folder import ResultFolder
    from ullage.results.rows import RowContext
    from ullage.runs.options.model import SuiteOptions


class _Prepare(Protocol):
    def __call__(self, request: "Request", engine_context: EngineContext) -> Prepared: ...


class _Summarise(Protocol):
    def __call__(self, result: "ResultFolder", request: "Request", context: "RowContext") -> SuiteSummary: ...


@dataclass(frozen=True)
class UsualSuite:
    """See ``Suite``. Its parts are written as ``MODULE:NAME``, of modules of the package ``ullage.suites.<name>``."""

    name: str
    doc: str
    options_at: str
    prepare_at: str
    summarise_at: str

    @property
    def options(self) -> "type[SuiteOptions]":
        """See ``Suite``."""
        return cast("type[SuiteOptions]", self._part(self.options_at))

    def prepare(self, request: "Request", engine_context: EngineContext) -> Prepared:
        """See ``Suite``."""
        return cast("_Prepare", self._part(self.prepare_at))(request, engine_context)

    def summarise(self, result: "ResultFolder", request: "Request", context: "RowContext") -> SuiteSummary:
        """See ``Summarising``."""
        return cast("_Summarise", self._part(self.summarise_at))(result, request, context)

    def _part(self, place: str) -> object:
        module, _, name = place.partition(":")
        return cast("object", getattr(importlib.import_module(f"ullage.suites.{self.name}.{module}"), name))


@dataclass(frozen=True)
class UsualQuickSuite(UsualSuite):
    """Besides with a quick form, which asks ``quick_form`` of its options."""

    quick_form: Mapping[str, object] = field(default_factory=lambda: {"quick": True})

    def quick(self, _targets: "Sequence[Target]") -> ParsedOptions | None:
        """See ``Quick``."""
        from ullage.runs.options.reading import settled

        return settled(self.options, **self.quick_form)
