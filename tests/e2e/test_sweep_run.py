# SPDX-License-Identifier: Apache-2.0
"""Sweeps as people run them, on real files: a good one, one that is interrupted, one that loses a rank."""

import os
import signal
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from tests.e2e.commands import Process, command, run, run_here, start_and_act

from ullage.cleaning import find_run_folders
from ullage.launch.running import LAUNCH_VARIABLE
from ullage.model.record import CaseRecord
from ullage.model.summary import Row, Summary
from ullage.results.folder import ResultFolder


@pytest.fixture
def target(tmp_path: Path) -> Path:
    folder = tmp_path / "a 'b' \"c\" <script>"
    folder.mkdir()
    return folder


def slow_sweep(engine: Path, target: Path, result: Path) -> list[str]:
    """Two layouts of a device so slow that somebody can come between."""
    words = ["run", "sweep", "--target", f"files={target}", "--target", "slow=model:", "--result", str(result)]
    words += [
        "--param",
        "model.bandwidth=20e6",
        "--ranks",
        "1,2",
        "--block",
        "256K",
        "--volume",
        "8M",
        "--time",
        "300s",
    ]
    return command(engine, *words, "--min-repetitions", "2", "--max-repetitions", "2")


def rates(result: Path) -> list[Row]:
    summary = Summary.model_validate_json((result / "summary.json").read_bytes())
    return [row for row in summary.rows if row.metric == "bandwidth"]


def whole_repetitions(result: Path) -> list[int]:
    """Those of each case. Its rows may count fewer, where other work has disturbed some."""
    records = [record for file in ResultFolder.open(result).read_records() for record in file.records]
    cases = [record for record in records if isinstance(record, CaseRecord) and record.status == "ok"]
    return list(Counter(record.case for record in cases).values())


@pytest.mark.each_mpi
def test_a_good_sweep(engine: Path, target: Path, tmp_path: Path) -> None:
    result = tmp_path / "result"
    words = ["run", "sweep", "--target", f"files={target}", "--ranks", "1,2", "--block", "64K,256K", "--volume", "4M"]
    code, out, err = run(
        command(engine, *words, "--time", "60s", "--max-repetitions", "3", "--all", "--result", str(result))
    )
    assert code == 0, err
    assert out.splitlines()[-1] == str(result)
    assert f"Report: {result / 'report.html'}" in out
    # Which finding there is depends on how quiet the machine is; what was run and how it is judged does not.
    assert "1 target, 2 rank counts (1, 2), 2 block sizes (64K, 256K), write and read" in " ".join(out.split())
    summary = ResultFolder.open(result).read_summary()
    assert f"Of {len(summary.rows)} rows: " in out
    assert len([row for row in summary.rows if row.metric == "bandwidth"]) == 8
    assert (result / "report.html").stat().st_size < 2 << 20
    assert list(target.iterdir()) == []


def test_each_layout_is_measured_by_several_launches_in_turn(engine: Path, target: Path, tmp_path: Path) -> None:
    result = tmp_path / "result"
    words = ["run", "sweep", "--target", f"files={target}", "--ranks", "1,2", "--block", "256K", "--volume", "1M"]
    words += ["--time", "60s", "--min-repetitions", "3", "--max-repetitions", "3", "--result", str(result)]
    code, _, err = run([sys.executable, "-m", "ullage", *words, "--engine", str(engine)])
    assert code == 0, err
    found = rates(result)
    assert len(found) == 4
    assert {len(set(row.launches)) for row in found} == {3}
    ranks = [file.run.layout.ranks for file in ResultFolder.open(result).read_records() if file.run is not None]
    assert sorted(ranks) == [1, 1, 1, 2, 2, 2]
    assert {len(set(turn)) for turn in zip(ranks[::2], ranks[1::2], strict=True)} == {2}


@pytest.mark.fault("SIGINT, SIGTERM at the front", "exit 5, a report, target empty; resume finishes the rest")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_sweep_is_reported_and_can_be_finished(
    engine: Path, target: Path, tmp_path: Path, number: signal.Signals
) -> None:
    result = tmp_path / "result"
    asked = time.monotonic()

    def act(process: Process) -> None:
        nonlocal asked
        asked = time.monotonic()
        process.send_signal(number)

    code, out, err = start_and_act(slow_sweep(engine, target, result), result, act)
    assert time.monotonic() - asked < 60
    assert code == 5
    assert "ullage: interrupted" in err
    assert f"`ullage resume {result}` finishes the rest" in err
    assert out.splitlines()[-1] == str(result)
    assert (result / "summary.json").is_file()
    assert list(target.iterdir()) == []
    code, _, err = run(command(engine, "resume", str(result)))
    assert code == 0, err
    assert len(rates(result)) == 8
    assert len(whole_repetitions(result)) == 4
    assert min(whole_repetitions(result)) >= 2


@pytest.mark.each_mpi
@pytest.mark.fault(
    "a rank of a run is killed", "exit 5, the rank named, target empty or listed; resume finishes the rest"
)
def test_a_sweep_that_loses_a_rank_names_it_and_can_be_finished(engine: Path, target: Path, tmp_path: Path) -> None:
    result = tmp_path / "result"
    # The slow device takes 6 repetitions of 0.8 s, so that the ranks are still there when they are looked for.
    words = [*slow_sweep(engine, target, result), "--min-repetitions", "6", "--max-repetitions", "6"]
    words[words.index("--ranks") + 1] = "2"

    def act(_process: Process) -> None:
        os.kill(_rank_of(result, 1), signal.SIGKILL)

    code, _, err = start_and_act(words, result, act)
    assert code == 5
    assert "rank 1 on" in err
    assert "died (signal 9 (Killed))" in err
    assert f"`ullage clean {target}` removes it" in err or list(target.iterdir()) == []
    code, _, err = run(command(engine, "resume", str(result)))
    assert code == 0, err
    assert len(whole_repetitions(result)) == 2
    assert min(whole_repetitions(result)) >= 6
    assert find_run_folders(target) == []


def _rank_of(result: Path, rank: int) -> int:
    """The process of a rank that runs a plan of ``result``."""
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
            environment = (entry / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        ours = words[1:2] == [b"run"] and len(words) > 2 and words[2].startswith(os.fsencode(result))
        ranked = {f"{name}={rank}".encode() for name in ("PMI_RANK", "OMPI_COMM_WORLD_RANK")}
        if (
            ours
            and ranked & set(environment)
            and any(item.startswith(LAUNCH_VARIABLE.encode()) for item in environment)
        ):
            return int(entry.name)
    raise AssertionError(f"no rank {rank} is running")


def test_plan_explains_and_touches_nothing(engine: Path, tmp_path: Path) -> None:
    words = ["plan", "sweep", "--target", f"x={tmp_path}", "--ranks", "1,2", "--block", "1M,4M", "--access", "read"]
    code, out, err = run_here(*words, "--volume", "64M", "--engine", str(engine))
    assert code == 0, err
    text = " ".join(out.split())
    for expected in (
        "Cases: 4",
        "64.0 MiB",
        "writes first what it reads",
        "Space on x",
        "at a time",
        "assumed, not measured",
    ):
        assert expected in text
    assert list(tmp_path.iterdir()) == []


def test_plan_in_json_is_what_the_engine_would_get(engine: Path, tmp_path: Path) -> None:
    from pydantic import TypeAdapter

    from ullage.model.plan import Plan

    words = [
        "plan",
        "sweep",
        "--target",
        f"x={tmp_path}",
        "--ranks",
        "1,2",
        "--block",
        "1M,4M",
        "--volume",
        "64M",
        "--json",
    ]
    code, out, err = run_here(*words, "--engine", str(engine))
    assert code == 0, err
    plans = TypeAdapter(list[Plan]).validate_json(out)
    assert [plan.layout.ranks for plan in plans] == [1, 2]
    assert [len(plan.cases) for plan in plans] == [2, 2]


def test_batch_scripts_are_written_and_nothing_is_started(engine: Path, tmp_path: Path) -> None:
    result = tmp_path / "result"
    words = ["run", "sweep", "--target", f"x={tmp_path}", "--ranks", "2,4", "--block", "1M", "--volume", "64M"]
    code, out, err = run_here(*words, "--launcher", "script", "--result", str(result), "--engine", str(engine))
    assert code == 0, err
    assert out.splitlines()[-1] == str(result)
    assert sorted(path.name for path in (result / "batch").iterdir()) == [
        "001-2-ranks.sbatch",
        "002-4-ranks.sbatch",
        "submit.sh",
    ]
    assert not (result / "records").exists() or list((result / "records").iterdir()) == []
