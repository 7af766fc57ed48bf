# SPDX-License-Identifier: Apache-2.0
"""A machine of known answers for suite ``cpu``: what its engine describes, and the records it leaves."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from support.simulated_engine import DESCRIBE, ENGINE, Clock, as_of_engine
from ullage.launch.base import Launcher
from ullage.launch.process import LaunchOutcome
from ullage.model.describe import Describe
from ullage.model.plan import Case, Parameters, Plan
from ullage.results.records import AnyRecord, parse_record
from ullage.runs.options.engine import engine_parameters

CLOCK_HZ = 4e9
# Operations and instructions a cycle of a core.
KERNELS: Mapping[str, tuple[int, float]] = {
    "scalar/fp64/fma": (2, 2.0),
    "avx2/fp64/fma": (8, 2.0),
    "avx512/fp64/fma": (16, 1.0),
    "avx512/fp64/add": (8, 2.0),
    "avx512/fp32/fma": (32, 1.0),
    "avx512/int64/multiply": (8, 2 / 3),
    "avx512vnni/int8/dot": (128, 1.0),
}
MISSING = ("amx/int8/dot:the CPU has no AMX", "amx/bf16/dot:the CPU has no AMX", "avx512fp16/fp16/fma:too old")


def describe_cpu() -> Describe:
    """With the kernels above, and products and solves."""
    compute = [
        "no-storage",
        *(f"kernel:{name}:lanes={max(1, ops // 2)}:ops={ops}" for name, (ops, _) in KERNELS.items()),
        *(f"missing:{text}" for text in MISSING),
    ]
    workloads = [
        as_of_engine("compute", *compute),
        *(as_of_engine(name, "no-storage") for name in ("gemm", "solve", "distributed-solve")),
    ]
    return DESCRIBE.model_copy(update={"workloads": workloads})


@dataclass
class CpuEngine:
    """Carries plans out on ``clock``. ``blas``: share of the fp64 roof of a library by its core; of others 0.9.

    ``fails``: whether a case does. ``changed`` may alter the gauges of a case. A repetition takes ``seconds``.
    ``contamination``: of every phase.
    """

    clock: Clock
    blas: Mapping[str, float] = field(default_factory=dict[str, float])
    fails: Callable[[Case], bool] = lambda _case: False
    changed: Callable[[Case, dict[str, float]], dict[str, float]] = lambda _case, gauges: gauges
    seconds: float = 0.25
    contamination: dict[str, object] | None = None
    ends: dict[int, str] = field(default_factory=dict[int, str])
    plans: list[Plan] = field(default_factory=list[Plan])

    def start(
        self,
        engine: Path,
        launcher: Launcher,
        plan_path: Path,
        plan: Plan,
        stderr_path: Path,
        on_record: Callable[[AnyRecord], None],
    ) -> LaunchOutcome:
        del engine, launcher, plan_path, stderr_path
        self.plans.append(plan)
        began, fate = self.clock.at, self.ends.get(len(self.plans), "complete")
        stream = _Stream(Path(plan.records), on_record)
        stream.write(**_run(plan))
        failed = 0
        count = int(str(plan.stop_rule.parameters["count"]))
        for repetition in range(1 if fate == "interrupted" else count):
            for case in plan.cases:
                done = len(next(iter(case.prior_elapsed_ns.values()), [])) + repetition
                budget = plan.time_budget_s
                if done >= count or (budget is not None and self.clock.at - began + self.seconds > budget):
                    continue
                self.clock.at += self.seconds
                failed += self._repeat(case, repetition, stream)
        status = fate if fate != "complete" else "failed" if failed else "complete"
        stream.write(kind="end", status=status, cases_ok=1, cases_failed=failed, repetitions=1, elapsed_ns=1)
        return LaunchOutcome(
            exit_code=0,
            signal=None,
            records_path=Path(plan.records),
            last_status=status,  # type: ignore[arg-type]
            stderr_tail="",
            stopped_by="signal" if fate == "interrupted" else None,
            elapsed_s=self.clock.at - began,
        )

    def _repeat(self, case: Case, repetition: int, stream: "_Stream") -> bool:
        is_bad = self.fails(case)
        usual = {one.name: one.default for one in engine_parameters(case.workload.name).values()}
        parameters: Parameters = {**usual, **case.workload.parameters}
        gauges = self.changed(case, self._gauges(case.workload.name, parameters))
        bare = {"case": case.id, "repetition": repetition, "status": "failed" if is_bad else "ok", "grade": "A"}
        nothing = {"elapsed_ns": 10**8, "bytes": 0, "operations": 10}
        core = str(parameters.get("core", "")) or "Prescott"
        stream.write(
            kind="phase",
            **bare,
            phase=case.workload.name,
            access="none",
            ranks=1,
            start_ns=0,
            elapsed_ns=10**8,
            bytes=0,
            operations=10,
            stages={},
            first_done=nothing,
            last_done=nothing,
            gauges={name: {"sum": value, "least": value, "most": value} for name, value in gauges.items()},
            **({} if self.contamination is None else {"contamination": self.contamination}),
            hints_granted={} if case.workload.name == "compute" else {"core": core, "library": "x"},
        )
        stream.write(
            kind="case",
            **bare,
            target=case.target,
            backend="null",
            workload=case.workload.name,
            workload_parameters=parameters,
            elapsed_ns=int(self.seconds * 1e9),
        )
        return is_bad

    def _gauges(self, workload: str, parameters: Parameters) -> dict[str, float]:
        threads = int(str(parameters["threads"]))
        usual = {"kernel_s": 0.1, "shortest_window_s": 0.01, "threads": threads, "unpinned_threads": 0.0}
        usual |= {"cycles": threads * CLOCK_HZ * 0.1, "clock_hz": CLOCK_HZ, "clock_disagreement": 0.001}
        if workload == "compute":
            name = "/".join(str(parameters[key]) for key in ("isa", "type", "operation"))
            operations, rate = KERNELS[name]
            instructions = threads * CLOCK_HZ * 0.1 * rate * 0.98
            return {**usual, "instructions": instructions, "operations": instructions * operations}
        share = self.blas.get(str(parameters.get("core", "")), 0.9)
        return {**usual, "operations": share * threads * CLOCK_HZ * 16 * 0.1, "residual": 0.003}


@dataclass
class _Stream:
    path: Path
    on_record: Callable[[AnyRecord], None]

    def write(self, **record: object) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        line = json.dumps(record)
        with self.path.open("a") as stream:
            stream.write(line + "\n")
        parsed = parse_record(line.encode())
        assert hasattr(parsed, "kind"), parsed
        self.on_record(parsed)  # type: ignore[arg-type]


def _run(plan: Plan) -> dict[str, object]:
    return {
        "kind": "run",
        "schema": "ullage.record/1",
        "run_id": plan.run_id,
        "suite": plan.suite,
        "started": "2026-01-01T00:00:00Z",
        "origin_ns": 0,
        "engine": ENGINE,
        "layout": plan.layout.model_dump(mode="json"),
        "clock": {
            "source": "x",
            "read_cost_ns": 30,
            "largest_offset_ns": 0,
            "largest_offset_rank": 0,
            "residual_ns": 0,
        },
        "pinning": {
            "pinned_ranks": 0,
            "unpinned_ranks": 1,
            "cores_available": 4,
            "most_ranks_on_a_node": 1,
            "oversubscribed": False,
        },
    }
