# SPDX-License-Identifier: Apache-2.0
"""``make causes``: plants each cause of slowness, runs the smallest suite that shows it, and says whether it is named.

Nothing else should run on the machine meanwhile: no ladder is made of disturbed rows.
"""

import sys
import time
import xml.etree.ElementTree as ET

from steps import engine, front
from steps.process import StepError


def main() -> int:
    """Return the exit code: 1 where a cause was planted and not named first, with the right size."""
    started = time.monotonic()
    counted = front.causes(engine.linked())
    rows = _rows()
    named = sum(said.startswith("named") for _, _, said in rows)
    width = max((len(cause) for cause, _, _ in rows), default=0)
    for cause, right, said in rows:
        print(f"{cause:<{width}}  {right:<10}  {said}")
    tried = sum("not available" not in said for _, _, said in rows)
    print(f"{named} of {tried} planted causes are named, {len(rows) - tried} cannot be had here")
    print(f"{time.monotonic() - started:.0f} s")
    return int(counted.failed > 0)


def _rows() -> list[tuple[str, str, str]]:
    """Return cause, right size and what came of it, by pytest's report."""
    try:
        root = ET.parse(front.report_of(engine.linked(), front.CAUSES)).getroot()  # noqa: S314 - our own pytest wrote it
    except (OSError, ET.ParseError) as error:
        raise StepError(str(error)) from error
    return [_row(element) for element in root.iter("testcase")]


def _row(element: ET.Element) -> tuple[str, str, str]:
    told = {str(one.get("name")): str(one.get("value")) for one in element.iter("property")}
    name = str(element.get("name")).partition("[")[2].rstrip("]").replace("-", " ")
    skipped = element.find("skipped")
    said = told.get("said") or ("failed" if skipped is None else str(skipped.get("message")))
    return told.get("cause", name), told.get("right", ""), said


if __name__ == "__main__":
    try:
        sys.exit(main())
    except StepError as failure:
        sys.exit(f"ullage causes: {failure}")
