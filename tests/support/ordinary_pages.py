# SPDX-License-Identifier: Apache-2.0
"""Run a command, and all that it starts, without huge pages: ``python ordinary_pages.py PROGRAM ARGUMENT ...``."""

import ctypes
import os
import sys

# linux/prctl.h. The setting is inherited by children and kept across exec.
_SET_THP_DISABLE = 41

if __name__ == "__main__":
    if ctypes.CDLL(None, use_errno=True).prctl(_SET_THP_DISABLE, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_THP_DISABLE)")
    os.execvp(sys.argv[1], sys.argv[1:])
