# SPDX-License-Identifier: Apache-2.0
"""A small run of all parts of a node with the real engine: measured, interrupted, finished, shown again."""

import json
import signal
import time
from pathlib import Path

import pytest
from tests.e2e.commands import TIMEOUT_S, Process, command, finish, run, run_here, start

from ullage.engine import describe
from ullage.model.summary import Summary
from ullage.results.folder import ResultFolder
from ullage.results.records import RecordTail


@pytest.fixture
def node_engine(engine: Path) -> Path:
    """The engine, where it has the parts of a node."""
    missing = {"compute", "stream", "fixed-work"} - {thing.name for thing in describe(engine).workloads}
    if missing:
        pytest.skip(f"this engine was built without {', '.join(sorted(missing))}")
    return engine


def node(engine: Path, target: Path, result: Path, *words: str) -> list[str]:
    own = ["run", "node", "--target", f"here={target}", "--quick", "--no-peer", "--result", str(result)]
    return command(engine, *own, *words)


def summary_of(result: Path) -> Summary:
    return ResultFolder.open(result).read_summary()


def statuses(result: Path) -> dict[str, str]:
    return {part.suite: part.status for part in summary_of(result).parts}


def wait_for_a_case(process: Process, result: Path, part: str) -> None:
    """Until a repetition of ``part`` is over."""
    deadline = time.monotonic() + TIMEOUT_S / 2
    while time.monotonic() < deadline:
        assert process.poll() is None, process.communicate()
        files = (result / "parts" / part / "records").glob("*.ndjson")
        if any(record.kind == "case" for file in files for record in RecordTail(file).poll()):
            return
        time.sleep(0.05)
    pytest.fail(f"no repetition of {part} in time")


@pytest.mark.long
def test_an_interrupted_node_keeps_what_it_has_and_is_finished(node_engine: Path, target: Path, tmp_path: Path) -> None:
    result = tmp_path / "result"
    process = start(node(node_engine, target, result, "--time", "24s"))
    try:
        wait_for_a_case(process, result, "cpu")
    except BaseException:
        process.kill()
        process.communicate()
        raise
    process.send_signal(signal.SIGTERM)
    code, out, err = finish(process)
    assert code == 5, err
    assert f"`ullage resume {result}` finishes the rest" in err
    assert out.splitlines()[-1] == str(result)
    ended = list(statuses(result).values())
    before = ended.index("interrupted")  # 0, unless this process stood still until the first part was over
    assert ended == ["complete"] * before + ["interrupted"] + ["not begun"] * (len(ended) - before - 1)
    # Sets of main memory are four times the last cache: where that is large, one repetition of each takes minutes.
    # On a busy machine the time is too short for some parts: they are left out with code 2, and resumed again.
    for _ in range(4):
        code, out, err = run(command(node_engine, "resume", str(result), "--all", "--time", "40s"))
        assert code == 0 or (code == 2 and "more time" in err), err
        if code == 0:
            break
    assert code == 0, err
    found = statuses(result)
    assert found.pop("gpu") in ("complete", "not available")
    assert set(found.values()) == {"complete"}
    summary = summary_of(result)
    assert {row.suite for row in summary.rows} >= {"cpu", "memory", "disk", "noise"}
    assert {"cores", "memory", "disk", "noise"} <= {one.part for part in summary.parts for one in part.headlines}
    assert "The machine at a glance" in out
    page = (result / "report.html").read_text()
    assert page.index('id="change-first"') < page.index('id="disk"') < page.index('id="noise"')
    assert [path.name for path in target.iterdir()] == ["precious"]
    shown, again, _ = run_here("report", str(result), "--format", "json")
    assert shown == 0
    assert len(json.loads(again)["rows"]) == len(summary.rows)


@pytest.mark.long
def test_a_part_without_its_target_is_said_and_the_others_run(node_engine: Path, tmp_path: Path) -> None:
    result = tmp_path / "result"
    others = "cpu,memory,io500,sweep,b_eff,rings,pairs,collectives,network,from-mdtest"
    words = ["run", "overview", "--target", f"gone={tmp_path / 'gone'}", "--without", others]
    code, out, err = run(command(node_engine, *words, "--all", "--result", str(result)))
    assert code in (2, 3), err
    found = statuses(result)
    assert found["disk"] == "not available"
    assert found["noise"] == "complete"
    assert found["b_eff_io"] == "not available"
    assert "Not measured: b_eff_io, disk" in " ".join(out.split())


def test_every_part_is_explained_and_nothing_is_started(node_engine: Path, target: Path, tmp_path: Path) -> None:
    words = ["plan", "node", "--target", f"here={target}", "--quick", "--engine", str(node_engine)]
    code, out, err = run_here(*words)
    assert code == 0, err
    assert [line.removeprefix("== ") for line in out.splitlines() if line.startswith("== ")] == [
        "cpu",
        "memory",
        "disk",
        "network",
        "noise",
    ]
    code, out, err = run_here(*words, "--json")
    assert code == 0, err
    assert {plan["suite"] for plan in json.loads(out)} == {"cpu", "memory", "disk", "network", "noise"}
    assert [path.name for path in target.iterdir()] == ["precious"]
    assert not (tmp_path / "result").exists()
