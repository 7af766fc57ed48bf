# SPDX-License-Identifier: Apache-2.0
"""The cases of suite `checkpoint` beside a bare C loop of the same calls (stream_loop.c), in pairs.

The state of all ranks is saved with its fsync and read back after its pages were dropped: a file for each rank, a file
for each tensor, one shared file. From the first open to the last close; what is read is not verified.

python -m benchmarks.checkpoint_pairs FOLDER [PAIRS [MIB_A_RANK [RANKS,... [LAYOUT,...]]]] [--engine PATH|PRESET]
"""

import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchmarks.engine_runs import arguments, mpi_name, phases
from benchmarks.pairs import measure
from benchmarks.streams import TIMES, Job, bare, built, rate
from ullage.model.plan import Named, Parameters

if TYPE_CHECKING:
    from collections.abc import Callable

BLOCK_BYTES: Final = 1 << 20
TENSORS: Final = 19  # of a rank of 1T
LAYOUTS: Final = ("rank", "tensor", "shared")
# The phases of the engine's two workloads.
OPERATIONS: Final = {"save": ("write", "forward"), "restore": ("read", "adjoint")}


def streams(job: Job, operation: str) -> float:
    """Return the bytes/s of layout rank or shared, as the suite asks for it."""
    parameters: Parameters = {
        "phases": ["write", "read"],
        "transfer_bytes": job.call_bytes,
        "block_bytes": job.call_bytes * job.calls,
        "file_mode": "shared" if job.way == "shared" else "per-process",
        "sync": "close",
        "cache": "advise",
    }
    found = phases(f"posix:{job.folder}", Named(name="posix"), parameters, job.ranks, TIMES)
    return rate(job, [record.elapsed_ns for record in found if record.phase == OPERATIONS[operation][0]])


def tensors(job: Job, operation: str) -> float:
    """Return the bytes/s of layout tensor, as the suite asks for it."""
    parameters: Parameters = {
        "steps": job.calls,
        "state_bytes": job.call_bytes,
        "layout": "dir-per-rank",
        "order": "forward",
        "sync": "fsync",
        "cache": "drop",
        "verify": "none",
    }
    workload = Named(name="stepfile", parameters=parameters)
    found = phases(f"posix:{job.folder}", Named(name="posix"), workload, job.ranks, TIMES)
    return rate(job, [record.elapsed_ns for record in found if record.phase == OPERATIONS[operation][1]])


def job_of(here: Path, layout: str, rank_bytes: int, ranks: int) -> Job:
    """Return the job of a layout: calls of a block, or of a tensor of whole pages."""
    if layout == "tensor":
        return Job(here, "tensors", max(4096, rank_bytes // TENSORS // 4096 * 4096), TENSORS, ranks)
    way = "shared" if layout == "shared" else "own"
    return Job(here, way, BLOCK_BYTES, max(1, rank_bytes // BLOCK_BYTES), ranks)


def main() -> None:
    """Print the table."""
    words = dict(enumerate(arguments(), start=1))
    folder, pairs, mib = Path(words[1]).resolve(), int(words.get(2, "9")), int(words.get(3, "128"))
    print(f"{mpi_name()}\n")
    print("| what | ullage | bare loop | ratio | of all pairs |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as place, tempfile.TemporaryDirectory(dir=folder) as here:
        program = built(Path(place))
        for layout in words.get(5, ",".join(LAYOUTS)).split(","):
            for ranks in map(int, words.get(4, "1,2").split(",")):
                job = job_of(Path(here), layout, mib << 20, ranks)
                for operation, (phase, _) in OPERATIONS.items():
                    ours: Callable[[Job, str], float] = tensors if layout == "tensor" else streams
                    name = f"{layout}, {operation}, {mib} MiB a rank, {ranks} rank{'s' if ranks > 1 else ''}"
                    ratio = measure(partial(ours, job, operation), partial(bare, program, job, phase), pairs)
                    print(ratio.line(name, "GB/s", 1e9), flush=True)


if __name__ == "__main__":
    main()
