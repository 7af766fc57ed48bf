# SPDX-License-Identifier: Apache-2.0
"""Records as an engine would write them, made by hand: every field that a test does not name has a quiet value."""

from collections.abc import Iterable, Mapping, Sequence

from ullage.model.describe import EngineBuild, MpiBuild
from ullage.model.plan import Layout, Parameters
from ullage.model.record import (
    CaseRecord,
    Clock,
    Done,
    EndRecord,
    Latency,
    Moved,
    PhaseRecord,
    Pinning,
    RunRecord,
    Stage,
)
from ullage.model.summary import Row
from ullage.results.records import AnyRecord

MIB = 1 << 20
SECOND_NS = 1_000_000_000


def make_run(
    ranks: int = 2, *, unpinned: int = 0, oversubscribed: bool = False, residual_ns: int = 0, nodes: int | None = 1
) -> RunRecord:
    """A launch on one node."""
    return RunRecord(
        schema="ullage.record/1",
        run_id="r",
        suite="sweep",
        started="2026-01-01T00:00:00Z",
        origin_ns=0,
        engine=EngineBuild(
            version="1", git="g", compiler="c", flags="", mpi=MpiBuild(family="mpich", library="MPICH", mpiexec="")
        ),
        layout=Layout(ranks=ranks, nodes=nodes),
        clock=Clock(
            source="fake", read_cost_ns=30, largest_offset_ns=0, largest_offset_rank=0, residual_ns=residual_ns
        ),
        pinning=Pinning(
            pinned_ranks=ranks - unpinned,
            unpinned_ranks=unpinned,
            cores_available=2,
            most_ranks_on_a_node=ranks,
            oversubscribed=oversubscribed,
        ),
    )


def make_latency(operations: int, mean_ns: int) -> Latency:
    """All operations alike."""
    return Latency(
        operations=operations,
        sum_ns=operations * mean_ns,
        min_ns=mean_ns,
        max_ns=mean_ns,
        p50_ns=mean_ns,
        p95_ns=mean_ns,
        p99_ns=mean_ns,
        p999_ns=mean_ns,
    )


def make_phase(
    case: str = "c1",
    repetition: int = 0,
    *,
    phase: str = "write",
    elapsed_ns: int = SECOND_NS,
    bytes_: int = 1000 * MIB,
    ranks: int = 2,
    **fields: object,
) -> PhaseRecord:
    """A phase that spent all its time in transfers of 1 MiB, and moved all its bytes on the device."""
    operations = max(1, bytes_ // MIB)
    done = Done(elapsed_ns=elapsed_ns, bytes=bytes_, operations=operations)
    quiet: dict[str, object] = {
        "case": case,
        "repetition": repetition,
        "phase": phase,
        "access": "read" if phase in ("read", "reread") else "write",
        "status": "ok",
        "grade": "A",
        "ranks": ranks,
        "start_ns": 0,
        "elapsed_ns": elapsed_ns,
        "bytes": bytes_,
        "operations": operations,
        "stages": {"transfer": Stage(first_start_ns=0, last_stop_ns=elapsed_ns, longest_ns=elapsed_ns)},
        "first_done": done,
        "last_done": done,
        "syncs": ranks if phase == "write" else 0,
        "latency": make_latency(operations, elapsed_ns * ranks // operations),
        "moved": Moved(requested_bytes=bytes_, process_bytes=bytes_, device_bytes=bytes_),
        "file_system": "ext4",
    }
    return PhaseRecord.model_validate({**quiet, **fields})


def make_case(
    case: str = "c1",
    repetition: int = 0,
    *,
    target: str = "disk",
    backend: str = "posix",
    parameters: Parameters | None = None,
    backend_parameters: Parameters | None = None,
    **fields: object,
) -> CaseRecord:
    """The end of a repetition that went well."""
    quiet: dict[str, object] = {
        "case": case,
        "repetition": repetition,
        "status": "ok",
        "target": target,
        "backend": backend,
        "workload": "transfer",
        "workload_parameters": {
            "transfer_bytes": MIB,
            "block_bytes": 500 * MIB,
            "segments": 1,
            "file_mode": "shared",
            "order": "sequential",
            **(parameters or {}),
        },
        "backend_parameters": backend_parameters or {},
        "elapsed_ns": SECOND_NS,
    }
    return CaseRecord.model_validate({**quiet, **fields})


def make_launch(*repetitions: Iterable[AnyRecord], run: RunRecord | None = None) -> list[AnyRecord]:
    """A whole launch: run record, the repetitions' records, end record."""
    inner = [record for repetition in repetitions for record in repetition]
    end = EndRecord(status="complete", cases_ok=1, cases_failed=0, repetitions=len(repetitions), elapsed_ns=1)
    return [run or make_run(), *inner, end]


def make_repetition(index: int, *phases: PhaseRecord, **case: object) -> list[AnyRecord]:
    """Phases and the case record behind them."""
    return [*phases, make_case(repetition=index, **case)]  # type: ignore[arg-type]


def make_row(
    value: float | Sequence[float],
    *,
    target: str = "disk",
    access: str = "write",
    ranks: int = 1,
    block: int = MIB,
    verdict: str = "cold",
    **fields: object,
) -> Row:
    """A row of bandwidth in a sweep; several values are repetitions."""
    values = list(value) if isinstance(value, Sequence) else [value]
    params = {"access": access, "ranks": ranks, "block_bytes": block, **fields.pop("params", {})}  # type: ignore[dict-item]
    several = len(values) > 1
    quiet: dict[str, object] = {
        "target": target,
        "case": f"{target}-{access}-{ranks}-{block}",
        "low": min(values) if several else None,
        "high": max(values) if several else None,
        # Three launches of each rank count, in turn with those of the others.
        "launches": [100 * ranks + (index + block.bit_length()) % 3 for index in range(len(values))] if several else [],
        "verdict": verdict,
    }
    return plain_row(values, params, **{**quiet, **fields})


def around(value: float) -> list[float]:
    """Eight repetitions, of which ``value`` is the median and all are within 2 % of it."""
    return [value * factor for factor in (1.0, 1.01, 0.99, 1.0, 1.02, 0.98, 1.0, 1.01)]


def plain_row(samples: float | Sequence[float], params: Mapping[str, object] | None = None, **fields: object) -> Row:
    """A row of bandwidth on ``disk`` that nothing has disturbed; ``fields`` replace its own.

    Less is better where the unit is the second. The case is named by the parameters, and a share is of the ceiling.
    """
    values = list(samples) if isinstance(samples, Sequence) else [samples]
    quiet: dict[str, object] = {
        "metric": "bandwidth",
        "unit": "B/s",
        "better": "less" if fields.get("unit") == "s" else "more",
        "target": "disk",
        "params": params or {},
        "case": "-".join(map(str, (params or {}).values())),
        "median": sorted(values)[len(values) // 2],
        "low": min(values),
        "high": max(values),
        "repetitions": values,
        "verdict": "cold",
        "grade": "A",
    }
    made = Row.model_validate({**quiet, **fields})
    if made.ceiling is None or "share" in fields:
        return made
    return made.model_copy(update={"share": made.median / made.ceiling.value})
