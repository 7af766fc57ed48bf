# SPDX-License-Identifier: Apache-2.0
"""What srun says when ranks or nodes are lost, and what Slurm says of a job. The texts are those of Slurm 22.05."""

from pathlib import Path

import pytest

from support.fake_program import FakeProgram
from ullage.launch import slurm
from ullage.launch.base import DeadRank
from ullage.launch.batch import JobRequest, JobState, JobText
from ullage.launch.slurm import Srun, parse_state
from ullage.model.plan import Layout

KILLED = "srun: error: n1: task 1: Killed\nsrun: error: n0: task 0: Terminated\nsrun: Force Terminated StepId=1.0\n"
NODE_LOST = (
    "srun: error: Node failure on n1\n"
    "srun: error: n1: task 1: Killed\n"
    "srun: launch/slurm: _step_signal: Terminating StepId=1.0\n"
    "srun: error: n0: task 0: Killed\n"
)


@pytest.mark.parametrize(
    ("text", "dead"),
    [
        ("", []),
        (KILLED, [DeadRank(1, "n1", "signal 9 (Killed)")]),
        (NODE_LOST, [DeadRank(None, "n1", "reported by Slurm", with_node=True)]),
    ],
)
def test_what_srun_says_of_dead_ranks(text: str, dead: list[DeadRank]) -> None:
    assert Srun(Path("/x"), plugin="pmix").dead_ranks(text) == dead


@pytest.mark.parametrize(
    ("text", "state"),
    [
        (
            "JobId=1 JobState=FAILED Reason=NonZeroExitCode ExitCode=5:0",
            JobState("FAILED", "over", "NonZeroExitCode", 5, 0, "itself"),
        ),
        (
            "JobId=1 JobState=FAILED Reason=JobLaunchFailure ExitCode=0:15",
            JobState("FAILED", "over", "JobLaunchFailure", 0, 15, "itself"),
        ),
        ("JobId=1 JobState=RUNNING Reason=None ExitCode=0:0", JobState("RUNNING", "runs")),
    ],
)
def test_what_scontrol_says_of_a_job(text: str, state: JobState) -> None:
    assert parse_state(text) == state
    assert state.is_over == (state.state == "FAILED")


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("30", 1800), ("30:00", 1800), ("1:00:00", 3600), ("2-12", 216000), ("1-0:30", 88200), ("90s", 90), ("2h", 7200)],
)
def test_a_time_limit_in_words_of_slurm(text: str, seconds: int) -> None:
    assert slurm.SYSTEM.limit_s(text) == seconds


@pytest.mark.parametrize(
    ("said", "left"), [("1-02:00:05", 93605), ("4:05", 245), ("UNLIMITED", None), ("INVALID", None)]
)
def test_what_is_left_of_a_job(fake_program: FakeProgram, said: str, left: int | None) -> None:
    fake_program("squeue", f"echo {said}")
    assert slurm.SYSTEM.seconds_left("7") == left


def test_a_unit_of_time_becomes_a_word_of_slurm() -> None:
    said = JobText("j", Path("/o"), Path("/e"), Path("/"), ["ullage"], "run pairs", "slurm")
    assert "#SBATCH --time=00:01:30\n" in slurm.SYSTEM.job_script(JobRequest(walltime="90s"), said)
    assert "#SBATCH --time=2-12\n" in slurm.SYSTEM.job_script(JobRequest(walltime="2-12"), said)


def test_nodes_that_are_left_out_are_neither_used_nor_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    monkeypatch.setenv("SLURM_JOB_NUM_NODES", "3")
    monkeypatch.setenv("SLURM_JOB_NODELIST", "n[0-2]")
    left = Srun(Path("/x/srun"), 2, plugin="pmix").without(["n1", "n17"])
    assert (left.nodes, left.excluded) == (2, ("n1",))
    words = left.argv(Path("/e"), Path("/p"), Layout(ranks=2, nodes=2, binding="core"))
    names = ["env", "SLURM_NODELIST=n0,n2", "SLURM_JOB_NODELIST=n0,n2", "SLURM_NNODES=2", "SLURM_JOB_NUM_NODES=2"]
    assert words[:6] == [*names, "/x/srun"]
    assert "--exclude=n1" in words
