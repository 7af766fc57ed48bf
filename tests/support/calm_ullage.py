# SPDX-License-Identifier: Apache-2.0
"""``ullage`` that grades no row C, however busy the machine is.

Tests that run beside each other all disturb all, and no finding rests on a row of grade C: which findings a result has
would depend on what else runs.
"""

import math

from ullage.analysis.verdicts import grades
from ullage.cli.app import main


def calm() -> None:
    """Have rows of this process graded as if others had taken less than what disturbs."""
    grades.__dict__["DIRTY_FROM"] = math.inf


if __name__ == "__main__":
    calm()
    main()
