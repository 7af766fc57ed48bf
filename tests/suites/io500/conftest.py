# SPDX-License-Identifier: Apache-2.0
"""IO500 on simulated storage: prepared from the words of a command line, run in no time."""

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from support.simulated_io500 import DESCRIBE, SimulatedStorage
from support.suite_words import request_of
from support.suite_world import SuiteWorld
from ullage.model.plan import Target
from ullage.model.request import Request
from ullage.model.system import Place
from ullage.runs.inputs import EngineContext
from ullage.runs.session import Session
from ullage.suites.io500.options import Io500Options
from ullage.suites.io500.prepare import PreparedIo500, prepare_io500
from ullage.system.storage import read_places

GROUND = EngineContext(Path("/engine"), DESCRIBE)


@dataclass
class World(SuiteWorld[PreparedIo500]):
    suite, model = "io500", Io500Options
    engine: SimulatedStorage = field(default_factory=SimulatedStorage)
    engine_context: EngineContext = GROUND

    def request(self, config: str = "", targets: int = 1, **words: object) -> Request:
        if config:
            (self.path / "config.ini").write_text(config)
            words["config"] = self.path / "config.ini"
        places = [self.path / name for name in "abc"[:targets]]
        for place in places:
            place.mkdir(exist_ok=True)
        target = [f"{place.name}={place}" for place in places]
        return request_of(self.suite, self.model, target=target, **{"ranks": 2, **words})

    def prepare(self, config: str = "", targets: int = 1, **words: object) -> PreparedIo500:
        return self.prepare_request(self.request(config, targets, **words))

    def prepare_request(self, request: Request) -> PreparedIo500:
        return prepare_io500(request, self.engine_context)

    def start(self, prepared: PreparedIo500, session: Session) -> int:
        return prepared.run(session)

    def text(self, name: str) -> str:
        return (self.result.path / name).read_text()


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    def roomy(targets: list[Target]) -> list[Place]:
        plenty = {"free_bytes": 1 << 50, "free_inodes": 1 << 40, "is_memory": False}
        return [place.model_copy(update=plenty) for place in read_places(targets)]

    monkeypatch.setattr("ullage.system.storage.read_places", roomy)
    return World(tmp_path)
