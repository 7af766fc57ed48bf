# SPDX-License-Identifier: Apache-2.0
"""sysbench memory beside reads and writes: each thread goes through a buffer of its own, again and again.

Its reads and writes are of one machine word each, so it is slower than what memory gives; it counts MiB.
"""

import re
from dataclasses import dataclass
from functools import partial
from typing import Final, Literal

from ullage.peers import Installed, PeerError, PeerTool
from ullage.peers.started import answer, find_installed

MIB: Final = 1 << 20
_SECONDS: Final = 1
# No memory moves as much in that time, so the time ends the test.
_TOTAL: Final = "100T"
_RATE: Final = re.compile(r"MiB transferred \((\d+(?:\.\d+)?) MiB/sec\)")
_VERSION: Final = re.compile(r"^sysbench (\d+\.\S+)")
installed: Final = partial(find_installed, "sysbench", "--version", _VERSION)


@dataclass(frozen=True, slots=True)
class SysbenchJob:
    """Work for sysbench.

    ``buffer_bytes``: of each thread. ``PeerError`` for a size that is no power of two, which sysbench refuses.
    """

    operation: Literal["read", "write"]
    buffer_bytes: int
    threads: int

    def __post_init__(self) -> None:
        if self.buffer_bytes < 8 or self.buffer_bytes & (self.buffer_bytes - 1):
            raise PeerError(f"sysbench: a buffer of {self.buffer_bytes} bytes is no power of two")
        if self.threads < 1:
            raise PeerError("sysbench: 1 thread or more")


def sysbench_command(program: Installed, job: SysbenchJob) -> list[str]:
    """Return the words that run ``job``."""
    return [
        str(program.path),
        "memory",
        f"--threads={job.threads}",
        f"--time={_SECONDS}",
        f"--memory-block-size={job.buffer_bytes}",
        f"--memory-total-size={_TOTAL}",
        "--memory-scope=local",
        f"--memory-oper={job.operation}",
        "--memory-access-mode=seq",
        "run",
    ]


def run_sysbench(program: Installed, job: SysbenchJob, *, limit_s: float = 60.0) -> dict[str, float]:
    """Return values by metric name; raise ``PeerError`` when sysbench gives none."""
    found = _RATE.search(answer(sysbench_command(program, job), limit_s))
    if found is None or float(found.group(1)) <= 0:
        raise PeerError("sysbench's answer has no rate of its transfers")
    return {"memory_bandwidth": float(found.group(1)) * MIB}


PEER = PeerTool(
    name="sysbench",
    doc="scriptable benchmark of a system; here its test 'memory'",
    compared_on="sequential reads and writes of memory by threads: bandwidth",
    installed=installed,
)
