# SPDX-License-Identifier: Apache-2.0
"""``ullage`` that grades no row C, however busy the machine is, and measures each layout by one launch.

Tests that run beside each other all disturb all, and no finding rests on a row of grade C: which findings a result has
would depend on what else runs. Starts of further launches would take most of the time of a short test.
"""

import math

from ullage.analysis.verdicts import grades
from ullage.cli.app import main
from ullage.runs.cells.passes import CellExecution
from ullage.runs.kernels.prepared import KernelExecution

_LAUNCHES = "_launches_left"


def calm() -> None:
    """Have rows of this process graded as if others disturbed none, and each layout measured by one launch."""
    grades.__dict__["DIRTY_FROM"] = math.inf
    for execution in (CellExecution, KernelExecution):
        assert hasattr(execution, _LAUNCHES)
        setattr(execution, _LAUNCHES, lambda *_: 1)


if __name__ == "__main__":
    calm()
    main()
