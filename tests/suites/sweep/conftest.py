# SPDX-License-Identifier: Apache-2.0
"""Sweeps on a simulated engine: prepared from the words of a command line, run in no time."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from support.simulated_engine import DESCRIBE, Clock, SilentProgress, SimulatedEngine
from ullage.launch.mpich import Mpich
from ullage.model.request import Request
from ullage.results.folder import ResultFolder
from ullage.runs.inputs import EngineContext
from ullage.runs.options.reading import parse_options
from ullage.runs.session import Session
from ullage.suites.sweep.cells import SweepOptions
from ullage.suites.sweep.prepare import PreparedSweep, prepare_sweep

GROUND = EngineContext(Path("/engine"), DESCRIBE)
Prepare = Callable[..., PreparedSweep]


@dataclass
class World:
    """One machine: two folders, a clock, an engine, and a result."""

    path: Path
    engine: SimulatedEngine
    result: ResultFolder | None = None
    progress: SilentProgress = field(default_factory=SilentProgress)

    @property
    def clock(self) -> Clock:
        return self.engine.clock

    def request(self, **words: object) -> Request:
        targets = [f"a={self.path / 'a'}", f"b={self.path / 'b'}"]
        asked = parse_options(SweepOptions, **{"target": targets, "ranks": "1,2", "block": "1M,4M", **words})
        return Request(run_id="r1", suite="sweep", created="now", targets=asked.targets, options=asked.options)

    def prepare(self, **words: object) -> PreparedSweep:
        return prepare_sweep(self.request(**words), GROUND)

    def run(self, prepared: PreparedSweep, seconds: float | None = None) -> tuple[int, Session]:
        if self.result is None:
            self.result = ResultFolder.create(self.path / "result", prepared.request)
        launcher = Mpich(Path("/mpiexec"))
        session = Session(self.result, GROUND, launcher, self.progress, seconds, self.engine.start)
        return prepared.run(session, self.clock.now), session

    def resume(self, seconds: float | None = None) -> tuple[int, Session]:
        assert self.result is not None
        return self.run(prepare_sweep(self.result.read_request(), GROUND), seconds)


@pytest.fixture
def world(tmp_path: Path) -> World:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    return World(tmp_path, SimulatedEngine(Clock(), cost=lambda _case, _plan: 0.1))
