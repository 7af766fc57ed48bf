# SPDX-License-Identifier: Apache-2.0
"""fio's words and its answer, against programs that only pretend; tests/e2e/test_fio_peer.py has the real one."""

import json
import re
import time
from pathlib import Path
from typing import Any

import pytest

from ullage.analysis.metrics import load_metrics
from ullage.peers import Installed, PeerError
from ullage.peers.fio import FioJob, fio_command, installed, run_fio

JOB = FioJob("write", block_bytes=4096, volume_bytes=65536, jobs=2, depth=1, engine="psync", direct=True)


def answer(**write: object) -> dict[str, Any]:
    """fio 3.33's document as far as it is looked at."""
    percentiles = {"50.000000": 1000, "95.000000": 2000, "99.000000": 3000, "99.900000": 4000}
    side = {"io_bytes": 65536, "runtime": 20, "bw_bytes": 3276800, "iops": 800.0}
    latency = {"max": 5000, "percentile": percentiles}
    return {"jobs": [{"error": 0, "write": {**side, "lat_ns": latency, **write}, "read": {}}]}


def program(folder: Path, body: str, version: str = "3.33") -> Installed:
    """A fio whose work is a shell script; its arguments are in ``words`` beside it."""
    path = folder / "fio"
    path.write_text(f'#!/bin/sh\n[ "$1" = --version ] || printf "%s\\n" "$@" > {folder}/words\n{body}\n')
    path.chmod(0o755)
    return Installed(path, version)


def says(folder: Path, document: object, notes: str = "") -> Installed:
    text = document if isinstance(document, str) else json.dumps(document, indent=1)
    (folder / "answer").write_text(notes + text + "\n")
    return program(folder, f"cat {folder}/answer")


def test_the_numbers_are_fios_own_in_the_units_of_the_metrics(tmp_path: Path) -> None:
    values = run_fio(says(tmp_path, answer(), "note: {not the document\n"), JOB, tmp_path)
    assert values == {
        "bandwidth": 3276800.0,
        "operation_rate": 800.0,
        "latency_p50": 1e-6,
        "latency_p95": 2e-6,
        "latency_p99": 3e-6,
        "latency_p999": 4e-6,
        "latency_max": 5e-6,
    }
    assert set(values) <= set(load_metrics())


def test_the_words_say_the_whole_job(tmp_path: Path) -> None:
    fio = says(tmp_path, answer())
    run_fio(fio, JOB, tmp_path)
    words = (tmp_path / "words").read_text().splitlines()
    assert [str(fio.path), *words] == fio_command(fio, JOB)
    for word in ("--rw=write", "--bs=4096", "--size=32768", "--ioengine=psync", "--iodepth=1", "--direct=1"):
        assert word in words
    assert "--end_fsync=1" in words
    assert words[-4:] == ["--name=job0", "--filename=data.00000000", "--name=job1", "--filename=data.00000001"]
    read = FioJob("randread", 4096, 65536, 1, 32, "io_uring", direct=False)
    for word in ("--rw=randread", "--size=65536", "--ioengine=io_uring", "--iodepth=32", "--direct=0"):
        assert word in fio_command(fio, read)
    assert not [word for word in fio_command(fio, read) if "fsync" in word]


def test_a_write_makes_its_files_anew(tmp_path: Path) -> None:
    old, foreign = tmp_path / "data.00000001", tmp_path / "data.00000002"
    old.touch()
    foreign.touch()
    run_fio(says(tmp_path, answer()), JOB, tmp_path)
    assert not old.exists()
    assert foreign.exists()


@pytest.mark.parametrize(
    ("document", "what"),
    [
        ("", "exit code 0"),
        ("{", "exit code 0"),
        ("[]", "exit code 0"),
        ({}, "exit code 0"),
        ({"jobs": []}, "exit code 0"),
        ({"jobs": [{"error": 28}]}, "No space left on device"),
        (answer(io_bytes=4096), "4096 of 65536 bytes"),
        (answer(io_bytes=None), "no number 'io_bytes'"),
        (answer(bw_bytes="fast"), "no number 'bw_bytes'"),
        (answer(lat_ns={}), "no number"),
        (answer(runtime=9), "9 ms"),
    ],
)
def test_an_answer_that_says_nothing_is_one_line(tmp_path: Path, document: object, what: str) -> None:
    with pytest.raises(PeerError, match=what) as caught:
        run_fio(says(tmp_path, document), JOB, tmp_path)
    assert "\n" not in str(caught.value)


def test_a_failure_carries_fios_own_first_line(tmp_path: Path) -> None:
    fio = program(tmp_path, "printf 'fio: engine io_uring not loadable\\nmore\\n' >&2; exit 1")
    with pytest.raises(PeerError, match=r"^fio failed \(exit code 1\): fio: engine io_uring not loadable$"):
        run_fio(fio, JOB, tmp_path)


def test_what_takes_too_long_is_ended_with_its_children(tmp_path: Path) -> None:
    fio, pid = program(tmp_path, f"sleep 300 & echo $! > {tmp_path}/child; wait"), tmp_path / "child"
    for limit_s in (0.5, 5.0, 30.0):  # until the child has begun, which on a busy machine takes a while
        began = time.monotonic()
        with pytest.raises(PeerError, match=rf"not done after {re.escape(f'{limit_s:g}')} s"):
            run_fio(fio, JOB, tmp_path, limit_s=limit_s)
        assert time.monotonic() - began < 150
        if pid.exists() and pid.read_text().strip():
            break
    child = Path("/proc") / pid.read_text().strip() / "stat"
    for _ in range(600):
        if not child.exists() or child.read_text().split()[2] == "Z":
            return
        time.sleep(0.05)
    pytest.fail("a child of fio is still at work")


def test_a_program_that_cannot_be_started_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(PeerError, match="cannot be started: No such file"):
        run_fio(Installed(tmp_path / "none", "3.33"), JOB, tmp_path)


@pytest.mark.parametrize("version", ["2.21", "dev"])
def test_a_version_that_answers_otherwise_is_refused(tmp_path: Path, version: str) -> None:
    with pytest.raises(PeerError, match="fio 3 or newer"):
        run_fio(program(tmp_path, "exit 0", version), JOB, tmp_path)


@pytest.mark.parametrize(
    "job",
    [
        ("write", 4096, 65536, 3, 1, "psync", True),
        ("write", 4096, 4095, 1, 1, "psync", True),
        ("write", 4096, 0, 1, 1, "psync", True),
        ("read", 4096, 65536, 1, 2, "psync", True),
        ("read", 4096, 65536, 0, 1, "io_uring", True),
    ],
)
def test_a_job_that_fio_would_change_is_refused(job: tuple[Any, ...]) -> None:
    with pytest.raises(PeerError, match=r"^fio: "):
        FioJob(*job)


def test_the_version_is_asked_and_nothing_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert installed() is None
    for body, found in (
        ("echo fio-3.33", "3.33"),
        ("echo fio-3.36-14-gabc", "3.36-14-gabc"),
        ("echo fio", None),
        ("exit 1", None),
        ("printf 'fio-\\377'", None),
    ):
        program(tmp_path, body)
        answered = installed()
        assert (answered.version if answered else None) == found
    (tmp_path / "fio").write_text("#!/nonexistent/shell\n")
    assert installed() is None
