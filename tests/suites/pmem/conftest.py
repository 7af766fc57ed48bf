# SPDX-License-Identifier: Apache-2.0
"""Runs of suite pmem on a simulated engine that has mmap, and pmem where a test says so."""

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
from ullage.suites.pmem.options import PmemOptions
from ullage.suites.pmem.suite import prepare_pmem


def describe(*, libpmem: bool) -> Describe:
    """The simulated engine with the backends of this suite; without ``libpmem`` as an engine that finds no library."""
    mmap = as_of_engine("mmap", "path", "data")
    reason = "" if libpmem else "libpmem.so.1 is not installed"
    pmem = as_of_engine("pmem", "path", "data").model_copy(update={"available": libpmem, "reason": reason})
    others = [one for one in DESCRIBE.backends if one.name != "pmem"]
    return DESCRIBE.model_copy(update={"backends": [*others, mmap, pmem]})


@dataclass
class World(SuiteWorld[PreparedCells]):
    suite, model = "pmem", PmemOptions

    def usual(self) -> dict[str, object]:
        sizes = {"transfer": "64,4K,1M", "region": "1M,8M", "volume": "8M", "ranks": "1,2"}
        return {"target": [f"here={self.target}"], **sizes}

    def prepare_request(self, request: Request) -> PreparedCells:
        return prepare_pmem(request, self.engine_context)

    def add_libpmem(self) -> None:
        self.engine_context = EngineContext(Path("/engine"), describe(libpmem=True))


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    (tmp_path / "here").mkdir()
    served = DirectIo(served=True, alignment_bytes=4096)
    monkeypatch.setattr("ullage.runs.cells.direct.direct_io", lambda _path: served)
    monkeypatch.setattr("ullage.suites.pmem.suite.is_dax", lambda _path: False)
    monkeypatch.setattr("ullage.suites.pmem.suite.count_numa_nodes", lambda: 1)
    monkeypatch.setattr("ullage.system.hardware.usable_cores", lambda: 4)
    engine = SimulatedEngine(Clock(), cost=lambda _case, _plan: 0.1)
    return World(tmp_path, engine, EngineContext(Path("/engine"), describe(libpmem=False)))
