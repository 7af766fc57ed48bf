# SPDX-License-Identifier: Apache-2.0
"""A disk that is really slow for some processes: their control group may move few bytes a second on it."""

import contextlib
import os
import secrets
import subprocess
import time
from collections.abc import Generator
from pathlib import Path
from typing import Final

import pytest

_ENDING_S: Final = 20


@contextlib.contextmanager
def slow_for(folder: Path, bytes_per_s: int) -> Generator[Path]:
    """Make a control group whose processes read and write the disk below ``folder`` at that rate at most.

    Its file ``cgroup.procs`` lies below ``folder``, where network namespaces do not hide it. Skips the test with the
    reason where none can be.
    """
    groups = folder / "groups"
    groups.mkdir()
    mounted = _run("mount", "-t", "cgroup", "-o", "blkio", "none", str(groups))
    if mounted:
        pytest.skip(f"not available: a throttled disk by control groups of version 1 ({mounted})")
    group = groups / f"ullage-test-{secrets.token_hex(4)}"
    try:
        group.mkdir()
        for access in ("read", "write"):
            (group / f"blkio.throttle.{access}_bps_device").write_text(f"{_whole_disk(folder)} {bytes_per_s}")
        yield group
    except OSError as error:
        pytest.skip(f"not available: a throttled disk by control groups of version 1 ({error})")
    finally:
        deadline = time.monotonic() + _ENDING_S
        while group.exists() and time.monotonic() < deadline:
            with contextlib.suppress(OSError):  # as long as the last process is still ending
                group.rmdir()
            time.sleep(0.05)
        _run("umount", str(groups))


def _run(*words: str) -> str:
    """Run a command; return what it says where it fails, and nothing where it does not."""
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return (done.stderr.strip() or words[0]) if done.returncode else ""


def _whole_disk(folder: Path) -> str:
    """Return the numbers of the disk as the kernel writes them; limits are of disks, and not of partitions."""
    device = folder.stat().st_dev
    own = Path(f"/sys/dev/block/{os.major(device)}:{os.minor(device)}").resolve(strict=True)
    disk = own.parent if (own / "partition").exists() else own
    return (disk / "dev").read_text().strip()
