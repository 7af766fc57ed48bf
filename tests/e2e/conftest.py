# SPDX-License-Identifier: Apache-2.0
"""Targets for the real engine."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.e2e.launching import code_of


@pytest.fixture
def target(tmp_path: Path) -> Path:
    """A folder with one foreign file in it, which must still be there afterwards."""
    folder = tmp_path / "target"
    folder.mkdir()
    (folder / "precious").write_text("do not touch")
    return folder


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A memory file system of 16 MiB."""
    folder = tmp_path / "small"
    folder.mkdir()
    if code_of(["mount", "-t", "tmpfs", "-o", "size=16m", "none", str(folder)]) != 0:
        pytest.skip("mounting a tmpfs is not permitted here")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)
