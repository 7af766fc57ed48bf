# SPDX-License-Identifier: Apache-2.0
"""A made-up result of a benchmark of named phases, with records: for the tests of the phases' tables and charts."""

import json
import math
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from support.make_records import make_run
from support.sample_result import RUN_ID, SYSTEM, bucket_of
from ullage.model.flags import Flag
from ullage.model.plan import Target
from ullage.model.record import (
    CaseRecord,
    Done,
    EndRecord,
    Latency,
    PhaseRecord,
    Ranks,
    RankTime,
    Series,
    Stage,
    Stonewall,
)
from ullage.model.request import Request
from ullage.model.summary import Finding, Row, Score, Summary
from ullage.model.system import SystemFacts
from ullage.results.folder import ResultFolder

RANKS: Final = 8
_WHY_VOID = "met 12 failed operations, the first: read: I/O error"
GIB: Final = 1 << 30
COMMAND: Final = ["ullage", "run", "io500", "--target", "scratch=/scratch/me", "--stonewall", "1"]
# name, engine's phase, GiB/s or kIOPS, seconds, parts of an operation
PHASES: Final = (
    ("ior-easy-write", "write", 2.41, 312.0, ()),
    ("mdtest-easy-write", "create", 18.2, 304.0, ("open", "close")),
    ("ior-hard-write", "write", 0.121, 340.0, ()),
    ("mdtest-hard-write", "create", 9.9, 309.0, ("open", "write", "close")),
    ("find", "find", 310.0, 18.4, ()),
    ("ior-easy-read", "read", 3.06, 245.0, ()),
    ("mdtest-easy-stat", "stat", 71.3, 78.0, ()),
    ("ior-hard-read", "read", 0.84, 49.0, ()),
    ("mdtest-hard-stat", "stat", 64.0, 47.8, ()),
    ("mdtest-easy-delete", "unlink", 12.7, 436.0, ()),
    ("mdtest-hard-read", "read", 31.0, 98.7, ("open", "read", "close")),
    ("mdtest-hard-delete", "unlink", 8.4, 364.0, ()),
)


@dataclass(frozen=True)
class Course:
    """What the made-up run covers. ``void``: name of a phase that does not count."""

    targets: tuple[str, ...] = ("scratch",)
    repetitions: int = 3
    void: str = "mdtest-hard-read"


def make_rows(course: Course) -> list[Row]:
    return [row for target in course.targets for row in _rows(course, target)]


def _rows(course: Course, target: str) -> Iterator[Row]:
    rng = random.Random(target)
    for name, engine_phase, value, _, _ in PHASES:
        is_bandwidth = name.startswith("ior")
        middle = value * (GIB if is_bandwidth else 1e3)
        samples = [middle * (1 + rng.gauss(0, 0.03)) for _ in range(course.repetitions)]
        is_void = name == course.void
        yield Row(
            metric="bandwidth" if is_bandwidth else "operation_rate",
            unit="B/s" if is_bandwidth else "op/s",
            better="more",
            target=target,
            params={"phase": name, "access": engine_phase, "ranks": RANKS, "nodes": 2, "backend": "posix"},
            case=f"{target}-{name}",
            median=sorted(samples)[len(samples) // 2],
            low=min(samples) if len(samples) > 1 else None,
            high=max(samples) if len(samples) > 1 else None,
            repetitions=samples,
            verdict="synced" if engine_phase in {"write", "create"} else "unknown(server)",
            grade="B" if name == "find" else "A",
            flags=[Flag(code="INVALID:void-phase", reason=_WHY_VOID)] if is_void else [],
        )


def make_scores(*, valid: bool = False) -> list[Score]:
    found = ["the stonewall of 1 s is below the 300 s of the rules", "mdtest-hard-read met 12 failed operations"]
    reasons = [] if valid else found
    return [
        Score(name="IO500", unit="", value=4.6789, low=4.51, high=4.8, valid=valid, reasons=reasons),
        Score(name="IO500 bandwidth", unit="GiB/s", value=0.9342, low=0.9, high=1.0, valid=valid, reasons=reasons),
        Score(name="IO500 metadata", unit="kIOPS", value=27.321, low=26.9, high=28.1, valid=valid, reasons=reasons),
    ]


def make_summary(course: Course | None = None) -> Summary:
    chosen = course or Course()
    text = "ior-hard-write holds the score down: at the pace of ior-easy-write the total would be 1.45 times as much."
    return Summary(
        suite="io500",
        run_id=RUN_ID,
        created="2026-11-21T04:19:02Z",
        command=COMMAND,
        rows=make_rows(chosen),
        findings=[Finding(kind="score", text=text)],
        scores=make_scores(valid=not chosen.void),
        system=SYSTEM,
    )


def write_result(path: Path, course: Course | None = None, summary: Summary | None = None) -> ResultFolder:
    """A whole result folder at ``path``: request, facts, records of one launch, summary."""
    chosen = course or Course()
    targets = [Target(name=name, uri=f"posix:/{name}") for name in chosen.targets]
    request = Request(
        run_id=RUN_ID, suite="io500", created="2026-11-21T04:15:30Z", command=COMMAND, targets=targets, options={}
    )
    result = ResultFolder.create(path, request)
    result.write_system(SystemFacts.model_validate(SYSTEM))
    end = EndRecord(status="complete", cases_ok=12, cases_failed=0, repetitions=36, elapsed_ns=10**10)
    records: list[Any] = [make_run(RANKS, nodes=2), *_records(chosen), end]
    file = result.records_path(1)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(record.model_dump(mode="json")) + "\n" for record in records))
    result.write_summary(summary or make_summary(chosen))
    return result


def _records(course: Course) -> Iterator[PhaseRecord | CaseRecord]:
    rng = random.Random(5)
    rows = make_rows(course)
    for repetition in range(course.repetitions):
        for row in rows:
            name, engine_phase, _, seconds, parts = next(one for one in PHASES if one[0] == row.params["phase"])
            rate = row.repetitions[repetition]
            phase = make_phase(row, repetition, engine_phase, int(seconds * 1e9), rate, parts, rng)
            if engine_phase in {"create", "unlink"}:
                tree = {"phase": "tree-create", "operations": 16, "stonewall": None, "latency_parts": {}}
                yield phase.model_copy(update=tree)
            yield phase
            yield CaseRecord(
                case=row.case, repetition=repetition, status="ok", target=row.target, backend="posix",
                workload="transfer" if name.startswith("ior") else "metadata", elapsed_ns=phase.elapsed_ns,
            )  # fmt: skip


def make_phase(
    row: Row,
    repetition: int,
    engine_phase: str,
    elapsed_ns: int,
    rate: float,
    parts: tuple[str, ...],
    rng: random.Random,
) -> PhaseRecord:
    """``rate`` over ``elapsed_ns``; what writes has a wall at 300 s, and one slow rank after it."""
    is_bytes = row.unit == "B/s"
    amount = int(rate * elapsed_ns / 1e9)
    operations = amount // (2 << 20) if is_bytes else amount
    count_bytes = amount if is_bytes else 0
    done = Done(elapsed_ns=elapsed_ns, bytes=count_bytes, operations=operations)
    return PhaseRecord(
        case=row.case,
        repetition=repetition,
        phase=engine_phase,
        access={"write": "write", "read": "read"}.get(engine_phase, "none") if is_bytes else "none",
        status="ok",
        grade="A",
        ranks=RANKS,
        start_ns=0,
        elapsed_ns=elapsed_ns,
        bytes=count_bytes,
        operations=operations,
        stages={"transfer": Stage(first_start_ns=0, last_stop_ns=elapsed_ns, longest_ns=elapsed_ns)},
        first_done=done,
        last_done=done,
        stonewall=_stonewall(count_bytes, operations, elapsed_ns) if engine_phase in {"write", "create"} else None,
        latency=make_latency(RANKS * elapsed_ns / max(operations, 1), operations, rng),
        latency_parts={
            part: make_latency(RANKS * elapsed_ns / max(operations, 1) / (index + 2), operations, rng)
            for index, part in enumerate(parts)
        },
        series=_series(count_bytes, operations, elapsed_ns, rng),
        by_rank=_ranks(elapsed_ns, count_bytes),
    )


def _stonewall(count_bytes: int, operations: int, elapsed_ns: int) -> Stonewall:
    wall_ns = 300_000_000_000
    share = wall_ns / elapsed_ns * 0.999
    at_wall = Done(elapsed_ns=wall_ns, bytes=int(count_bytes * share), operations=int(operations * share))
    return Stonewall(
        deadline_ns=wall_ns,
        at_wall=at_wall,
        wear_out=True,
        least_operations=operations // 9,
        most_operations=operations // 8,
    )


def make_latency(mean_ns: float, operations: int, rng: random.Random) -> Latency:
    """A histogram with a long tail."""
    times = sorted(int(mean_ns * 0.7 * math.exp(abs(rng.gauss(0, 0.6)))) for _ in range(300))
    counts: dict[int, int] = {}
    for time in times:
        counts[bucket_of(time)] = counts.get(bucket_of(time), 0) + max(1, operations // 300)
    largest = times[-1] * 9
    counts[bucket_of(largest)] = 1
    return Latency(
        operations=sum(counts.values()), sum_ns=int(mean_ns * operations), min_ns=times[0], max_ns=largest,
        p50_ns=times[150], p95_ns=times[285], p99_ns=times[297], p999_ns=times[299], buckets=sorted(counts.items()),
    )  # fmt: skip


def _series(count_bytes: int, operations: int, elapsed_ns: int, rng: random.Random) -> Series:
    weights = [max(0.05, 1 + rng.gauss(0, 0.08)) * (0.4 if index > 230 else 1.0) for index in range(240)]
    total = sum(weights)
    return Series(
        interval_ns=elapsed_ns // 240,
        bytes=[int(count_bytes * weight / total) for weight in weights],
        operations=[int(operations * weight / total) for weight in weights],
    )


def _ranks(elapsed_ns: int, count_bytes: int) -> Ranks:
    each = count_bytes // RANKS
    slowest = [
        RankTime(rank=rank, node=f"node{rank // 4:03}", elapsed_ns=int(elapsed_ns * (1 - 0.02 * place)), bytes=each)
        for place, rank in enumerate((5, 6, 1, 4))
    ]
    fastest = RankTime(rank=2, node="node000", elapsed_ns=int(elapsed_ns * 0.8), bytes=each)
    return Ranks(fastest=fastest, slowest=slowest, mean_ns=int(elapsed_ns * 0.9), least_bytes=each, most_bytes=each)
