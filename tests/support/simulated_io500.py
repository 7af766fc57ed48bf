# SPDX-License-Identifier: Apache-2.0
"""An engine that carries out IO500's plans in no time: named datasets, stonewalls, counters, and what may go wrong."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from support.simulated_engine import ENGINE, as_of_engine
from ullage.cleaning import PREFIX
from ullage.launch.base import Launcher
from ullage.launch.process import EndStatus, LaunchOutcome
from ullage.model.describe import Describe
from ullage.model.plan import Case, Plan
from ullage.results.records import AnyRecord, parse_record
from ullage.suites.io500.validity import files_to_find
from ullage.uri import target_path

NS = 1_000_000_000
MAKERS = {"write", "tree-create", "precreate", "timestamp"}
ENDERS = {"unlink", "cleanup"}


DESCRIBE = Describe.model_validate(
    {
        "schema": "ullage.describe/1",
        "engine": ENGINE,
        "backends": [as_of_engine("posix", "path", "data"), as_of_engine("mpiio", "path", "data")],
        "workloads": [
            as_of_engine(name) for name in ("transfer", "metadata", "find", "mixed-transfer", "mixed-metadata")
        ],
        "probes": [],
        "stop_rules": [],
    }
)


@dataclass
class SimulatedStorage:
    """``bytes_per_s`` and ``creates_per_s`` are of all ranks. ``spoil`` changes a phase record before it is written.

    ``interrupt_at``: the launch (from 1) that is interrupted, and after how many cases. ``elapsed_s``: of a launch.
    """

    bytes_per_s: float = 1e9
    creates_per_s: float = 1e4
    spoil: Callable[[Plan, Case, dict[str, object]], None] = lambda _plan, _case, _record: None
    interrupt_at: tuple[int, int] | None = None
    elapsed_s: float = 1.0
    plans: list[Plan] = field(default_factory=list[Plan])
    probes: list[Plan] = field(default_factory=list[Plan])
    made: dict[str, int] = field(default_factory=dict[str, int])

    def start(
        self,
        engine: Path,
        launcher: Launcher,
        plan_path: Path,
        plan: Plan,
        stderr_path: Path,
        on_record: Callable[[AnyRecord], None],
    ) -> LaunchOutcome:
        del engine, launcher, stderr_path
        assert Plan.model_validate_json(plan_path.read_text()) == plan
        is_probe = plan.run_id.endswith("-probe")
        (self.probes if is_probe else self.plans).append(plan)
        most = len(plan.cases)
        if not is_probe and self.interrupt_at is not None and self.interrupt_at[0] == len(self.plans):
            most = self.interrupt_at[1]
        launch = _Launch(self, plan, on_record)
        for case in plan.cases[:most]:
            launch.case(case)
        status: EndStatus = "failed" if launch.failed else "complete" if most == len(plan.cases) else "interrupted"
        launch.end(status)
        return LaunchOutcome(
            exit_code={"complete": 0, "failed": 4, "interrupted": 5}[status],
            signal=None,
            records_path=Path(plan.records),
            last_status=status,
            stderr_tail="",
            dead_ranks=[],
            stopped_by="signal" if status == "interrupted" else None,
            elapsed_s=1.0 if is_probe else self.elapsed_s,
        )


class _Launch:
    def __init__(self, owner: SimulatedStorage, plan: Plan, on_record: Callable[[AnyRecord], None]) -> None:
        self.owner, self.plan, self.on_record, self.failed = owner, plan, on_record, False
        Path(plan.records).parent.mkdir(parents=True, exist_ok=True)
        path = target_path(plan.targets[0])
        assert path is not None
        self.folder = path / f"{PREFIX}{plan.run_id}"
        self.folder.mkdir(exist_ok=True)
        if not plan.continues:
            owner.made.clear()
            (self.folder / "manifest.ndjson").write_text("")
        run = {"run_id": plan.run_id, "suite": plan.suite, "started": "now", "origin_ns": 0, "engine": ENGINE}
        clock = {"source": "x", "read_cost_ns": 30, "largest_offset_ns": 0, "largest_offset_rank": 0, "residual_ns": 0}
        ranks = plan.layout.ranks
        pinning = {"pinned_ranks": ranks, "unpinned_ranks": 0, "cores_available": 64, "most_ranks_on_a_node": ranks,
                   "oversubscribed": False}  # fmt: skip
        self.write(kind="run", schema="ullage.record/1", layout=plan.layout.model_dump(mode="json"), clock=clock,
                   pinning=pinning, **run)  # fmt: skip

    def write(self, **record: object) -> None:
        line = json.dumps(record)
        with Path(self.plan.records).open("a") as stream:
            stream.write(line + "\n")
        parsed = parse_record(line.encode())
        assert hasattr(parsed, "kind"), parsed
        self.on_record(parsed)  # type: ignore[arg-type]

    def enter(self, dataset: str, *, there: bool) -> None:
        with (self.folder / "manifest.ndjson").open("a") as stream:
            stream.write(json.dumps({"dataset": dataset, "facts": {"is": "there"} if there else None}) + "\n")

    def case(self, case: Case) -> None:
        phases = case.workload.parameters.get("phases", ["mixed"])
        assert isinstance(phases, list)
        if not MAKERS & set(phases) and case.dataset:
            assert case.dataset in self.owner.made, f"{case.dataset} is not there for {phases}"
        is_ok = all(self.phase(case, phase) for phase in phases)
        self.failed |= not is_ok
        if MAKERS & set(phases):
            self.enter(case.dataset, there=True)
        if ENDERS & set(phases):
            self.owner.made.pop(case.dataset)
            self.enter(case.dataset, there=False)
        self.write(kind="case", case=case.id, repetition=0, status="ok" if is_ok else "failed", stop="count",
                   target=case.target, backend=case.backend.name, workload=case.workload.name,
                   backend_parameters=case.backend.parameters, workload_parameters=case.workload.parameters,
                   elapsed_ns=2 * NS)  # fmt: skip

    def phase(self, case: Case, phase: str) -> bool:
        parameters = case.workload.parameters
        wall_s = float(str(parameters.get("stonewall_s", 0)))
        operations, bytes_, seconds = self.work(case, phase, wall_s)
        done = {"elapsed_ns": int(seconds * NS), "bytes": bytes_, "operations": operations}
        record: dict[str, object] = {
            "kind": "phase", "case": case.id, "repetition": 0, "phase": phase, "status": "ok", "grade": "A",
            "access": "metadata" if case.workload.name not in ("transfer", "mixed-transfer") else
            "write" if phase == "write" else "read",
            "ranks": self.plan.layout.ranks, "start_ns": 0, **done, "first_done": done, "last_done": done,
            "stages": {"transfer": {"first_start_ns": 0, "last_stop_ns": int(seconds * NS), "longest_ns": NS}},
        }  # fmt: skip
        if wall_s and phase in ("write", "create", "mixed"):
            wall = {"elapsed_ns": int(wall_s * NS), "bytes": bytes_ // 2, "operations": operations // 2}
            record["stonewall"] = {"deadline_ns": int(wall_s * NS), "at_wall": wall, "wear_out": True,
                                   "least_operations": 1, "most_operations": 2}  # fmt: skip
        if phase == "find":
            record["counters"] = {"found": operations, "scanned": 10 * operations, "errors": 0}
        self.owner.spoil(self.plan, case, record)
        self.write(**record)
        return record["status"] == "ok"

    def work(self, case: Case, phase: str, wall_s: float) -> tuple[int, int, float]:
        """Operations, bytes, seconds: a phase with a wall takes a tenth longer than it, any other a second."""
        ranks, seconds = self.plan.layout.ranks, 1.1 * wall_s if wall_s else 1.0
        made = self.owner.made
        if phase == "write":
            made[case.dataset] = int(self.owner.bytes_per_s * seconds)
        elif phase == "create":
            made[case.dataset] = int(self.owner.creates_per_s * seconds) // ranks * ranks
        elif phase in MAKERS:
            made.setdefault(case.dataset, 1)
        amount = made.get(case.dataset, 1)
        if phase == "find":
            sought = made.get(
                "mdtest-easy" if case.workload.parameters.get("within") == "mdtest-easy" else "mdtest-hard", 0
            )
            return files_to_find(0, ranks, sought // ranks), 0, seconds
        if case.workload.name in ("transfer", "mixed-transfer"):
            return amount // 4096, amount, seconds
        return amount, 0, seconds

    def end(self, status: str) -> None:
        stays = self.plan.keep or (status == "interrupted" and self.plan.keep_when_interrupted)
        if not stays:
            self.owner.made.clear()
            (self.folder / "manifest.ndjson").unlink()
            self.folder.rmdir()
        self.write(kind="end", status=status, cases_ok=0, cases_failed=0, repetitions=0, elapsed_ns=NS)
