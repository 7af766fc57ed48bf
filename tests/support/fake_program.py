# SPDX-License-Identifier: Apache-2.0
"""Programs that only pretend."""

from collections.abc import Callable
from pathlib import Path

FakeProgram = Callable[[str, str], Path]
"""Puts a shell script with the given name and body on the PATH and returns its path."""
