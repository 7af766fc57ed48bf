# SPDX-License-Identifier: Apache-2.0
"""Prints what failed in the test runs that are named and their sum, as last counted; fails when one has failed."""

import sys

from steps.counts import Counts, kept

if __name__ == "__main__":
    total = sum((kept(name) for name in sys.argv[1:]), Counts())
    print(*total.named(), f"===== {total} in all =====", sep="\n")
    sys.exit(total.failed > 0)
