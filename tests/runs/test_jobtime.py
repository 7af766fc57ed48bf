# SPDX-License-Identifier: Apache-2.0
"""How cases are divided over batch jobs with a time limit."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ullage.errors import EXIT_ABORTED, EXIT_CASE_FAILED, EXIT_OK, UserError
from ullage.launch.batch import usable_seconds
from ullage.model.plan import Case, Layout, Named, Plan, Target
from ullage.model.record import CaseRecord
from ullage.runs.case_progress import RunProgress
from ullage.runs.jobtime import LAUNCH_S, CaseWork, Fitted, JobTime, Work, choose, divide, least_walltime, most_jobs

WALLTIME_S = 196.0  # 101 s of it are for launches, 100 s for repetitions


def work(*each_s: float, repetitions: int = 2) -> list[CaseWork]:
    return [CaseWork(f"{index:016x}", seconds, repetitions) for index, seconds in enumerate(each_s)]


def test_cases_stay_whole_and_small_ones_fill_what_is_left() -> None:
    assert choose(work(30, 30, 10), 100, 100) == [0, 2]
    assert choose(work(20, 30), 100, 100) == [0, 1]
    assert choose(work(30, 40), 50, 100) == []


def test_a_case_that_fits_into_no_job_is_divided_by_its_repetitions() -> None:
    assert choose(work(60), 70, 100) == [0]
    assert choose(work(60), 50, 100) == []
    assert divide(Work([work(60, repetitions=3)]), WALLTIME_S) == [0, 0, 1]


def test_a_run_is_divided_by_cases() -> None:
    assert usable_seconds(WALLTIME_S) - LAUNCH_S == 100
    assert divide(Work([work(20, 20)]), WALLTIME_S) == [2]
    assert divide(Work([work(30, 30, 10)]), WALLTIME_S) == [2, 1]
    # A launch of its own follows in the same job.
    assert divide(Work([work(20), work(20)]), WALLTIME_S) == [2]
    assert divide(Work([work(20), work(40)]), WALLTIME_S) == [1, 1]


def test_intervals_may_be_narrowed_in_further_jobs() -> None:
    assert most_jobs(Work([work(20)], until_s=250), [1], WALLTIME_S) == 3
    assert most_jobs(Work([work(20)]), [1], WALLTIME_S) == 1


def test_a_repetition_that_fits_into_no_job_is_refused_with_the_least_that_does() -> None:
    with pytest.raises(UserError) as caught:
        divide(Work([work(130)]), WALLTIME_S)
    assert str(caught.value) == (
        "--walltime: a repetition takes 130 s, and a job of 00:03:16 has 100 s for it; "
        "give --walltime 00:04:00 at least, or a smaller case"
    )


@given(st.floats(0.01, 1e5))
def test_the_least_limit_is_enough_and_a_minute_less_is_not(each_s: float) -> None:
    hours, minutes, seconds = map(int, least_walltime(each_s).split(":"))
    limit_s = hours * 3600 + minutes * 60 + seconds
    assert usable_seconds(limit_s) - LAUNCH_S >= each_s > usable_seconds(limit_s - 60) - LAUNCH_S or limit_s == 60


@given(st.lists(st.lists(st.floats(0.1, 45), min_size=1, max_size=5), min_size=1, max_size=5), st.integers(1, 4))
def test_every_case_is_finished_by_one_job(launches: list[list[float]], repetitions: int) -> None:
    jobs = divide(Work([work(*launch, repetitions=repetitions) for launch in launches]), WALLTIME_S)
    assert sum(jobs) == sum(map(len, launches))


def plan(*, cases: int = 3, dataset: str = "", seconds: float | None = None) -> Plan:
    named = [
        Case(
            id=f"{index:016x}", target="a", backend=Named(name="null"), workload=Named(name="transfer"), dataset=dataset
        )
        for index in range(cases)
    ]
    return Plan(
        run_id="r1",
        suite="pairs",
        records="/r",
        layout=Layout(ranks=1),
        targets=[Target(name="a", uri="null:")],
        stop_rule=Named(name="fixed", parameters={"count": 2}),
        time_budget_s=seconds,
        cases=named,
    )


def fit(left_s: float, whole: Plan, progress: RunProgress, *each_s: float) -> Fitted:
    time = JobTime(left_s + LAUNCH_S, WALLTIME_S, now=lambda: 0.0)
    return time.fit(whole, progress, {one.case: one.each_s for one in work(*each_s)})


def record(index: int, seconds: float, repetition: int = 0) -> CaseRecord:
    return CaseRecord(
        case=f"{index:016x}",
        repetition=repetition,
        status="ok",
        target="a",
        backend="null",
        workload="transfer",
        elapsed_ns=int(seconds * 1e9),
    )


def test_a_launch_gets_the_cases_that_the_job_can_finish() -> None:
    fitted = fit(70, plan(), RunProgress(), 30, 30, 5)
    assert fitted.plan is not None
    assert [case.id[-1] for case in fitted.plan.cases] == ["0", "2"]
    assert (fitted.left_out, fitted.plan.time_budget_s) == (1, 70)
    # One of the two was not finished, because its repetitions took longer than expected.
    done = RunProgress([[record(0, 30), record(0, 30, 1)]])
    assert fitted.lacking(done) == 2


def test_a_launch_that_fits_ends_before_the_job_whatever_was_expected() -> None:
    fitted = fit(130, plan(), RunProgress(), 20, 20, 20)
    assert fitted.plan == plan(seconds=130)
    assert fitted.lacking(RunProgress()) == 3
    budgeted = plan(seconds=50)
    assert fit(70, budgeted, RunProgress(), 90, 90, 90).plan == budgeted
    together = plan(dataset="shared")
    assert fit(1, together, RunProgress(), 90, 90, 90).plan == together


def test_a_job_that_leaves_a_rest_as_planned_ends_well_and_says_so(tmp_path: Path) -> None:
    ended = tmp_path / "r1.exit"
    time = JobTime(100.0, WALLTIME_S, ended=ended)
    assert [time.code_of_job(code) for code in (EXIT_OK, EXIT_ABORTED)] == [EXIT_OK, EXIT_ABORTED]
    time.leave_rest()
    assert ended.read_text() == f"{EXIT_ABORTED}\n"
    assert [time.code_of_job(code) for code in (EXIT_ABORTED, EXIT_CASE_FAILED)] == [EXIT_OK, EXIT_CASE_FAILED]
    by_hand = JobTime(100.0, WALLTIME_S)
    by_hand.leave_rest()
    assert by_hand.code_of_job(EXIT_ABORTED) == EXIT_ABORTED


def test_what_was_measured_counts_and_not_what_was_expected() -> None:
    progress = RunProgress([[record(0, 1), record(1, 45)]])
    fitted = fit(50, plan(), progress, 90, 1, 90)
    assert fitted.plan is not None
    assert [case.id[-1] for case in fitted.plan.cases] == ["0", "1"]


def test_nothing_is_begun_that_the_job_cannot_finish() -> None:
    fitted = fit(20, plan(), RunProgress(), 30, 30, 30)
    assert (fitted.plan, fitted.left_out) == (None, 3)
    assert fitted.lacking(RunProgress()) == 3


def test_a_case_of_which_nothing_is_known_gets_what_is_left() -> None:
    fitted = fit(20, plan(cases=1), RunProgress())
    assert fitted.plan is not None
    assert fitted.plan.time_budget_s == 20
    assert fitted.lacking(RunProgress([[record(0, 15)]])) == 1


def test_a_job_in_which_no_repetition_fits_says_what_to_ask_for() -> None:
    with pytest.raises(UserError, match="give --walltime 00:04:00 at least"):
        fit(100, plan(), RunProgress(), 130, 150, 140)
