# SPDX-License-Identifier: Apache-2.0
"""Runs over collective operations without an engine: what one says of itself, and records as it would write them."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from support.make_records import make_phase, make_run, plain_row
from support.simulated_engine import DESCRIBE, as_of_engine
from ullage.model.describe import Describe
from ullage.model.flags import Flag
from ullage.model.plan import Parameters
from ullage.model.record import CaseRecord, Latency, PhaseRecord
from ullage.model.request import Request
from ullage.model.summary import Row
from ullage.results.folder import ResultFolder
from ullage.results.records import AnyRecord
from ullage.runs.inputs import ParsedOptions


def describe_calls() -> Describe:
    """An engine that has the workloads of collective operations."""
    found = [as_of_engine(name) for name in ("collective", "one-sided", "congestion")]
    return DESCRIBE.model_copy(update={"workloads": [*DESCRIBE.workloads, *found]})


def gauges(**values: float | tuple[float, float, float]) -> dict[str, dict[str, float]]:
    """A single number is that of both of two ranks."""
    triples = {name: value if isinstance(value, tuple) else (2 * value, value, value) for name, value in values.items()}
    return {name: dict(zip(("sum", "least", "most"), triple, strict=True)) for name, triple in triples.items()}


def collective_phase(
    case: str, repetition: int, seconds: float, *, link_bytes: float = 0, **more: float | tuple[float, float, float]
) -> PhaseRecord:
    """1000 calls that take ``seconds`` each on both ranks."""
    found = gauges(calls=1000, call_s=1000 * seconds, link_bytes=1000 * link_bytes, **more)
    return make_phase(case, repetition, phase="collective", access="none", bytes_=0, gauges=found)


def one_sided_phase(case: str, repetition: int, seconds: float, size: int) -> PhaseRecord:
    """1000 operations that take ``seconds`` each."""
    found = gauges(operations=1000, elapsed_s=1000 * seconds, most_elapsed_s=1000 * seconds)
    return make_phase(case, repetition, phase="one-sided", access="none", bytes_=1000 * size, gauges=found)


def congestion_phase(case: str, repetition: int, name: str, mean_ns: int, p99_ns: int) -> PhaseRecord:
    """100 exchanges, one of which took as long as the tail says."""
    latency = Latency(
        operations=100,
        sum_ns=100 * mean_ns,
        min_ns=mean_ns,
        max_ns=p99_ns,
        p50_ns=mean_ns,
        p95_ns=mean_ns,
        p99_ns=p99_ns,
        p999_ns=p99_ns,
        buckets=[(100, 99), (300, 1)],
    )
    found = gauges(victims=2, load_ranks=2, operation_bytes=8000, load_s=(4.0, 0.0, 2.0))
    return make_phase(
        case,
        repetition,
        phase=name,
        access="none",
        bytes_=0,
        latency=latency,
        gauges=found,
        counters={"load_bytes": 4_000_000 if name.endswith("-congested") else 0},
        facts={"victims": [0, 2]},
    )


def case_end(case: str, repetition: int, workload: str, parameters: Parameters) -> CaseRecord:
    """Return the record of a repetition that went well."""
    return CaseRecord(
        case=case,
        repetition=repetition,
        status="ok",
        target="mpi",
        backend="null",
        workload=workload,
        workload_parameters=parameters,
        elapsed_ns=10**9,
    )


def collective_records(
    times: dict[tuple[str, int], float], repetitions: int = 6, *, ranks: int = 2, oversubscribed: bool = False
) -> list[AnyRecord]:
    """A launch of blocking calls: seconds by operation and size."""
    records: list[AnyRecord] = [make_run(ranks, oversubscribed=oversubscribed)]
    for (operation, size), seconds in times.items():
        case = f"{operation}-{size}-{ranks}"
        for repetition in range(repetitions):
            wobble = 1 + 0.001 * repetition
            records.append(collective_phase(case, repetition, seconds * wobble, link_bytes=size))
            records.append(case_end(case, repetition, "collective", {"operation": operation, "message_bytes": size}))
    return records


def row(metric: str, median: float, *, spread: float = 0.01, flags: Sequence[Flag] = (), **params: object) -> Row:
    """Return a row of a run over collective operations, with six repetitions."""
    unit = {"overlap": "of call", "link_bandwidth": "B/s", "one_sided_bandwidth": "B/s"}.get(metric, "s")
    samples = [median * (1 + spread * part) for part in (-0.2, 1, -1, 0.6, -0.6, 0.2)]
    case = "-".join(map(str, params.values()))
    own = {"metric": metric, "unit": unit, "target": "mpi", "verdict": "none", "case": case, "median": median}
    return plain_row(samples, {"access": "collective", "mode": "blocking", **params}, **own, flags=list(flags))


def latency_row(
    operation: str, ranks: int, size: int, seconds: float, *, spread: float = 0.01, flags: Sequence[Flag] = ()
) -> Row:
    """Return a row of a blocking call."""
    params = {"operation": operation, "ranks": ranks, "message_bytes": size}
    return row("collective_latency", seconds, spread=spread, flags=flags, **params)


def write_result(
    folder: Path, suite: str, asked: ParsedOptions, launches: Iterable[Sequence[AnyRecord]]
) -> ResultFolder:
    """A result with such records."""
    request = Request(run_id="r1", suite=suite, created="now", targets=asked.targets, options=asked.options)
    result = ResultFolder.create(folder, request)
    for number, records in enumerate(launches, start=1):
        path = result.records_path(number)
        path.parent.mkdir(exist_ok=True)
        path.write_text("".join(json.dumps(record.model_dump(mode="json", by_alias=True)) + "\n" for record in records))
    return result
