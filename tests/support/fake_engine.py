#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Speaks the engine's side of the contract without MPI: `describe`, `devices`, `run PLAN`,
`clean FOLDER`.

What it does instead of measuring stands in $FAKE_ENGINE: `ok`, `slow` (repetitions until it is told to end), `deaf`
(the same, but signals mean nothing to it), `removing` (like `slow`, then it removes data for some seconds), `still`
(gives a sign of life, then its ranks are stopped), `mute` (never writes a record), `refuse` (exit 3), `die` (rank 1 is
killed in the run), `garbled` (describe prints no JSON).
"""

import hashlib
import json
import os
import shutil
import signal
import sys
import time
from pathlib import Path
from typing import Any

MODE = os.environ.get("FAKE_ENGINE", "ok")
RANK = int(os.environ.get("PMI_RANK") or os.environ.get("OMPI_COMM_WORLD_RANK") or "0")
ENGINE = {
    "version": "0.1.0",
    "git": "fake",
    "compiler": "none",
    "flags": "",
    "mpi": {
        "family": os.environ.get("FAKE_MPI", "mpich"),
        "library": "fake",
        "mpiexec": os.environ.get("FAKE_MPIEXEC", ""),
    },
}


def parameter(name: str, kind: str, default: object, **more: object) -> dict[str, object]:
    return {"name": name, "type": kind, "default": default, "doc": f"the {name}", **more}


DESCRIBE = {
    "schema": "ullage.describe/1",
    "engine": ENGINE,
    "backends": [
        {"name": "null", "doc": "does nothing", "available": True},
        {
            "name": "posix",
            "doc": "files",
            "available": True,
            "capabilities": ["path", "data"],
            "parameters": [
                parameter("direct", "flag", False),
                parameter("advice", "choice", "none", choices=["none", "sequential", "random"]),
            ],
        },
        {"name": "pmem", "doc": "persistent memory", "available": False, "reason": "libpmem not found"},
        {
            "name": "model",
            "doc": "a simulated device",
            "available": True,
            "parameters": [
                parameter("bandwidth", "rate", 1e9, unit="B/s", minimum=1.0),
                parameter("latency_s", "seconds", 0.0, unit="s", minimum=0.0),
                parameter("jitter", "number", 0.0, minimum=0.0, maximum=1.0),
                parameter("hints", "map", {}),
            ],
        },
    ],
    "workloads": [
        {
            "name": "transfer",
            "doc": "moves data",
            "available": True,
            "parameters": [
                parameter("phases", "choices", ["write", "read"], choices=["write", "rewrite", "read", "reread"]),
                parameter("transfer_bytes", "bytes", 262144, unit="B", minimum=8, maximum=9e15),
                parameter("segments", "count", 1, minimum=1, maximum=1000),
            ],
        }
    ],
    "probes": [{"name": "contamination", "doc": "who else is here", "available": True}],
    "stop_rules": [
        {
            "name": "fixed",
            "doc": "so many",
            "available": True,
            "parameters": [parameter("count", "count", 3, minimum=1)],
        }
    ],
}


class Records:
    """Rank 0 writes; the others keep silent."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def write(self, **record: object) -> None:
        if RANK == 0 and MODE != "mute":
            with self.path.open("a") as stream:
                stream.write(json.dumps(record) + "\n")


def run(path: str) -> int:
    raw = Path(path).read_bytes()
    plan = json.loads(raw)
    if MODE == "refuse":
        sys.stderr.write("ullage-engine: the layout differs\n")
        return 3
    stopped = []
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN if MODE == "deaf" else lambda received, _frame: stopped.append(received))
    records = Records(Path(plan["records"]))
    barrier(Path(plan["records"]), plan["layout"]["ranks"])
    records.write(**run_record(plan, raw))
    if MODE == "still":
        alive = Path(plan["records"] + ".alive")
        for sign in range(3):
            alive.write_text(str(sign))
            time.sleep(0.5)
        os.kill(os.getpid(), signal.SIGSTOP)
    repetition = 0
    while not stopped and (repetition == 0 or MODE in ("slow", "deaf", "mute", "die", "removing")):
        if MODE == "die" and RANK == 1 and repetition == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        records.write(**case_record(plan, repetition))
        repetition += 1
        if MODE != "ok":
            time.sleep(0.1)
    if MODE == "removing":
        remove_slowly(Path(plan["records"] + ".alive"))
    status = "interrupted" if stopped else "complete"
    records.write(kind="end", status=status, cases_ok=1, cases_failed=0, repetitions=repetition, elapsed_ns=1)
    return 5 if stopped else 0


def remove_slowly(alive: Path) -> None:
    """Give signs of a removal that goes on for twice the grace of the tests."""
    until = time.monotonic() + 8.0
    while time.monotonic() < until:
        if RANK == 0:
            alive.write_text(f"{time.monotonic_ns()} {time.monotonic_ns()}")
        time.sleep(0.1)


def barrier(records: Path, ranks: int) -> None:
    """All ranks listen to signals before the first record is written, as they do after MPI_Init."""
    records.with_name(f"{records.name}.up{RANK}").touch()
    while not all(records.with_name(f"{records.name}.up{rank}").exists() for rank in range(ranks)):
        time.sleep(0.01)


def run_record(plan: dict[str, Any], raw: bytes) -> dict[str, Any]:
    return {
        "kind": "run",
        "schema": "ullage.record/1",
        "run_id": plan["run_id"],
        "suite": plan["suite"],
        "plan_sha256": hashlib.sha256(raw).hexdigest(),
        "started": "2026-01-01T00:00:00Z",
        "origin_ns": 0,
        "engine": ENGINE,
        "layout": plan["layout"],
        "clock": {
            "source": "fake",
            "read_cost_ns": 0,
            "largest_offset_ns": 0,
            "largest_offset_rank": 0,
            "residual_ns": 0,
        },
        "pinning": {
            "pinned_ranks": 0,
            "unpinned_ranks": plan["layout"]["ranks"],
            "cores_available": 2,
            "most_ranks_on_a_node": plan["layout"]["ranks"],
            "oversubscribed": False,
        },
    }


def case_record(plan: dict[str, Any], repetition: int) -> dict[str, Any]:
    case = plan["cases"][0]
    return {
        "kind": "case",
        "case": case["id"],
        "repetition": repetition,
        "status": "ok",
        "target": case["target"],
        "backend": case["backend"]["name"],
        "workload": case["workload"]["name"],
        "elapsed_ns": 100,
    }


def clean(folder: Path) -> int:
    if not (folder / ".ullage-run").is_file():
        sys.stderr.write(f"fake engine: {folder} has no marker\n")
        return 3
    shutil.rmtree(folder)
    return 0


def main(words: list[str]) -> int:
    if words[:1] == ["describe"]:
        sys.stdout.write("no JSON\n" if MODE == "garbled" else json.dumps(DESCRIBE))
        return 0
    if words[:1] == ["devices"]:
        sys.stdout.write(json.dumps({"devices": [], "missing": ["libcuda.so.1 is not there"]}))
        return 0
    if words[:1] == ["run"]:
        return run(words[1])
    if words[:1] == ["clean"]:
        return clean(Path(words[1]))
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
