# SPDX-License-Identifier: Apache-2.0
"""b_eff without an engine: what such an engine says of itself, and CONSTRUCTED records as it would write them.

No number in here was measured.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from support.make_records import make_case, make_launch, make_phase, make_run
from support.simulated_engine import with_workloads
from ullage.model.describe import Describe
from ullage.model.record import RunRecord, Stage
from ullage.model.request import Request
from ullage.results.folder import ResultFolder
from ullage.results.records import AnyRecord
from ullage.suites.b_eff.formula import ADDITIONAL, METHODS, PING_PONG
from ullage.suites.b_eff.options import message_sizes

LOOPS = 100
Bandwidth = Callable[[str, int, str, int], float]


def b_eff_describe() -> Describe:
    """An engine with workload ``b-eff``."""
    return with_workloads("b-eff")


def usual_patterns(random: int = 30) -> dict[str, int]:
    """Patterns and messages of 4 processes in one loop."""
    rings = {f"ring-{number}": 4 if number == 0 else 8 for number in range(6)}
    counts = dict.fromkeys(ADDITIONAL, 8) | {"best-bisection": 4, "worst-bisection": 4, PING_PONG: 2}
    return {**rings, **{f"random-{number:02}": 8 for number in range(random)}, **counts}


def usual_bandwidth(pattern: str, size: int, method: str, repetition: int) -> float:
    """Accumulated bytes/s: half of it at 1000 bytes; random rings carry half, Alltoallv less; noise of 1 %."""
    sizes = message_sizes(1 << 20)
    peak = 4e9 * (0.5 if pattern.startswith("random-") else 1.0)
    share = {"sendrecv": 0.8, "alltoallv": 0.6, "nonblocking": 1.0}[method]
    return peak * share * sizes[size] / (sizes[size] + 1000) * (1 + repetition / 100)


def repetition(
    index: int,
    patterns: dict[str, int],
    bandwidth: Bandwidth,
    *,
    sizes: Sequence[int],
    degenerate: Sequence[str] = (),
    elapsed: float = 1.0,
    skipped: Callable[[str, int, str], bool] = lambda _pattern, _size, _method: False,
    pages: Mapping[str, object] | None = None,
) -> list[AnyRecord]:
    """One repetition. ``elapsed``: seconds that pass for each second of a loop."""
    records: list[AnyRecord] = []
    for number, size in enumerate(sizes):
        gauges: dict[str, float] = {"message_bytes": size, **{f"loops/{method}": LOOPS for method in METHODS}}
        taken = 0.0
        for pattern, messages in patterns.items():
            for method in METHODS[:1] if pattern == PING_PONG else METHODS:
                if skipped(pattern, number, method):
                    continue
                seconds = size * messages * LOOPS / bandwidth(pattern, number, method, index)
                gauges[f"t/{pattern}/{method}_s"] = seconds
                taken += seconds * (1 + 1 / LOOPS)
        passed = round(taken * elapsed * 1e9)
        told = {name: {"rings": [4], "degenerate": name in degenerate} for name in sorted(patterns)}
        records.append(
            make_phase(
                "b",
                index,
                phase=f"size-{number:02}",
                access="none",
                bytes_=0,
                elapsed_ns=passed,
                stages={"transfer": Stage(first_start_ns=0, last_stop_ns=passed, longest_ns=passed)},
                gauges={name: {"sum": value, "least": value, "most": value} for name, value in gauges.items()},
                counters={f"messages/{name}": count for name, count in sorted(patterns.items())},
                facts={"patterns": told, **({} if pages is None else {"pages": pages})} if number == 0 else {},
            )
        )
    return [*records, make_case("b", index, target="mpi", backend="null", workload="b-eff", workload_parameters={})]


def launch(
    bandwidth: Bandwidth = usual_bandwidth,
    *,
    repetitions: int = 3,
    patterns: dict[str, int] | None = None,
    run: RunRecord | None = None,
    lmax: int = 1 << 20,
    **more: object,
) -> list[AnyRecord]:
    """A launch of 4 processes on 4 cores."""
    sizes = message_sizes(lmax)
    found = [
        repetition(index, patterns or usual_patterns(), bandwidth, sizes=sizes, **more)  # type: ignore[arg-type]
        for index in range(repetitions)
    ]
    return make_launch(*found, run=run or four())


def four(*, oversubscribed: bool = False) -> RunRecord:
    """A launch of 4 processes."""
    run = make_run(4, oversubscribed=oversubscribed)
    cores = 2 if oversubscribed else 4
    return run.model_copy(update={"pinning": run.pinning.model_copy(update={"cores_available": cores})})


def write(folder: Path, records: Sequence[AnyRecord], options: dict[str, object]) -> ResultFolder:
    """A result that holds one launch."""
    from ullage.runs.kernels.options import MPI

    request = Request(run_id="r1", suite="b_eff", created="now", targets=[MPI], options=options)
    result = ResultFolder.create(folder, request)
    result.records_path(1).parent.mkdir()
    lines = (record.model_dump_json(by_alias=True) for record in records)  # type: ignore[union-attr]
    result.records_path(1).write_text("\n".join(lines) + "\n")
    return result
