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


def test_what_failed_is_named_with_the_beginning_of_what_it_said(tmp_path: Path) -> None:
    report = tmp_path / "unit.xml"
    report.write_text(
        """<testsuites><testsuite tests="3" failures="1" errors="1">
  <testcase name="Holds" classname="Clock"/>
  <testcase name="Ends" classname="Clock"><failure message="clock_test.cpp:7&#x0A;Expected: 1" type=""/></testcase>
  <testcase name="test_a" classname="tests.test_b"><error>worker 'gw1' crashed</error></testcase>
</testsuite></testsuites>""",
        encoding="utf-8",
    )
    counted = read(report) + counts.failure("apart: 1 file does not compile")
    assert (counted.passed, counted.failed) == (1, 3)
    assert counted.named() == [
        "failed: unit: Clock.Ends: clock_test.cpp:7 Expected: 1",
        "failed: unit: tests.test_b.test_a: worker 'gw1' crashed",
        "failed: apart: 1 file does not compile",
    ]


def test_a_report_that_was_not_written_to_its_end_counts_nothing(tmp_path: Path) -> None:
    assert read(tmp_path / "none.xml") == Counts()
    (tmp_path / "half.xml").write_text(GOOGLETEST[:90], encoding="utf-8")
    assert read(tmp_path / "half.xml") == Counts()


@pytest.mark.parametrize(
    ("status", "report", "expected"),
    [
        ("run", '<testsuites><testsuite tests="4"/></testsuites>', Counts(passed=4)),
        ("fail", '<testsuites><testsuite tests="4" failures="1"/></testsuites>', Counts(passed=3, failed=1)),
        (
            "fail",
            '<testsuites><testsuite tests="4"/></testsuites>',
            Counts(4, 1, 0, ("mpi-4: fail, no test is named",)),
        ),
        ("fail", None, counts.failure("mpi-4: fail, no test is named")),
        ("notrun", None, counts.failure("mpi-4: notrun, no test is named")),
        ("fail", "<testsuites>", counts.failure("mpi-4: fail, no test is named")),
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
    assert read_ctest(tmp_path / "ctest.xml", tmp_path) == counts.failure("ctest.xml: not written")


def test_tallies_add_up_and_read_well() -> None:
    total = Counts(passed=3) + Counts(passed=1, failed=2)
    assert str(total) == "4 passed, 2 failed"
    assert str(total + Counts(skipped=1)) == "4 passed, 2 failed, 1 skipped"


def test_counts_are_kept_from_one_command_to_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counts, "KEPT", tmp_path / "counts")
    counted = Counts(passed=3, failed=1, skipped=2, failures=("unit: Clock.Ends: late",))
    keep("test", counted)
    assert kept("test") == counted
    assert kept("others") == counts.failure("others: came to no end")
    (tmp_path / "counts" / "test.json").write_text("{", encoding="utf-8")
    assert kept("test") == counts.failure("test: came to no end")
