# SPDX-License-Identifier: Apache-2.0
"""Linear algebra in one thread, and an environment that stays as it was."""

import os
import subprocess
import sys

# A product of this size is shared out by every BLAS that has several threads.
PROGRAM = """
import os
from ullage.arrays import np
square = np.ones((512, 512))
square @ square
print(len(os.listdir("/proc/self/task")), os.environ.get("OPENBLAS_NUM_THREADS"), os.environ.get("OMP_NUM_THREADS"))
"""


def told(**settings: str) -> list[str]:
    """Threads of a process that has multiplied matrices, and two variables of its environment."""
    environment = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    words = [sys.executable, "-c", PROGRAM]
    return subprocess.run(words, env=environment | settings, check=True, capture_output=True, text=True).stdout.split()


def test_a_product_of_matrices_starts_no_thread() -> None:
    assert told() == ["1", "None", "None"]


def test_what_the_user_has_set_is_left_to_the_programs_that_we_start() -> None:
    assert told(OPENBLAS_NUM_THREADS="3", OMP_NUM_THREADS="2") == ["1", "3", "2"]
