# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import pytest

from steps import counts
from steps.counts import Counts, keep, kept, read, read_ctest

GOOGLETEST = """<testsuites tests="5" failures="1" disabled="1" errors="0">
  <testsuite name="A" tests="3" failures="1" disabled="0" skipped="1" errors="0"></testsuite>
  <testsuite name="B" tests="2" failures="0" disabled="1" skipped="0" errors="0"></testsuite>
</testsuites>"""


def test_a_report_is_counted_suite_by_suite(tmp_path: Path) -> None:
    report = tmp_path / "unit.xml"
    report.write_text(GOOGLETEST, encoding="utf-8")
    assert read(report) == Counts(passed=2, failed=1, skipped=2)


def test_a_report_that_was_not_written_to_its_end_counts_nothing(tmp_path: Path) -> None:
    assert read(tmp_path / "none.xml") == Counts()
    (tmp_path / "half.xml").write_text(GOOGLETEST[:90], encoding="utf-8")
    assert read(tmp_path / "half.xml") == Counts()


@pytest.mark.parametrize(
    ("status", "report", "expected"),
    [
        ("run", '<testsuites><testsuite tests="4"/></testsuites>', Counts(passed=4)),
        ("fail", '<testsuites><testsuite tests="4" failures="1"/></testsuites>', Counts(passed=3, failed=1)),
        ("fail", '<testsuites><testsuite tests="4"/></testsuites>', Counts(passed=4, failed=1)),
        ("fail", None, Counts(failed=1)),
        ("notrun", None, Counts(failed=1)),
        ("fail", "<testsuites>", Counts(failed=1)),
    ],
)
def test_a_failure_that_no_report_tells_of_is_counted(
    tmp_path: Path, status: str, report: str | None, expected: Counts
) -> None:
    junit = tmp_path / "ctest.xml"
    junit.write_text(f'<testsuite tests="1"><testcase name="mpi-4" status="{status}"/></testsuite>', encoding="utf-8")
    if report:
        (tmp_path / "mpi-4.xml").write_text(report, encoding="utf-8")
    assert read_ctest(junit, tmp_path) == expected


def test_a_ctest_that_wrote_nothing_has_failed(tmp_path: Path) -> None:
    assert read_ctest(tmp_path / "ctest.xml", tmp_path) == Counts(failed=1)


def test_tallies_add_up_and_read_well() -> None:
    total = Counts(passed=3) + Counts(passed=1, failed=2)
    assert str(total) == "4 passed, 2 failed"
    assert str(total + Counts(skipped=1)) == "4 passed, 2 failed, 1 skipped"


def test_counts_are_kept_from_one_command_to_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counts, "KEPT", tmp_path / "counts")
    keep("test", Counts(passed=3, failed=1, skipped=2))
    assert kept("test") == Counts(passed=3, failed=1, skipped=2)
    assert kept("others") == Counts(failed=1), "what came to no end has failed"
    (tmp_path / "counts" / "test.json").write_text("{", encoding="utf-8")
    assert kept("test") == Counts(failed=1)
