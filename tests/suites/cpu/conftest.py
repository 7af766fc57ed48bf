# SPDX-License-Identifier: Apache-2.0
"""Cpu runs on a simulated engine of known answers, with a simulated hpcc beside it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from support.cpu_world import CpuEngine, describe_cpu
from support.simulated_engine import Clock, SilentProgress
from ullage.launch.mpich import Mpich
from ullage.model.request import Request
from ullage.model.summary import Row, Summary
from ullage.peers import Installed
from ullage.results.folder import ResultFolder
from ullage.runs.inputs import EngineContext
from ullage.runs.kernels.prepared import PreparedKernels
from ullage.runs.kernels.resources import Resources
from ullage.runs.options.reading import parse_options
from ullage.runs.session import Session
from ullage.runs.summary import build_summary
from ullage.suites.cpu.libraries import Library
from ullage.suites.cpu.options import CpuOptions
from ullage.suites.cpu.prepare import prepare_cpu

SITE, OURS = "/site/libopenblas.so.0", "/ours/libscipy_openblas.so"


@dataclass
class World:
    """A machine of 4 cores."""

    path: Path
    engine: CpuEngine = field(default_factory=lambda: CpuEngine(Clock()))
    progress: SilentProgress = field(default_factory=SilentProgress)
    result: ResultFolder | None = None

    def prepare(self, **words: object) -> PreparedKernels:
        asked = parse_options(CpuOptions, **{"threads": "1,4", "time": "1h", **words})  # type: ignore[arg-type]
        request = Request(run_id="r1", suite="cpu", created="now", targets=asked.targets, options=asked.options)
        return prepare_cpu(request, self.engine_context)

    @property
    def engine_context(self) -> EngineContext:
        return EngineContext(Path("/engine"), describe_cpu())

    def run(self, prepared: PreparedKernels, seconds: float | None = None) -> int:
        if self.result is None:
            self.result = ResultFolder.create(self.path / "result", prepared.request)
        launcher = Mpich(Path("/mpiexec"))
        session = Session(self.result, self.engine_context, launcher, self.progress, seconds, self.engine.start)
        return prepared.run(session, now=self.engine.clock.now)

    def resume(self, seconds: float | None = None) -> int:
        assert self.result is not None
        return self.run(prepare_cpu(self.result.read_request(), self.engine_context), seconds)

    def summary(self, **words: object) -> Summary:
        if self.result is None:
            self.run(self.prepare(**words))
        assert self.result is not None
        return build_summary(self.result)


RowOf = Callable[..., Row]


def row_of(summary: Summary, metric: str = "compute_rate", **params: object) -> Row:
    """The one row with these parameters."""
    (found,) = [
        row for row in summary.rows if row.metric == metric and all(row.params.get(k) == v for k, v in params.items())
    ]
    return found


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    libraries = [Library("site", SITE), Library("ours", OURS)]
    monkeypatch.setattr("ullage.suites.cpu.prepare.find_libraries", lambda _named: libraries)
    monkeypatch.setattr("ullage.suites.cpu.prepare.find_scalapack", lambda _family: None)
    for place in ("suites.cpu.prepare", "runs.kernels.resources"):
        monkeypatch.setattr(f"ullage.{place}.read_resources", lambda: Resources(4, 4, None))
    monkeypatch.setattr("ullage.peers.hpcc.installed", lambda: None)
    return World(tmp_path)


HPCC = Installed(Path("/usr/bin/hpcc"), "?")
