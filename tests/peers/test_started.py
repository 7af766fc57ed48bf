# SPDX-License-Identifier: Apache-2.0
"""Peers that start processes of their own."""

import re
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
    pid = tmp_path / "child"
    for limit_s in (0.5, 5.0, 30.0):  # until the child has begun, which on a busy machine takes a while
        began = time.monotonic()
        with pytest.raises(PeerError, match=rf"^tool was not done after {re.escape(f'{limit_s:g}')} s"):
            run_to_end([script(tmp_path, "sleep 300 & echo $! > child; wait")], tmp_path, {}, limit_s)
        assert time.monotonic() - began < 150
        if pid.exists() and pid.read_text().strip():
            break
    child = Path("/proc") / pid.read_text().strip() / "stat"
    for _ in range(600):
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
