# SPDX-License-Identifier: Apache-2.0
"""What the benchmarks beside stream_loop.c share: the job of both sides, and the loop's times."""

import statistics
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

TIMES: Final = 3  # of each side in each pair, of which the median counts
# The stretches that the loop prints of each time.
_STRETCHES: Final = ("write", "read", "reread")
_SOURCE: Final = Path(__file__).with_name("stream_loop.c")


@dataclass(frozen=True)
class Job:
    """What both sides do. ``way``: as the loop calls it; ``calls``: of each rank, for tensors a file each."""

    folder: Path
    way: Literal["own", "next", "shared", "tensors"]
    call_bytes: int
    calls: int
    ranks: int


def rate(job: Job, took_ns: Sequence[int]) -> float:
    """Return the bytes/s of the median."""
    return job.ranks * job.calls * job.call_bytes / (statistics.median(took_ns) / 1e9)


def built(place: Path) -> Path:
    """Compile the loop into a folder."""
    program = place / "stream_loop"
    subprocess.run(["cc", "-O2", "-pthread", "-o", str(program), str(_SOURCE)], check=True)
    return program


def bare(program: Path, job: Job, phase: str) -> float:
    """Return the bytes/s of a phase of the loop."""
    amounts = [job.call_bytes, job.calls, TIMES, job.folder, job.ranks]
    words = [str(program), job.way, *map(str, amounts)]
    told = [int(line) for line in subprocess.run(words, check=True, capture_output=True, text=True).stdout.split()]
    return rate(job, told[_STRETCHES.index(phase) :: len(_STRETCHES)])
