# SPDX-License-Identifier: Apache-2.0
"""What the end of a launch means, and notes in records that were cut short."""

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from support.fake_program import FakeProgram
from support.simulated_engine import DESCRIBE, SilentProgress
from ullage.launch.base import DeadRank, Launcher
from ullage.launch.process import LaunchOutcome
from ullage.launch.slurm import Srun
from ullage.model.plan import Case, Layout, Named, Plan, Target
from ullage.model.record import EventRecord
from ullage.model.request import Request
from ullage.results.folder import ResultFolder, append_line
from ullage.results.records import read_records
from ullage.runs.inputs import EngineContext
from ullage.runs.session import Session, end_of, terminable

PLAN = Plan(
    run_id="r",
    suite="sweep",
    records="/r",
    layout=Layout(ranks=4),
    targets=[Target(name="a", uri="null:")],
    stop_rule=Named(name="fixed"),
    cases=[Case(id="0" * 16, target="a", backend=Named(name="null"), workload=Named(name="transfer"))],
)


def outcome(**members: object) -> LaunchOutcome:
    usual: dict[str, Any] = {
        "exit_code": 0,
        "signal": None,
        "records_path": Path("/r"),
        "last_status": None,
        "stderr_tail": "",
        "elapsed_s": 1.0,
    }
    return LaunchOutcome(**(usual | members))


@pytest.mark.parametrize(
    ("members", "code", "message"),
    [
        ({"last_status": "complete"}, 0, ""),
        ({"last_status": "failed", "exit_code": 4}, 4, ""),
        ({"exit_code": 3, "stderr_tail": "ullage-engine: /layout/ranks: no\n"}, 3, "/layout/ranks: no"),
        ({"exit_code": 9, "stderr_tail": "ullage-engine: target 'a': full\nBAD TERMINATION\n"}, 3, "target 'a': full"),
        ({"exit_code": 2, "stderr_tail": "usage"}, 2, "the engine refused the plan (exit code 2)"),
        ({"last_status": "interrupted", "stopped_by": "signal"}, 5, "interrupted"),
        ({"last_status": "complete", "stopped_by": "signal"}, 5, "interrupted"),
        ({"last_status": "timeout"}, 5, "the launch with 4 ranks was ended: no progress for 120 s"),
        (
            {"last_status": "timeout", "hang": "rank 1 on n1 gave no sign of life for 120 s"},
            5,
            "the launch with 4 ranks was ended: rank 1 on n1 gave no sign of life for 120 s",
        ),
        (
            {"stopped_by": "silent", "stopped_ranks": [0]},
            5,
            "the launch with 4 ranks gave no sign of life for 130 s and was ended: rank 0 is stopped",
        ),
        ({"stopped_by": "silent"}, 5, "the launch with 4 ranks gave no sign of life for 130 s and was ended"),
        ({"stopped_by": "no start"}, 5, "the launch with 4 ranks wrote no record in time and was ended"),
        ({"exit_code": 1, "stderr_tail": "a\n-----\n"}, 5, "the launch with 4 ranks ended early: a"),
        ({"exit_code": 1}, 5, "the launch with 4 ranks ended early: exit code 1"),
        (
            {"exit_code": 137, "dead_ranks": [DeadRank(2, "n1", "signal 9 (Killed)")]},
            5,
            "the launch with 4 ranks ended early: rank 2 on n1 died (signal 9 (Killed))",
        ),
        (
            {"exit_code": 9, "dead_ranks": [DeadRank(None, "", "signal 9 (Killed)")]},
            5,
            "the launch with 4 ranks ended early: a rank on an unknown node died (signal 9 (Killed))",
        ),
    ],
)
def test_the_end_of_a_launch(members: dict[str, Any], code: int, message: str) -> None:
    ended = end_of(outcome(**members), PLAN)
    assert (ended.code, ended.message) == (code, message)
    assert ended.may_go_on == (code in (0, 4))
    assert ended.was_stopped == (message == "interrupted")


@pytest.mark.parametrize("before", ["", '{"kind":"end"', "x\n"])
def test_a_note_is_readable_whatever_stands_before_it(tmp_path: Path, before: str) -> None:
    path = tmp_path / "records" / "001.ndjson"
    path.parent.mkdir()
    path.write_text(before)
    event = EventRecord(severity="error", code="launch-ended", text="rank 1 died")
    append_line(path, event.model_dump_json().encode())
    found = read_records(path)
    assert [event.code for event in found.events] == ["launch-ended"]
    assert found.truncated


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_between_launches_ends_the_run_like_sigint(number: signal.Signals) -> None:
    before = signal.getsignal(number)
    with pytest.raises(KeyboardInterrupt), terminable():
        os.kill(os.getpid(), number)
    assert signal.getsignal(number) == before


def test_a_refusal_whose_words_had_no_room_is_that_of_a_full_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ullage.runs.session._LEAST_ROOM_BYTES", 1 << 62)
    records = tmp_path / "001.ndjson"
    for code in (3, 137):
        ended = end_of(outcome(exit_code=code, records_path=records), PLAN)
        assert (ended.code, ended.may_go_on) == (3, False)
        assert ended.message == f"{records}: there is no room left for the result; what was measured is kept"
    died = outcome(exit_code=137, records_path=records, dead_ranks=[DeadRank(2, "n1", "signal 9 (Killed)")])
    assert end_of(died, PLAN).code == 5


@pytest.mark.parametrize(
    ("nodes", "excluded", "may_move", "started_without"),
    [
        (2, "", True, ("n1",)),
        # Three are needed, or what an earlier launch has left on the node that failed.
        (3, "", True, None),
        (2, "", False, None),
        # A single rank waits for no node, and one that was left out anyhow is missed by nobody.
        (1, "", True, ()),
        (2, "n1", False, ("n1",)),
    ],
)
def test_a_launch_does_not_wait_for_a_node_that_the_job_has_lost(
    tmp_path: Path,
    fake_program: FakeProgram,
    monkeypatch: pytest.MonkeyPatch,
    nodes: int,
    excluded: str,
    *,
    may_move: bool,
    started_without: tuple[str, ...] | None,
) -> None:
    fake_program("squeue", "echo 'n[0,2]'")
    for name, value in {"ID": "7", "NUM_NODES": "3", "NODELIST": "n[0-2]"}.items():
        monkeypatch.setenv(f"SLURM_JOB_{name}", value)
    started: list[tuple[str, ...]] = []

    def start(_engine: Path, launcher: Launcher, _path: Path, *_more: object) -> LaunchOutcome:
        assert isinstance(launcher, Srun)
        started.append(launcher.excluded)
        return outcome(last_status="complete")

    result = ResultFolder.create(tmp_path / "result", Request(run_id="r", suite="sweep", created="now"))
    launcher = Srun(Path("/srun"), plugin="pmix").without([excluded])
    session = Session(result, EngineContext(Path("/e"), DESCRIBE), launcher, SilentProgress(), None, start)
    plan = PLAN.model_copy(update={"layout": Layout(ranks=nodes, nodes=nodes), "records": str(result.records_path(1))})
    ended = session.launch(1, plan, lambda _record: None, may_move=may_move)
    assert started == ([] if started_without is None else [started_without])
    lost = "node n1 failed (Slurm took it from the job before the launch)"
    said = f"the launch with {nodes} ranks ended early: {lost}"
    if started_without is not None:
        said = "node n1 failed before launch 1; the run goes on without n1"
    assert session.messages == ([] if excluded or nodes == 1 else [said])
    assert ended.code == (5 if started_without is None else 0)
