# SPDX-License-Identifier: Apache-2.0
"""A file system of a chosen kind on a loop device."""

import contextlib
import os
import shutil
import subprocess
from collections.abc import Generator
from pathlib import Path

import pytest


@contextlib.contextmanager
def loop_image(folder: Path, kind: str, size_bytes: int) -> Generator[Path]:
    """An empty file system in ``folder/KIND``. The test is skipped where that cannot be had."""
    maker = f"mkfs.{kind}"
    if os.geteuid() != 0 or not Path("/dev/loop-control").exists() or shutil.which(maker) is None:
        pytest.skip(f"not available: root, loop devices and {maker}")
    image, place = folder / f"{kind}.image", folder / kind
    with image.open("wb") as file:
        file.truncate(size_bytes)
    place.mkdir()
    with contextlib.ExitStack() as ends:
        for words in ([maker, "-q", image], ["mount", "-o", "loop", image, place]):
            if subprocess.run(words, capture_output=True, check=False).returncode != 0:
                pytest.skip(f"not available: {kind} on a loop device")
        ends.callback(subprocess.run, ["umount", place], check=True)
        yield place
