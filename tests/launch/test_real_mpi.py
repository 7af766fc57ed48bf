# SPDX-License-Identifier: Apache-2.0
"""The mpiexec of the engine under test, with ranks that need no MPI: its signals, its exit codes, its words."""

import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ullage.engine import describe
from ullage.errors import EXIT_ABORTED, EXIT_ENVIRONMENT
from ullage.launch import choose_launcher
from ullage.launch.base import DeadRank
from ullage.launch.process import Timeouts
from ullage.results.records import AnyRecord, read_records

if TYPE_CHECKING:
    from .conftest import Ready


@pytest.fixture
def real(ready: "Ready", engine: Path) -> "Ready":
    """The launch that is ready, under the launcher of the real engine."""
    return type(ready)(ready.result, ready.engine, choose_launcher(describe(engine)), ready.plan)


def interrupt(record: AnyRecord) -> None:
    if record.kind == "run":
        os.kill(os.getpid(), signal.SIGINT)


def test_it_ends_well(real: "Ready", monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_ENGINE", "ok")
    outcome = real.go()
    assert outcome.complete, outcome.stderr_tail


def test_an_interrupt_lets_the_ranks_write_their_end(real: "Ready", monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_ENGINE", "slow")
    outcome = real.go(interrupt)
    assert (outcome.last_status, outcome.code, outcome.dead_ranks) == ("interrupted", EXIT_ABORTED, [])


@pytest.mark.fault("ranks that do not listen to signals", "they are killed after a grace; no process is left")
def test_ranks_that_do_not_listen_are_killed(real: "Ready", monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_ENGINE", "deaf")
    outcome = real.go(interrupt, Timeouts(stop_grace_s=0.5))
    assert (outcome.last_status, outcome.code, outcome.dead_ranks) == (None, EXIT_ABORTED, [])


def test_a_killed_rank_is_named_with_its_node(real: "Ready", monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_ENGINE", "die")
    outcome = real.go()
    assert outcome.dead_ranks == [DeadRank(1, os.uname().nodename, "signal 9 (Killed)")]
    assert outcome.code == EXIT_ABORTED
    records = read_records(outcome.records_path)
    assert records.cases
    # Open MPI asks the others to end before it kills them: they may have had the time to write that they did.
    assert records.truncated or outcome.last_status == "interrupted"


def test_a_refusal_keeps_its_exit_code(real: "Ready", monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_ENGINE", "refuse")
    assert real.go().code == EXIT_ENVIRONMENT
