# SPDX-License-Identifier: Apache-2.0
"""Workload `transfer` beside bare C loops of the same calls with one buffer, in pairs (transfer_loop.c, mpiio_loop.c).

From the first open to the last close, without fsync. What is read are the same files for both sides, made by ours.
With ``--loop`` the transfers alone, between pages that were there and mapped before: what a loop costs besides its
copies. Writes go through as much memory in turn as ours do.

python -m benchmarks.transfer_pairs FOLDER [PAIRS [MIB_A_RANK [RANKS,... [BACKEND,...]]]] [--loop] [--engine ...]
"""

import os
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
from ullage.model.record import PhaseRecord

if TYPE_CHECKING:
    from collections.abc import Callable

SIZES: Final = (47008, 1 << 20)
SMALL: Final = (256,)  # where copies from memory to memory are what is compared
DATASET: Final = "what-is-read"
STORES: Final = ("persist", "nodrain", "nontemporal")  # of backend pmem; the loop calls pmem_memcpy alike
TIMES: Final = 3  # of each side in each pair, of which the median counts
_LOOPS: Final = {
    "posix": "transfer_loop.c",
    "direct": "transfer_loop.c",
    "mmap": "transfer_loop.c",
    "memory": "transfer_loop.c",
    **dict.fromkeys(STORES, "transfer_loop.c"),
    "mpiio": "mpiio_loop.c",
}
_MODES: Final = {"posix": "cached", "direct": "direct", "mmap": "mapped"}
_COPIES: Final = ("mmap", "memory", *STORES)
_BUFFERS: Final = 256 << 10  # through which our writes go in turn
_OWN: Final[dict[str, Named]] = {
    "direct": Named(name="posix", parameters={"direct": True}),
    **{store: Named(name="pmem", parameters={"store": store}) for store in STORES},
}


@dataclass(frozen=True)
class Job:
    """``how``: posix through the page cache, posix with O_DIRECT (direct), a store of pmem, mmap, memory or mpiio.

    ``alone``: the transfers without open and close, on pages that are mapped.
    """

    how: str
    access: str
    transfer: int
    volume: int  # of a rank, a multiple of transfer
    ranks: int
    alone: bool = False

    @property
    def phases(self) -> list[str]:
        """The phases whose last one is measured."""
        if self.access == "read":
            return ["write", "read"] if self.how == "memory" else ["read"]
        return ["write", "rewrite"] if self.alone else ["write"]

    @property
    def name(self) -> str:
        """As its row is called."""
        size = "1 MiB" if self.transfer == 1 << 20 else f"{self.transfer:,} B"
        return f"{self.how}, {self.access}, {size}, {self.ranks} rank{'s' if self.ranks > 1 else ''}"

    @property
    def bytes(self) -> int:
        """Return the sum over all ranks."""
        return self.volume * self.ranks


def _backend(job: Job) -> Named:
    named = _OWN.get(job.how) or Named(name=job.how)
    return named.model_copy(update={"parameters": {**named.parameters, "populate": True}}) if job.alone else named


def _took_ns(job: Job, record: PhaseRecord) -> int:
    transfer = record.stages["transfer"]
    return transfer.last_stop_ns - transfer.first_start_ns if job.alone else record.elapsed_ns


def ullage(folder: Path, job: Job, phases: list[str], run_id: str = "", times: int = TIMES) -> float:
    """Bytes/s of the last of ``phases``; of a dataset that outlives the run ``run_id``, where one is named."""
    in_memory = job.how == "memory"
    access = phases[-1]
    parameters: Parameters = {
        "phases": phases,
        "transfer_bytes": job.transfer,
        "block_bytes": job.volume,
        "file_mode": "per-process",
        "sync": "none",
        "cache": "none",
    }
    uri = "memory:" if in_memory else f"posix:{folder}"
    plan = plan_of(uri, _backend(job), parameters, Layout(ranks=job.ranks), Path(), times)
    if run_id:
        cases = [case.model_copy(update={"dataset": DATASET}) for case in plan.cases]
        later = {"run_id": run_id, "cases": cases, "keep": True, "continues": access == "read"}
        plan = plan.model_copy(update=later)
    records = [record for record in run_plan(plan) if record.phase == access]
    return job.bytes / (statistics.median(_took_ns(job, record) for record in records) / 1e9)


def bare(program: Path, job: Job, pages: str, files: list[Path]) -> float:
    """The same of the loop."""
    amounts = [str(job.transfer), str(job.volume), str(TIMES), *map(str, files)]
    if job.how == "mpiio":
        told = run_mpi(program, Layout(ranks=job.ranks), [job.access, *amounts])
    else:
        buffers = str(_BUFFERS) if job.alone and job.access == "write" else "0"
        span = "loop" if job.alone else "whole"
        words = [str(program), job.access, _MODES.get(job.how, job.how), pages, span, buffers, *amounts]
        told = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    return job.bytes / (statistics.median(map(int, told.split())) / 1e9)


def compare(program: Path, folder: Path, job: Job, pages: str, pairs: int) -> None:
    """Print the row of a job."""
    with tempfile.TemporaryDirectory(dir=folder) as place:
        here, run_id = Path(place), ""
        files = [here / f"bare.{rank}" for rank in range(job.ranks)]
        if job.access == "read" and job.how != "memory":
            run_id = "pairs-" + secrets.token_hex(4)
            ullage(here, job, ["write"], run_id, 1)
            made = [path for path in here.rglob("*") if path.is_file()]
            files = sorted(made, key=lambda path: path.stat().st_size)[-job.ranks :]
        ours: Callable[[], float] = partial(ullage, here, job, job.phases, run_id)
        theirs: Callable[[], float] = partial(bare, program, job, pages, files)
        name = job.name if pages == "huge" else f"{job.name}, loop in {pages} pages"
        found = measure(ours, theirs, pairs)
        more_ns = job.transfer * job.ranks * 1e9 * (1 / found.a - 1 / found.b)
        print(f"{found.line(name, 'GB/s', 1e9)} {more_ns:.1f} ns |", flush=True)


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
    said = arguments()
    alone = "--loop" in said
    words = dict(enumerate((word for word in said if word != "--loop"), start=1))
    folder, pairs = Path(words[1]).resolve(), int(words.get(2, "9"))
    mib = int(words.get(3, "512"))
    print(f"{mpi_name()}\n")
    print("| what | ullage | bare loop | ratio | of all pairs | more a transfer |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as place:
        for how in words.get(5, ",".join(_COPIES) if alone else "posix,mpiio").split(","):
            if alone and how not in _COPIES:
                raise SystemExit(f"--loop is for {', '.join(_COPIES)}: {how} makes a system call for each transfer")
            program = _built(how, Path(place))
            # Without persistent memory: what the stores cost is the same, and rows of a result would be flagged.
            if how in STORES:
                os.environ["PMEM_IS_PMEM_FORCE"] = "1"
            sizes = SIZES if how in ("direct", "mpiio") else SMALL + SIZES
            for size in (size for size in sizes if how != "direct" or size % 4096 == 0):
                for ranks in map(int, words.get(4, "1,2").split(",")):
                    for access in ("write", "read"):
                        job = Job(how, access, size, (mib << 20) // size * size, ranks, alone)
                        compare(program, folder, job, "huge", pairs)


if __name__ == "__main__":
    main()
