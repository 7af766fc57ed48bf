# SPDX-License-Identifier: Apache-2.0
"""One machine for a suite: a folder, a simulated engine, and the one result that is measured, resumed and reported."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from support.simulated_engine import Clock, SilentProgress
from support.suite_words import request_of
from ullage.launch.mpich import Mpich
from ullage.model.request import Request
from ullage.model.summary import Summary
from ullage.results.folder import ResultFolder
from ullage.runs.case_progress import RunProgress
from ullage.runs.cells.prepared import planned_cells
from ullage.runs.inputs import EngineContext
from ullage.runs.options.model import SuiteOptions
from ullage.runs.session import Session
from ullage.runs.suite import Prepared
from ullage.runs.summary import build_summary

PreparedT = TypeVar("PreparedT", bound=Prepared)


@dataclass
class SuiteWorld(Generic[PreparedT]):
    """What a suite sees. The suite's own class says its ``suite``, its ``model`` of options and how it prepares."""

    suite: ClassVar[str]
    model: ClassVar[type[SuiteOptions]]
    path: Path
    engine: Any
    engine_context: EngineContext
    progress: SilentProgress = field(default_factory=SilentProgress)
    kept: ResultFolder | None = None

    def usual(self) -> dict[str, object]:
        """The words of a request that says nothing else."""
        raise NotImplementedError

    def prepare_request(self, request: Request) -> PreparedT:
        """What the suite makes of a request."""
        raise NotImplementedError

    def start(self, prepared: PreparedT, session: Session) -> int:
        """Run what was prepared; the exit code."""
        return prepared.run(session, self.clock.now)  # type: ignore[call-arg]

    @property
    def clock(self) -> Clock:
        return self.engine.clock  # type: ignore[no-any-return]

    @property
    def target(self) -> Path:
        return self.path / "here"

    @property
    def result(self) -> ResultFolder:
        assert self.kept is not None, "nothing was run"
        return self.kept

    def request(self, **words: object) -> Request:
        return request_of(self.suite, self.model, **{**self.usual(), **words})

    def prepare(self, **words: object) -> PreparedT:
        return self.prepare_request(self.request(**words))

    def session(self, seconds: float | None = None) -> Session:
        launcher = Mpich(Path("/mpiexec"))
        return Session(self.result, self.engine_context, launcher, self.progress, seconds, self.engine.start)

    def run(self, prepared: PreparedT, seconds: float | None = None) -> tuple[int, Session]:
        if self.kept is None:
            self.kept = ResultFolder.create(self.path / "result", prepared.request)
        session = self.session(seconds)
        return self.start(prepared, session), session

    def resume(self, seconds: float | None = None) -> tuple[int, Session]:
        return self.run(self.prepare_request(self.result.read_request()), seconds)

    def summary(self, **words: object) -> Summary:
        """Of what was run, or of a request of these words where nothing was."""
        if self.kept is None:
            self.run(self.prepare(**words))
        return build_summary(self.result)

    def counts(self) -> list[int]:
        """How many repetitions of each cell count."""
        progress = RunProgress(file.records for file in self.result.read_records())
        return [len(progress.of(cell.case.id).counted) for cell in planned_cells(self.result)]

    def events(self) -> list[str]:
        return [event.code for file in self.result.read_records() for event in file.events]
