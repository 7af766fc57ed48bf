# SPDX-License-Identifier: Apache-2.0
"""Disk runs as people make them, on real files with the real engine."""

import os
import shutil
import signal
import tempfile
from pathlib import Path

import pytest
from tests.e2e.commands import command, run, start_and_act

from ullage.engine import describe
from ullage.model.summary import Row, Summary
from ullage.results.folder import ResultFolder
from ullage.suites.disk.cells import why_not_deep

KIB, MIB = 1 << 10, 1 << 20


def disk(engine: Path, target: str, result: Path, *words: str) -> list[str]:
    table = ["--threads", "1,2", "--block", "256K,1M", "--small", "4K", "--depth", "1,8"]
    sizes = ["--volume", "16M", "--small-volume", "4M", "--max-repetitions", "3"]
    own = ["run", "disk", "--target", target, *table, *sizes, "--result", str(result)]
    return command(engine, *own, *words)


def summary_of(result: Path) -> Summary:
    return ResultFolder.open(result).read_summary()


def rows_of(summary: Summary, metric: str, **params: object) -> list[Row]:
    rows = [row for row in summary.rows if row.metric == metric]
    return [row for row in rows if all(row.params.get(key) == value for key, value in params.items())]


def test_the_whole_table_is_measured_and_nothing_is_left(engine: Path, target: Path, tmp_path: Path) -> None:
    result = tmp_path / "result"
    code, out, err = run(disk(engine, f"here={target}", result, "--no-peer", "--time", "120s", "--all"))
    assert code == 0, err
    summary = summary_of(result)
    assert len(rows_of(summary, "bandwidth")) == 2 * (2 * 2 * 2 + 2)
    assert min(len(row.repetitions) for row in summary.rows) >= 3
    assert all(row.peer is None for row in summary.rows)
    text = " ".join(out.split())
    assert "blocks by threads" in text
    assert "small random requests" in text
    assert out.splitlines()[-1] == str(result)
    assert (result / "report.html").is_file()
    assert [path.name for path in target.iterdir()] == ["precious"]


def test_depth_keeps_so_many_requests_in_flight(engine: Path, target: Path, tmp_path: Path) -> None:
    reason = why_not_deep(describe(engine))
    if reason is not None:
        pytest.skip(f"no queue depths here: {reason}")
    result = tmp_path / "result"
    words = ["--no-peer", "--time", "120s", "--threads", "1", "--block", "1M", "--depth", "1,16"]
    assert run(disk(engine, f"here={target}", result, *words))[0] == 0
    phases = [phase for file in ResultFolder.open(result).read_records() for phase in file.phases]
    cases = {case.case: case for file in ResultFolder.open(result).read_records() for case in file.cases}
    deep = [phase for phase in phases if cases[phase.case].workload_parameters.get("queue_depth") == 16]
    assert deep
    assert {cases[phase.case].backend for phase in deep} == {"uring"}
    most: dict[tuple[str, str], float] = {}
    for phase in deep:
        assert phase.latency is not None
        transfer = phase.stages["transfer"]
        under_way = phase.latency.sum_ns / (transfer.last_stop_ns - transfer.first_start_ns)
        assert under_way < 16 * 1.1, "never more than were asked for"
        name = (phase.case, phase.phase)
        most[name] = max(most.get(name, 0.0), under_way)
    # A process that stands still before its first request has none under way for so long: one repetition is enough.
    assert min(most.values()) > 8, "far more than one at a time"


@pytest.mark.long
def test_fio_does_the_same_in_turn_and_leaves_nothing(engine: Path, target: Path, tmp_path: Path) -> None:
    if shutil.which("fio") is None:
        pytest.skip("fio is not installed")
    result = tmp_path / "result"
    words = ["--time", "60s", "--threads", "2", "--block", "1M", "--volume", "128M", "--small-volume", "16M"]
    words += ["--ceiling", "here=1TB/s"]
    code, out, err = run(disk(engine, f"here={target}", result, *words, "--all"))
    assert code == 0, err
    summary = summary_of(result)
    peers = ResultFolder.open(result).read_peers()
    blocks = rows_of(summary, "bandwidth", block_bytes=MIB)
    assert len(blocks) == 4
    assert {(peer.case, peer.phase) for peer in peers} >= {(row.case, str(row.params["access"])) for row in blocks}
    for row in blocks:
        assert row.peer is not None
        # The same work on the same machine; only a mistake of units or volumes makes more of a difference than this.
        assert 1 / 20 < row.median / row.peer.median < 20
    assert "peer's efficiency" in out
    assert [path.name for path in target.iterdir()] == ["precious"]


@pytest.mark.undisturbed
def test_a_device_with_a_known_answer_is_measured_as_it_is(engine: Path, tmp_path: Path) -> None:
    """1 GB/s, shared by the threads: never more in any row, and a repetition of every row reaches it.

    Whoever else is at work takes from a repetition, and gives to none: three runs may try.
    """
    words = ["--block", "1M", "--time", "30s", "--volume", "64M", "--small-volume", "2M", "--backend", "posix"]
    best: dict[str, float] = {}
    for turn in range(3):
        result = tmp_path / f"result-{turn}"
        code, _, err = run(disk(engine, "m=model:", result, *words))
        assert code == 0, err
        blocks = rows_of(summary_of(result), "bandwidth", block_bytes=MIB)
        assert len(blocks) == 8
        for row in blocks:
            assert row.median < 1.1e9
            name = f"{row.case} {row.params['access']}"
            best[name] = max(best.get(name, 0.0), *row.repetitions)
        if min(best.values()) > 0.9e9:
            break
    assert len(best) == 8, "a row has one name in all runs"
    assert min(best.values()) > 0.9e9, best


def test_threads_of_one_process_on_a_file_system_in_memory_that_is_labelled_so(engine: Path, tmp_path: Path) -> None:
    if not os.access("/dev/shm", os.W_OK):
        pytest.skip("no /dev/shm to write to")
    result = tmp_path / "result"
    with tempfile.TemporaryDirectory(dir="/dev/shm", prefix="test-disk-") as folder:
        table = ["--threads", "1,3", "--by", "threads", "--block", "256K", "--depth", "1,5", "--backend", "posix"]
        words = ["--no-peer", *table, "--volume", "6M", "--time", "60s"]
        code, _, err = run(disk(engine, f"tmp={folder}", result, *words))
        assert code == 0, err
        assert list(Path(folder).iterdir()) == []
    rows = summary_of(result).rows
    assert rows
    assert all("memory" in row.verdict for row in rows)
    assert {row.params["ranks"] for row in rows} == {1}
    assert {row.params.get("threads", 1) for row in rows if "queue_depth" not in row.params} == {1, 3}
    assert {row.params.get("threads", 1) for row in rows if "queue_depth" in row.params} == {1, 5}


@pytest.mark.long
def test_an_interrupted_run_is_reported_and_can_be_finished(engine: Path, target: Path, tmp_path: Path) -> None:
    result = tmp_path / "result"
    words = disk(engine, f"here={target}", result, "--no-peer", "--time", "120s", "--volume", "64M")
    code, _, err = start_and_act(words, result, lambda process: process.send_signal(signal.SIGINT))
    assert code == 5, err
    assert f"`ullage resume {result}` finishes the rest" in err
    assert [path.name for path in target.iterdir()] == ["precious"]
    code, _, err = run(command(engine, "resume", str(result)))
    assert code == 0, err
    rows = rows_of(summary_of(result), "bandwidth")
    assert len(rows) == 20
    assert min(len(row.repetitions) for row in rows) >= 3
