# SPDX-License-Identifier: Apache-2.0
"""Runs on a real Slurm of four nodes: inside allocations, submitted from outside, ended early and resumed."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.places.slurm import SlurmPlace, slurm_up

from support import calm_ullage
from ullage.engine import describe
from ullage.results.records import read_records

# One small message between two ranks, or little more, so that a busy machine ends it soon.
SMALL = ("pairs", "--quick", "--sizes", "8", "--repetitions", "1")
_PLUGINS = {"openmpi": "pmix", "mpich": "pmi2"}


@pytest.fixture(scope="module")
def slurm() -> Iterator[SlurmPlace]:
    with slurm_up(4, 2) as place:
        yield place


@pytest.fixture(autouse=True)
def idle(slurm: SlurmPlace) -> Iterator[None]:
    yield
    slurm.cancel_all()


@pytest.fixture
def home(empty_home: Path) -> dict[str, str]:
    return {"HOME": str(empty_home)}


def ullage(engine: Path, *words: str) -> list[str]:
    return [sys.executable, calm_ullage.__file__, *words, "--engine", str(engine)]


def in_job(
    slurm: SlurmPlace, nodes: int, *words: str, more: tuple[str, ...] = ()
) -> "subprocess.CompletedProcess[str]":
    return slurm.run("salloc", f"--nodes={nodes}", "--exclusive", *more, *words)


def layouts(result: Path) -> list[dict[str, Any]]:
    return [json.loads(path.read_text())["layout"] for path in sorted((result / "plans").glob("*.json"))]


def nodes_of(result: Path) -> set[str]:
    files = [read_records(path) for path in sorted((result / "records").glob("*.ndjson"))]
    return {
        record.node for file in files for record in file.records if record.kind == "probe" and record.probe == "node"
    }


@pytest.mark.each_mpi
@pytest.mark.parametrize("nodes", [2, 4])
def test_a_run_in_an_allocation_uses_its_nodes_by_srun_and_says_so(
    slurm: SlurmPlace, engine: Path, tmp_path: Path, nodes: int
) -> None:
    result = tmp_path / "result"
    done = in_job(slurm, nodes, *ullage(engine, "run", *SMALL, "--result", str(result)))
    assert done.returncode == 0, done.stderr
    assert nodes_of(result) == {f"n{index}" for index in range(nodes)}
    assert f"{nodes} nodes with {nodes} ranks" in done.stdout
    assert "error" not in (result / "engine" / "001.stderr").read_text()
    run = read_records(result / "records" / "001.ndjson").run
    assert run is not None
    # Asked for, and read back on each node by the engine.
    assert run.layout.binding == "core"
    assert (run.pinning.pinned_ranks, run.pinning.unpinned_ranks) == (nodes, 0)


def test_ranks_fill_the_cores_that_the_allocation_has(slurm: SlurmPlace, engine: Path) -> None:
    plan = ullage(engine, "plan", "rings", "--json")

    def layout(*words: str, exclusive: bool = True) -> dict[str, object]:
        shared = ["salloc", "--nodes=2", *(["--exclusive"] if exclusive else [])]
        done = slurm.run(*shared, *plan, *words)
        assert done.returncode == 0, done.stderr
        found: dict[str, object] = json.loads(done.stdout)[0]["layout"]
        return found

    whole = {"ranks": 4, "nodes": 2, "ranks_per_node": 2, "threads": 1, "binding": "core"}
    assert layout() == layout("--nodes", "2") == whole
    assert layout("--nodes", "1") == {**whole, "ranks": 2, "nodes": 1}
    # Slurm grants a processor on each node where nobody asks for more.
    assert layout(exclusive=False) == {**whole, "ranks": 2, "ranks_per_node": 1}


@pytest.mark.each_mpi
def test_the_mpiexec_of_the_mpi_starts_ranks_where_the_default_of_srun_is_pmix(
    slurm: SlurmPlace, engine: Path, tmp_path: Path
) -> None:
    launcher = {"openmpi": "open-mpi", "mpich": "mpich"}[describe(engine).engine.mpi.family]
    words = ["run", *SMALL, "--result", str(tmp_path / "result"), "--launcher", launcher]
    done = in_job(slurm, 2, *ullage(engine, *words))
    assert done.returncode == 0, done.stderr
    assert nodes_of(tmp_path / "result") == {"n0", "n1"}


def test_several_copies_of_a_run_are_refused(slurm: SlurmPlace, engine: Path, tmp_path: Path) -> None:
    words = ullage(engine, "run", *SMALL, "--result", str(tmp_path / "result"))
    done = slurm.run("srun", "--nodes=2", "--ntasks=2", *words)
    said = [line for line in done.stderr.splitlines() if line.startswith("ullage: ")]
    assert done.returncode == 3
    what = "2 processes of `ullage run` were started at once, and each would measure the others"
    assert said == [f"ullage: srun: {what}; start one in the job, without srun: it starts the ranks itself"]
    assert not (tmp_path / "result").exists()


@pytest.mark.each_mpi
def test_ranks_that_do_not_meet_are_named_with_the_remedy(slurm: SlurmPlace, engine: Path, tmp_path: Path) -> None:
    """A script with the wrong --mpi: nothing is measured, and the report says which launch, why, and what to do."""
    result = tmp_path / "result"
    words = ["run", *SMALL, "--nodes", "2", "--launcher", "script", "--result", str(result)]
    done = slurm.run(*ullage(engine, *words))
    assert done.returncode == 0, done.stderr
    script = next((result / "batch").glob("*.sbatch"))
    family = describe(engine).engine.mpi.family
    wrong = {"pmix": "pmi2", "pmi2": "pmix"}[_PLUGINS[family]]
    script.write_text(script.read_text().replace(f"--mpi={_PLUGINS[family]}", f"--mpi={wrong}"))
    job = slurm.run("sbatch", "--parsable", str(script)).stdout.strip()
    slurm.wait_for(job, "FAILED", "COMPLETED", "TIMEOUT")
    report = slurm.run(*ullage(engine, "report", str(result))[:-2])
    assert (report.returncode, len(report.stderr.splitlines())) == (3, 1)
    assert "Launch 1 ended before its first record:" in report.stderr
    # Slurm may end the ranks before their MPI has said why they do not meet (tests/results has all that it says).
    if re.search("PMI|OPAL ERROR", (result / "engine" / "001.stderr").read_text()):
        assert "by srun with the PMI of that MPI (pmix or pmi2)" in report.stderr
    assert "a launch measured nothing" in report.stdout


def test_a_script_for_two_nodes_measures_between_them_with_bound_ranks(
    slurm: SlurmPlace, engine: Path, tmp_path: Path
) -> None:
    result = tmp_path / "result"
    words = ["run", *SMALL, "--nodes", "2", "--launcher", "script", "--queue", "all", "--result", str(result)]
    done = slurm.run(*ullage(engine, *words))
    assert done.returncode == 0, done.stderr
    job = slurm.run("sbatch", "--parsable", str(next((result / "batch").glob("*.sbatch")))).stdout.strip()
    assert slurm.wait_for(job, "FAILED", "COMPLETED", "TIMEOUT") == "COMPLETED"
    run = read_records(result / "records" / "001.ndjson").run
    assert run is not None
    assert run.pinning.unpinned_ranks == 0
    assert nodes_of(result) == {"n0", "n1"}


def test_network_asks_for_two_nodes_by_script(slurm: SlurmPlace, engine: Path, tmp_path: Path) -> None:
    result = tmp_path / "result"
    words = ["run", "network", "--quick", "--nodes", "2", "--launcher", "script", "--result", str(result)]
    assert slurm.run(*ullage(engine, *words)).returncode == 0
    text = next((result / "batch").glob("*.sbatch")).read_text()
    assert "#SBATCH --nodes=2\n#SBATCH --ntasks-per-node=1" in text
    refused = slurm.run(*ullage(engine, "run", "network", "--nodes", "3", "--launcher", "script"))
    assert (refused.returncode, len(refused.stderr.splitlines())) == (2, 1)
    assert "--nodes: 3 nodes, and they work in pairs" in refused.stderr


def submit(engine: Path, result: Path, *words: str) -> list[str]:
    return ullage(engine, "run", *words, "--launcher", "slurm", "--result", str(result))


@pytest.mark.each_mpi
def test_a_run_is_submitted_followed_and_reported(slurm: SlurmPlace, engine: Path, tmp_path: Path) -> None:
    result = tmp_path / "result"
    site = tmp_path / "site.toml"
    site.write_text("queue = 'all'\nwalltime = '00:10:00'\n")
    done = slurm.run(*submit(engine, result, *SMALL, "--nodes", "4", "--site", str(site)))
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == str(result)
    assert "4 nodes with 4 ranks" in done.stdout
    assert nodes_of(result) == {"n0", "n1", "n2", "n3"}
    script = next((result / "batch").glob("job-*.sbatch")).read_text()
    assert "#SBATCH --partition=all\n#SBATCH --time=00:10:00\n" in script
    assert [path.name for path in tmp_path.glob("result.*")] == []


def errors_of(done: "subprocess.CompletedProcess[str]") -> list[str]:
    return [line for line in done.stderr.splitlines() if not line.startswith("ullage: warning: ")]


def test_a_job_may_share_its_nodes_and_asks_for_its_processors(slurm: SlurmPlace, engine: Path, tmp_path: Path) -> None:
    result = tmp_path / "result"
    done = slurm.run(*submit(engine, result, *SMALL, "--nodes", "2", "--ppn", "1", "--no-exclusive"))
    assert done.returncode == 0, done.stderr
    assert nodes_of(result) == {"n0", "n1"}
    script = next((result / "batch").glob("job-*.sbatch")).read_text()
    assert "#SBATCH --ntasks-per-node=1\n" in script
    assert "#SBATCH --exclusive" not in script
    refused = slurm.run(*submit(engine, tmp_path / "other", *SMALL, "--reservation", "nowhere"))
    assert (refused.returncode, len(errors_of(refused))) == (3, 1)
    assert "reservation" in refused.stderr


def test_what_the_scheduler_refuses_is_said_in_its_own_words(slurm: SlurmPlace, engine: Path, tmp_path: Path) -> None:
    words = {"nowhere": "invalid partition specified: nowhere", "phys --account nobody": "Invalid account"}
    for queue, said in words.items():
        done = slurm.run(*submit(engine, tmp_path / "result", *SMALL, "--queue", *queue.split()))
        assert (done.returncode, len(errors_of(done)), said in done.stderr) == (3, 1, True)
    assert not (tmp_path / "result").exists()


def start(slurm: SlurmPlace, words: list[str]) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        words,
        env=slurm.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        text=True,
    )


def wait_until(true: Callable[[], bool], what: str, timeout_s: float = 90) -> None:
    deadline = time.monotonic() + timeout_s
    while not true():
        assert time.monotonic() < deadline, what
        time.sleep(0.2)


def test_a_job_that_waits_is_said_and_withdrawn_by_ctrl_c(slurm: SlurmPlace, engine: Path, tmp_path: Path) -> None:
    held = slurm.run("sbatch", "--parsable", "--nodes=4", "--exclusive", "--wrap", "sleep 300").stdout.strip()
    slurm.wait_for(held, "RUNNING")
    process = start(slurm, submit(engine, tmp_path / "result", *SMALL, "--nodes", "2"))
    try:
        assert process.stderr is not None
        lines: list[str] = []
        while "waits since" not in "".join(lines):
            lines.append(process.stderr.readline())
            assert lines[-1], lines
        process.send_signal(signal.SIGINT)
        _, rest = process.communicate(timeout=60)
    finally:
        process.kill()
    assert "Ctrl-C withdraws it" in lines[-1]
    assert process.returncode == 5
    assert "was withdrawn before it began" in rest
    assert held in slurm.run("squeue", "-h", "-o", "%i").stdout.split()
    assert len(slurm.run("squeue", "-h", "-o", "%i").stdout.split()) == 1


LONG = ("pairs", "--sizes", "8", "--repetitions", "100000", "--time", "100s", "--nodes", "2")


def has_repetition(result: Path) -> bool:
    return any(
        record.kind == "case" for path in result.glob("records/*.ndjson") for record in read_records(path).records
    )


@pytest.mark.each_mpi
def test_ctrl_c_ends_a_running_job_with_whole_records_and_resume_submits_the_rest(
    slurm: SlurmPlace, engine: Path, tmp_path: Path
) -> None:
    result = tmp_path / "result"
    process = start(slurm, submit(engine, result, *LONG))
    try:
        wait_until(lambda: has_repetition(result) or process.poll() is not None, "no repetition")
        assert process.poll() is None, process.communicate()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=90)
    finally:
        process.kill()
    assert process.returncode == 5, err
    assert f"`ullage resume {result} --launcher slurm` submits the rest" in err
    ends = [file.end for file in map(read_records, sorted(result.glob("records/*.ndjson")))]
    assert [end.status for end in ends if end is not None] == ["interrupted"]
    outside = slurm.run(*ullage(engine, "resume", str(result)))
    assert (outside.returncode, len(outside.stderr.splitlines())) == (3, 1)
    assert "the run needs 2 nodes, and there is no batch job here" in outside.stderr
    rest = slurm.run(*ullage(engine, "resume", str(result), "--time", "3s", "--launcher", "slurm"))
    assert rest.returncode == 0, rest.stderr
    assert len(list(result.glob("records/*.ndjson"))) == 2


def test_scancel_is_seen(slurm: SlurmPlace, engine: Path, tmp_path: Path) -> None:
    result = tmp_path / "result"
    process = start(slurm, submit(engine, result, *LONG))
    try:
        wait_until(lambda: has_repetition(result) or process.poll() is not None, "no repetition")
        slurm.run("scancel", "--user=root")
        _, err = process.communicate(timeout=90)
    finally:
        process.kill()
    assert process.returncode == 5, err
    assert "ended early (CANCELLED" in err


@contextlib.contextmanager
def under_way(slurm: SlurmPlace, engine: Path, result: Path, *words: str) -> "Generator[subprocess.Popen[str]]":
    """A submitted run that has finished a repetition."""
    process = start(slurm, submit(engine, result, *words))
    try:
        wait_until(lambda: has_repetition(result) or process.poll() is not None, "no repetition")
        assert process.poll() is None, process.communicate()
        yield process
    finally:
        process.kill()


def job_of(slurm: SlurmPlace) -> str:
    [job] = slurm.run("squeue", "-h", "-o", "%i").stdout.split()
    return job


def test_a_node_that_is_set_down_is_named_and_the_run_ends_whole(
    slurm: SlurmPlace, engine: Path, tmp_path: Path
) -> None:
    result = tmp_path / "result"
    try:
        with under_way(slurm, engine, result, *LONG) as process:
            slurm.run("scontrol", "update", "nodename=n1", "state=down", "reason=test")
            _, err = process.communicate(timeout=90)
    finally:
        slurm.run("scontrol", "update", "nodename=n1", "state=resume")
    assert process.returncode == 5, err
    died = "the launch with 2 ranks ended early: node n1 failed (reported by Slurm)"
    assert f"ullage: {died}" in err.splitlines()
    events = [event.text for path in result.glob("records/*.ndjson") for event in read_records(path).events]
    assert died in events
    assert json.loads((result / "summary.json").read_text())["rows"]


# A simulated device sleeps: it takes time and no processor. 12 repetitions of 4 s each in four cases, because Slurm
# looks for time limits every 30 s.
SLEEPING = ("sweep", "--target", "dev=model:", "--param", "model.bandwidth=1e6", "--ranks", "1", "--access", "write")
CASES = (*SLEEPING, "--block", "64K,256K,1M,2M", "--volume", "4M", "--min-repetitions", "3", "--max-repetitions", "3")


@pytest.mark.long
def test_a_time_limit_ends_a_job_with_whole_records_and_the_chain_gives_the_same_rows(
    slurm: SlurmPlace, engine: Path, tmp_path: Path
) -> None:
    """The limit of the running job is lowered, so that Slurm itself sends the warning that the script asks for.

    While the second job runs, the controller restarts.
    """
    result = tmp_path / "result"
    with under_way(slurm, engine, result, *CASES, "--time", "300s", "--chain", "2") as process:
        first = job_of(slurm)
        slurm.run("scontrol", "update", f"jobid={first}", "timelimit=1")
        slurm.wait_for(first, "FAILED", "TIMEOUT", "COMPLETED")
        before = len(list(result.glob("records/*.ndjson")))
        wait_until(lambda: len(list(result.glob("records/*.ndjson"))) > before or process.poll() is not None, "no rest")
        with slurm.without_controller():
            time.sleep(1)
        _, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert f"ullage: job {first} ended early (FAILED, exit code 5); its rest is submitted" in err.splitlines()
    ends = [file.end for file in map(read_records, sorted(result.glob("records/*.ndjson")))]
    assert [end and end.status for end in ends][-1] == "complete"
    assert len(list((result / "batch").glob("job-*.sbatch"))) == 2
    rows = json.loads((result / "summary.json").read_text())["rows"]
    # As in a run that nothing interrupts: each case once, each with its three repetitions.
    assert sorted(
        (row["params"]["block_bytes"], len(row["repetitions"])) for row in rows if row["metric"] == "bandwidth"
    ) == [(block, 3) for block in (65536, 262144, 1048576, 2097152)]


@pytest.mark.each_mpi
def test_a_killed_front_leaves_no_ranks_on_the_nodes(slurm: SlurmPlace, engine: Path, tmp_path: Path) -> None:
    result = tmp_path / "result"
    process = start(
        slurm, ["salloc", "--nodes=2", "--exclusive", *ullage(engine, "run", *LONG, "--result", str(result))]
    )
    try:
        wait_until(lambda: has_repetition(result) or process.poll() is not None, "no repetition")
        front = next(pid for pid in children(process.pid) if "calm_ullage" in words_of(pid))
        os.kill(front, signal.SIGKILL)
        process.communicate(timeout=60)
        wait_until(lambda: not ranks_of(engine, result), "ranks are left", 30)
    finally:
        process.kill()


def words_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
    except OSError:
        return ""


def children(pid: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def ranks_of(engine: Path, result: Path) -> list[str]:
    every = [words_of(int(entry.name)) for entry in Path("/proc").iterdir() if entry.name.isdigit()]
    return [words for words in every if words.startswith(f"{engine} run {result}")]
