# SPDX-License-Identifier: Apache-2.0
"""Workload `transfer` beside bare C loops of the same calls with one buffer, in pairs (transfer_loop.c, mpiio_loop.c).

From the first open to the last close, without fsync. What is read are the same files for both sides, made by ours.

python -m benchmarks.transfer_pairs FOLDER [PAIRS [MIB_A_RANK [RANKS,... [BACKEND,...]]]] [--engine PATH|PRESET]
"""

import secrets
import statistics
import subprocess
import tempfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchmarks.engine_runs import arguments, build_mpi, mpi_name, plan_of, run_mpi, run_plan
from benchmarks.pairs import measure
from ullage.model.plan import Layout, Named, Parameters

if TYPE_CHECKING:
    from collections.abc import Callable

SIZES: Final = (47008, 1 << 20)
SMALL: Final = (256,)  # where copies from memory to memory are what is compared
DATASET: Final = "what-is-read"
TIMES: Final = 3  # of each side in each pair, of which the median counts
_LOOPS: Final = {
    "posix": "transfer_loop.c",
    "direct": "transfer_loop.c",
    "mmap": "transfer_loop.c",
    "mpiio": "mpiio_loop.c",
}
_MODES: Final = {"posix": "cached", "direct": "direct", "mmap": "mapped"}


@dataclass(frozen=True)
class Job:
    """``how``: posix through the page cache, posix with O_DIRECT (direct), mmap or mpiio."""

    how: str
    access: str
    transfer: int
    volume: int  # of a rank, a multiple of transfer
    ranks: int

    @property
    def name(self) -> str:
        """As its row is called."""
        size = "1 MiB" if self.transfer == 1 << 20 else f"{self.transfer:,} B"
        return f"{self.how}, {self.access}, {size}, {self.ranks} rank{'s' if self.ranks > 1 else ''}"

    @property
    def bytes(self) -> int:
        """Of all ranks."""
        return self.volume * self.ranks


def ullage(folder: Path, job: Job, access: str, run_id: str = "", times: int = TIMES) -> float:
    """Bytes/s of that phase; of a dataset that outlives the run ``run_id``, where one is named."""
    parameters: Parameters = {
        "phases": [access],
        "transfer_bytes": job.transfer,
        "block_bytes": job.volume,
        "file_mode": "per-process",
        "sync": "none",
        "cache": "none",
    }
    direct: Parameters = {"direct": True} if job.how == "direct" else {}
    backend = Named(name="posix" if job.how == "direct" else job.how, parameters=direct)
    plan = plan_of(f"posix:{folder}", backend, parameters, Layout(ranks=job.ranks), Path(), times)
    if run_id:
        cases = [case.model_copy(update={"dataset": DATASET}) for case in plan.cases]
        later = {"run_id": run_id, "cases": cases, "keep": True, "continues": access == "read"}
        plan = plan.model_copy(update=later)
    return job.bytes / (statistics.median(record.elapsed_ns for record in run_plan(plan)) / 1e9)


def bare(program: Path, job: Job, pages: str, files: list[Path]) -> float:
    """The same of the loop."""
    amounts = [str(job.transfer), str(job.volume), str(TIMES), *map(str, files)]
    if job.how == "mpiio":
        told = run_mpi(program, Layout(ranks=job.ranks), [job.access, *amounts])
    else:
        words = [str(program), job.access, _MODES[job.how], pages, *amounts]
        told = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    return job.bytes / (statistics.median(map(int, told.split())) / 1e9)


def compare(program: Path, folder: Path, job: Job, pages: str, pairs: int) -> None:
    """Print the row of a job."""
    with tempfile.TemporaryDirectory(dir=folder) as place:
        here, run_id = Path(place), ""
        files = [here / f"bare.{rank}" for rank in range(job.ranks)]
        if job.access == "read":
            run_id = "pairs-" + secrets.token_hex(4)
            ullage(here, job, "write", run_id, 1)
            made = [path for path in here.rglob("*") if path.is_file()]
            files = sorted(made, key=lambda path: path.stat().st_size)[-job.ranks :]
        ours: Callable[[], float] = partial(ullage, here, job, job.access, run_id)
        theirs: Callable[[], float] = partial(bare, program, job, pages, files)
        name = job.name if pages == "huge" else f"{job.name}, loop in {pages} pages"
        print(measure(ours, theirs, pairs).line(name, "GB/s", 1e9), flush=True)


def _built(how: str, place: Path) -> Path:
    program = place / how
    source = Path(__file__).with_name(_LOOPS[how])
    if how == "mpiio":
        build_mpi(source, program, "-pthread")
    else:
        subprocess.run(["cc", "-O2", "-pthread", "-o", str(program), str(source)], check=True)
    return program


def main() -> None:
    """Print the table."""
    words = dict(enumerate(arguments(), start=1))
    folder, pairs = Path(words[1]).resolve(), int(words.get(2, "9"))
    mib = int(words.get(3, "512"))
    print(f"{mpi_name()}\n")
    print("| what | ullage | bare loop | ratio | of all pairs |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as place:
        for how in words.get(5, "posix,mpiio").split(","):
            program = _built(how, Path(place))
            sizes = SMALL + SIZES if how == "mmap" else SIZES
            for size in (size for size in sizes if how != "direct" or size % 4096 == 0):
                for ranks in map(int, words.get(4, "1,2").split(",")):
                    for access in ("write", "read"):
                        job = Job(how, access, size, (mib << 20) // size * size, ranks)
                        compare(program, folder, job, "huge", pairs)


if __name__ == "__main__":
    main()
