# SPDX-License-Identifier: Apache-2.0
"""Backends `posix` and `uring` beside fio's psync and io_uring on the same file system, in pairs.

Rate and processor time an operation.

python -m benchmarks.fio_pairs FOLDER [PAIRS]
"""

import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from benchmarks.engine_runs import phases
from benchmarks.pairs import measure
from ullage.model.plan import Named

MIB: Final = 1 << 20


@dataclass(frozen=True)
class Job:
    """``mode`` is fio's word: write, read or randread. O_DIRECT, one rank; writes end with an fsync.

    A depth above 1 goes through io_uring, on both sides with the file and the buffers registered.
    """

    name: str
    mode: str
    block: int
    volume: int
    depth: int = 1


JOBS: Final = (
    Job("1 MiB sequential write", "write", MIB, 1024 * MIB),
    Job("1 MiB sequential read", "read", MIB, 1024 * MIB),
    Job("4 KiB random read", "randread", 4096, 256 * MIB),
    Job("4 KiB random read, queue depth 32", "randread", 4096, 1024 * MIB, 32),
)


def fio(folder: Path, job: Job) -> tuple[float, float]:
    """Bytes/s and CPU seconds an operation. A file to be read is laid out by fio before its timer starts."""
    options = [f"--rw={job.mode}", f"--bs={job.block}", f"--size={job.volume}", "--direct=1"]
    if job.depth > 1:
        options += ["--ioengine=io_uring", f"--iodepth={job.depth}", "--fixedbufs=1", "--registerfiles=1"]
    else:
        options += ["--ioengine=psync"]
    options += ["--randrepeat=0", "--fallocate=none", "--thread", "--output-format=json"]
    options += ["--end_fsync=1"] if job.mode == "write" else []
    with tempfile.TemporaryDirectory(dir=folder) as place:
        words = ["fio", "--name=job", f"--directory={place}", *options]
        told = json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)["jobs"][0]
    side = told["write" if job.mode == "write" else "read"]
    cpu = (told["usr_cpu"] + told["sys_cpu"]) / 100 * told["job_runtime"] / 1e3
    return side["io_bytes"] / (side["runtime"] / 1e3), cpu / side["total_ios"]


def ullage(folder: Path, job: Job) -> tuple[float, float]:
    """The same of one rank, from open to close with the fsync of a write, as fio's runtime has it."""
    access = "write" if job.mode == "write" else "read"
    records = phases(
        f"posix:{folder}",
        Named(name="uring" if job.depth > 1 else "posix", parameters={"direct": True}),
        {
            "transfer_bytes": job.block,
            "block_bytes": job.volume,
            "file_mode": "per-process",
            "order": "random" if job.mode == "randread" else "sequential",
            "write_order": "sequential",  # as fio lays out what it will read
            "verify": "none",
            **({"queue_depth": job.depth} if job.depth > 1 else {}),
            # Not right after the file was written in small pieces, which fio does not do: devices still work then.
            "phases": ["write"] if access == "write" else ["write", "read", "reread"],
        },
    )
    record = records[-1]
    return record.bytes / (record.elapsed_ns / 1e9), record.cpu_ns / record.operations / 1e9


def compare(folder: Path, job: Job, pairs: int) -> None:
    """Print the two rows of a job."""
    cpu: dict[str, list[float]] = {"ullage": [], "fio": []}

    def rate(name: str, run: Callable[[Path, Job], tuple[float, float]]) -> float:
        value, seconds = run(folder, job)
        cpu[name].append(seconds)
        return value

    print(measure(partial(rate, "ullage", ullage), partial(rate, "fio", fio), pairs).line(job.name, "GB/s", 1e9))
    ratios = sorted(a / b for a, b in zip(cpu["ullage"][1:], cpu["fio"][1:], strict=True))
    ours, theirs = (statistics.median(cpu[name][1:]) * 1e6 for name in ("ullage", "fio"))
    spread = f"{ratios[0]:.3f} to {ratios[-1]:.3f}"
    middle = statistics.median(ratios)
    print(f"| {job.name}, CPU an operation | {ours:.3g} us | {theirs:.3g} us | {middle:.3f} | {spread} |", flush=True)


def main() -> None:
    """Print the table."""
    print("| what | ullage | fio | ratio | of all pairs |\n|---|---|---|---|---|")
    for job in JOBS:
        compare(Path(sys.argv[1]).resolve(), job, int(sys.argv[2]) if len(sys.argv) > 2 else 9)


if __name__ == "__main__":
    main()
