# SPDX-License-Identifier: Apache-2.0
"""Runs made of a disk run and a sweep, on a simulated engine."""

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from support.simulated_engine import DESCRIBE, Clock, SilentProgress, SimulatedEngine
from ullage.launch.mpich import Mpich
from ullage.model.request import Request
from ullage.result import ResultFolder
from ullage.running.session import Session
from ullage.suites import Ground
from ullage.suites.disk.direct import DirectIo
from ullage.suites.disk.words import disk_words
from ullage.suites.parts.asking import asked_part, whole
from ullage.suites.parts.execution import execute
from ullage.suites.parts.options import AskedPart
from ullage.suites.parts.prepare import PreparedParts, prepare_parts
from ullage.suites.sweep.words import sweep_words


@dataclass
class World:
    """One machine: a folder, an engine, and a result."""

    path: Path
    engine: SimulatedEngine
    ground: Ground = field(default_factory=lambda: Ground(Path("/engine"), DESCRIBE))
    progress: SilentProgress = field(default_factory=SilentProgress)
    result: ResultFolder | None = None

    @property
    def target(self) -> Path:
        return self.path / "here"

    def disk(self, place: Path | None = None) -> AskedPart:
        asked = disk_words(
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
        return asked_part("disk", asked)

    def sweep(self, time: str = "60s") -> AskedPart:
        target = [f"here={self.target}"]
        asked = sweep_words(target=target, ranks="1,2", block="1M", volume="16M", max_repetitions=3, time=time)
        return asked_part("sweep", asked)

    def prepare(self, *parts: AskedPart) -> PreparedParts:
        asked = whole(self.sweep().targets, parts or (self.disk(), self.sweep()))
        request = Request(run_id="r1", suite="overview", created="now", targets=asked.targets, options=asked.options)
        return prepare_parts(request, self.ground)

    def run(self, prepared: PreparedParts) -> tuple[int, Session]:
        if self.result is None:
            self.result = ResultFolder.create(self.path / "result", prepared.request)
        session = Session(self.result, self.ground, Mpich(Path("/mpiexec")), self.progress, start=self.engine.start)
        return execute(prepared, session), session

    def resume(self) -> tuple[int, Session]:
        assert self.result is not None
        return self.run(prepare_parts(self.result.read_request(), self.ground))


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    (tmp_path / "here").mkdir()
    monkeypatch.setattr("ullage.suites.disk.prepare.direct_io", lambda _path: DirectIo(True, 512))
    return World(tmp_path, SimulatedEngine(Clock(), cost=lambda _case, _plan: 0.1))
