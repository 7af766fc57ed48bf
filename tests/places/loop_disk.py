# SPDX-License-Identifier: Apache-2.0
"""A disk that stops answering when its server is stopped: ext4 on a loop device whose file is behind FUSE."""

import contextlib
import os
import shutil
import signal
import subprocess
from collections.abc import Generator
from pathlib import Path

import pytest
from tests.places.fuse import passthrough
from tests.places.served import Served


@contextlib.contextmanager
def loop_disk(folder: Path, size_bytes: int) -> Generator[Served]:
    """An empty ext4 in ``folder/disk``. The test is skipped where that cannot be had."""
    if os.geteuid() != 0 or not Path("/dev/loop-control").exists() or shutil.which("mkfs.ext4") is None:
        pytest.skip("not available: root, loop devices and mkfs.ext4")
    with contextlib.ExitStack() as ends:
        served = ends.enter_context(passthrough(folder))
        image, disk = served.mount / "image", folder / "disk"
        with image.open("wb") as file:
            file.truncate(size_bytes)
        device = _run("losetup", "--find", "--show", image)
        if device is None:
            pytest.skip("not available: a loop device")
        ends.callback(_run, "losetup", "--detach", device)
        disk.mkdir()
        if _run("mkfs.ext4", "-q", device) is None or _run("mount", device, disk) is None:
            pytest.skip("not available: an ext4 on a loop device")
        ends.callback(_run, "umount", disk)
        ends.callback(os.kill, served.process.pid, signal.SIGCONT)
        yield Served(disk, served.behind, served.process)


def _run(*words: str | Path) -> str | None:
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else None
