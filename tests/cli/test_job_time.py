# SPDX-License-Identifier: Apache-2.0
"""What is said of the jobs that a run takes, and what is known of the job that we are in."""

from collections.abc import Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

from support.fake_program import FakeProgram
from ullage.cli.submitting import check_walltime, time_of_this_job
from ullage.errors import UserError
from ullage.launch import batch_systems
from ullage.runs.jobtime import CaseWork, Work

if TYPE_CHECKING:
    from ullage.runs.suite import Prepared

SLURM = batch_systems()["slurm"]


@dataclass(frozen=True)
class Fake:
    """A prepared run of which only the work is asked."""

    seconds: Sequence[float]
    is_firm: bool = True
    until_s: float = 0.0
    unknown: tuple[str, ...] = ()

    def work(self) -> Work:
        cases = [CaseWork(f"{index:016x}", seconds, 2) for index, seconds in enumerate(self.seconds)]
        return Work([cases], self.is_firm, self.until_s, self.unknown)


def lines(fake: Fake, walltime: str = "00:03:16", chain: int = 0) -> list[str]:
    return check_walltime(cast("Prepared", fake), SLURM, walltime, chain)


def test_how_many_jobs_a_run_takes_is_said() -> None:
    assert lines(Fake([10])) == ["One job is enough (--walltime 00:03:16). It can measure for 1m41s."]
    said = "2 jobs are needed (--walltime 00:03:16). They finish 2 and 1 cases. Each can measure for 1m41s."
    assert lines(Fake([30, 30, 10])) == [said, "Give --chain 1: it submits all of them, one after the other."]
    assert lines(Fake([30, 30, 10]), chain=1) == [said]


def test_a_run_that_narrows_intervals_takes_more_jobs_than_its_minimum() -> None:
    first, second = lines(Fake([30, 30], is_firm=False, until_s=250))
    until = "until all intervals are narrow. Each can measure for 1m41s."
    assert first == f"2 to 3 jobs are needed (--walltime 00:03:16, estimated), {until}"
    assert second == "Give --chain 2: it submits all of them, one after the other."


def test_a_repetition_that_fits_into_no_job_is_refused_where_that_is_certain() -> None:
    with pytest.raises(UserError, match="give --walltime 00:05:00 at least"):
        lines(Fake([200]))
    (said,) = lines(Fake([200], is_firm=False))
    assert said.startswith("By an estimate, --walltime: a repetition takes 200 s")


def test_suites_that_cannot_tell_are_named() -> None:
    assert lines(Fake([1], unknown=("io500",)))[1:] == [
        "Not available: how many jobs suite io500 takes. Its cases need the data of one another."
    ]
    other = cast("Prepared", SimpleNamespace(request=SimpleNamespace(suite="b_eff_io")))
    assert "how many jobs suite b_eff_io takes" in check_walltime(other, SLURM, "00:10:00", 0)[0]


def test_the_time_of_the_job_is_what_slurm_says_is_left_of_it(
    monkeypatch: pytest.MonkeyPatch, fake_program: FakeProgram
) -> None:
    for name in ("SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID", "FLUX_ENCLOSING_ID", "FLUX_URI"):
        monkeypatch.delenv(name, raising=False)
    assert time_of_this_job("00:30:00") is None
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    fake_program("squeue", "echo 4:00")
    found = time_of_this_job("600s")
    assert found is not None
    assert found.walltime_s == 600
    assert 130 < found.left_s <= 145
    fake_program("squeue", "echo UNLIMITED")
    assert time_of_this_job("") is None


def test_a_job_of_pbs_has_the_time_that_its_command_line_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SLURM_JOB_ID", raising=False)
    monkeypatch.setenv("PBS_JOBID", "7.pbs")
    found = time_of_this_job("600s")
    assert found is not None
    assert 500 < found.left_s <= 505
