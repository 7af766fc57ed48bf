# SPDX-License-Identifier: Apache-2.0
"""``make faults``: provokes each fault that has a test, prints what was true afterwards and writes docs/faults.md."""

import sys
import time

from steps import engine, faults, front
from steps.process import StepError


def main() -> int:
    """Return the exit code: 1 where something did not hold."""
    started = time.monotonic()
    counted = front.faults(engine.linked())
    rows = faults.lines(faults.read_cases(front.report_of(engine.linked(), front.FAULTS)))
    width = max((len(fault) for fault, _, _ in rows), default=0)
    for fault, afterwards, verdict in rows:
        print(f"{fault:<{width}}  {verdict:<14}  {afterwards}")
    faults.PAGE.write_text(faults.page(rows), encoding="utf-8")
    print(f"{len(rows)} faults, {counted} in {time.monotonic() - started:.0f} s; written to {faults.PAGE}")
    return int(counted.failed > 0)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except StepError as failure:
        sys.exit(f"ullage faults: {failure}")
