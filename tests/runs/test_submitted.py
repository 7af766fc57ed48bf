# SPDX-License-Identifier: Apache-2.0
"""What is seen of a job from outside when Slurm is gone, and when a job measures nothing."""

from pathlib import Path

import pytest

from support.fake_program import FakeProgram
from ullage.errors import EXIT_ABORTED, EXIT_ENVIRONMENT, UserError
from ullage.launch import batch_systems
from ullage.launch.batch import JobRequest
from ullage.model.request import Request
from ullage.results.folder import ResultFolder
from ullage.runs import submitted
from ullage.runs.submitted import Submission, arguments_in_job, arguments_of_rest, kept_words, submit_and_watch

GONE = "echo 'Unable to contact slurm controller (connect failure)' >&2\nexit 1\n"
ENDED_EARLY = "echo JobId=7 JobState=FAILED Reason=NonZeroExitCode ExitCode=5:0\n"


@pytest.fixture
def submission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fake_program: FakeProgram) -> Submission:
    """A job of a Slurm that takes every script as job 7; the fake ``scontrol`` says what becomes of it."""
    fake_program("sbatch", f"echo $1 >> {tmp_path / 'sbatch.log'}\necho 7")
    monkeypatch.setattr(submitted, "_ASK_S", 0.0)
    monkeypatch.setattr(submitted, "_POLL_S", 0.01)
    monkeypatch.setattr(submitted, "_LONG_S", 0.0)
    return Submission(
        tmp_path / "result",
        ["run", "pairs"],
        JobRequest(),
        "run pairs",
        ["resume"],
        batch_systems()["slurm"],
        "--walltime 01:00:00",
    )


def submitted_jobs(submission: Submission) -> int:
    return len((submission.result.parent / "sbatch.log").read_text().splitlines())


def refused(submission: Submission) -> UserError:
    with pytest.raises(UserError) as caught:
        submit_and_watch(submission, "path", chain=3)
    return caught.value


def test_the_watching_ends_where_slurm_does_not_answer_for_long(
    submission: Submission,
    fake_program: FakeProgram,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    fake_program("scontrol", GONE)
    monkeypatch.setattr(submitted, "_GIVE_UP_S", 0.1)
    error = refused(submission)
    assert error.code == EXIT_ABORTED
    assert str(error) == (
        "scontrol: Slurm does not answer, so nobody knows whether job 7 still runs; "
        f"when it answers: `squeue --jobs=7`, then `ullage report {submission.result}`"
    )
    said = [line for line in capsys.readouterr().err.splitlines() if "has not answered" in line]
    assert said == [
        "ullage: Slurm has not answered for 0 s; job 7 goes on without it, and Ctrl-C only ends the watching"
    ]
    assert submitted_jobs(submission) == 1


def test_ctrl_c_ends_the_watching_where_slurm_does_not_answer(
    submission: Submission, fake_program: FakeProgram
) -> None:
    fake_program("scontrol", f"kill -INT $PPID\n{GONE}")
    assert "nobody knows whether job 7 still runs" in str(refused(submission))


def test_a_slurm_that_answers_again_is_said(
    submission: Submission, fake_program: FakeProgram, capsys: pytest.CaptureFixture[str]
) -> None:
    back = submission.result.parent / "back"
    fake_program("scontrol", f"[ -e {back} ] && {{ echo JobState=COMPLETED ExitCode=0:0; exit; }}\n: > {back}\n{GONE}")
    refused(submission)  # the job has made no result
    assert "ullage: Slurm answers again; job 7 is COMPLETED" in capsys.readouterr().err


def test_a_job_whose_result_did_not_appear_is_a_failure_and_asks_for_the_folder(
    submission: Submission, fake_program: FakeProgram
) -> None:
    fake_program("scontrol", "echo JobState=COMPLETED ExitCode=0:0")
    error = refused(submission)
    assert error.code == EXIT_ENVIRONMENT
    folder = submission.result.parent
    assert f"no result appeared here. Is {folder} on a file system that all nodes share?" in error.what


def test_a_chain_ends_with_a_job_that_finished_no_repetition(
    submission: Submission, fake_program: FakeProgram, capsys: pytest.CaptureFixture[str]
) -> None:
    fake_program("scontrol", ENDED_EARLY)
    ResultFolder.create(submission.result, Request(run_id="r1", suite="pairs", created="2026-01-01T00:00:00Z"))
    assert submit_and_watch(submission, "path", chain=3) == EXIT_ABORTED
    said = capsys.readouterr().err
    assert "ullage: job 7 finished no repetition, so no further job is submitted; give --walltime 01:00:00\n" in said
    assert submitted_jobs(submission) == 1


def test_a_job_that_left_a_rest_as_planned_is_a_success_for_its_system_and_not_for_us(
    submission: Submission, fake_program: FakeProgram, capsys: pytest.CaptureFixture[str]
) -> None:
    fake_program("scontrol", "echo JobState=COMPLETED ExitCode=0:0")
    fake_program("sbatch", f"echo 5 > {submission.ended}\necho 7")
    ResultFolder.create(submission.result, Request(run_id="r1", suite="pairs", created="2026-01-01T00:00:00Z"))
    assert submit_and_watch(submission, "path") == EXIT_ABORTED
    assert "ullage: job 7 ended early (its time was over, exit code 5); `ullage resume " in capsys.readouterr().err
    assert not submission.ended.exists()


def test_the_rest_of_a_run_is_kept_where_the_run_is() -> None:
    typed = ["run", "pairs", "--campaign", "/c", "--quick", "--chain", "2"]
    assert kept_words(typed) == ["--campaign", "/c"]
    assert kept_words(["run", "pairs", "--campaign=/c"]) == ["--campaign=/c"]
    assert kept_words(["run", "pairs"]) == []


def test_the_job_does_not_submit_jobs_itself(tmp_path: Path) -> None:
    typed = ["run", "pairs", "--chain", "2", "--walltime=00:10:00", "--sizes", "8", "--launcher", "slurm"]
    words = arguments_in_job(typed, tmp_path, Path("/e"))
    assert words == ["run", "pairs", "--sizes", "8", "--launcher", "here", "--engine", "/e", "--result", str(tmp_path)]


def test_the_job_knows_its_limit_in_seconds(tmp_path: Path) -> None:
    typed = ["run", "pairs", "--walltime", "1-00:00:00", "--site", "here.toml"]
    words = arguments_in_job(typed, tmp_path, Path("/e"), 86400)
    assert words[:8] == ["run", "pairs", "--site", "here.toml", "--launcher", "here", "--walltime", "86400s"]
    assert arguments_of_rest(["run"], tmp_path, Path("/e"), 600)[2:6] == ["--launcher", "here", "--walltime", "600s"]
