# SPDX-License-Identifier: Apache-2.0
"""A launch that has been heard of and no longer is, is silent; one that never was, is not."""

import os
import signal
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

from ullage.launch.process import start_limit_of
from ullage.launch.running import HeartbeatMonitor, is_stopped, silence_of

if TYPE_CHECKING:
    from .conftest import Ready


def alive(records: Path) -> Path:
    return records.with_name(records.name + ".alive")


def test_a_launch_that_was_never_heard_of_is_not_silent(tmp_path: Path) -> None:
    signs = HeartbeatMonitor(tmp_path / "r.ndjson")
    assert [signs.silent_s(now) for now in (100.0, 101.0, 900.0)] == [0, 0, 0]


def test_silence_is_counted_from_the_last_change(tmp_path: Path) -> None:
    records = tmp_path / "r.ndjson"
    signs = HeartbeatMonitor(records)
    alive(records).write_text("1")
    assert signs.silent_s(100.0) == 0
    assert signs.silent_s(101.5) == 1.5
    alive(records).write_text("2")
    assert signs.silent_s(103.0) == 0
    alive(records).unlink()
    assert signs.silent_s(105.0) == 2, "an engine that has ended gives no sign either"


def test_a_removal_is_seen_by_the_second_number(tmp_path: Path) -> None:
    records = tmp_path / "r.ndjson"
    signs = HeartbeatMonitor(records)
    for now, text in ((100.0, "1 0"), (101.0, "2 0"), (102.0, "3 4"), (103.0, "4 4"), (104.0, "5 9")):
        alive(records).write_text(text)
        signs.silent_s(now)
        assert signs.removed_at == {100.0: 0, 101.0: 0, 102.0: 102.0, 103.0: 102.0, 104.0: 104.0}[now]


def test_time_in_which_nobody_looked_is_not_counted(tmp_path: Path) -> None:
    records = tmp_path / "r.ndjson"
    signs = HeartbeatMonitor(records)
    alive(records).write_text("1")
    assert signs.silent_s(100.0) == 0
    assert signs.silent_s(5000.0) == 2


def test_what_an_earlier_launch_left_is_no_sign(tmp_path: Path) -> None:
    records = tmp_path / "r.ndjson"
    alive(records).write_text("1")
    signs = HeartbeatMonitor(records)
    assert not alive(records).exists()
    assert signs.silent_s(100.0) == signs.silent_s(200.0) == 0


def test_no_stage_makes_the_silence_longer(ready: "Ready") -> None:
    assert silence_of(ready.plan.model_copy(update={"watchdog_s": 6.0})) == 16
    assert silence_of(ready.plan.model_copy(update={"watchdog_s": 0.5, "time_budget_s": 5400.0})) == 15


def test_a_launch_on_a_node_shows_itself_sooner_than_one_on_many(ready: "Ready") -> None:
    layout = ready.plan.layout
    few, many = layout.model_copy(update={"ranks": 2, "nodes": 1}), layout.model_copy(update={"ranks": 2, "nodes": 2})
    assert start_limit_of(ready.plan.model_copy(update={"layout": few})) == 62
    assert start_limit_of(ready.plan.model_copy(update={"layout": many})) == 300
    most = layout.model_copy(update={"ranks": 10_000, "nodes": 1})
    assert start_limit_of(ready.plan.model_copy(update={"layout": most})) == 300


def test_a_launch_that_gives_signs_may_take_its_time_to_the_first_record(tmp_path: Path) -> None:
    """Before that it removes what a killed launch has left, which may be millions of files."""
    records = tmp_path / "r.ndjson"
    signs = HeartbeatMonitor(records)
    signs.silent_s(100.0)
    assert not signs.were_seen
    alive(records).write_text("1")
    signs.silent_s(200.0)
    assert signs.were_seen


def test_a_stopped_process_is_known() -> None:
    process = subprocess.Popen(["sleep", "60"])
    try:
        assert not is_stopped(process.pid)
        os.kill(process.pid, signal.SIGSTOP)
        deadline = time.monotonic() + 20
        while not is_stopped(process.pid) and time.monotonic() < deadline:
            time.sleep(0.01)
        assert is_stopped(process.pid)
    finally:
        process.kill()
        process.wait()
    assert not is_stopped(process.pid)
