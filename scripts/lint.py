# SPDX-License-Identifier: Apache-2.0
"""Style, types and house rules: prints what is wrong, check by check. ``--mend`` lets the formatters write first."""

import sys
import time
from collections.abc import Collection, Iterator

from steps.checks import CHECKS, mend
from steps.counts import Counts, failure


def checked(names: Collection[str]) -> Iterator[tuple[str, Counts]]:
    """Run one check after the other: what is said of each, and whether it was clean."""
    for name, check in CHECKS.items():
        if name not in names:
            continue
        started = time.monotonic()
        found = check()
        said = f"{name}: {'found something' if found else 'clean'} ({time.monotonic() - started:.1f} s)\n{found}"
        yield said.rstrip("\n"), failure(f"lint: {name}") if found else Counts(passed=1)


def at_once(names: Collection[str] = frozenset(CHECKS)) -> Counts:
    """Run the checks ``names`` and print what was found in one piece: other steps of a test run print meanwhile."""
    done = list(checked(names))
    print("\n" + "\n".join(said for said, _ in done), flush=True)
    return sum((counted for _, counted in done), Counts())


def main() -> Counts:
    """Run every check and return how many were clean."""
    total = Counts()
    for said, counted in checked(CHECKS):
        print(said, flush=True)
        total += counted
    return total


if __name__ == "__main__":
    if "--mend" in sys.argv[1:]:
        mend()
    sys.exit(main().failed > 0)
