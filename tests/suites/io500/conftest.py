# SPDX-License-Identifier: Apache-2.0
"""IO500 on simulated storage: prepared from the words of a command line, run in no time."""

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from support.simulated_engine import SilentProgress
from support.simulated_io500 import DESCRIBE, SimulatedStorage
from ullage.launch.mpich import Mpich
from ullage.model.plan import Target
from ullage.model.request import Request
from ullage.model.summary import Summary
from ullage.model.system import Place
from ullage.results.folder import ResultFolder
from ullage.runs.inputs import EngineContext
from ullage.runs.options.reading import parse_options
from ullage.runs.session import Session
from ullage.runs.summary import build_summary
from ullage.suites.io500.options import Io500Options
from ullage.suites.io500.prepare import PreparedIo500, execute, prepare_io500
from ullage.system.storage import read_places

GROUND = EngineContext(Path("/engine"), DESCRIBE)


@dataclass
class World:
    """One machine: a folder, an engine, and a result."""

    path: Path
    engine: SimulatedStorage = field(default_factory=SimulatedStorage)
    progress: SilentProgress = field(default_factory=SilentProgress)
    result: ResultFolder | None = None

    def request(self, config: str = "", targets: int = 1, **words: object) -> Request:
        if config:
            (self.path / "config.ini").write_text(config)
            words["config"] = self.path / "config.ini"
        names = "abc"[:targets]
        for name in names:
            (self.path / name).mkdir(exist_ok=True)
        asked = parse_options(
            Io500Options, target=[f"{name}={self.path / name}" for name in names], **{"ranks": 2, **words}
        )
        return Request(run_id="r1", suite="io500", created="now", targets=asked.targets, options=asked.options)

    def prepare(self, config: str = "", targets: int = 1, **words: object) -> PreparedIo500:
        return prepare_io500(self.request(config, targets, **words), GROUND)

    def run(self, prepared: PreparedIo500, seconds: float | None = None) -> tuple[int, Session]:
        if self.result is None:
            self.result = ResultFolder.create(self.path / "result", prepared.request)
        launcher = Mpich(Path("/mpiexec"))
        session = Session(self.result, GROUND, launcher, self.progress, seconds, self.engine.start)
        return execute(prepared, session), session

    def resume(self) -> tuple[int, Session]:
        assert self.result is not None
        return self.run(prepare_io500(self.result.read_request(), GROUND))

    def summary(self) -> Summary:
        assert self.result is not None
        return build_summary(self.result)

    def text(self, name: str) -> str:
        assert self.result is not None
        return (self.result.path / name).read_text()


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    def roomy(targets: list[Target]) -> list[Place]:
        plenty = {"free_bytes": 1 << 50, "free_inodes": 1 << 40, "is_memory": False}
        return [place.model_copy(update=plenty) for place in read_places(targets)]

    monkeypatch.setattr("ullage.system.storage.read_places", roomy)
    return World(tmp_path)
