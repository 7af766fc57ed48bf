# SPDX-License-Identifier: Apache-2.0
"""Suite ``pairs`` without an engine: what such an engine says of itself, and CONSTRUCTED records.

No number in here was measured.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from support.make_records import make_case, make_launch, make_phase, make_run
from support.simulated_engine import with_workloads
from support.suite_words import request_of
from ullage.model.describe import Describe
from ullage.results.folder import ResultFolder
from ullage.results.records import AnyRecord
from ullage.suites.pairs.suite import PairsOptions

Time = Callable[[int, int, int], float]
"""Seconds one way by repetition, sender and receiver."""


def pairs_describe() -> Describe:
    """An engine with both workloads."""
    return with_workloads("ping-pong", "exchange")


def matrix_repetition(
    case: str,
    index: int,
    time: Time,
    *,
    ends: int = 4,
    size: int = 1 << 20,
    traffic: str = "one-way",
    at_once: bool = False,
    hosts: Sequence[str] | None = None,
    grade: str = "A",
) -> list[AnyRecord]:
    """One repetition of a case that measures all pairs."""
    times = [[i, j, time(index, i, j)] for i in range(ends) for j in range(ends) if i != j]
    seconds = [one[2] for one in times]
    gauges = {"message_bytes": size, "least_one_way_s": min(seconds), "most_one_way_s": max(seconds)}
    names = list(hosts) if hosts is not None else ["here"] * ends
    facts = {
        "traffic": traffic,
        "at_once": at_once,
        "stride": 1,
        "ends": [f"node{i if hosts else 0}:rank{i}" for i in range(ends)],
        "hosts": names,
        "one_way_s": times,
    }
    phase = make_phase(
        case,
        index,
        phase="pairs",
        access="none",
        bytes_=0,
        grade=grade,
        gauges={name: {"sum": value, "least": value, "most": value} for name, value in gauges.items()},
        facts=facts,
    )
    between = "nodes" if hosts is not None else "ranks"
    parameters = {"message_bytes": size, "between": between, "at_once": at_once, "traffic": traffic}
    return [phase, _case(case, index, "ping-pong", parameters)]


def exchange_repetition(case: str, index: int, pattern: str, rate: float, *, seed: int = 1) -> list[AnyRecord]:
    """One repetition of a pattern in which all ranks together move ``rate`` bytes a second."""
    gauges = {"bytes": {"sum": rate, "least": 0.0, "most": rate}, "elapsed_s": {"sum": 4.0, "least": 1.0, "most": 1.0}}
    phase = make_phase(
        case, index, phase="exchange", access="none", bytes_=0, gauges=gauges, facts={"pattern": pattern}
    )
    return [phase, _case(case, index, "exchange", {"pattern": pattern, "message_bytes": 1 << 20, "seed": seed})]


def _case(case: str, index: int, workload: str, parameters: Mapping[str, object]) -> AnyRecord:
    what = {"backend": "null", "workload": workload, "workload_parameters": dict(parameters)}
    return make_case(case, index, target="mpi", **what)  # type: ignore[arg-type]


def write_result(
    folder: Path, repetitions: Iterable[Sequence[AnyRecord]], ranks: int = 4, nodes: int = 1
) -> ResultFolder:
    """A result of those repetitions."""
    request = request_of("pairs", PairsOptions, ranks=ranks)
    result = ResultFolder.create(folder, request)
    run = make_run(ranks, nodes=nodes).model_copy(update={"suite": "pairs"})
    records = make_launch(*repetitions, run=run)
    result.records_path(1).parent.mkdir(exist_ok=True)
    result.records_path(1).write_text("".join(record.model_dump_json(by_alias=True) + "\n" for record in records))
    return result
