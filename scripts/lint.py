# SPDX-License-Identifier: Apache-2.0
"""Style, types and house rules: prints what is wrong, check by check. ``--mend`` lets the formatters write first."""

import sys
import time

from steps.checks import CHECKS, mend
from steps.tally import Tally


def main() -> Tally:
    """Run every check and return how many were clean."""
    total = Tally()
    for name, check in CHECKS.items():
        started = time.monotonic()
        found = check()
        print(f"{name}: {'found something' if found else 'clean'} ({time.monotonic() - started:.1f} s)", flush=True)
        print(found, end="\n" if found else "", flush=True)
        total += Tally(failed=1) if found else Tally(passed=1)
    return total


if __name__ == "__main__":
    if "--mend" in sys.argv[1:]:
        mend()
    sys.exit(main().failed > 0)
