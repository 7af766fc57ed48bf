# SPDX-License-Identifier: Apache-2.0
"""Runs made of a disk run and a sweep, on a simulated engine."""

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from support.simulated_engine import DESCRIBE, Clock, SilentProgress, SimulatedEngine
from ullage.launch.mpich import Mpich
from ullage.model.request import Request
from ullage.results.folder import ResultFolder
from ullage.runs.cells.direct import DirectIo
from ullage.runs.composite.options import PartRequest, PartsOptions, part_of
from ullage.runs.composite.prepared import PreparedParts, execute, prepare_parts
from ullage.runs.inputs import EngineContext, ParsedOptions
from ullage.runs.options.reading import parse_options
from ullage.runs.session import Session
from ullage.runs.summary import build_summary
from ullage.suites.disk.options import DiskOptions
from ullage.suites.sweep.cells import SweepOptions


@dataclass
class World:
    """One machine: a folder, an engine, and a result."""

    path: Path
    engine: SimulatedEngine
    engine_context: EngineContext = field(default_factory=lambda: EngineContext(Path("/engine"), DESCRIBE))
    progress: SilentProgress = field(default_factory=SilentProgress)
    result: ResultFolder | None = None

    @property
    def target(self) -> Path:
        return self.path / "here"

    def disk(self, place: Path | None = None) -> PartRequest:
        asked = parse_options(
            DiskOptions,
            target=[f"here={place or self.target}"],
            threads="1",
            block="1M",
            depth="1,2",
            small="4K",
            volume="16M",
            small_volume="1M",
            no_peer=True,
            max_repetitions=3,
        )
        return part_of("disk", asked)

    def sweep(self, time: str = "60s") -> PartRequest:
        target = [f"here={self.target}"]
        asked = parse_options(
            SweepOptions, target=target, ranks="1,2", block="1M", volume="16M", max_repetitions=3, time=time
        )
        return part_of("sweep", asked)

    def prepare(self, *parts: PartRequest) -> PreparedParts:
        own = PartsOptions(parts=list(parts or (self.disk(), self.sweep()))).model_dump(mode="json")
        asked = ParsedOptions(self.sweep().targets, own)
        request = Request(run_id="r1", suite="overview", created="now", targets=asked.targets, options=asked.options)
        return prepare_parts(request, self.engine_context, build_summary)

    def run(self, prepared: PreparedParts, seconds: float | None = None) -> tuple[int, Session]:
        if self.result is None:
            self.result = ResultFolder.create(self.path / "result", prepared.request)
        session = Session(
            self.result, self.engine_context, Mpich(Path("/mpiexec")), self.progress, seconds, self.engine.start
        )
        return execute(prepared, session, self.engine.clock.now), session

    def resume(self, seconds: float | None = None) -> tuple[int, Session]:
        assert self.result is not None
        return self.run(prepare_parts(self.result.read_request(), self.engine_context, build_summary), seconds)


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    (tmp_path / "here").mkdir()
    monkeypatch.setattr("ullage.runs.cells.direct.direct_io", lambda _path: DirectIo(True, 512))
    return World(tmp_path, SimulatedEngine(Clock(), cost=lambda _case, _plan: 0.1))
