# SPDX-License-Identifier: Apache-2.0
"""An engine without MPI is one process, which needs no launcher."""

from pathlib import Path

import pytest

from ullage.engine import describe
from ullage.errors import EXIT_ENVIRONMENT, UserError
from ullage.launch import choose_launcher
from ullage.launch.base import DeadRank
from ullage.launch.single import Single
from ullage.model.plan import Layout

ENGINE, PLAN = Path("/opt/engine"), Path("/r/plan.json")


def test_it_is_chosen_without_any_program(fake_engine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_MPI", "single")
    monkeypatch.setenv("FAKE_MPIEXEC", "")
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    # Also in a job: a batch system's command starts ranks of an MPI.
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    assert choose_launcher(describe(fake_engine)).name == "single"


def test_one_rank_is_started_by_itself_and_several_are_refused() -> None:
    single = Single(Path())
    words = single.argv(ENGINE, PLAN, Layout(ranks=1))
    assert words[-3:] == [str(ENGINE), "run", str(PLAN)]
    assert single.environment(Layout(ranks=1))["ULLAGE_MPI"] == "single"
    with pytest.raises(UserError, match="2 ranks are asked for, and this engine runs without MPI") as caught:
        single.argv(ENGINE, PLAN, Layout(ranks=2))
    assert caught.value.code == EXIT_ENVIRONMENT
    with pytest.raises(UserError, match="nothing can be started on n1"):
        single.on_host("n1", ["true"])


def test_the_signal_that_has_ended_it_is_known() -> None:
    said = "ullage: rank 0 on n1 ended by signal 9\n"
    assert Single(Path()).dead_ranks(said) == [DeadRank(0, "n1", "signal 9 (Killed)")]
