# SPDX-License-Identifier: Apache-2.0
"""Backend `posix` beside fio's psync on the same file system: rate and processor time an operation, in pairs.

    python -m benchmarks.fio_pairs FOLDER [PAIRS]
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.engine_runs import phases
from benchmarks.pairs import measure
from ullage.model.plan import Named

MIB = 1 << 20


def fio(folder: Path, mode: str, block: int, volume: int) -> tuple[float, float]:
    """Bytes/s and CPU seconds an operation of one fio job. Reads use a file laid out by fio itself before the timer."""
    with tempfile.TemporaryDirectory(dir=folder) as place:
        words = ["fio", "--name=job", f"--directory={place}", "--ioengine=psync", "--direct=1", f"--rw={mode}", f"--bs={block}", f"--size={volume}"]
        words += ["--output-format=json", "--randrepeat=0", "--allow_file_create=1", "--fallocate=none", "--thread"]
        words += ["--end_fsync=1"] if mode == "write" else []
        job: dict[str, Any] = json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)["jobs"][0]
    side = job["write" if mode == "write" else "read"]
    seconds = job["job_runtime"] / 1e3
    cpu = (job["usr_cpu"] + job["sys_cpu"]) / 100 * seconds / side["total_ios"]
    return side["io_bytes"] / (side["runtime"] / 1e3), cpu


def ullage(folder: Path, mode: str, block: int, volume: int) -> tuple[float, float]:
    """The same of one rank. The rate is that of the whole phase for writes (their fsync is in fio's runtime too), of transfers for reads."""
    access = "write" if mode == "write" else "read"
    workload = {
        "transfer_bytes": block,
        "block_bytes": volume,
        "file_mode": "per-process",
        "order": "random" if mode == "randread" else "sequential",
        "verify": "none",
        "phases": ["write"] if access == "write" else ["write", "read"],
    }
    record = next(r for r in phases(f"posix:{folder}", Named(name="posix", parameters={"direct": True}), workload) if r.phase == access)
    return record.bytes / (record.elapsed_ns / 1e9), record.cpu_ns / record.operations / 1e9


def main() -> None:
    """Print the table."""
    folder = Path(sys.argv[1]).resolve()
    pairs = int(sys.argv[2]) if len(sys.argv) > 2 else 9
    print("| what | ullage | fio | ratio | of all pairs |\n|---|---|---|---|---|")
    for name, mode, block, volume in [
        ("1 MiB sequential write", "write", MIB, 1024 * MIB),
        ("1 MiB sequential read", "read", MIB, 1024 * MIB),
        ("4 KiB random read", "randread", 4096, 256 * MIB),
    ]:
        cpu: dict[str, list[float]] = {"ullage": [], "fio": []}

        def one(tool: str, run: Any, mode: str = mode, block: int = block, volume: int = volume, cpu: dict[str, list[float]] = cpu) -> float:
            rate, seconds = run(folder, mode, block, volume)
            cpu[tool].append(seconds)
            return rate

        rates = measure(lambda one=one: one("ullage", ullage), lambda one=one: one("fio", fio), pairs)
        print(rates.line(f"{name}, rate", "GB/s", 1e9))
        ratios = sorted(a / b for a, b in zip(cpu["ullage"][1:], cpu["fio"][1:], strict=True))
        middle = len(ratios) // 2
        a, b = sorted(cpu["ullage"][1:])[middle], sorted(cpu["fio"][1:])[middle]
        print(f"| {name}, CPU an operation | {a * 1e6:.3g} us | {b * 1e6:.3g} us | {ratios[middle]:.3f} | {ratios[0]:.3f} to {ratios[-1]:.3f} |", flush=True)


if __name__ == "__main__":
    main()
