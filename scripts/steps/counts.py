# SPDX-License-Identifier: Apache-2.0
"""How many tests passed, failed and were skipped, added up over GoogleTest's, CTest's and pytest's reports."""

import json
import xml.etree.ElementTree as ET
from dataclasses import asdict, dataclass
from pathlib import Path

from steps.process import ROOT

KEPT = ROOT / "build" / "counts"


@dataclass(frozen=True)
class Counts:
    """Counts of tests."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(self.passed + other.passed, self.failed + other.failed, self.skipped + other.skipped)

    def __str__(self) -> str:
        skipped = f", {self.skipped} skipped" if self.skipped else ""
        return f"{self.passed} passed, {self.failed} failed{skipped}"


def read(report: Path) -> Counts:
    """Return the counts of a JUnit-like report (pytest's or GoogleTest's); none when it was not written to its end."""
    try:
        suites = list(ET.parse(report).getroot().iter("testsuite"))  # noqa: S314 - this run's own programs wrote it
    except (OSError, ET.ParseError):
        return Counts()

    def total(*names: str) -> int:
        return sum(int(suite.get(name, 0)) for suite in suites for name in names)

    failed, skipped = total("failures", "errors"), total("skipped", "disabled")
    return Counts(total("tests") - failed - skipped, failed, skipped)


def read_ctest(junit: Path, reports: Path) -> Counts:
    """Return the counts of a CTest run whose tests wrote GoogleTest reports ``<reports>/<test>.xml``.

    A test that failed though its report names no failure (a crash, a time-out, another rank) counts as one.
    """
    if not junit.is_file():
        return Counts(failed=1)
    total = Counts()
    for case in ET.parse(junit).getroot().iter("testcase"):  # noqa: S314 - CTest wrote it
        counted = read(reports / f"{case.get('name')}.xml")
        unseen = case.get("status") != "run" and counted.failed == 0
        total += counted + Counts(failed=int(unseen))
    return total


def keep(name: str, counted: Counts) -> None:
    """Write down the counts of a test run, for a sum over several commands."""
    KEPT.mkdir(parents=True, exist_ok=True)
    (KEPT / f"{name}.json").write_text(json.dumps(asdict(counted)) + "\n", encoding="utf-8")


def kept(name: str) -> Counts:
    """Return what was kept of a test run; one that came to no end has failed."""
    try:
        return Counts(**json.loads((KEPT / f"{name}.json").read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return Counts(failed=1)
