# SPDX-License-Identifier: Apache-2.0
"""Grades of rows, and which rows a sentence may rest on."""

import pytest

from support.flags import flags_of
from support.make_records import make_phase, make_row
from ullage.analysis.verdicts.grades import is_sound, row_grade, sound_rows, worst_grade
from ullage.analysis.verdicts.physics import with_thread_flags
from ullage.model.flags import ABOVE_THREADS
from ullage.model.record import Contamination, PhaseRecord


def phase(grade: str, *, uncertainty: int | None = 100_000, foreign: int = 0, steal: int = 0) -> PhaseRecord:
    found = Contamination(
        foreign_cpu_ppm=foreign,
        steal_ppm=steal,
        uncertainty_ppm=uncertainty,
        involuntary_switches=0,
        kernel_threads_ppm=0,
    )
    return make_phase(grade=grade, contamination=found)


def test_of_several_grades_the_one_that_promises_least() -> None:
    assert worst_grade(["A", "B", None]) == "B"
    assert worst_grade(["B", "?"]) == "?"
    assert worst_grade(["?", "C", "A"]) == "C"
    assert worst_grade([None]) is None


def test_no_grade_a_where_it_cannot_be_known() -> None:
    """Today's fault: 770 of 850 phases of grade A were known to 5 % or less well."""
    assert row_grade([phase("A")]) == "?"
    assert row_grade([phase("?")]) == "?"
    assert row_grade([phase("A", uncertainty=40_000)]) == "B"
    assert row_grade([phase("A", uncertainty=5_000)]) == "A"


@pytest.mark.parametrize(("count", "grade"), [(3, "?"), (5, "B"), (99, "B"), (102, "A")])
def test_repetitions_together_tell_more_than_one(count: int, grade: str) -> None:
    """If each of n phases is known to 10 %, their mean is known to 10 % over the square root of n."""
    assert row_grade([phase("?")] * count) == grade


def test_what_others_used_counts_in_all_repetitions_together() -> None:
    clean, used = phase("?", uncertainty=20_000), phase("?", uncertainty=20_000, foreign=30_000, steal=10_000)
    assert row_grade([clean] * 9) == "A"
    assert row_grade([used] * 9) == "B"
    assert row_grade([used] * 3) == "?"
    assert row_grade([*[clean] * 8, used]) == "B"


def test_a_disturbed_repetition_is_that_of_the_row() -> None:
    assert row_grade([phase("A", uncertainty=100), phase("B", uncertainty=100)]) == "B"
    assert row_grade([phase("A", uncertainty=100), phase("C", uncertainty=100)]) == "B"


@pytest.mark.parametrize(("count", "grade"), [(1, "?"), (2, "?"), (6, "C"), (30, "C")])
def test_repetitions_together_prove_what_one_is_too_short_for(count: int, grade: str) -> None:
    """Until now pooling could raise a row and never lower it: 2,067 of 2,786 disturbed phases were ``?``."""
    assert row_grade([phase("?", uncertainty=300_000, foreign=200_000)] * count) == grade


def waited(
    run_delay: int, *, kernel: int | None = 0, cores: float = 1.0, own: bool = False, **more: int
) -> PhaseRecord:
    known = {"foreign_cpu_ppm": 0, "steal_ppm": 0, "uncertainty_ppm": 1000, **more}
    found = Contamination(
        **known,
        involuntary_switches=0,
        run_delay_ppm=run_delay,
        kernel_threads_ppm=kernel,
        cores_per_rank=cores,
        oversubscribed=own,
    )
    return make_phase(grade="A", contamination=found)


def test_the_time_that_ranks_waited_for_others_decides() -> None:
    assert row_grade([waited(200_000, foreign_cpu_ppm=500_000)] * 3) == "C"
    # One loop on one of 64 cores, on which the only rank worked; and loops on cores for which nobody waited.
    assert row_grade([waited(500_000, foreign_cpu_ppm=10_000, cores=64)] * 3) == "C"
    assert row_grade([waited(15_000, foreign_cpu_ppm=500_000, cores=64)] * 3) == "B"
    assert row_grade([waited(0, foreign_cpu_ppm=300_000, uncertainty_ppm=100)] * 3) == "B"
    assert row_grade([waited(0, foreign_cpu_ppm=1_000)] * 3) == "A"
    assert row_grade([waited(0, foreign_cpu_ppm=1_000, steal_ppm=80_000)] * 3) == "C"


def test_a_wait_proves_load_in_phases_that_are_short_for_the_accounts() -> None:
    assert row_grade([waited(200_000, uncertainty_ppm=5_000_000)] * 3) == "C"
    assert row_grade([waited(200_000, foreign_cpu_ppm=-1_000_000, uncertainty_ppm=5_000_000)] * 3) == "C"
    assert row_grade([waited(0, uncertainty_ppm=5_000_000)] * 3) == "?"


def test_a_wait_that_others_had_no_time_to_cause_is_not_theirs() -> None:
    """Kernel threads that write back our data, and our own threads, take cores too."""
    assert row_grade([waited(200_000, foreign_cpu_ppm=2_000, kernel=190_000)] * 3) == "A"
    assert row_grade([waited(200_000, foreign_cpu_ppm=2_000)] * 3) == "A"
    assert row_grade([waited(200_000, kernel=190_000, uncertainty_ppm=400_000)] * 3) == "?"
    assert row_grade([waited(200_000, foreign_cpu_ppm=500_000, kernel=190_000)] * 3) == "C"
    assert row_grade([waited(200_000, foreign_cpu_ppm=500_000, kernel=None)] * 3) == "?"


def test_ranks_that_share_cores_wait_for_each_other() -> None:
    assert row_grade([waited(700_000, foreign_cpu_ppm=1_000, own=True)] * 3) == "A"
    assert row_grade([waited(0, foreign_cpu_ppm=100_000, own=True)] * 3) == "C"


def test_without_the_evidence_the_recorded_grades_stand() -> None:
    assert row_grade([make_phase(grade="A"), make_phase(grade="B")]) == "B"
    assert row_grade([phase("A", uncertainty=None)]) == "A"
    assert row_grade([]) is None


def test_a_sentence_may_rest_on_what_is_clean_or_not_known_to_be_dirty() -> None:
    rows = [make_row([1.0]).model_copy(update={"grade": grade}) for grade in ("A", "B", "?", None, "C")]
    assert [row.grade for row in sound_rows(rows)] == ["A", "B", "?", None]
    assert not is_sound(rows[0].model_copy(update={"flags": flags_of("INVALID:above-ceiling")}))
    assert not is_sound(rows[0].model_copy(update={"flags": flags_of(ABOVE_THREADS)}))


def test_more_than_its_threads_can_do_is_flagged() -> None:
    """Today's fault: 2.77 times with 2 threads was told as a gain."""

    def rate(value: float, **params: int) -> object:
        return make_row([value] * 3, unit="op/s", params=params)

    rows = [rate(1.0, threads=1), rate(2.77, threads=2), rate(2.2, threads=2, size=1), rate(1.0, threads=1, size=1)]
    flagged = with_thread_flags(rows)  # type: ignore[arg-type]
    assert [row.has_flag(ABOVE_THREADS) for row in flagged] == [False, True, False, False]
    assert (
        flagged[1]
        .reason_of(ABOVE_THREADS)
        .startswith("2.77 x the rate of one thread, with 2: noise is the usual cause")
    )
    # Ranks are threads too, and their nodes follow from them.
    rows = [rate(1.0, ranks=1, nodes=1), rate(9.0, ranks=8, nodes=2), rate(2.0, ranks=2, threads=1, nodes=1)]
    assert [row.has_flag(ABOVE_THREADS) for row in with_thread_flags(rows)] == [False, True, False]  # type: ignore[arg-type]


def test_times_and_shares_are_no_rates() -> None:
    rows = [make_row([value], unit="s", better="less", params={"threads": n}) for n, value in ((1, 1.0), (2, 9.0))]
    assert with_thread_flags(rows) == rows
