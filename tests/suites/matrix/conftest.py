# SPDX-License-Identifier: Apache-2.0
"""Runs of suites with known cells on a simulated engine that has what IOzone's tests need."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from support.simulated_engine import DESCRIBE, Clock, SimulatedEngine, as_of_engine
from support.suite_world import SuiteWorld
from ullage.model.describe import Describe
from ullage.model.request import Request
from ullage.runs.cells.direct import DirectIo
from ullage.runs.cells.prepared import PreparedCells
from ullage.runs.inputs import EngineContext
from ullage.suites.matrix.suite import MatrixOptions, prepare_matrix


def describe() -> Describe:
    """The simulated engine with the backend that IOzone's tests of streams need."""
    return DESCRIBE.model_copy(update={"backends": [*DESCRIBE.backends, as_of_engine("stdio", "path", "data")]})


@dataclass
class World(SuiteWorld[PreparedCells]):
    suite, model = "matrix", MatrixOptions

    def usual(self) -> dict[str, object]:
        return {"target": [f"here={self.target}"], "file": "64K,1M", "record": "4K,64K", "tests": "0,1,3"}

    def prepare_request(self, request: Request) -> PreparedCells:
        return prepare_matrix(request, self.engine_context)


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    (tmp_path / "here").mkdir()
    served = DirectIo(served=True, alignment_bytes=4096)
    monkeypatch.setattr("ullage.runs.cells.direct.direct_io", lambda _path: served)
    monkeypatch.setattr("ullage.system.hardware.usable_cores", lambda: 4)
    engine = SimulatedEngine(Clock(), cost=lambda _case, _plan: 0.1)
    return World(tmp_path, engine, EngineContext(Path("/engine"), describe()))
