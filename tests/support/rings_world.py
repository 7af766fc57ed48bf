# SPDX-License-Identifier: Apache-2.0
"""Rings without an engine: what such an engine says of itself, and CONSTRUCTED records as it would write them.

No number in here was measured.
"""

from collections.abc import Sequence
from pathlib import Path

from support.make_records import make_case, make_launch, make_phase, make_run
from support.simulated_engine import with_workloads
from ullage.model.describe import Describe
from ullage.model.plan import Parameters
from ullage.model.record import RunRecord
from ullage.model.request import Request
from ullage.peers.hpcc import MESSAGES as KNOWN
from ullage.peers.hpcc import HpccAnswer
from ullage.results.folder import ResultFolder
from ullage.results.records import AnyRecord
from ullage.runs.kernels.options import MPI
from ullage.suites.rings.suite import LARGE_BYTES, SMALL_BYTES

# Seconds of a message; pairs: least, mean, most.
TIMES: dict[tuple[str, int], float] = {
    ("natural", SMALL_BYTES): 1e-6,
    ("random", SMALL_BYTES): 2e-6,
    ("natural", LARGE_BYTES): 4e-4,
    ("random", LARGE_BYTES): 1e-3,
}
PAIRS: dict[int, tuple[float, float, float]] = {SMALL_BYTES: (5e-7, 6e-7, 7e-7), LARGE_BYTES: (1e-4, 2e-4, 3e-4)}
_VALUES = (7e-7, 2e-6, 6e9, 5e9, 2e9, 5e-7, 6e-7, 20e9, 12e9, 1.01e-6)
MESSAGES = {(order, metric): value for (_, metric, order, _), value in zip(KNOWN, _VALUES, strict=True)}


def rings_describe() -> Describe:
    """An engine with workloads ``ring`` and ``ping-pong``."""
    return with_workloads("ring", "ping-pong")


def _repetition(
    case: str, index: int, workload: str, parameters: Parameters, gauges: dict[str, float], **facts: object
) -> list[AnyRecord]:
    phase = make_phase(
        case,
        index,
        phase="ring" if workload == "ring" else "pairs",
        access="none",
        bytes_=0,
        elapsed_ns=2_000_000,
        ranks=4,
        gauges={name: {"sum": 4 * value, "least": value, "most": value} for name, value in gauges.items()},
        facts=facts,
    )
    ended = make_case(case, index, target="mpi", backend="null", workload=workload, workload_parameters=parameters)
    return [phase, ended]


def launch(repetitions: int = 6, *, run: RunRecord | None = None, noise: float = 0.01) -> list[AnyRecord]:
    """All six cases of 4 processes on 4 cores; each repetition a little slower."""
    found: list[list[AnyRecord]] = []
    for index in range(repetitions):
        slower = 1 + noise * index
        for (order, size), seconds in TIMES.items():
            given: Parameters = {"order": order, "message_bytes": size, "permutation": "uniform"}
            gauges = {"ring_s": seconds * slower, "message_bytes": float(size)}
            found.append(_repetition(f"{order}-{size}", index, "ring", given, gauges))
        for size, (least, mean, most) in PAIRS.items():
            gauges = {
                "least_one_way_s": least * slower,
                "mean_one_way_s": mean * slower,
                "most_one_way_s": most * slower,
                "message_bytes": float(size),
            }
            pairs = [[0, 1, least * slower], [1, 0, most * slower]]
            case = f"pairs-{size}"
            found.append(_repetition(case, index, "ping-pong", {"message_bytes": size}, gauges, one_way_s=pairs))
    return make_launch(*found, run=run or four())


def four(*, oversubscribed: bool = False, nodes: int = 1) -> RunRecord:
    """A launch of 4 processes."""
    run = make_run(4, oversubscribed=oversubscribed, nodes=nodes)
    return run.model_copy(update={"pinning": run.pinning.model_copy(update={"cores_available": 4})})


def answer(messages: dict[tuple[str, str], float] | None = MESSAGES) -> HpccAnswer:
    """Return what hpcc would give; only the messages count."""
    streams = dict.fromkeys(("copy", "scale", "add", "triad"), 1.0)
    return HpccAnswer("1.5.0", 1.0, 1.0, 1.0, streams, streams, 1.0, messages)


def write(folder: Path, records: Sequence[AnyRecord], options: dict[str, object]) -> ResultFolder:
    """A result that holds one launch."""
    request = Request(run_id="r1", suite="rings", created="now", targets=[MPI], options=options)
    result = ResultFolder.create(folder, request)
    result.records_path(1).parent.mkdir()
    lines = (record.model_dump_json(by_alias=True) for record in records)  # type: ignore[union-attr]
    result.records_path(1).write_text("\n".join(lines) + "\n")
    return result
