# SPDX-License-Identifier: Apache-2.0
"""Runs through commands that answer as those of batch systems do, and whose jobs really run (support/fake_batch.py)."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from support import calm_ullage, fake_batch
from ullage.engine import describe
from ullage.results.records import read_records

# A simulated device sleeps: it takes time and no processor.
DEVICE = ("sweep", "--target", "dev=model:", "--param", "model.bandwidth=1e7", "--ranks", "2", "--access", "write")
ONCE = ("--block", "64K", "--volume", "1M", "--min-repetitions", "1", "--max-repetitions", "1")
LONG = ("--block", "64K", "--volume", "4M", "--min-repetitions", "200", "--max-repetitions", "200", "--time", "90s")
COMMANDS = {"flux": ("flux",), "lsf": ("bsub", "bjobs", "bkill", "jsrun"), "pbs": ("qsub", "qstat", "qsig", "qdel")}
# What starts the ranks inside the job, where it is not the MPI's own mpiexec.
LAUNCHED = {"flux": "flux run", "lsf": "jsrun"}


@dataclass(frozen=True)
class Fake:
    """A batch system of this machine."""

    name: str
    store: Path
    engine: Path

    def words(self, verb: str, *words: str) -> list[str]:
        return [sys.executable, calm_ullage.__file__, verb, *words, "--engine", str(self.engine)]

    def run(self, verb: str, *words: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(self.words(verb, *words), capture_output=True, text=True, timeout=120, check=False)

    def submit(self, result: Path, *words: str) -> list[str]:
        return self.words("run", *DEVICE, *words, "--launcher", self.name, "--result", str(result))

    @property
    def asked(self) -> str:
        return (self.store / "commands.log").read_text()


@pytest.fixture(params=sorted(COMMANDS))
def batch(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: Path
) -> Iterator[Fake]:
    folder, store = tmp_path / "bin", tmp_path / "store"
    folder.mkdir()
    store.mkdir()
    for name in COMMANDS[request.param]:
        (folder / name).symlink_to(Path(fake_batch.__file__).resolve())
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    monkeypatch.setenv("FAKE_BATCH", str(store))
    mpi = describe(engine).engine.mpi
    monkeypatch.setenv("FAKE_MPIEXEC", mpi.mpiexec)
    monkeypatch.setenv("FAKE_MPI", mpi.family)
    yield Fake(request.param, store, engine)
    for job in store.glob("jobs/*.pid"):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(int(job.read_text()), signal.SIGKILL)


@contextlib.contextmanager
def under_way(batch: Fake, result: Path, *words: str) -> "Generator[subprocess.Popen[str]]":
    process = subprocess.Popen(batch.submit(result, *words), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.kill()


def wait_until(true: Callable[[], bool], what: str, timeout_s: float = 60) -> None:
    deadline = time.monotonic() + timeout_s
    while not true():
        assert time.monotonic() < deadline, what
        time.sleep(0.1)


def has_repetition(result: Path) -> bool:
    files = result.glob("records/*.ndjson")
    return any(record.kind == "case" for path in files for record in read_records(path).records)


def test_a_run_is_submitted_followed_and_reported(batch: Fake, tmp_path: Path) -> None:
    result = tmp_path / "result"
    words = batch.submit(result, *ONCE, "--walltime", "00:10:00", "--ppn", "2")
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == str(result)
    assert "2 ranks" in done.stdout
    assert (result / "report.html").is_file()
    kept = sorted(path.suffix for path in (result / "batch").iterdir())
    assert kept == sorted([".out", f".{batch.name}"])
    assert list(tmp_path.glob("result.*")) == []
    is_other_mpi = batch.name == "lsf" and describe(batch.engine).engine.mpi.family != "openmpi"
    starts = None if is_other_mpi else LAUNCHED.get(batch.name)
    assert starts is None or f"\n{starts} " in batch.asked


def test_a_job_that_was_forgotten_has_said_itself_how_it_ended(batch: Fake, tmp_path: Path) -> None:
    (batch.store / "forget").touch()
    done = subprocess.run(
        batch.submit(tmp_path / "result", *ONCE), capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "GONE" not in done.stderr


def test_a_script_that_people_submit_makes_the_result_and_resume_asks_for_the_rest(batch: Fake, tmp_path: Path) -> None:
    result = tmp_path / "result"
    launcher = f"script:{batch.name}"
    done = batch.run("run", *DEVICE, *ONCE, "--launcher", launcher, "--result", str(result))
    assert done.returncode == 0, done.stderr
    script = tmp_path / f"result.{batch.name}"
    typed = next(line for line in done.stdout.splitlines() if line.startswith("submit")).removeprefix("submit")
    assert typed.strip().endswith(str(script))
    subprocess.run(["bash", "-c", typed], check=True, capture_output=True)
    wait_until((tmp_path / "result.exit").exists, "the job does not end")
    assert (result / "report.html").is_file()
    again = batch.run("resume", str(result), "--launcher", launcher)
    assert again.returncode == 0, again.stderr
    assert f"resume {result}" in script.read_text()


def test_a_job_that_waits_is_said_and_withdrawn_by_ctrl_c(batch: Fake, tmp_path: Path) -> None:
    (batch.store / "hold").touch()
    with under_way(batch, tmp_path / "result", *ONCE) as process:
        assert process.stderr is not None
        lines: list[str] = []
        while "waits since" not in "".join(lines):
            lines.append(process.stderr.readline())
            assert lines[-1], lines
        process.send_signal(signal.SIGINT)
        _, rest = process.communicate(timeout=60)
    (batch.store / "hold").unlink()
    assert process.returncode == 5
    assert "was withdrawn before it began" in rest
    assert not (tmp_path / "result").exists()


def test_ctrl_c_ends_a_running_job_with_whole_records(batch: Fake, tmp_path: Path) -> None:
    result = tmp_path / "result"
    with under_way(batch, result, *LONG) as process:
        wait_until(lambda: has_repetition(result) or process.poll() is not None, "no repetition")
        assert process.poll() is None, process.communicate()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 5, err
    assert f"`ullage resume {result} --launcher {batch.name}` submits the rest" in err
    ends = [file.end for file in map(read_records, sorted(result.glob("records/*.ndjson")))]
    assert [end.status for end in ends if end is not None] == ["interrupted"]


@pytest.mark.parametrize("batch", ["pbs"], indirect=True)
def test_a_run_that_fits_into_no_job_is_divided_and_the_rest_is_submitted(batch: Fake, tmp_path: Path) -> None:
    """A job of 80 s is warned after 40 s, and measures for 5 s: it keeps a distance of 35 s from the warning."""
    result = tmp_path / "result"
    with under_way(batch, result, *LONG, "--walltime", "80s", "--chain", "1") as process:
        _, err = process.communicate(timeout=90)
    assert process.returncode == 5, err
    assert "job 7.fake ended early (its time was over, exit code 5); its rest is submitted" in err
    ends = [file.end for file in map(read_records, sorted(result.glob("records/*.ndjson")))]
    assert [end.status for end in ends if end is not None] == ["complete", "complete"]
    assert len(list((result / "batch").glob("job-*.pbs"))) == 2


@pytest.mark.parametrize("batch", ["pbs"], indirect=True)
def test_options_of_jobs_are_refused_where_none_is_made(batch: Fake, tmp_path: Path) -> None:
    done = batch.run("run", *DEVICE, "--no-exclusive")
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert "--no-exclusive: is of batch jobs, and launcher auto makes none" in done.stderr
    result = tmp_path / "result"
    scripts = batch.run("run", *DEVICE, *ONCE, "--launcher", "script", "--ppn", "2", "--result", str(result))
    assert (scripts.returncode, len(scripts.stderr.splitlines())) == (2, 1)
    assert scripts.stderr.endswith("give --ranks-per-node\n")
    assert not result.exists()
    unknown = batch.run("run", *DEVICE, "--launcher", "script:pbx")
    assert (unknown.returncode, len(unknown.stderr.splitlines())) == (2, 1)
    assert "unknown batch system 'pbx'" in unknown.stderr


def engines_of(rank: int, result: Path) -> list[int]:
    """Processes of the engine on this machine that measure into a result as that rank."""
    found: list[int] = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            words = (entry / "cmdline").read_bytes().split(b"\0") if entry.name.isdigit() else []
            is_engine = words[1:2] == [b"run"] and str(result).encode() in b" ".join(words)
            if is_engine and f"\0FLUX_TASK_RANK={rank}\0".encode() in (entry / "environ").read_bytes():
                found.append(int(entry.name))
    return found


@pytest.mark.parametrize("batch", ["flux"], indirect=True)
def test_the_rank_that_was_killed_is_named(batch: Fake, tmp_path: Path) -> None:
    result = tmp_path / "result"
    with under_way(batch, result, *LONG) as process:
        wait_until(lambda: has_repetition(result) or process.poll() is not None, "no repetition")
        [rank] = engines_of(1, result)
        os.kill(rank, signal.SIGKILL)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 5, err
    assert "rank 1" in err
    assert "signal 9 (Killed)" in err
