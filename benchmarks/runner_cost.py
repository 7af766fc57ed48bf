# SPDX-License-Identifier: Apache-2.0
"""What the phase runner costs an operation: backend `null`, 4 KiB, one rank, histogram and time series on."""

import statistics

from benchmarks.engine_runs import phases
from ullage.model.plan import Named, Parameters


def main() -> None:
    """Print ns per operation with and without the re-keying of buffers, and the cost of one clock read."""
    workload: Parameters = {
        "phases": ["write"],
        "transfer_bytes": 4096,
        "block_bytes": 4096 * 4_000_000,
        "file_mode": "per-process",
        "sync": "none",
        "verify": "none",
    }
    records = phases("null:", Named(name="null"), workload, repetitions=15)
    whole = [(record.elapsed_ns + record.prepare_ns) / record.operations for record in records]
    runner = [record.elapsed_ns / record.operations for record in records]
    print(f"operations a phase      {records[0].operations}")
    print(f"runner, ns an operation {statistics.median(runner):.1f}  (least {min(runner):.1f}, most {max(runner):.1f})")
    print(f"with keying of payload  {statistics.median(whole):.1f}")
    print("clock read: see `ullage-engine selftest`")


if __name__ == "__main__":
    main()
