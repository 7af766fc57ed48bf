# SPDX-License-Identifier: Apache-2.0
"""Backends `posix` and `uring` beside fio's psync and io_uring on the same file system, in pairs.

Rate and processor time an operation, each on the first core: a rank is bound to it, and a program that is free to move
goes where no interrupts and no other programs are. What is read is one file, made once: where a file lies on a device,
and how long ago it was written, is worth more than what is compared here.

With `mmaphuge` fio's buffers lie in huge pages that root has set aside, as ours lie in transparent ones.

python -m benchmarks.fio_pairs FOLDER [PAIRS [mmaphuge]] [--engine PATH|PRESET]
"""

import json
import os
import statistics
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from benchmarks.engine_runs import arguments, plan_of, run_plan
from benchmarks.pairs import measure
from ullage.model.plan import Layout, Named, Parameters
from ullage.model.record import PhaseRecord

MIB: Final = 1 << 20
DATASET: Final = "what-is-read"


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

    @property
    def writes(self) -> bool:
        """Whether each side makes its file within its timer; else both read one that was there."""
        return self.mode == "write"


JOBS: Final = (
    Job("1 MiB sequential write", "write", MIB, 1024 * MIB),
    Job("1 MiB sequential read", "read", MIB, 1024 * MIB),
    Job("4 KiB random read", "randread", 4096, 256 * MIB),
    Job("4 KiB random read, queue depth 32", "randread", 4096, 1024 * MIB, 32),
)


def fio(folder: Path, job: Job, file: Path | None = None, memory: str = "malloc") -> tuple[float, float]:
    """Bytes/s and CPU seconds an operation, of reading ``file`` or of writing one."""
    options = [f"--rw={job.mode}", f"--bs={job.block}", f"--size={job.volume}", "--direct=1"]
    if job.depth > 1:
        options += ["--ioengine=io_uring", f"--iodepth={job.depth}", "--fixedbufs=1", "--registerfiles=1"]
    else:
        options += ["--ioengine=psync"]
    options += [f"--cpus_allowed={min(os.sched_getaffinity(0))}", f"--iomem={memory}"]
    options += ["--randrepeat=0", "--fallocate=none", "--thread", "--output-format=json"]
    options += ["--end_fsync=1"] if job.writes else ["--readonly"]
    with tempfile.TemporaryDirectory(dir=folder) as place:
        options += [f"--filename={file}"] if file else [f"--directory={place}"]
        words = ["fio", "--name=job", *options]
        told = json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)["jobs"][0]
    side = told["write" if job.writes else "read"]
    cpu = (told["usr_cpu"] + told["sys_cpu"]) / 100 * told["job_runtime"] / 1e3
    return side["io_bytes"] / (side["runtime"] / 1e3), cpu / side["total_ios"]


def ullage_phase(folder: Path, job: Job, phase: str, run_id: str = "", dataset: str = "") -> PhaseRecord:
    """One phase of one rank; of a ``dataset`` of run ``run_id`` which outlives it, where it is named."""
    parameters: Parameters = {
        "transfer_bytes": job.block,
        "block_bytes": job.volume,
        "file_mode": "per-process",
        # Written in order in any case, as fio lays out what it will read.
        **({"order": "random", "write_order": "sequential"} if job.mode == "randread" else {}),
        "verify": "none",
        "phases": [phase],
        **({"queue_depth": job.depth} if job.depth > 1 else {}),
    }
    backend = Named(name="uring" if job.depth > 1 else "posix", parameters={"direct": True})
    plan = plan_of(f"posix:{folder}", backend, parameters, Layout(ranks=1), Path())
    if dataset:
        cases = [case.model_copy(update={"dataset": dataset}) for case in plan.cases]
        later = {"run_id": run_id, "cases": cases, "keep": True, "continues": phase != "write"}
        plan = plan.model_copy(update=later)
    return run_plan(plan)[-1]


def ullage(folder: Path, job: Job, run_id: str = "") -> tuple[float, float]:
    """The same as fio's, from open to close with the fsync of a write, as fio's runtime has it."""
    record = ullage_phase(folder, job, "write") if job.writes else ullage_phase(folder, job, "read", run_id, DATASET)
    return record.bytes / (record.elapsed_ns / 1e9), record.cpu_ns / record.operations / 1e9


def compare(folder: Path, job: Job, pairs: int, memory: str = "malloc") -> None:
    """Print the two rows of a job beside fio, whose buffers are of that ``memory``."""
    cpu: dict[str, list[float]] = {"ullage": [], "fio": []}

    def rate(name: str, run: Callable[[], tuple[float, float]]) -> float:
        value, seconds = run()
        cpu[name].append(seconds)
        return value

    with tempfile.TemporaryDirectory(dir=folder) as place:
        here, run_id, file = Path(place), "fio-pairs", None
        if not job.writes:
            ullage_phase(here, job, "write", run_id, DATASET)
            file = max((path for path in here.rglob("*") if path.is_file()), key=lambda path: path.stat().st_size)
        ours = partial(rate, "ullage", partial(ullage, here, job, run_id))
        theirs = partial(rate, "fio", partial(fio, here, job, file, memory))
        print(measure(ours, theirs, pairs).line(job.name, "GB/s", 1e9))
    ratios = sorted(a / b for a, b in zip(cpu["ullage"][1:], cpu["fio"][1:], strict=True))
    spent = [statistics.median(cpu[name][1:]) * 1e6 for name in ("ullage", "fio")]
    spread = f"{ratios[0]:.3f} to {ratios[-1]:.3f}"
    middle = statistics.median(ratios)
    print(
        f"| {job.name}, CPU an operation | {spent[0]:.3g} us | {spent[1]:.3g} us | {middle:.3f} | {spread} |",
        flush=True,
    )


def main() -> None:
    """Print the table."""
    print("| what | ullage | fio | ratio | of all pairs |\n|---|---|---|---|---|")
    for job in JOBS:
        words = dict(enumerate(arguments(), start=1))
        compare(Path(words[1]).resolve(), job, int(words.get(2, "9")), words.get(3, "malloc"))


if __name__ == "__main__":
    main()
