# SPDX-License-Identifier: Apache-2.0
"""What a run records of the repetition that a lost node has ended."""

from pathlib import Path
from typing import Literal

import pytest

from support.simulated_engine import DESCRIBE, SilentProgress
from ullage.launch.base import DeadRank, Launcher
from ullage.launch.hosts import Hosts
from ullage.launch.mpich import Mpich
from ullage.launch.process import LaunchOutcome
from ullage.model.plan import Case, Layout, Named, Plan, Target
from ullage.model.record import CaseRecord
from ullage.model.request import Request
from ullage.results.folder import ResultFolder
from ullage.runs.case_progress import RunProgress
from ullage.runs.execution import Execution
from ullage.runs.inputs import EngineContext
from ullage.runs.session import Session


@pytest.mark.parametrize(
    ("members", "status"),
    [
        ({"last_status": "timeout", "silent_node": "h1"}, "timeout"),
        ({"dead_ranks": [DeadRank(None, "h1", "its daemon is gone", with_node=True)]}, "failed"),
    ],
)
def test_a_node_lost_between_two_repetitions_ends_the_next_one_as_it_would_one_under_way(
    tmp_path: Path, members: dict[str, object], status: Literal["failed", "timeout"]
) -> None:
    result = ResultFolder.create(tmp_path / "result", Request(run_id="r", suite="sweep", created="now"))
    plan = Plan(
        run_id="r",
        suite="sweep",
        records=str(result.records_path(1)),
        layout=Layout(ranks=2, nodes=2),
        order="shuffled",
        targets=[Target(name="a", uri="null:")],
        stop_rule=Named(name="fixed", parameters={"repetitions": 2}),
        cases=[Case(id="0" * 16, target="a", backend=Named(name="null"), workload=Named(name="transfer"))],
    )
    ends = iter([members, {"last_status": "complete"}])

    def start(_engine: Path, _launcher: Launcher, _path: Path, launched: Plan, *_more: object) -> LaunchOutcome:
        return LaunchOutcome(1, None, Path(launched.records), **({"last_status": None} | next(ends)), stderr_tail="")

    launcher = Mpich(Path("/mpiexec"), hosts=Hosts(("h0", "h1", "h2")))
    session = Session(result, EngineContext(Path("/e"), DESCRIBE), launcher, SilentProgress(), None, start)
    ended = Execution(session, RunProgress([])).attempt(1, plan)
    assert (ended.code, ended.may_go_on) == (4, True)
    files = [file.records for file in result.read_records()]
    noted = [record for records in files for record in records if isinstance(record, CaseRecord)]
    assert [(record.repetition, record.status, record.stop) for record in noted] == [(0, status, status)]
