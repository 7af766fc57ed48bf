# SPDX-License-Identifier: Apache-2.0
"""b_eff_io on simulated storage: prepared from the words of a command line, run in no time."""

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from support.simulated_b_eff_io import DESCRIBE, SimulatedIo
from support.suite_words import request_of
from support.suite_world import SuiteWorld
from ullage.model.plan import Target
from ullage.model.request import Request
from ullage.model.system import Memory, Place
from ullage.runs.inputs import EngineContext
from ullage.runs.session import Session
from ullage.suites.b_eff_io.options import BEffIoOptions
from ullage.suites.b_eff_io.prepare import PreparedBEffIo, prepare_b_eff_io
from ullage.system.storage import read_places

GROUND = EngineContext(Path("/engine"), DESCRIBE)


@dataclass
class IoWorld(SuiteWorld[PreparedBEffIo]):
    suite, model = "b_eff_io", BEffIoOptions
    engine: SimulatedIo = field(default_factory=SimulatedIo)
    engine_context: EngineContext = GROUND

    def request(self, targets: str = "t", **words: object) -> Request:
        for name in targets:
            (self.path / name).mkdir(exist_ok=True)
        usual = {"ranks": 2, "partitions": "2", "time": "60s", "target": [f"{n}={self.path / n}" for n in targets]}
        return request_of(self.suite, self.model, **{**usual, **words})

    def options(self, **words: object) -> BEffIoOptions:
        return BEffIoOptions.model_validate(self.request(**words).options)

    def prepare_request(self, request: Request) -> PreparedBEffIo:
        return prepare_b_eff_io(request, self.engine_context)

    def start(self, prepared: PreparedBEffIo, session: Session) -> int:
        return prepared.run(session)

    def events(self) -> list[str]:
        """Codes of the front's own."""
        own = ("pattern-timeout", "type-given-up", "launch-ended", "made-again")
        return [code for code in super().events() if code in own]


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
