# SPDX-License-Identifier: Apache-2.0
"""Cpu runs on a simulated engine of known answers, with a simulated hpcc beside it."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from support.cpu_world import CpuEngine, describe_cpu
from support.simulated_engine import Clock
from support.suite_world import SuiteWorld
from ullage.model.request import Request
from ullage.model.summary import Row, Summary
from ullage.peers import Installed
from ullage.runs.inputs import EngineContext
from ullage.runs.kernels.prepared import PreparedKernels
from ullage.runs.kernels.resources import Resources
from ullage.suites.cpu.libraries import Library
from ullage.suites.cpu.options import CpuOptions
from ullage.suites.cpu.prepare import prepare_cpu

SITE, OURS = "/site/libopenblas.so.0", "/ours/libscipy_openblas.so"


@dataclass
class World(SuiteWorld[PreparedKernels]):
    """A machine of 4 cores."""

    suite, model = "cpu", CpuOptions

    def usual(self) -> dict[str, object]:
        return {"threads": "1,4", "time": "1h"}

    def prepare_request(self, request: Request) -> PreparedKernels:
        return prepare_cpu(request, self.engine_context)


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
    return World(tmp_path, CpuEngine(Clock()), EngineContext(Path("/engine"), describe_cpu()))


HPCC = Installed(Path("/usr/bin/hpcc"), "?")
