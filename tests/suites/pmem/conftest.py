# SPDX-License-Identifier: Apache-2.0
"""Runs of suite pmem on a simulated engine that has mmap, and pmem where a test says so."""

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from support.simulated_engine import DESCRIBE, Clock, SilentProgress, SimulatedEngine, as_of_engine
from ullage.launch.mpich import Mpich
from ullage.model.describe import Describe
from ullage.model.request import Request
from ullage.results.folder import ResultFolder
from ullage.runs.cells.direct import DirectIo
from ullage.runs.cells.prepared import PreparedCells
from ullage.runs.inputs import EngineContext
from ullage.runs.options.reading import parse_options
from ullage.runs.session import Session
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
class World:
    """One machine: a folder, a clock and an engine."""

    path: Path
    engine: SimulatedEngine
    libpmem: bool = False
    progress: SilentProgress = field(default_factory=SilentProgress)

    @property
    def engine_context(self) -> EngineContext:
        return EngineContext(Path("/engine"), describe(libpmem=self.libpmem))

    def prepare(self, **words: object) -> PreparedCells:
        usual = {
            "target": [f"here={self.path}"],
            "transfer": "64,4K,1M",
            "region": "1M,8M",
            "volume": "8M",
            "ranks": "1,2",
        }
        asked = parse_options(PmemOptions, **{**usual, **words})  # type: ignore[arg-type]
        request = Request(run_id="r1", suite="pmem", created="now", targets=asked.targets, options=asked.options)
        return prepare_pmem(request, self.engine_context)

    def run(self, prepared: PreparedCells) -> ResultFolder:
        result = ResultFolder.create(self.path.parent / "result", prepared.request)
        launcher = Mpich(Path("/mpiexec"))
        session = Session(result, self.engine_context, launcher, self.progress, None, self.engine.start)
        assert prepared.run(session, now=self.engine.clock.now) == 0
        return result


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    (tmp_path / "here").mkdir()
    served = DirectIo(served=True, alignment_bytes=4096)
    monkeypatch.setattr("ullage.runs.cells.direct.direct_io", lambda _path: served)
    monkeypatch.setattr("ullage.suites.pmem.suite.is_dax", lambda _path: False)
    monkeypatch.setattr("ullage.suites.pmem.suite.count_numa_nodes", lambda: 1)
    monkeypatch.setattr("ullage.system.hardware.usable_cores", lambda: 4)
    return World(tmp_path / "here", SimulatedEngine(Clock(), cost=lambda _case, _plan: 0.1))
