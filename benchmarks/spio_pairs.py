# SPDX-License-Identifier: Apache-2.0
"""The cases of suite `spio` beside a bare C loop of the same calls (stream_loop.c), in pairs.

A volume is shared by the ranks, a file each: written with its fsync, read again after its pages were dropped, read once
more, and the next rank's read. From the first open to the last close; what is read is not verified.

python -m benchmarks.spio_pairs FOLDER [PAIRS [MIB [RANKS,... [OPERATION,...]]]] [--engine PATH|PRESET]
"""

import tempfile
from functools import partial
from pathlib import Path
from typing import Final

from benchmarks.engine_runs import arguments, mpi_name, phases
from benchmarks.pairs import measure
from benchmarks.streams import TIMES, Job, bare, built, rate
from ullage.model.plan import Named, Parameters

CALL_BYTES: Final = 1 << 20
# The phase of the engine, and whose files are read.
OPERATIONS: Final = {"write": ("write", "own"), "read": ("read", "own"), "reread": ("reread", "own")}
NEIGHBOUR: Final = "neighbour"


def ullage(job: Job, phase: str, read_back: str) -> float:
    """Return the bytes/s of that phase, as the suite asks for it."""
    parameters: Parameters = {
        "phases": ["write", "read", "reread"] if read_back == "own" else ["write", "read"],
        "transfer_bytes": job.call_bytes,
        "block_bytes": job.call_bytes * job.calls,
        "file_mode": "per-process",
        "read_back": read_back,
        "sync": "close",
        "cache": "advise",
    }
    found = phases(f"posix:{job.folder}", Named(name="posix"), parameters, job.ranks, TIMES)
    return rate(job, [record.elapsed_ns for record in found if record.phase == phase])


def main() -> None:
    """Print the table."""
    words = dict(enumerate(arguments(), start=1))
    folder, pairs, mib = Path(words[1]).resolve(), int(words.get(2, "9")), int(words.get(3, "256"))
    wanted = words.get(5, ",".join([*OPERATIONS, NEIGHBOUR])).split(",")
    print(f"{mpi_name()}\n")
    print("| what | ullage | bare loop | ratio | of all pairs |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as place, tempfile.TemporaryDirectory(dir=folder) as here:
        program = built(Path(place))
        for ranks in map(int, words.get(4, "1,2").split(",")):
            for operation in wanted:
                if operation == NEIGHBOUR and ranks == 1:
                    continue
                phase, read_back = OPERATIONS.get(operation, ("read", "other-node"))
                way = "next" if operation == NEIGHBOUR else "own"
                job = Job(Path(here), way, CALL_BYTES, max(1, (mib << 20) // ranks // CALL_BYTES), ranks)
                name = f"{operation}, {mib} MiB, {ranks} rank{'s' if ranks > 1 else ''}"
                ratio = measure(partial(ullage, job, phase, read_back), partial(bare, program, job, phase), pairs)
                print(ratio.line(name, "GB/s", 1e9), flush=True)


if __name__ == "__main__":
    main()
