# SPDX-License-Identifier: Apache-2.0
"""Everything a report is made from, read once: the summary, and the phase records behind its rows."""

import gc
import hashlib
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import cast

from ullage.discovery import gathered, suite_modules
from ullage.grouping import nested
from ullage.model.record import PhaseRecord, ProbeRecord, RunRecord
from ullage.model.request import Request, read_option
from ullage.model.summary import Row, Summary
from ullage.reading import read_bytes
from ullage.report.headlines import Declaring
from ullage.report.view import View, make_view
from ullage.results.folder import ResultFolder
from ullage.results.records import RecordFile
from ullage.results.rows import Measured, join

PhaseKey = tuple[str, str]


class FinishedResult(ResultFolder):
    """A result whose records no longer grow: they are read once, however many ask for them."""

    def read_records(self) -> list[RecordFile]:
        """Read the records as ``ResultFolder`` does, but once: the first answer stays."""
        return self._records

    def part(self, name: str) -> "FinishedResult":
        """Return the part as ``ResultFolder`` does; of each name always the same object."""
        return self._parts.setdefault(name, FinishedResult(super().part(name).path))

    @cached_property
    def _parts(self) -> "dict[str, FinishedResult]":
        return {}

    @cached_property
    def _records(self) -> list[RecordFile]:
        return super().read_records()


@contextmanager
def uncollected() -> Generator[None, None, None]:
    """Pause the garbage collector: records of many cases all stay, and walking them over and over doubles the time.

    Let go of them before the end of the block, or all are walked once more there.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@dataclass(frozen=True)
class Launch:
    """One start of the engine. ``plan`` is its file below the result, whose hash is empty when it is gone.

    ``ended``: the status of its last record, empty without one. ``hosts``: of its nodes, in their order.
    """

    plan: str
    run: RunRecord
    ended: str
    plan_sha256: str
    hosts: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether it could write its last record."""
        return bool(self.ended)


@dataclass(frozen=True)
class ReportData:
    """Everything that a report is made of.

    ``phases``: counted repetitions by case and phase name. ``unreadable``: lines of files that were no records.

    ``measured``: the same repetitions in the order of the records, with their case and launch. ``care``: the suites and
    parts of the machine that the reader uses; the gains of others weigh less. ``folder``: of the result, empty for
    one that is in none.
    """

    summary: Summary
    phases: dict[PhaseKey, list[PhaseRecord]] = field(default_factory=dict[PhaseKey, list[PhaseRecord]])
    launches: tuple[Launch, ...] = ()
    request: Request | None = None
    unreadable: tuple[str, ...] = ()
    measured: tuple[Measured, ...] = ()
    care: tuple[str, ...] = ()
    folder: str = ""

    @cached_property
    def view(self) -> View:
        """The rows arranged in panels."""
        # Sections are found by name: importing the contents of the report, which import this, would be a cycle.
        sections = gathered(suite_modules("report", self.summary.suites), "SECTIONS")
        return make_view(self.summary, frozenset(section.suite for section in sections if section.suite))

    @property
    def declared_by(self) -> Declaring:
        """How the suite of this result is told what the datasheets say."""
        options = {} if self.request is None else self.request.options
        if self.request is not None and is_made_of_targets(self.request):
            return "ceiling"
        if options.keys() & {"machine", "parts"}:
            return "machine"
        return "ceiling" if "ceilings" in options else ""

    def rows_of(self, suite: str) -> list[Row]:
        """Return the results of ``suite``: all of its own result, a part of one that several suites share."""
        of_suite = (row for row in self.summary.rows if (row.suite or self.summary.suite) == suite)
        return [row for row in of_suite if not row.is_bound]

    def phases_of(self, row: Row) -> list[PhaseRecord]:
        """Return the repetitions behind ``row``; empty when it came without records, as an imported table does.

        A row names the engine's phase as its ``access``; a row of a case with a single phase needs to name none.
        """
        of_case = self._phases_by_case.get(row.case, {})
        if "access" in row.params:
            return of_case.get(str(row.params["access"]), [])
        return next(iter(of_case.values())) if len(of_case) == 1 else []

    @cached_property
    def _phases_by_case(self) -> dict[str, dict[str, list[PhaseRecord]]]:
        return nested((case, phase, records) for (case, phase), records in self.phases.items())


def is_made_of_targets(request: Request) -> bool:
    """Tell whether the request is of several suites which all take the rates of their targets."""
    asked = read_option(list[dict[str, object]], request, "parts") or []
    return bool(asked) and all("ceilings" in cast("Mapping[str, object]", part.get("options", {})) for part in asked)


def load(result: ResultFolder, summary: Summary | None = None) -> ReportData:
    """Read ``result``; ``summary`` takes the stored one's place. ``UserError`` when a document is missing or bad."""
    stored = summary if summary is not None else result.read_summary()
    files = result.read_records()
    phases: dict[PhaseKey, list[PhaseRecord]] = {}
    measured = join(file.records for file in files)
    for item in measured:
        phases.setdefault((item.phase.case, item.phase.phase), []).append(item.phase)
    launches = [_launch(result, file, file.run) for file in files if file.run is not None]
    unreadable = [f"{file.path.name}:{problem.line}: {problem.text}" for file in files for problem in file.problems]
    request = result.read_request()
    return ReportData(
        stored, phases, tuple(launches), request, tuple(unreadable), tuple(measured), _care(request), str(result.path)
    )


def _care(request: Request | None) -> tuple[str, ...]:
    """Return what the run was asked to care for; ``ullage report --care`` may say otherwise."""
    said = None if request is None else request.options.get("care")
    return tuple(map(str, cast("list[object]", said))) if isinstance(said, list) else ()


def _launch(result: ResultFolder, file: RecordFile, run: RunRecord) -> Launch:
    owner = ResultFolder(file.path.parent.parent)
    plan = owner.plan_path(int(file.path.stem))
    digest = hashlib.sha256(read_bytes(plan)).hexdigest() if plan.is_file() else ""
    hosts = dict.fromkeys(one.node for one in file.records if isinstance(one, ProbeRecord) and one.probe == "node")
    return Launch(str(plan.relative_to(result.path)), run, file.end.status if file.end else "", digest, tuple(hosts))
