# SPDX-License-Identifier: Apache-2.0
"""mbw's and sysbench's words and answers, against programs that only pretend."""

from pathlib import Path

import pytest

from ullage.peers import Installed, PeerError
from ullage.peers.memory import SYSBENCH, MbwJob, SysbenchJob, find_mbw
from ullage.peers.served import run_job

MIB = 1 << 20
ANSWER = "AVG\tMethod: MCBLOCK\tElapsed: 0.01464\tMiB: 64.00000\tCopy: 4371.983 MiB/s"


def program(folder: Path, body: str, name: str = "mbw") -> Installed:
    path = folder / name
    path.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {folder}/words\n{body}\n')
    path.chmod(0o755)
    return Installed(path, "x" if name == "mbw" else "1.0.20")


def test_its_mib_of_one_way_become_bytes_read_and_written(tmp_path: Path) -> None:
    values = run_job(program(tmp_path, f"echo '{ANSWER}'"), MbwJob("blocks", 64 * MIB, 1024))
    assert values == {"memory_bandwidth": pytest.approx(2 * 4371.983 * MIB)}
    assert (tmp_path / "words").read_text().split() == ["-q", "-n", "5", "-t2", "-b", "1024", "64"]


def test_a_loop_has_no_blocks() -> None:
    words = MbwJob("loop", 2 * MIB, runs=3).command(Installed(Path("/usr/bin/mbw"), "x"), 0)
    assert words == ["/usr/bin/mbw", "-q", "-n", "3", "-t1", "2"]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("true", "no average of MCBLOCK"),
        (f"echo '{ANSWER.replace('MCBLOCK', 'DUMB')}'", "no average of MCBLOCK"),
        ("echo boom >&2; exit 1", "mbw failed (exit code 1): boom"),
        ("sleep 30", "was not done after"),
    ],
)
def test_what_gives_no_number_says_why(tmp_path: Path, body: str, message: str) -> None:
    with pytest.raises(PeerError) as caught:
        run_job(program(tmp_path, body), MbwJob("blocks", 64 * MIB, 1024), limit_s=0.5 if "sleep" in body else 10)
    assert message in str(caught.value)


@pytest.mark.parametrize(("array", "block"), [(0, 1024), (MIB + 1, 1024), (MIB, 0), (MIB, 2 * MIB)])
def test_what_it_cannot_do_is_refused(array: int, block: int) -> None:
    with pytest.raises(PeerError):
        MbwJob("blocks", array, block)


def test_it_is_found_by_its_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    program(tmp_path, "echo 'Usage: mbw [options] array_size_in_MiB'")
    found = find_mbw()
    assert found is not None
    assert found.path == tmp_path / "mbw"
    program(tmp_path, "echo 'another program'")
    assert find_mbw() is None
    (tmp_path / "mbw").unlink()
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_mbw() is None


def test_mib_of_sysbench_become_bytes(tmp_path: Path) -> None:
    said = program(tmp_path, "echo '1024.00 MiB transferred (9830.58 MiB/sec)'", "sysbench")
    values = run_job(said, SysbenchJob("read", 64 * MIB, 2))
    assert values == {"memory_bandwidth": pytest.approx(9830.58 * MIB)}
    words = (tmp_path / "words").read_text().split()
    assert {"memory", "run", "--threads=2", f"--memory-block-size={64 * MIB}", "--memory-oper=read"} <= set(words)
    assert "--memory-scope=local" in words, "a buffer of its own for each thread, as ours"


@pytest.mark.parametrize("body", ["true", "echo '0.00 MiB transferred (0.00 MiB/sec)'", "exit 3"])
def test_a_sysbench_that_gives_no_number_is_an_error(tmp_path: Path, body: str) -> None:
    with pytest.raises(PeerError):
        run_job(program(tmp_path, body, "sysbench"), SysbenchJob("write", MIB, 1))


@pytest.mark.parametrize(("size", "threads"), [(3 * MIB, 1), (4, 1), (MIB, 0)])
def test_what_sysbench_cannot_do_is_refused(size: int, threads: int) -> None:
    with pytest.raises(PeerError):
        SysbenchJob("read", size, threads)


def test_sysbench_is_found_with_its_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    program(tmp_path, "echo 'sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)'", "sysbench")
    assert SYSBENCH.installed() == Installed(tmp_path / "sysbench", "1.0.20")
    program(tmp_path, "exit 1", "sysbench")
    assert SYSBENCH.installed() is None
