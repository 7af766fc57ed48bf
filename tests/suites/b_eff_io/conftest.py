# SPDX-License-Identifier: Apache-2.0
"""b_eff_io on simulated storage: prepared from the words of a command line, run in no time."""

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from support.simulated_b_eff_io import DESCRIBE, SimulatedIo
from support.simulated_engine import SilentProgress
from ullage.launch.mpich import Mpich
from ullage.model.plan import Target
from ullage.model.request import Request
from ullage.model.system import Memory, Place
from ullage.results.folder import ResultFolder
from ullage.runs.inputs import EngineContext
from ullage.runs.options.reading import parse_options
from ullage.runs.session import Session
from ullage.suites.b_eff_io.options import BEffIoOptions
from ullage.suites.b_eff_io.prepare import PreparedBEffIo, prepare_b_eff_io
from ullage.system.storage import read_places

GROUND = EngineContext(Path("/engine"), DESCRIBE)


@dataclass
class IoWorld:
    """One machine: folders, an engine, and a result."""

    path: Path
    engine: SimulatedIo = field(default_factory=SimulatedIo)
    progress: SilentProgress = field(default_factory=SilentProgress)
    result: ResultFolder | None = None

    def request(self, targets: str = "t", **words: object) -> Request:
        for name in targets:
            (self.path / name).mkdir(exist_ok=True)
        usual = {"ranks": 2, "partitions": "2", "time": "60s", "target": [f"{n}={self.path / n}" for n in targets]}
        asked = parse_options(BEffIoOptions, **{**usual, **words})  # type: ignore[arg-type]
        return Request(run_id="r1", suite="b_eff_io", created="now", targets=asked.targets, options=asked.options)

    def options(self, **words: object) -> BEffIoOptions:
        return BEffIoOptions.model_validate(self.request(**words).options)

    def prepare(self, **words: object) -> PreparedBEffIo:
        return prepare_b_eff_io(self.request(**words), GROUND)

    def run(self, prepared: PreparedBEffIo, seconds: float | None = None) -> tuple[int, Session]:
        if self.result is None:
            self.result = ResultFolder.create(self.path / "result", prepared.request)
        launcher = Mpich(Path("/mpiexec"))
        session = Session(self.result, GROUND, launcher, self.progress, seconds, self.engine.start)
        return prepared.run(session), session

    def resume(self) -> tuple[int, Session]:
        assert self.result is not None
        return self.run(prepare_b_eff_io(self.result.read_request(), GROUND))

    def events(self) -> list[str]:
        """Codes of the front's own."""
        assert self.result is not None
        own = ("pattern-timeout", "type-given-up", "launch-ended", "made-again")
        return [event.code for file in self.result.read_records() for event in file.events if event.code in own]


@pytest.fixture
def io_world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> IoWorld:
    def roomy(targets: list[Target]) -> list[Place]:
        plenty = {"free_bytes": 1 << 50, "free_inodes": 1 << 40, "is_memory": False}
        return [place.model_copy(update=plenty) for place in read_places(targets)]

    monkeypatch.setattr("ullage.system.storage.read_places", roomy)
    monkeypatch.setattr("ullage.system.hardware.read_memory", lambda: Memory(total_bytes=64 << 30))
    monkeypatch.setattr("ullage.system.hardware.usable_cores", lambda: 4)
    world = IoWorld(tmp_path)
    monkeypatch.setattr("ullage.runs.remains.remove", world.engine.remove)
    return world
