# SPDX-License-Identifier: Apache-2.0
"""The table of faults: what the tests with the marker ``fault`` say of themselves, and whether it was so."""

import xml.etree.ElementTree as ET
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from steps.process import ROOT, StepError

PAGE = ROOT / "docs" / "faults.md"
Outcome = Literal["held", "did not hold", "not tried"]
_HEAD = """# Faults, and what is true afterwards

`make faults` provokes each of these on the engine that `make setup` has linked, and writes this page. `make test-all`
provokes each of them too, without writing. Each row is one or several tests with the marker `fault`; "not tried" says
what this machine lacked. `ULLAGE_FUZZ_S` (seconds for each kind of damaged input) and `ULLAGE_FUZZ_SEED` make the
seeded mutations longer and other ones; `ULLAGE_KILLS` is the number of kills.

What one workload does with a flipped bit, a full file system or an error of one rank is in the engine's own tests, on 1
to 4 ranks (`FlippedBit`, `NoSpace`, `ErrorOfOneRank` and their like in engine/storage/workloads).

| what happens | what is true afterwards | |
|---|---|---|
"""


@dataclass(frozen=True)
class Case:
    """One test of a fault; ``why``: it failed or was not tried."""

    fault: str
    afterwards: str
    name: str
    outcome: Outcome
    why: str = ""


def read_cases(report: Path) -> list[Case]:
    """Return the tests of faults in pytest's JUnit report. Raises StepError when it was not written."""
    try:
        root = ET.parse(report).getroot()  # noqa: S314 - this run's own pytest wrote it
    except (OSError, ET.ParseError) as error:
        raise StepError(f"{report}: {error}") from error
    return [case for element in root.iter("testcase") if (case := _case(element)) is not None]


def _case(element: ET.Element) -> Case | None:
    said = {str(one.get("name")): str(one.get("value")) for one in element.iter("property")}
    if "fault" not in said:
        return None
    outcome, why = _outcome(element)
    return Case(said["fault"], said.get("afterwards", ""), str(element.get("name")), outcome, why)


def _outcome(element: ET.Element) -> tuple[Outcome, str]:
    for kind in ("failure", "error"):
        if (found := element.find(kind)) is not None:
            return "did not hold", str(found.get("message"))
    skipped = element.find("skipped")
    return ("held", "") if skipped is None else ("not tried", str(skipped.get("message")))


def lines(cases: Iterable[Case]) -> list[tuple[str, str, str]]:
    """Return the rows of the table: fault, what must be true, whether it was; faults in alphabetical order."""
    by_fault: dict[tuple[str, str], list[Case]] = {}
    for case in sorted(cases, key=lambda case: (case.fault.lower(), case.name)):
        by_fault.setdefault((case.fault, case.afterwards), []).append(case)
    return [(fault, afterwards, _verdict(tests)) for (fault, afterwards), tests in by_fault.items()]


def _verdict(tests: list[Case]) -> str:
    for outcome in ("did not hold", "not tried"):
        found = [test for test in tests if test.outcome == outcome]
        if found and (outcome == "did not hold" or len(found) == len(tests)):
            names = ", ".join(test.name for test in found) if outcome == "did not hold" else found[0].why
            return f"{outcome}: {names}"
    left = sum(test.outcome == "not tried" for test in tests)
    return f"held, {left} of {len(tests)} not tried" if left else "held"


def page(rows: Iterable[tuple[str, str, str]]) -> str:
    """Return the page of documentation."""
    return _HEAD + "".join(f"| {' | '.join(cell.replace('|', '/') for cell in row)} |\n" for row in rows)
