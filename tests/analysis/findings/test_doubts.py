# SPDX-License-Identifier: Apache-2.0
"""What is said of numbers that were disturbed, alike for every suite."""

from support.flags import flags_of
from support.make_records import make_row
from ullage.analysis.findings.doubts import contamination_findings, disturbed_once
from ullage.model.flags import ABOVE_THREADS
from ullage.model.summary import Finding, Row


def graded(*grades: str | None) -> list[Row]:
    return [make_row([1.0, 2.0, 3.0]).model_copy(update={"grade": grade}) for grade in grades]


def test_of_clean_numbers_nothing_is_said() -> None:
    assert contamination_findings([]) == []
    assert contamination_findings(graded("A", "B", None)) == []


def test_disturbed_numbers_are_named_first_and_nothing_is_concluded_from_them() -> None:
    (found,) = contamination_findings(graded("C", "A", "B", "A"))
    assert found.kind == "contamination"
    assert found.severity == "info"
    assert found.text.startswith("Other programs used this machine while 1 of 4 rows was measured (grade C).")
    (found,) = contamination_findings(graded("C", "C", "C", "A"))
    assert found.severity == "warning"
    assert found.numbers == {"dirty": 3, "rows": 4}


def test_what_is_not_known_is_said() -> None:
    (found,) = contamination_findings(graded("?", "?", "A"))
    assert found.kind == "contamination-unknown"
    assert found.severity == "info"
    assert found.text.startswith("For 2 of 3 rows it is not known whether other programs used the machine")


def test_rates_above_their_threads_are_counted() -> None:
    rows = graded("A", "A")
    rows[0] = rows[0].model_copy(update={"flags": flags_of(ABOVE_THREADS)})
    (found,) = contamination_findings(rows)
    assert found.text.startswith("1 rate of several threads was more than 1.1 x threads x the rate of one thread")


def test_a_run_of_suites_counts_all_its_numbers_once() -> None:
    """Suites without such rows count, too: a number of a part beside that of the whole contradicts it."""
    of_suites = {"cpu": "?" * 3 + "A", "memory": "C" + "?", "disk": "A" * 10}
    rows = {suite: graded(*grades) for suite, grades in of_suites.items()}
    found = [one for some in rows.values() for one in contamination_findings(some)]
    whole = [row for some in rows.values() for row in some]
    unknown, dirty = disturbed_once([*found, Finding(kind="x", text="Other.")], whole)[:2]
    assert unknown.text.startswith("For 4 of 16 rows it is not known")
    assert dirty.text.startswith("Other programs used this machine while 1 of 16 rows was measured (grade C).")
    assert len(disturbed_once(found, whole)) == 2
