# SPDX-License-Identifier: Apache-2.0
"""sysbench's words and its answer, against a program that only pretends."""

from pathlib import Path

import pytest

from ullage.peers import Installed, PeerError
from ullage.peers.sysbench import SysbenchJob, installed, run_sysbench

MIB = 1 << 20


def program(folder: Path, body: str) -> Installed:
    path = folder / "sysbench"
    path.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {folder}/words\n{body}\n')
    path.chmod(0o755)
    return Installed(path, "1.0.20")


def test_its_mib_become_bytes(tmp_path: Path) -> None:
    said = program(tmp_path, "echo '1024.00 MiB transferred (9830.58 MiB/sec)'")
    values = run_sysbench(said, SysbenchJob("read", 64 * MIB, 2))
    assert values == {"memory_bandwidth": pytest.approx(9830.58 * MIB)}
    words = (tmp_path / "words").read_text().split()
    assert {"memory", "run", "--threads=2", f"--memory-block-size={64 * MIB}", "--memory-oper=read"} <= set(words)
    assert "--memory-scope=local" in words, "a buffer of its own for each thread, as ours"


@pytest.mark.parametrize("body", ["true", "echo '0.00 MiB transferred (0.00 MiB/sec)'", "exit 3"])
def test_what_gives_no_number_is_an_error(tmp_path: Path, body: str) -> None:
    with pytest.raises(PeerError):
        run_sysbench(program(tmp_path, body), SysbenchJob("write", MIB, 1))


@pytest.mark.parametrize(("size", "threads"), [(3 * MIB, 1), (4, 1), (MIB, 0)])
def test_what_it_cannot_do_is_refused(size: int, threads: int) -> None:
    with pytest.raises(PeerError):
        SysbenchJob("read", size, threads)


def test_it_is_found_with_its_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    program(tmp_path, "echo 'sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)'")
    assert installed() == Installed(tmp_path / "sysbench", "1.0.20")
    program(tmp_path, "exit 1")
    assert installed() is None
