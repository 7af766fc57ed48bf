# SPDX-License-Identifier: Apache-2.0
"""``make gpu-check``: runs suite gpu on the real GPUs of this machine and writes docs/gpu-measured.md.

Without one it says "not available" and leaves the page as it is.
"""

import datetime as dt
import sys
import time
from pathlib import Path
from typing import Final

from ullage.cli.app import run
from ullage.engine import devices_of, find_engine
from ullage.model.summary import Row
from ullage.quantity import format_bounds, format_quantity, percent
from ullage.results.folder import ResultFolder

ROOT: Final = Path(__file__).parent.parent
PAGE: Final = ROOT / "docs" / "gpu-measured.md"
# A row of these must reach so much of its ceiling, and none may be above it.
LEAST: Final = {"memory": 0.8, "fp64": 0.95, "fp32": 0.9, "link": 0.8}
_HEAD: Final = """\
# Measured on GPUs

`make gpu-check` writes this page where there is a GPU: suite gpu in its usual form, every result verified.

"""


def lines(rows: list[Row]) -> list[str]:
    """Return the table of ``rows`` as Markdown."""
    head = ["| device | what | value | interval | ceiling | share | grade |", "|---|---|---|---|---|---|---|"]
    return head + [_line(row) for row in rows if row.metric != "device_clock_bandwidth"]


def _line(row: Row) -> str:
    told = ", ".join(f"{value}" for name, value in row.params.items() if name not in ("access", "device"))
    ceiling = "" if row.ceiling is None else format_quantity(row.ceiling.value, row.unit)
    share = "" if row.share is None else percent(row.share)
    value = format_quantity(row.median, row.unit)
    return f"| {row.target} | {told} | {value} | {format_bounds(row)} | {ceiling} | {share} | {row.grade} |"


def complaints(rows: list[Row]) -> list[str]:
    """Return what of ``rows`` is not as it should be: above a ceiling, or the best of a measure far below it."""
    found = [f"{row.target} {row.params['measure']}: above its ceiling" for row in rows if row.is_invalid]
    for measure, least in LEAST.items():
        shares = [row.share for row in rows if row.params["measure"] == measure and row.share is not None]
        if shares and max(shares) < least:
            found.append(f"{measure}: {percent(max(shares))} of its ceiling, should be {percent(least)}")
    return found


def main() -> int:
    """Return the exit code: 1 where something is not as it should be."""
    found = devices_of(find_engine(None))
    devices = [device for device in found.accelerators if device.kind == "gpu"]
    if not devices:
        print(f"GPU check: not available: {found.why_none}")
        return 0
    result = ROOT / "build" / "gpu-check" / time.strftime("%Y%m%d-%H%M%S")
    names = ",".join(device.id for device in devices)
    code = run(["run", "gpu", "--device", names, "--result", str(result)])
    rows = ResultFolder.open(result).read_summary().rows
    wrong = complaints(rows)
    told = [f"- {device.id}: {device.name}, {device.platform}, driver {device.driver}" for device in devices]
    day = f"{dt.datetime.now(tz=dt.UTC):%Y-%m-%d}, exit code {code}"
    verdict = [f"- not as it should be: {one}" for one in wrong]
    PAGE.write_text("\n".join([f"{_HEAD}{day}", *told, *verdict, "", *lines(rows), ""]), encoding="utf-8")
    print(f"written to {PAGE}", *wrong, sep="\n")
    return code or int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
