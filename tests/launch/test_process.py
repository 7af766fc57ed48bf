# SPDX-License-Identifier: Apache-2.0
"""A launch ends cleanly however it ends, leaves no process behind, and says what happened."""

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ullage.errors import EXIT_ABORTED, EXIT_ENVIRONMENT, EXIT_OK, UserError
from ullage.launch.base import DeadRank
from ullage.launch.mpich import Mpich
from ullage.launch.process import LaunchOutcome, Timeouts, deadline_of
from ullage.launch.running import Running
from ullage.results.records import AnyRecord, read_records

if TYPE_CHECKING:
    from .conftest import Ready

SOON = Timeouts(stop_grace_s=1.0)


def no_process_left(ready: "Ready") -> bool:
    """Zombies of a lazy init do not count."""
    mark = str(ready.result.path).encode()
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if entry.name.isdigit() and mark in (entry / "cmdline").read_bytes():
                return False
    return True


def interrupt_when_running(count: int) -> Callable[[AnyRecord], None]:
    """Sends SIGINT to this process when the records say that the ranks are at work, ``count`` times."""
    sent: list[float] = []

    def on_record(record: AnyRecord) -> None:
        if record.kind == "case" and len(sent) < count and (not sent or time.monotonic() - sent[-1] > 0.3):
            sent.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)

    return on_record


def test_a_good_launch(ready: "Ready", monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_ENGINE", "ok")
    seen: list[str] = []
    outcome = ready.go(lambda record: seen.append(record.kind))
    assert seen == ["run", "case", "end"]
    assert outcome.complete
    assert (outcome.code, outcome.exit_code, outcome.signal, outcome.last_status) == (EXIT_OK, 0, None, "complete")
    assert outcome.command[0].endswith("fake_mpiexec.py")
    assert not read_records(outcome.records_path).truncated
    assert no_process_left(ready)


def test_a_second_launch_into_the_same_file_hands_out_only_its_own_records(ready: "Ready") -> None:
    ready.go()
    seen: list[str] = []
    ready.go(lambda record: seen.append(record.kind))
    assert seen == ["run", "case", "end"]
    assert len(read_records(ready.result.records_path(1)).records) == 6


def test_sigint_lets_the_ranks_finish_their_repetition(ready: "Ready", monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_ENGINE", "slow")
    outcome = ready.go(interrupt_when_running(1))
    assert (outcome.last_status, outcome.stopped_by, outcome.code) == ("interrupted", "signal", EXIT_ABORTED)
    assert outcome.dead_ranks == []
    assert not read_records(outcome.records_path).truncated
    assert no_process_left(ready)


def test_sigterm_does_the_same_and_the_old_handler_is_put_back(ready: "Ready", monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_ENGINE", "slow")
    before = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)

    def on_record(record: AnyRecord) -> None:
        if record.kind == "run":
            os.kill(os.getpid(), signal.SIGTERM)

    assert ready.go(on_record).stopped_by == "signal"
    assert (signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)) == before


def test_a_terminal_that_hangs_up_is_heard_once(ready: "Ready", monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_ENGINE", "slow")
    before = signal.getsignal(signal.SIGHUP)

    def on_record(record: AnyRecord) -> None:
        if record.kind == "run":
            os.kill(os.getpid(), signal.SIGHUP)
            os.kill(os.getpid(), signal.SIGHUP)

    outcome = ready.go(on_record)
    assert (outcome.last_status, outcome.stopped_by, outcome.code) == ("interrupted", "signal", EXIT_ABORTED)
    assert signal.getsignal(signal.SIGHUP) == before
    assert no_process_left(ready)


def test_a_signal_after_the_last_look_is_not_lost(ready: "Ready", monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever sent it wants no further launch."""
    monkeypatch.setenv("FAKE_ENGINE", "ok")
    kill = Running.kill

    def told_meanwhile(running: Running) -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        kill(running)

    monkeypatch.setattr(Running, "kill", told_meanwhile)
    outcome = ready.go()
    assert (outcome.last_status, outcome.stopped_by) == ("complete", "signal")


def test_a_hang_up_that_is_ignored_stays_so(ready: "Ready", monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_ENGINE", "ok")
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        outcome = ready.go(lambda _: os.kill(os.getpid(), signal.SIGHUP))
    finally:
        signal.signal(signal.SIGHUP, before)
    assert outcome.complete


@pytest.mark.parametrize("times", [1, 2])
def test_ranks_that_do_not_listen_are_killed_after_the_grace(
    ready: "Ready", monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    monkeypatch.setenv("FAKE_ENGINE", "deaf")
    outcome = ready.go(interrupt_when_running(times), SOON)
    assert (outcome.signal, outcome.last_status, outcome.code) == (signal.SIGKILL, None, EXIT_ABORTED)
    assert outcome.dead_ranks == []
    assert read_records(outcome.records_path).truncated
    assert no_process_left(ready)


def test_removal_has_the_time_it_needs_while_it_makes_progress(
    ready: "Ready", monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FAKE_ENGINE", "removing")
    outcome = ready.go(interrupt_when_running(1), Timeouts(stop_grace_s=4.0))
    assert (outcome.signal, outcome.last_status) == (None, "interrupted")
    assert capsys.readouterr().err == (
        "ullage: data of the run is being removed; interrupt again to leave it where it is\n"
    )


@pytest.mark.parametrize(("times", "waits"), [(2, True), (1, False)])
def test_removal_has_the_grace_alone_when_asked_again_or_at_the_end_of_a_job(
    ready: "Ready", monkeypatch: pytest.MonkeyPatch, times: int, *, waits: bool
) -> None:
    monkeypatch.setenv("FAKE_ENGINE", "removing")
    outcome = ready.go(interrupt_when_running(times), Timeouts(stop_grace_s=1.0, waits_for_removal=waits))
    assert (outcome.signal, outcome.last_status) == (signal.SIGKILL, None)
    assert no_process_left(ready)


def test_the_deadline_ends_a_launch(ready: "Ready", monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_ENGINE", "slow")
    # Before its deadline the engine has to listen, which on a busy machine takes a while.
    for deadline_s in (4.0, 60.0):
        outcome = ready.go(timeouts=Timeouts(deadline_s=deadline_s, stop_grace_s=20.0))
        assert outcome.stopped_by == "deadline"
        if outcome.last_status == "interrupted":
            return
    pytest.fail(f"its last status is {outcome.last_status}")


def test_an_engine_that_never_writes_is_ended(ready: "Ready", monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_ENGINE", "mute")
    outcome = ready.go(timeouts=Timeouts(start_timeout_s=0.5, stop_grace_s=1.0))
    assert (outcome.stopped_by, outcome.code) == ("no start", EXIT_ABORTED)
    assert no_process_left(ready)


def test_ranks_that_are_stopped_are_ended_and_named(ready: "Ready", monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_ENGINE", "still")
    outcome = ready.go(timeouts=Timeouts(silence_s=4.0, stop_grace_s=600.0))
    assert (outcome.stopped_by, outcome.last_status, outcome.code) == ("silent", None, EXIT_ABORTED)
    assert 0 in outcome.stopped_ranks
    assert not list(outcome.records_path.parent.glob("*.alive"))
    assert no_process_left(ready)


def test_a_killed_rank_is_named_with_its_node(ready: "Ready", monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_ENGINE", "die")
    outcome = ready.go()
    assert outcome.dead_ranks == [DeadRank(1, os.uname().nodename, "signal 9 (Killed)")]
    assert (outcome.last_status, outcome.code) == (None, EXIT_ABORTED)
    assert read_records(outcome.records_path).truncated
    assert no_process_left(ready)


def test_without_descriptors_of_processes_a_launch_ends_as_well(
    ready: "Ready", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_ENGINE", "die")
    monkeypatch.delattr(os, "pidfd_open")
    outcome = ready.go()
    assert outcome.dead_ranks == [DeadRank(1, os.uname().nodename, "signal 9 (Killed)")]
    assert no_process_left(ready)


def test_a_rank_that_dies_before_anybody_has_looked_is_named(ready: "Ready", monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine the front may come too late to see the ranks."""
    monkeypatch.setenv("FAKE_ENGINE", "die")
    monkeypatch.setattr(Running, "learn_ranks", lambda _: None)
    assert ready.go().dead_ranks == [DeadRank(1, os.uname().nodename, "signal 9 (Killed)")]


def test_a_refusal_keeps_its_exit_code_and_its_words(ready: "Ready", monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_ENGINE", "refuse")
    outcome = ready.go()
    assert outcome.code == EXIT_ENVIRONMENT
    assert outcome.engine_said == "the layout differs"
    assert outcome.dead_ranks == []


def test_a_launcher_that_is_not_there_is_one_line(ready: "Ready", tmp_path: Path) -> None:
    missing = type(ready)(ready.result, ready.engine, Mpich(tmp_path / "none"), ready.plan)
    with pytest.raises(UserError, match="cannot be started") as caught:
        missing.go()
    assert caught.value.code == EXIT_ENVIRONMENT


def test_a_callback_that_fails_leaves_no_process(ready: "Ready", monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_ENGINE", "deaf")

    def on_record(_: AnyRecord) -> None:
        raise RuntimeError("the display broke")

    with pytest.raises(RuntimeError):
        ready.go(on_record)
    assert no_process_left(ready)


def test_outside_the_main_thread_signals_are_left_alone(ready: "Ready", monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_ENGINE", "ok")
    outcomes: list[LaunchOutcome] = []
    thread = threading.Thread(target=lambda: outcomes.append(ready.go()))
    thread.start()
    thread.join()
    assert outcomes[0].complete


def test_the_users_own_settings_win(ready: "Ready", monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MPIR_CVAR_POLLS_BEFORE_YIELD", "77")
    shell = tmp_path / "engine"
    shell.write_text("#!/bin/sh\nenv >&2\n")
    shell.chmod(0o755)
    outcome = type(ready)(ready.result, shell, ready.launcher, ready.plan).go()
    text = ready.result.stderr_path(1).read_text()
    assert "MPIR_CVAR_POLLS_BEFORE_YIELD=77" in text
    assert "MPIR_CVAR_POSIX_POLL_FREQUENCY=10" in text
    assert outcome.code == EXIT_ABORTED  # an engine that says nothing has not done its plan


def test_the_deadline_follows_the_budget(ready: "Ready") -> None:
    assert deadline_of(ready.plan.model_copy(update={"time_budget_s": None})) is None
    short, long = (deadline_of(ready.plan.model_copy(update={"time_budget_s": s})) for s in (10.0, 1000.0))
    assert short is not None
    assert long is not None
    assert 10 < short < long
    assert long > 1000
