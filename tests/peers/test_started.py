# SPDX-License-Identifier: Apache-2.0
"""Peers that start processes of their own."""

import time
from pathlib import Path

import pytest

from ullage.peers import PeerError
from ullage.peers.started import run_to_end


def script(folder: Path, body: str) -> str:
    path = folder / "tool"
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return str(path)


def test_it_runs_in_its_folder_with_its_environment(tmp_path: Path) -> None:
    ended = run_to_end([script(tmp_path, 'pwd; echo "$WORD" >&2; exit 3')], tmp_path, {"WORD": "said"}, 10)
    assert (ended.code, ended.out, ended.err) == (3, f"{tmp_path}\n", "said\n")


def test_what_takes_too_long_is_ended_with_its_children(tmp_path: Path) -> None:
    began = time.monotonic()
    with pytest.raises(PeerError, match=r"^tool was not done after 0\.5 s"):
        run_to_end([script(tmp_path, "sleep 60 & echo $! > child; wait")], tmp_path, {}, 0.5)
    assert time.monotonic() - began < 10
    child = Path("/proc") / (tmp_path / "child").read_text().strip() / "stat"
    for _ in range(100):
        if not child.exists() or child.read_text().split()[2] == "Z":
            return
        time.sleep(0.05)
    pytest.fail("a child is still at work")


def test_workers_in_sessions_of_their_own_end_with_their_leader(tmp_path: Path) -> None:
    body = "setsid sh -c 'echo $$ > child; exec sleep 60' & while [ ! -s child ]; do sleep 0.02; done; echo done"
    ended = run_to_end([script(tmp_path, body)], tmp_path, {}, 30)
    assert (ended.code, ended.out) == (0, "done\n")
    assert not (Path("/proc") / (tmp_path / "child").read_text().strip()).exists()


def test_what_is_not_there_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(PeerError, match=r"^none cannot be started: No such file"):
        run_to_end([str(tmp_path / "none")], tmp_path, {}, 1)
