# SPDX-License-Identifier: Apache-2.0
"""mbw's words and its answer, against a program that only pretends."""

from pathlib import Path

import pytest

from ullage.peers import Installed, PeerError
from ullage.peers.mbw import MbwJob, installed, mbw_command, run_mbw

MIB = 1 << 20
ANSWER = "AVG\tMethod: MCBLOCK\tElapsed: 0.01464\tMiB: 64.00000\tCopy: 4371.983 MiB/s"


def program(folder: Path, body: str) -> Installed:
    path = folder / "mbw"
    path.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {folder}/words\n{body}\n')
    path.chmod(0o755)
    return Installed(path, "x")


def test_its_mib_of_one_way_become_bytes_read_and_written(tmp_path: Path) -> None:
    values = run_mbw(program(tmp_path, f"echo '{ANSWER}'"), MbwJob("blocks", 64 * MIB, 1024))
    assert values == {"memory_bandwidth": pytest.approx(2 * 4371.983 * MIB)}
    assert (tmp_path / "words").read_text().split() == ["-q", "-n", "5", "-t2", "-b", "1024", "64"]


def test_a_loop_has_no_blocks() -> None:
    words = mbw_command(Installed(Path("/usr/bin/mbw"), "x"), MbwJob("loop", 2 * MIB, runs=3))
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
        run_mbw(program(tmp_path, body), MbwJob("blocks", 64 * MIB, 1024), limit_s=0.5 if "sleep" in body else 10)
    assert message in str(caught.value)


@pytest.mark.parametrize(("array", "block"), [(0, 1024), (MIB + 1, 1024), (MIB, 0), (MIB, 2 * MIB)])
def test_what_it_cannot_do_is_refused(array: int, block: int) -> None:
    with pytest.raises(PeerError):
        MbwJob("blocks", array, block)


def test_it_is_found_by_its_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    program(tmp_path, "echo 'Usage: mbw [options] array_size_in_MiB'")
    found = installed()
    assert found is not None
    assert found.path == tmp_path / "mbw"
    program(tmp_path, "echo 'another program'")
    assert installed() is None
    (tmp_path / "mbw").unlink()
    monkeypatch.setenv("PATH", str(tmp_path))
    assert installed() is None
