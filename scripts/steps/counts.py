# SPDX-License-Identifier: Apache-2.0
"""How many tests passed, failed and were skipped, added up over GoogleTest's, CTest's and pytest's reports."""

import json
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from steps.process import ROOT

KEPT = ROOT / "build" / "counts"
MESSAGE_CHARACTERS = 300


@dataclass(frozen=True)
class Counts:
    """Counts of tests, and what the reports say of those that failed."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    failures: tuple[str, ...] = ()

    def __add__(self, other: "Counts") -> "Counts":
        counted = (self.passed + other.passed, self.failed + other.failed, self.skipped + other.skipped)
        return Counts(*counted, self.failures + other.failures)

    def __str__(self) -> str:
        skipped = f", {self.skipped} skipped" if self.skipped else ""
        return f"{self.passed} passed, {self.failed} failed{skipped}"

    def named(self) -> list[str]:
        """Return a line for each failure, for the end of a run, where it is looked for."""
        return [f"failed: {said}" for said in self.failures]


def failure(said: str) -> Counts:
    """Return the counts of one failure that no report names."""
    return Counts(failed=1, failures=(said,))


def read(report: Path) -> Counts:
    """Return the counts of a JUnit-like report (pytest's or GoogleTest's); none when it was not written to its end."""
    try:
        root = ET.parse(report).getroot()  # noqa: S314 - this run's own programs wrote it
    except (OSError, ET.ParseError):
        return Counts()
    suites = list(root.iter("testsuite"))

    def total(*names: str) -> int:
        return sum(int(suite.get(name, 0)) for suite in suites for name in names)

    failed, skipped = total("failures", "errors"), total("skipped", "disabled")
    return Counts(total("tests") - failed - skipped, failed, skipped, tuple(_failures(root, report.stem)))


def _failures(root: ET.Element, report: str) -> Iterator[str]:
    """Yield a line for each test that failed: the report, its name and the beginning of what it said."""
    for case in root.iter("testcase"):
        said = [found for kind in ("failure", "error") for found in case.iter(kind)]
        if said:
            message = " ".join((said[0].get("message") or said[0].text or "").split())
            yield f"{report}: {case.get('classname')}.{case.get('name')}: {message[:MESSAGE_CHARACTERS]}"


def read_ctest(junit: Path, reports: Path) -> Counts:
    """Return the counts of a CTest run whose tests wrote GoogleTest reports ``<reports>/<test>.xml``.

    A test that failed though its report names no failure (a crash, a time-out, another rank) counts as one.
    """
    if not junit.is_file():
        return failure(f"{junit.name}: not written")
    total = Counts()
    for case in ET.parse(junit).getroot().iter("testcase"):  # noqa: S314 - CTest wrote it
        counted = read(reports / f"{case.get('name')}.xml")
        unseen = case.get("status") != "run" and counted.failed == 0
        total += counted + (
            failure(f"{case.get('name')}: {case.get('status')}, no test is named") if unseen else Counts()
        )
    return total


def keep(name: str, counted: Counts) -> None:
    """Write down the counts of a test run, for a sum over several commands."""
    KEPT.mkdir(parents=True, exist_ok=True)
    (KEPT / f"{name}.json").write_text(json.dumps(asdict(counted)) + "\n", encoding="utf-8")


def kept(name: str) -> Counts:
    """Return what was kept of a test run; one that came to no end has failed."""
    try:
        found = json.loads((KEPT / f"{name}.json").read_text(encoding="utf-8"))
        return Counts(found["passed"], found["failed"], found["skipped"], tuple(found["failures"]))
    except (OSError, ValueError, TypeError, LookupError):
        return failure(f"{name}: came to no end")
