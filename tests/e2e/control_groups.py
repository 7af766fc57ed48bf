# SPDX-License-Identifier: Apache-2.0
"""Control groups that give the processes of a test little memory, page cache included."""

import contextlib
import secrets
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

_MEMORY_GROUPS = Path("/sys/fs/cgroup/memory")
_ENDING_S = 20


@contextlib.contextmanager
def memory_group(limit_bytes: int) -> Iterator[Path]:
    """Make a group with that limit, and remove it afterwards. Without the rights for it, the test is skipped."""
    group = _MEMORY_GROUPS / f"ullage-test-{secrets.token_hex(4)}"
    try:
        group.mkdir()
        (group / "memory.limit_in_bytes").write_text(str(limit_bytes))
    except OSError as error:
        pytest.skip(f"not available: a control group of little memory ({error})")
    yield group
    deadline = time.monotonic() + _ENDING_S
    while group.exists() and time.monotonic() < deadline:
        with contextlib.suppress(OSError):  # as long as the last process is still ending
            group.rmdir()
        time.sleep(0.05)


def inside(group: Path) -> list[str]:
    """Words before a command that run it in ``group``."""
    return ["sh", "-c", 'echo $$ > "$0" && exec "$@"', str(group / "cgroup.procs")]
