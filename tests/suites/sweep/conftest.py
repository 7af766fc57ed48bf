# SPDX-License-Identifier: Apache-2.0
"""Sweeps on a simulated engine: prepared from the words of a command line, run in no time."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from support.simulated_engine import DESCRIBE, Clock, SimulatedEngine
from support.suite_world import SuiteWorld
from ullage.model.request import Request
from ullage.runs.inputs import EngineContext
from ullage.suites.sweep.cells import SweepOptions
from ullage.suites.sweep.prepare import PreparedSweep, prepare_sweep

GROUND = EngineContext(Path("/engine"), DESCRIBE)
Prepare = Callable[..., PreparedSweep]


@dataclass
class World(SuiteWorld[PreparedSweep]):
    """It has two targets."""

    suite, model = "sweep", SweepOptions
    engine_context: EngineContext = GROUND

    def usual(self) -> dict[str, object]:
        return {"target": [f"a={self.path / 'a'}", f"b={self.path / 'b'}"], "ranks": "1,2", "block": "1M,4M"}

    def prepare_request(self, request: Request) -> PreparedSweep:
        return prepare_sweep(request, self.engine_context)


@pytest.fixture
def world(tmp_path: Path) -> World:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    return World(tmp_path, SimulatedEngine(Clock(), cost=lambda _case, _plan: 0.1))
