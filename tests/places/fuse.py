# SPDX-License-Identifier: Apache-2.0
"""A folder behind a file system in user space: passthrough.c, compiled when it is first needed."""

import atexit
import contextlib
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Generator
from functools import cache
from pathlib import Path

import pytest
from tests.places.served import Served

_SOURCE = Path(__file__).with_name("passthrough.c")
_HEADER = Path("/usr/include/fuse3/fuse.h")
_LONGEST_START_S = 20.0


@contextlib.contextmanager
def passthrough(folder: Path, hang: str = "") -> Generator[Served]:
    """What is below ``folder/mount`` lies in ``folder/behind``. The test is skipped where that cannot be had.

    ``hang``: as "fsync:NAME", a call on files of that name that is never answered.
    """
    compiler = shutil.which("cc") or shutil.which("gcc")
    if not _HEADER.exists() or compiler is None:
        pytest.skip("not available: a C compiler and the development files of libfuse 3")
    if not os.access("/dev/fuse", os.R_OK | os.W_OK):
        pytest.skip("not available: /dev/fuse is not open to this user")
    program, mount, behind = _program(compiler), folder / "mount", folder / "behind"
    mount.mkdir()
    behind.mkdir()
    process = subprocess.Popen(
        [program, mount, "-f", "-o", f"source={behind}", *(["-o", f"hang={hang}"] if hang else [])],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        _wait_for(mount, process)
        yield Served(mount, behind, process)
    finally:
        subprocess.run([_unmount(), "-l", mount] if os.geteuid() == 0 else [_unmount(), "-uz", mount], check=False)
        process.kill()  # it may be told to hang
        process.communicate(timeout=_LONGEST_START_S)


@cache
def _program(compiler: str) -> Path:
    """The server, compiled once a process."""
    folder = tempfile.mkdtemp(prefix="passthrough")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    program = Path(folder) / "passthrough"
    words = ["-D_FILE_OFFSET_BITS=64", str(_SOURCE), "-o", str(program), "-lfuse3"]
    subprocess.run([compiler, *words], check=True)
    return program


def _unmount() -> str:
    return "umount" if os.geteuid() == 0 else "fusermount3"


def _wait_for(mount: Path, process: "subprocess.Popen[str]") -> None:
    deadline = time.monotonic() + _LONGEST_START_S
    while not mount.is_mount():
        if process.poll() is not None or time.monotonic() > deadline:
            said = process.communicate()[1].strip() if process.poll() is not None else "it does not start"
            pytest.skip(f"not available: a file system in user space ({said})")
        time.sleep(0.05)
