# SPDX-License-Identifier: Apache-2.0
"""Builds the wheel with the engine for every MPI into dist/: any Linux from glibc 2.28 on, no compiler, no root."""

import sys

from steps import wheel
from steps.process import StepError

try:
    wheel.make()
except StepError as failure:
    sys.exit(f"ullage wheel: {failure}")
