# SPDX-License-Identifier: Apache-2.0
"""A result folder with one launch ready, and a launcher that needs no MPI."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from ullage import engine as engine_module
from ullage.engine import describe
from ullage.launch import choose_launcher
from ullage.launch.base import Launcher
from ullage.launch.process import LaunchOutcome, Timeouts, launch
from ullage.model.plan import Case, Layout, Named, Plan, Target
from ullage.model.request import Request
from ullage.results.folder import ResultFolder
from ullage.results.records import AnyRecord

SUPPORT = Path(__file__).parent.parent / "support"


@dataclass(frozen=True)
class Ready:
    """One launch that only waits for its start."""

    result: ResultFolder
    engine: Path
    launcher: Launcher
    plan: Plan

    def go(
        self, on_record: Callable[[AnyRecord], None] | None = None, timeouts: Timeouts | None = None
    ) -> LaunchOutcome:
        plan_path = self.result.prepare_launch(1, self.plan)
        stderr_path = self.result.stderr_path(1)
        timeouts = timeouts or Timeouts()
        return launch(self.engine, self.launcher, plan_path, self.plan, stderr_path, on_record, timeouts)


@pytest.fixture
def fake_engine(monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FAKE_MPIEXEC", str(SUPPORT / "fake_mpiexec.py"))
    monkeypatch.setenv("FAKE_MPI", "mpich")
    engine_module._describe.cache_clear()
    return SUPPORT / "fake_engine.py"


@pytest.fixture
def make_plan(tmp_path: Path) -> Callable[[Layout], Plan]:
    def make(layout: Layout) -> Plan:
        case = Case(id="0" * 16, target="a", backend=Named(name="null"), workload=Named(name="transfer"))
        return Plan(
            run_id="r1",
            suite="sweep",
            records=str(tmp_path / "result" / "records" / "001.ndjson"),
            layout=layout,
            targets=[Target(name="a", uri="null:")],
            stop_rule=Named(name="fixed"),
            time_budget_s=100,
            cases=[case],
        )

    return make


@pytest.fixture
def ready(tmp_path: Path, fake_engine: Path, make_plan: Callable[[Layout], Plan]) -> Ready:
    result = ResultFolder.create(tmp_path / "result", Request(run_id="r1", suite="sweep", created="now"))
    return Ready(result, fake_engine, choose_launcher(describe(fake_engine)), make_plan(Layout(ranks=3, nodes=1)))
