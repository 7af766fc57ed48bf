# SPDX-License-Identifier: Apache-2.0
"""What became of the floors (``--require``) as JUnit XML, which CI systems show as tests."""

from collections import Counter
from collections.abc import Sequence
from typing import Final
from xml.etree import ElementTree as ET

from ullage.errors import UserError
from ullage.exporters import Exporter
from ullage.grouping import grouped
from ullage.model.acceptance import Judged, Judgement
from ullage.report.data import ReportData
from ullage.report.sections.scores import required_number, required_text

# "cannot tell" ends the command badly, too: a test that is skipped would leave the job green.
_ELEMENTS: Final[dict[Judgement, str]] = {"fail": "failure", "cannot tell": "error"}
_COUNTS: Final[dict[Judgement, str]] = {"fail": "failures", "cannot tell": "errors"}


def junit_xml(data: ReportData) -> str:
    """Write a test for each number under a floor, in a suite for each suite that was measured.

    Raise ``UserError`` where nothing was required: a file without tests would pass.
    """
    summary = data.summary
    if not summary.judged:
        raise UserError("nothing is required of this result", "--format junit", "add --require FILE")
    root = ET.Element("testsuites", {"name": "ullage", **_counted(summary.judged)})
    for suite, judged in grouped((one.suite or "any suite", one) for one in summary.judged).items():
        about = {"name": suite, "timestamp": summary.created, "hostname": str(summary.system.get("host", ""))}
        of_suite = ET.SubElement(root, "testsuite", {**about, **_counted(judged)})
        for one in judged:
            _add_case(of_suite, one)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _counted(judged: Sequence[Judged]) -> dict[str, str]:
    counts = Counter(one.verdict for one in judged)
    return {"tests": str(len(judged)), **{name: str(counts[verdict]) for verdict, name in _COUNTS.items()}}


def _add_case(of_suite: ET.Element, one: Judged) -> None:
    classname = ".".join(filter(None, ["ullage", one.suite, one.node, one.target]))
    case = ET.SubElement(of_suite, "testcase", {"classname": classname, "name": required_number(one)})
    if one.verdict in _ELEMENTS:
        found = ET.SubElement(case, _ELEMENTS[one.verdict], {"type": one.verdict})
        found.set("message", one.reason or required_text(one))
        found.text = required_text(one)
    else:
        ET.SubElement(case, "system-out").text = required_text(one)


EXPORTER: Final = Exporter("junit", "what became of the floors, as tests for CI systems", "", junit_xml)
