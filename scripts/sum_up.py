# SPDX-License-Identifier: Apache-2.0
"""Prints the sum of the test runs that are named, as they were last counted; fails when one of them has failed."""

import sys

from steps.counts import Counts, kept

if __name__ == "__main__":
    total = sum((kept(name) for name in sys.argv[1:]), Counts())
    print(f"===== {total} in all =====")
    sys.exit(total.failed > 0)
