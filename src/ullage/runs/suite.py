# SPDX-License-Identifier: Apache-2.0
"""What a suite is, what one of the usual parts is made of, and the suites there are, found by walking their package.

Imported for every command, ``--help`` included: what is heavy is imported in functions.
"""

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias, cast, runtime_checkable

from ullage.discovery import SUITES, modules_in
from ullage.runs.inputs import EngineContext, ParsedOptions

if TYPE_CHECKING:
    from ullage.analysis.findings.study import Settable
    from ullage.model.plan import Plan, Target
    from ullage.model.request import Request
    from ullage.model.summary import Finding, Row, Score
    from ullage.model.tuning import Tuning
    from ullage.results.folder import ResultFolder
    from ullage.results.rows import RowContext
    from ullage.runs.options.model import SuiteOptions
    from ullage.runs.session import Session


HEADLINE_REPETITIONS: Final = 6
"""The fewest samples whose median has a 95 % interval."""
MOST: Final = "most"
FIRST: Final = "first"
"""Of the targets of a quick form: the first that is a path."""
Headlines: TypeAlias = Mapping[str, object]
"""Parameters of the cases that stand for a part of the machine; ``MOST``: the largest that is planned."""


@dataclass(frozen=True)
class Explanation:
    """What a run would do. ``head`` and ``tail`` are lines of text, ``rows`` a table of cases under ``headers``.

    ``parts``: of a suite that is made of others, each with its name; they stand between head and tail.
    """

    head: list[str]
    headers: list[str]
    rows: list[list[str]]
    tail: list[str] = field(default_factory=list[str])
    parts: "list[tuple[str, Explanation]]" = field(default_factory=list["tuple[str, Explanation]"])


class Prepared(Protocol):
    """A request that was checked against engine and machine. Nothing was started or touched to make it."""

    @property
    def request(self) -> "Request":
        """The request with everything resolved that can be without a measurement."""
        ...

    @property
    def unsettled(self) -> str:
        """The option that a run would settle by measuring, and that must be given where nothing can be; or nothing."""
        ...

    def explain(self) -> Explanation:
        """Return every case, with what it costs."""
        ...

    def plans(self, result: "ResultFolder") -> "list[Plan]":
        """Return one plan for each launch, as they would be written into ``result``; together they do the whole job."""
        ...

    def run(self, session: "Session") -> int:
        """Measure, and return the exit code. Everything that was measured lies in the session's result afterwards."""
        ...


class Suite(Protocol):
    """A benchmark as its users know it."""

    @property
    def name(self) -> str:
        """The name as in ``ullage run NAME``."""
        ...

    @property
    def doc(self) -> str:
        """Help text; the first line says what the suite answers."""
        ...

    @property
    def options(self) -> "type[SuiteOptions]":
        """The model whose fields are its options. It is imported when it is asked for, not with the suite."""
        ...

    def prepare(self, request: "Request", engine_context: EngineContext) -> Prepared:
        """Check ``request``, also of a result to go on with; raise ``UserError`` for what engine or machine refuse."""
        ...

    def across(self, rows: "Sequence[Row]") -> "list[Finding]":
        """Return findings over the rows of all parts of a run that is made of suites."""
        ...


@dataclass(frozen=True)
class SuiteSummary:
    """What a suite makes of its records.

    ``uses_disturbed``: its findings rest on disturbed rows as well, since it asks what others do to this machine, or
    says so.
    """

    rows: "list[Row]"
    findings: "list[Finding]" = field(default_factory=list["Finding"])
    scores: "list[Score]" = field(default_factory=list["Score"])
    uses_disturbed: bool = False
    tune: "Tuning | None" = None


@runtime_checkable
class Summarising(Protocol):
    """A suite with rows, findings and scores of its own; of the others every phase of every case becomes rows."""

    def summarise(self, result: "ResultFolder", request: "Request", context: "RowContext") -> SuiteSummary:
        """Summarise from the documents in ``result`` alone, so that it can be done again at any time."""
        ...


@runtime_checkable
class Quick(Protocol):
    """A suite that has a quick form, which suite ``overview`` then runs."""

    def quick(self, targets: "Sequence[Target]") -> ParsedOptions | None:
        """Return what is asked in that form, some seconds of measurement; None where none of ``targets`` is for it."""
        ...


def load_suites() -> Mapping[str, Suite]:
    """Return all suites by name, in alphabetical order, without those that have a verb of their own."""
    found = [cast("Suite", module.SUITE) for module in modules_in(SUITES) if hasattr(module, "SUITE")]
    return {suite.name: suite for suite in found}


def all_suites() -> Mapping[str, Suite]:
    """Return all suites, also those that have a verb of their own, which ``ullage run`` does not list."""
    own = [cast("Suite", module.SUITE_OF_VERB) for module in modules_in(SUITES) if hasattr(module, "SUITE_OF_VERB")]
    return {**load_suites(), **{suite.name: suite for suite in own}}


def headline_cases(name: str) -> Sequence[Headlines] | None:
    """Return which cases of the suite's quick form stand for parts of the machine: no entry for all, None for none."""
    return getattr(load_suites().get(name), "headlines", None)


def find_suite(name: str) -> Suite:
    """Return the suite of that name; raise ``UserError`` with a guess when there is none."""
    from ullage.errors import UserError
    from ullage.parameters import suggest

    suites = all_suites()
    if name not in suites:
        raise UserError(f"unknown suite '{name}'", "", suggest(name, suites))
    return suites[name]


def settable_of(request: "Request") -> "Settable":
    """Return what advice on a result of ``request`` may name: the options of its suite."""
    from ullage.analysis.findings.study import NOTHING_SETTABLE
    from ullage.runs.options.declared import settable_by

    suite = all_suites().get(request.suite)
    return NOTHING_SETTABLE if suite is None else settable_by(suite.options, request.targets)


@dataclass(frozen=True)
class SuiteWithOptions:
    """See ``Suite``. Its parts are written as ``MODULE:NAME``, of modules of its package in ``ullage.suites``.

    ``package``: the name of that package, where it is not the suite's own. ``across_at``: what finds something in the
    rows of all parts of a run.
    """

    name: str
    doc: str
    options_at: str
    package: str = field(default="", kw_only=True)
    across_at: str = field(default="", kw_only=True)

    @property
    def options(self) -> "type[SuiteOptions]":
        return self.part(self.options_at)

    def across(self, rows: "Sequence[Row]") -> "list[Finding]":
        return self.part(self.across_at)(rows) if self.across_at else []

    def part(self, place: str) -> Any:  # noqa: ANN401 - of any kind
        """Import and return what stands at ``MODULE:NAME``."""
        module, _, name = place.partition(":")
        package = f"{SUITES}.{self.package or self.name.replace('-', '_')}"
        return getattr(importlib.import_module(f"{package}.{module}"), name)


@dataclass(frozen=True)
class PlannedSuite(SuiteWithOptions):
    """A suite of which every phase of every case becomes rows."""

    prepare_at: str

    def prepare(self, request: "Request", engine_context: EngineContext) -> Prepared:
        return self.part(self.prepare_at)(request, engine_context)


@dataclass(frozen=True)
class UsualSuite(PlannedSuite):
    """A suite with rows and findings of its own."""

    summarise_at: str

    def summarise(self, result: "ResultFolder", request: "Request", context: "RowContext") -> SuiteSummary:
        return self.part(self.summarise_at)(result, request, context)


@dataclass(frozen=True)
class UsualQuickSuite(UsualSuite):
    """A ``UsualSuite`` with a quick form, which asks ``quick_form`` of its options. See ``headline_cases``."""

    quick_form: Mapping[str, object] = field(default_factory=lambda: {"quick": True})
    headlines: Sequence[Headlines] | None = None

    def quick(self, targets: "Sequence[Target]") -> ParsedOptions | None:
        from ullage.runs.options.reading import settled
        from ullage.system.hardware import ranks_by_default
        from ullage.uri import target_path

        form = dict(self.quick_form)
        if form.get("ranks") == [MOST]:
            form["ranks"] = [max(2, ranks_by_default())]
        if form.get("targets") == FIRST:
            form["targets"] = [target for target in targets if target_path(target) is not None][:1]
        return settled(self.options, **form) if form.get("targets", True) else None

    def quick_between(self, hosts: int) -> ParsedOptions:
        """Return the quick form between ``hosts`` named hosts, each with as many ranks as it has by itself."""
        from ullage.runs.options.reading import settled

        form = {name: value for name, value in self.quick_form.items() if name != "ranks"}
        return settled(self.options, **form, **({"hosts": hosts} if "hosts" in self.options.model_fields else {}))
