# SPDX-License-Identifier: Apache-2.0
"""Runs made of a disk run and a sweep, on a simulated engine."""

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from support.simulated_engine import DESCRIBE, Clock, SimulatedEngine
from support.suite_world import SuiteWorld
from ullage.model.request import Request
from ullage.runs.cells.direct import DirectIo
from ullage.runs.composite.options import PartRequest, PartsOptions, part_of
from ullage.runs.composite.prepared import PreparedParts, prepare_parts
from ullage.runs.inputs import EngineContext, ParsedOptions
from ullage.runs.options.reading import parse_options
from ullage.runs.session import Session
from ullage.runs.summary import build_summary
from ullage.suites.disk.options import DiskOptions
from ullage.suites.sweep.cells import SweepOptions


@dataclass
class World(SuiteWorld[PreparedParts]):
    engine_context: EngineContext = field(default_factory=lambda: EngineContext(Path("/engine"), DESCRIBE))

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

    def sweep(self, time: str = "60s", **more: object) -> PartRequest:
        target = [f"here={self.target}"]
        usual = {"ranks": "1,2", "block": "1M", "volume": "16M", "max_repetitions": 3, "time": time}
        asked = parse_options(SweepOptions, target=target, **{**usual, **more})
        return part_of("sweep", asked)

    def prepare(self, *parts: PartRequest) -> PreparedParts:
        own = PartsOptions(parts=list(parts or (self.disk(), self.sweep()))).model_dump(mode="json")
        asked = ParsedOptions(self.sweep().targets, own)
        request = Request(run_id="r1", suite="overview", created="now", targets=asked.targets, options=asked.options)
        return self.prepare_request(request)

    def prepare_request(self, request: Request) -> PreparedParts:
        return prepare_parts(request, self.engine_context, build_summary)

    def start(self, prepared: PreparedParts, session: Session) -> int:
        return prepared.run(session, self.clock.now)


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    (tmp_path / "here").mkdir()
    monkeypatch.setattr("ullage.runs.cells.direct.direct_io", lambda _path: DirectIo(True, 512))
    return World(tmp_path, SimulatedEngine(Clock(), cost=lambda _case, _plan: 0.1))
