# SPDX-License-Identifier: Apache-2.0
"""Memory of a rank at 2 and 64 ranks, and how long the engine takes to its first phase beside an empty MPI program.

python -m benchmarks.footprint [PAIRS]
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

from benchmarks.engine_runs import plan_of
from benchmarks.pairs import measure
from ullage.engine import describe, find_engine
from ullage.launch import choose_launcher
from ullage.model.plan import Layout, Named
from ullage.results.records import read_records

EMPTY: Final = """#include <mpi.h>
#include <stdio.h>
#include <time.h>
int main(int c, char** v) {
  MPI_Init(&c, &v);
  MPI_Barrier(MPI_COMM_WORLD);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  if (rank == 0) printf("%.9f\\n", (double)t.tv_sec + 1e-9 * (double)t.tv_nsec);
  MPI_Finalize();
  return 0;
}
"""


class Footprint:
    """Starts programs of ``ranks`` ranks under the engine's own launcher."""

    def __init__(self, folder: Path, ranks: int) -> None:
        self.engine = find_engine()
        self.launcher = choose_launcher(describe(self.engine))
        self.folder, self.layout = folder, Layout(ranks=ranks)
        self.environment = {**os.environ, **self.launcher.environment(self.layout)}

    def compile_empty(self) -> Path:
        """The empty program, built with the compiler wrapper beside the launcher."""
        source, program = self.folder / "empty.c", self.folder / "empty"
        source.write_text(EMPTY)
        subprocess.run(["mpicc", "-O2", "-o", str(program), str(source)], check=True)
        return program

    def empty_s(self, program: Path) -> float:
        """From start to all ranks being through a barrier."""
        words = self.launcher.argv(program, Path("plan"), self.layout)
        began = time.monotonic()
        told = subprocess.run(words, check=True, capture_output=True, text=True, env=self.environment)
        return float(told.stdout.split()[0]) - began

    def first_phase_s(self) -> float:
        """From start to the first phase's first open."""
        began, records = self._run(block_bytes=4096)
        file = read_records(records)
        assert file.run is not None
        return (file.run.origin_ns + file.phases[0].start_ns) / 1e9 - began

    def peak_bytes(self) -> int:
        """Largest resident set of any rank, beyond its transfer buffers' 16 MiB."""
        self._run(block_bytes=1 << 30)
        return self._peak

    def _run(self, block_bytes: int) -> tuple[float, Path]:
        records = self.folder / f"{time.monotonic_ns()}.ndjson"
        words = {
            "phases": ["write"],
            "transfer_bytes": 4096,
            "block_bytes": block_bytes,
            "verify": "none",
            "sync": "none",
        }
        plan = plan_of("null:", Named(name="null"), dict(words), self.layout, records, 1)
        path = self.folder / "plan.json"
        path.write_text(plan.model_dump_json())
        began = time.monotonic()
        process = subprocess.Popen(
            self.launcher.argv(self.engine, path, self.layout), env=self.environment, stderr=subprocess.DEVNULL
        )
        self._peak = 0
        while process.poll() is None:
            if block_bytes > 1 << 20:
                self._peak = max(self._peak, _peak_of(path))
            time.sleep(0.05)
        return began, records


def _peak_of(plan: Path) -> int:
    """Largest VmHWM of the processes that run this plan, launcher left out."""
    peak = 0
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
            if len(words) > 2 and words[1] == b"run" and words[2] == os.fsencode(plan):
                status = (folder / "status").read_text()
                peak = max(peak, int(status.split("VmHWM:")[1].split()[0]) * 1024)
        except (OSError, IndexError):
            continue
    return peak


def main() -> None:
    """Print both."""
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for ranks in (2, 64):
            peaks = [Footprint(folder, ranks).peak_bytes() / (1 << 20) for _ in range(3)]
            print(f"largest rank of {ranks}: {statistics.median(peaks):.1f} MiB, 16 MiB of transfer buffers included")
        many = Footprint(folder, 64)
        program = many.compile_empty()
        print("| 64 ranks | to the first phase | empty program | ratio | of all pairs |\n|---|---|---|---|---|")
        print(measure(many.first_phase_s, lambda: many.empty_s(program), pairs).line("start", "s"))


if __name__ == "__main__":
    main()
