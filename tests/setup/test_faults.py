# SPDX-License-Identifier: Apache-2.0
import re
from pathlib import Path

import pytest

from steps import faults
from steps.process import StepError

SAID = '<properties><property name="fault" value="{}"/><property name="afterwards" value="z"/></properties>'
X, B, C = (SAID.format(name) for name in ("x | y", "b", "c"))
REPORT = f"""<testsuites><testsuite>
<testcase name="a[1]">{X}</testcase>
<testcase name="a[2]">{X}<skipped message="no tmpfs"/></testcase>
<testcase name="b">{B}<failure message="code 5"/></testcase>
<testcase name="c">{C}<skipped message="no groups"/></testcase>
<testcase name="other"/>
</testsuite></testsuites>"""


def test_each_fault_is_a_row_with_what_became_of_its_tests(tmp_path: Path) -> None:
    (tmp_path / "report.xml").write_text(REPORT, encoding="utf-8")
    rows = faults.lines(faults.read_cases(tmp_path / "report.xml"))
    assert rows == [
        ("b", "z", "did not hold: b"),
        ("c", "z", "not tried: no groups"),
        ("x | y", "z", "held, 1 of 2 not tried"),
    ]
    assert faults.page(rows).splitlines()[-1] == "| x / y | z | held, 1 of 2 not tried |"


def test_a_report_that_was_not_written_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(StepError, match=r"report\.xml"):
        faults.read_cases(tmp_path / "report.xml")


def test_the_page_says_what_the_tests_say() -> None:
    """Each fault of the page has a test, and of each test there is a row: whoever adds one runs `make faults`."""
    listed = {
        line.split(" | ")[0].removeprefix("| ")
        for line in faults.PAGE.read_text(encoding="utf-8").splitlines()
        if line.startswith("| ")
    }
    sources = "".join(file.read_text(encoding="utf-8") for file in (faults.ROOT / "tests").rglob("test_*.py"))
    assert listed - {"what happens"} == set(re.findall(r'@pytest\.mark\.fault\(\s*"([^"]+)"', sources))
