# SPDX-License-Identifier: Apache-2.0
"""A made-up result of two targets, as complete as a real one: what the tests of report, exporters and verbs look at."""

import json
import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from support.flags import flags_of
from ullage.model.describe import EngineBuild, MpiBuild
from ullage.model.plan import Layout, Target
from ullage.model.record import (
    CaseRecord,
    Clock,
    Contamination,
    Done,
    EndRecord,
    Latency,
    Moved,
    PhaseRecord,
    Pinning,
    Ranks,
    RankTime,
    RunRecord,
    Series,
    Stage,
)
from ullage.model.request import Request
from ullage.model.summary import Ceiling, Finding, Row, Summary
from ullage.model.system import SystemFacts
from ullage.results.folder import ResultFolder

RUN_ID = "20261121T041530Z-1f0c9a"
COMMAND = [
    "ullage",
    "run",
    "sweep",
    "--target",
    "nvme=/local/tmp",
    "--target",
    "scratch=/scratch/me",
    "--ranks",
    "1,2,4,8",
]
SYSTEM: dict[str, object] = {
    "host": "node017",
    "taken": "2026-11-21T04:15:30Z",
    "cpu": {
        "model": "Example CPU 9654",
        "sockets": 2,
        "physical_cores": 64,
        "logical_cpus": 128,
        "caches": {"L3": 402653184},
    },
    "memory": {"total_bytes": 412316860416},
    "kernel": {"system": "Linux", "release": "6.1.0-42-amd64", "distribution": "Debian GNU/Linux 12 (bookworm)"},
    "places": [
        {
            "target": "nvme",
            "exists": True,
            "path": "/local/tmp",
            "file_system": "xfs",
            "source": "/dev/nvme0n1p2",
            "is_memory": False,
            "free_bytes": 1900000000000,
        },
        {
            "target": "scratch",
            "exists": True,
            "path": "/scratch/me",
            "file_system": "lustre",
            "source": "mds@o2ib:/scratch",
            "is_remote": True,
            "free_bytes": 8 * 10**14,
        },
    ],
}
ENGINE = EngineBuild(
    version="0.1.0",
    git="0123abc",
    compiler="g++ 12.2.0",
    flags="-O3",
    mpi=MpiBuild(family="openmpi", library="Open MPI v4.1.4", mpiexec="mpiexec"),
)


@dataclass(frozen=True)
class Shape:
    """What the made-up run covers."""

    targets: Sequence[str] = ("nvme", "scratch")
    ranks: Sequence[int] = (1, 2, 4, 8)
    blocks: Sequence[int] = (131072, 524288, 2097152, 8388608)
    accesses: Sequence[str] = ("write", "read")
    repetitions: int = 4
    single_sample: bool = False
    findings: Sequence[Finding] = field(default_factory=list[Finding])


def speed(target: str, access: str, ranks: int, block: int) -> float:
    """Bytes/s: the first kind of target rises with ranks and falls with blocks, the other the other way round."""
    small = math.log2(block / 65536)
    if target.startswith("nvme"):
        return (3.2e9 if access == "read" else 1.4e9) * (1 - math.exp(-ranks / 3)) * (1 - 0.05 * small)
    return (0.9e9 if access == "read" else 0.7e9) * (0.25 + 0.13 * small) * ranks**-0.35


def make_rows(shape: Shape) -> list[Row]:
    return [row for row, _ in _rows_and_samples(shape)]


def make_summary(shape: Shape | None = None) -> Summary:
    chosen = shape or Shape()
    events = [
        Finding(
            kind="oversubscribed",
            severity="warning",
            text="8 ranks share 4 cores of node017. Run fewer ranks or ask for more cores.",
        ),
        Finding(
            kind="read-back-own", severity="info", text="All ranks are on one node: every rank read its own data back."
        ),
    ]
    return Summary(
        suite="sweep",
        run_id=RUN_ID,
        created="2026-11-21T04:19:02Z",
        command=COMMAND,
        versions={"ullage": "0.1.0", "engine": "0.1.0 (0123abc)", "mpi": "Open MPI v4.1.4"},
        rows=make_rows(chosen),
        findings=[*chosen.findings] or default_findings(),
        events=events,
        system=SYSTEM,
    )


def default_findings() -> list[Finding]:
    return [
        Finding(
            kind="best",
            text="nvme reads best with 8 ranks and 128K blocks: 2.89 GB/s [2.80, 2.96].",
            numbers={"ranks": 8},
        ),
        Finding(
            kind="best",
            text="scratch writes best with 1 rank and 8M blocks: 805 MB/s [790, 818].",
            numbers={"ranks": 1},
        ),
        Finding(
            kind="crossover",
            text="For writes the winner changes at 4M: nvme below, scratch from there on.",
            severity="advice",
        ),
        Finding(
            kind="outlier",
            text="scratch writes with 8M blocks and 2 ranks are 3.1x slower than cells beside. Repeat with --recheck.",
            severity="warning",
        ),
    ]


def _rows_and_samples(shape: Shape) -> Iterator[tuple[Row, list[float]]]:
    rng = random.Random(7)
    for target in shape.targets:
        for access in shape.accesses:
            for ranks in shape.ranks:
                for block in shape.blocks:
                    middle = speed(target, access, ranks, block)
                    count = 1 if shape.single_sample else shape.repetitions
                    samples = [middle * (1 + rng.gauss(0, 0.02)) for _ in range(count)]
                    yield _row(target, access, ranks, block, samples), samples


def _row(target: str, access: str, ranks: int, block: int, samples: list[float]) -> Row:
    ordered = sorted(samples)
    single = len(samples) == 1
    median = ordered[len(ordered) // 2]
    ceiling = Ceiling(value=3.5e9, kind="detected", source="PCIe 3.0 x4") if target.startswith("nvme") else None
    warm = target == "scratch" and access == "read"
    sound = "cold" if access == "read" else "synced"
    verdict = "warm" if warm and block <= 131072 else "mixed 37 %" if warm and block <= 524288 else sound
    return Row(
        metric="bandwidth",
        unit="B/s",
        better="more",
        target=target,
        params={"access": access, "ranks": ranks, "block_bytes": block, "backend": "posix"},
        case=case_id(target, ranks, block),
        median=median,
        low=None if single else ordered[0],
        high=None if single else ordered[-1],
        repetitions=samples,
        launches=[] if single else [100 * ranks + index % 3 for index in range(len(samples))],
        ceiling=ceiling,
        share=median / ceiling.value if ceiling else None,
        verdict=verdict,
        verdict_reasons=["pages were resident before the read"] if verdict != sound else [],
        grade="B" if ranks == max(8, ranks) else "A",
        flags=flags_of("interval-below-95") if not single and len(samples) < 6 else [],
    )


def case_id(target: str, ranks: int, block: int) -> str:
    return f"{abs(hash_of(f'{target}/{ranks}/{block}')):016x}"


def hash_of(text: str) -> int:
    value = 1469598103934665603
    for byte in text.encode():
        value = (value ^ byte) * 1099511628211 % 2**64
    return value


def make_phase(row: Row, repetition: int, rate: float, rng: random.Random) -> PhaseRecord:
    ranks, access = int(row.params["ranks"]), str(row.params["access"])
    amount = 1 << 28
    elapsed = int(amount / rate * 1e9)
    interval = max(elapsed // 40, 1000)
    pieces = [int(amount / 40 * (1 + rng.gauss(0, 0.12))) for _ in range(40)]
    done = Done(elapsed_ns=elapsed, bytes=amount, operations=amount // 131072)
    stage = Stage(first_start_ns=0, last_stop_ns=elapsed, longest_ns=elapsed)
    node = "node017"
    moved = int(amount * {"warm": 0.0, "mixed 37 %": 0.37}.get(row.verdict, 1.0))
    slowest = [RankTime(rank=ranks - 1, node=node, elapsed_ns=elapsed, bytes=amount // ranks)]
    fastest = RankTime(rank=0, node=node, elapsed_ns=int(elapsed / (1 + 0.06 * ranks)), bytes=amount // ranks)
    return PhaseRecord(
        case=row.case,
        repetition=repetition,
        phase=access,
        access="read" if access == "read" else "write",
        status="ok",
        grade="A",
        ranks=ranks,
        start_ns=0,
        elapsed_ns=elapsed,
        bytes=amount,
        operations=amount // 131072,
        stages={"transfer": stage},
        first_done=done,
        last_done=done,
        latency=_latency(row, elapsed, rng),
        series=Series(interval_ns=interval, bytes=pieces, operations=[piece // 131072 for piece in pieces]),
        by_rank=Ranks(fastest=fastest, slowest=slowest, least_bytes=amount // ranks, most_bytes=amount // ranks),
        contamination=Contamination(foreign_cpu_ppm=1200, steal_ppm=0, involuntary_switches=3),
        moved=Moved(requested_bytes=amount, process_bytes=moved, device_bytes=moved),
        syncs=ranks if access == "write" else 0,
        cache_control="advise",
        file_system="xfs",
    )


def _latency(row: Row, elapsed_ns: int, rng: random.Random) -> Latency:
    """A histogram of some calls, ten of each duration; their times fill the time the ranks had."""
    ranks = int(row.params["ranks"])
    middle = int(row.params["block_bytes"]) * ranks / row.median * 1e9
    indices = sorted(bucket_of(int(middle * math.exp(abs(rng.gauss(0, 0.5))))) for _ in range(40))
    counts: dict[int, int] = {}
    for index in indices:
        counts[index] = counts.get(index, 0) + 10
    largest = int(middle * 12)
    counts[bucket_of(largest)] = counts.get(bucket_of(largest), 0) + 1
    total = sum(counts.values())
    each = int(middle)
    return Latency(
        operations=total, sum_ns=elapsed_ns * ranks, min_ns=each // 2, max_ns=largest,
        p50_ns=each, p95_ns=each * 2, p99_ns=each * 3, p999_ns=largest,
        buckets=sorted(counts.items()),
    )  # fmt: skip


def bucket_of(nanoseconds: int) -> int:
    """The engine's bucket of a time: see ``ullage.model.record.Latency``."""
    if nanoseconds < 256:
        return nanoseconds
    exponent = nanoseconds.bit_length() - 8
    return (exponent + 1) * 128 + (nanoseconds >> exponent) - 128


def write_result(path: Path, shape: Shape | None = None, summary: Summary | None = None) -> ResultFolder:
    """A whole result folder at ``path``: request, system facts, records of a launch for each rank count, summary."""
    chosen = shape or Shape()
    request = Request(
        run_id=RUN_ID,
        suite="sweep",
        created="2026-11-21T04:15:30Z",
        command=COMMAND,
        targets=[Target(name=name, uri=f"posix:/{name}") for name in chosen.targets],
        options={"seed": 11},
    )
    result = ResultFolder.create(path, request)
    result.write_system(SystemFacts.model_validate(SYSTEM))
    for number, ranks in enumerate(chosen.ranks, start=1):
        records: list[Any] = [_run_record(number, ranks)]
        if not chosen.single_sample:
            records.extend(_case_records(chosen, ranks))
        records.append(EndRecord(status="complete", cases_ok=1, cases_failed=0, repetitions=4, elapsed_ns=10**10))
        file = result.records_path(number)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("".join(json.dumps(record.model_dump(mode="json")) + "\n" for record in records))
    result.write_summary(summary or make_summary(chosen))
    return result


def _case_records(shape: Shape, ranks: int) -> Iterator[PhaseRecord | CaseRecord]:
    """The phases of every repetition of every case of ``ranks``, each repetition closed by its case record."""
    rng = random.Random(3)
    cases: dict[str, list[tuple[Row, list[float]]]] = {}
    for row, samples in _rows_and_samples(shape):
        if row.params["ranks"] != ranks:
            continue
        cases.setdefault(row.case, []).append((row, samples))
    for case, rows in cases.items():
        for repetition in range(shape.repetitions):
            phases = [make_phase(row, repetition, samples[repetition], rng) for row, samples in rows]
            yield from phases
            yield CaseRecord(
                case=case,
                repetition=repetition,
                status="ok",
                target=rows[0][0].target,
                backend="posix",
                workload="transfer",
                workload_parameters={"transfer_bytes": rows[0][0].params["block_bytes"]},
                elapsed_ns=sum(phase.elapsed_ns for phase in phases),
            )


def _run_record(number: int, ranks: int) -> RunRecord:
    return RunRecord(
        schema_="ullage.record/1",
        run_id=RUN_ID,
        suite="sweep",
        plan=f"{number:03}.json",
        started="2026-11-21T04:15:31Z",
        origin_ns=1,
        engine=ENGINE,
        mpi_io="ompio",
        layout=Layout(ranks=ranks),
        clock=Clock(
            source="CLOCK_MONOTONIC", read_cost_ns=34, largest_offset_ns=0, largest_offset_rank=0, residual_ns=0
        ),
        pinning=Pinning(
            pinned_ranks=ranks, unpinned_ranks=0, cores_available=8, most_ranks_on_a_node=ranks, oversubscribed=False
        ),
    )
