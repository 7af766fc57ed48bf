# SPDX-License-Identifier: Apache-2.0
"""What counts, over several launches, of what the records hold."""

from typing import Literal

from support.make_records import make_run
from ullage.model.plan import Case, Layout, Named, Plan, Target
from ullage.model.record import CaseRecord, Done, EndRecord, PhaseRecord
from ullage.results.records import AnyRecord
from ullage.runs.case_progress import RunProgress

CASE = "0" * 16
Grade = Literal["A", "B", "C"]


def repetition(
    number: int, elapsed_ns: int, grade: Grade = "A", stop: str = "", width: float | None = None
) -> list[AnyRecord]:
    done = Done(elapsed_ns=elapsed_ns, bytes=1, operations=1)
    phase = PhaseRecord(
        case=CASE,
        repetition=number,
        phase="write",
        access="write",
        status="ok",
        grade=grade,
        ranks=1,
        start_ns=0,
        elapsed_ns=elapsed_ns,
        bytes=1,
        operations=1,
        stages={},
        first_done=done,
        last_done=done,
    )
    return [phase, case(number, grade=grade, stop=stop, width=width)]


def case(
    number: int,
    status: Literal["ok", "failed", "interrupted"] = "ok",
    grade: Grade = "A",
    stop: str = "",
    width: float | None = None,
    warmup: bool = False,
) -> CaseRecord:
    return CaseRecord(
        case=CASE,
        repetition=number,
        status=status,
        grade=grade,
        stop=stop,
        relative_width=width,
        target="a",
        backend="null",
        workload="transfer",
        elapsed_ns=2 * 10**9,
        warmup=warmup,
    )


def run_progress(*records: list[AnyRecord]) -> RunProgress:
    return RunProgress([record for part in records for record in part] for _ in range(1))


def test_samples_of_several_launches_add_up() -> None:
    first = [*repetition(0, 10), *repetition(1, 20), *repetition(2, 30), *repetition(3, 40)]
    second = [*repetition(0, 50), *repetition(1, 60, stop="converged", width=0.04)]
    known = RunProgress([first, second]).of(CASE)
    assert known.prior_elapsed_ns == {"write": [10, 20, 30, 40, 50, 60]}
    assert known.converged(0.05, 3)
    assert not known.converged(0.05, 7)
    assert not known.converged(0.03, 3)
    assert known.seconds == [2.0] * 6


def test_between_two_looks_of_the_stop_rule_nothing_has_converged() -> None:
    seven = [record for index in range(7) for record in repetition(index, 10 + index, width=0.01)]
    assert not RunProgress([seven]).of(CASE).converged(0.05, 3)
    assert RunProgress([[*seven[: 6 * len(seven) // 7]]]).of(CASE).converged(0.05, 3)


def test_all_cases_together_say_whether_repetitions_resemble_those_before_them() -> None:
    drifting = [record for index in range(12) for record in repetition(index, 1000 + 20 * index)]
    other = [record.model_copy(update={"case": "f" * 16}) if hasattr(record, "case") else record for record in drifting]
    assert RunProgress([drifting, other]).correlation > 0.3
    assert RunProgress([]).correlation == 0.0


def test_disturbed_repetitions_count_like_all_others() -> None:
    known = run_progress(repetition(0, 10, "C"), repetition(1, 20), repetition(2, 30), repetition(3, 40, "B")).of(CASE)
    assert known.prior_elapsed_ns == {"write": [10, 20, 30, 40]}


def test_failures_warm_ups_and_interruptions_do_not_count() -> None:
    known = run_progress([case(0, warmup=True)], [case(1, status="interrupted")]).of(CASE)
    assert known.counted == []
    assert not known.has_failed
    failed = run_progress(repetition(0, 10), [case(1, status="failed", stop="failed")]).of(CASE)
    assert failed.has_failed
    assert (len(failed.counted), failed.stop) == (1, "failed")


def test_phases_without_the_end_of_their_repetition_are_forgotten() -> None:
    phase, _ = repetition(0, 10)
    known = run_progress(
        [phase], [EndRecord(status="interrupted", cases_ok=0, cases_failed=0, repetitions=0, elapsed_ns=1)]
    )
    assert known.repetitions == 0
    assert known.of("unknown").counted == []


def test_failed_cases_are_tried_again_once_forgiven() -> None:
    progress = RunProgress([[case(0, status="failed")]])
    assert progress.of(CASE).has_failed
    progress.forgive()
    assert not progress.of(CASE).has_failed
    assert progress.of(CASE).stop == ""


def test_failed_and_hung_repetitions_take_their_part_of_the_time() -> None:
    hung = EndRecord(status="timeout", cases_ok=0, cases_failed=1, repetitions=1, elapsed_ns=90 * 10**9)
    cut_short = [case(0), case(1, status="failed"), case(2, status="interrupted")]
    assert run_progress(cut_short).seconds == 6.0
    assert RunProgress([[case(0, status="failed"), hung], cut_short]).seconds == 96.0


def test_numbers_go_on_where_the_last_launch_ended() -> None:
    progress = run_progress([*repetition(0, 1), case(1, status="failed"), case(2, warmup=True)])
    plan = Plan.model_validate(
        {
            "run_id": "x",
            "suite": "sweep",
            "records": "/r",
            "layout": {"ranks": 1},
            "targets": [{"name": "a", "uri": "null:"}],
            "stop_rule": {"name": "fixed"},
            "cases": [
                {"id": identity, "target": "a", "backend": {"name": "null"}, "workload": {"name": "transfer"}, **more}
                for identity, more in ((CASE, {}), ("1" * 16, {}), (CASE, {"dataset": "shared"}))
            ],
        }
    )
    assert [case.first_repetition for case in progress.numbered(plan).cases] == [3, 0, 0]


def test_the_repetition_that_a_launch_did_not_end_is_told_where_it_can_be() -> None:
    first = Case(id=CASE, target="a", backend=Named(name="null"), workload=Named(name="transfer"))
    other = first.model_copy(update={"id": "1" * 16})
    plan = Plan(
        run_id="r",
        suite="s",
        records="/r",
        layout=Layout(ranks=1),
        targets=[Target(name="a", uri="null:")],
        stop_rule=Named(name="fixed"),
        cases=[first, other],
    )
    progress = RunProgress([repetition(0, 1)])
    assert progress.under_way(plan) == other  # the only one that its round still lacks
    assert RunProgress().under_way(plan) is None
    progress.add(repetition(1, 1)[0])  # a phase, and no end of the repetition
    assert progress.under_way(plan) == first


def test_a_later_launch_of_a_case_is_under_way_although_an_earlier_one_ended_it() -> None:
    case = Case(id=CASE, target="a", backend=Named(name="null"), workload=Named(name="transfer"))
    plan = Plan(
        run_id="r",
        suite="s",
        records="/r",
        layout=Layout(ranks=1),
        targets=[Target(name="a", uri="null:")],
        stop_rule=Named(name="fixed"),
        cases=[case],
    )
    progress = RunProgress([[make_run(), *repetition(0, 1, stop="count")]])
    assert progress.under_way(plan) is None
    progress.add(make_run())
    assert progress.under_way(plan) == case
