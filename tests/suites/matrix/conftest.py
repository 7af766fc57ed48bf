# SPDX-License-Identifier: Apache-2.0
"""Runs of suites with known cells on a simulated engine that has what IOzone's tests need."""

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from support.simulated_engine import DESCRIBE, Clock, SilentProgress, SimulatedEngine, as_of_engine
from ullage.launch.mpich import Mpich
from ullage.model.describe import Describe
from ullage.model.request import Request
from ullage.results.folder import ResultFolder
from ullage.runs.cells.direct import DirectIo
from ullage.runs.cells.prepared import PreparedCells
from ullage.runs.inputs import EngineContext
from ullage.runs.options.reading import parse_options
from ullage.runs.session import Session
from ullage.suites.matrix.suite import MatrixOptions, prepare_matrix


def describe() -> Describe:
    """The simulated engine with the backend that IOzone's tests of streams need."""
    return DESCRIBE.model_copy(update={"backends": [*DESCRIBE.backends, as_of_engine("stdio", "path", "data")]})


@dataclass
class World:
    """One machine: a folder, a clock, an engine and a result."""

    path: Path
    engine: SimulatedEngine
    engine_context: EngineContext = field(default_factory=lambda: EngineContext(Path("/engine"), describe()))
    result: ResultFolder | None = None
    progress: SilentProgress = field(default_factory=SilentProgress)

    @property
    def clock(self) -> Clock:
        return self.engine.clock

    @property
    def target(self) -> Path:
        return self.path / "here"

    def prepare(self, **words: object) -> PreparedCells:
        usual = {"target": [f"here={self.target}"], "file": "64K,1M", "record": "4K,64K", "tests": "0,1,3"}
        asked = parse_options(MatrixOptions, **{**usual, **words})  # type: ignore[arg-type]
        request = Request(run_id="r1", suite="matrix", created="now", targets=asked.targets, options=asked.options)
        return prepare_matrix(request, self.engine_context)

    def run(self, prepared: PreparedCells, seconds: float | None = None) -> tuple[int, Session]:
        if self.result is None:
            self.result = ResultFolder.create(self.path / "result", prepared.request)
        launcher = Mpich(Path("/mpiexec"))
        session = Session(self.result, self.engine_context, launcher, self.progress, seconds, self.engine.start)
        return prepared.run(session, now=self.clock.now), session

    def resume(self, seconds: float | None = None) -> tuple[int, Session]:
        assert self.result is not None
        return self.run(prepare_matrix(self.result.read_request(), self.engine_context), seconds)


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    (tmp_path / "here").mkdir()
    served = DirectIo(served=True, alignment_bytes=4096)
    monkeypatch.setattr("ullage.runs.cells.direct.direct_io", lambda _path: served)
    monkeypatch.setattr("ullage.runs.cells.direct.direct_io", lambda _path: served)
    monkeypatch.setattr("ullage.system.hardware.usable_cores", lambda: 4)
    return World(tmp_path, SimulatedEngine(Clock(), cost=lambda _case, _plan: 0.1))
