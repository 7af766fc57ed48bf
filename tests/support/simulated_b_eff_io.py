# SPDX-License-Identifier: Apache-2.0
"""An engine that carries out b_eff_io's plans in no time: named datasets that outlive launches, hangs and failures."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from support.simulated_engine import ENGINE, as_of_engine
from ullage.cleaning import PREFIX, RunFolder
from ullage.launch.base import Launcher
from ullage.launch.process import EndStatus, LaunchOutcome
from ullage.model.describe import Describe
from ullage.model.plan import Case, Plan
from ullage.results.records import AnyRecord, parse_record
from ullage.suites.b_eff_io.patterns import TYPES, PatternType, patterns_of
from ullage.uri import target_path

NS = 1_000_000_000


DESCRIBE = Describe.model_validate(
    {
        "schema": "ullage.describe/1",
        "engine": ENGINE,
        "backends": [
            as_of_engine("posix", "path", "data"),
            as_of_engine("mpiio", "path", "data", "collective", "views"),
            as_of_engine("null", "views"),
        ],
        "workloads": [as_of_engine("b-eff-io")],
        "probes": [],
        "stop_rules": [],
    }
)


@dataclass
class SimulatedIo:
    """``hangs``: phases by case, as ``shared/write/2/pattern-12`` (type, access, ranks, phase), that never end.

    ``fails``: cases, as ``shared/write/2``, that fail. ``interrupt_at``: the launch that is interrupted, and after how
    many cases; ``dies_at``: one that ends with nothing said; ``refuses_at``: one that is refused.
    """

    hangs: set[str] = field(default_factory=set[str])
    fails: set[str] = field(default_factory=set[str])
    interrupt_at: tuple[int, int] | None = None
    dies_at: int = 0
    refuses_at: int = 0
    plans: list[Plan] = field(default_factory=list[Plan])
    removed: list[str] = field(default_factory=list[str])

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
        self.plans.append(plan)
        if self.refuses_at == len(self.plans):
            return _outcome(plan, None, 3, "ullage-engine: target 't': is full")
        launch = _Launch(self, plan, on_record)
        most = len(plan.cases)
        if self.interrupt_at is not None and self.interrupt_at[0] == len(self.plans):
            most = self.interrupt_at[1]
        for case in plan.cases[:most]:
            if not launch.case(case):
                launch.write(kind="end", status="timeout", cases_ok=0, cases_failed=1, repetitions=0, elapsed_ns=NS)
                return _outcome(plan, "timeout", 5)
        if self.dies_at == len(self.plans):
            return _outcome(plan, None, 9)
        status: EndStatus = "failed" if launch.failed else "complete" if most == len(plan.cases) else "interrupted"
        launch.end(status)
        return _outcome(plan, status, {"complete": 0, "failed": 4, "interrupted": 5}[status])

    def remove(self, engine: Path, folder: RunFolder) -> str | None:
        """As ``ullage.cleaning.remove``."""
        del engine
        for path in folder.path.iterdir():
            path.unlink()
        folder.path.rmdir()
        self.removed.append(folder.run_id)
        return None


def _outcome(plan: Plan, status: EndStatus | None, code: int, stderr: str = "") -> LaunchOutcome:
    return LaunchOutcome(
        exit_code=code,
        signal=None,
        records_path=Path(plan.records),
        last_status=status,
        stderr_tail=stderr,
        stopped_by="signal" if status == "interrupted" else None,
        elapsed_s=1.0,
    )


class _Launch:
    def __init__(self, owner: SimulatedIo, plan: Plan, on_record: Callable[[AnyRecord], None]) -> None:
        self.owner, self.plan, self.on_record, self.failed = owner, plan, on_record, False
        self.there: set[str] = set()
        path = target_path(plan.targets[0])
        self.folder = None if path is None else path / f"{PREFIX}{plan.run_id}"
        if self.folder is not None:
            self.folder.mkdir(exist_ok=True)
            (self.folder / ".ullage-run").write_text(json.dumps({"run_id": plan.run_id}))
            self.manifest = self.folder / "manifest.ndjson"
            if not plan.continues or not self.manifest.exists():
                self.manifest.write_text("")
            for line in self.manifest.read_text().splitlines():
                entry = json.loads(line)
                (self.there.add if entry["facts"] else self.there.discard)(entry["dataset"])
        ranks = plan.layout.ranks
        clock = {"source": "x", "read_cost_ns": 30, "largest_offset_ns": 0, "largest_offset_rank": 0, "residual_ns": 0}
        pinning = {"pinned_ranks": ranks, "unpinned_ranks": 0, "cores_available": 64, "most_ranks_on_a_node": ranks,
                   "oversubscribed": False}  # fmt: skip
        self.write(kind="run", schema="ullage.record/1", run_id=plan.run_id, suite=plan.suite, started="now",
                   origin_ns=0, engine=ENGINE, layout=plan.layout.model_dump(mode="json"), clock=clock,
                   pinning=pinning)  # fmt: skip

    def write(self, **record: object) -> None:
        line = json.dumps(record)
        Path(self.plan.records).parent.mkdir(parents=True, exist_ok=True)
        with Path(self.plan.records).open("a") as stream:
            stream.write(line + "\n")
        parsed = parse_record(line.encode())
        assert hasattr(parsed, "kind"), parsed
        self.on_record(parsed)  # type: ignore[arg-type]

    def enter(self, dataset: str, *, there: bool) -> None:
        (self.there.add if there else self.there.discard)(dataset)
        if self.folder is not None:
            with self.manifest.open("a") as stream:
                stream.write(json.dumps({"dataset": dataset, "facts": {"is": "there"} if there else None}) + "\n")

    def case(self, case: Case) -> bool:
        """False where it hangs."""
        parameters = case.workload.parameters
        kind: PatternType = next(one for one in TYPES if one == parameters.get("type", "scatter"))
        access = str(parameters.get("access", "write"))
        if access == "write":
            self.check_counts(case)
        else:
            assert case.dataset in self.there, f"{case.dataset} is not there for {access}"
        name = f"{kind}/{access}/{self.plan.layout.ranks}"
        skip = parameters.get("skip", [])
        assert isinstance(skip, list)
        phases = [pattern.phase for pattern in patterns_of(kind) if str(pattern.number) not in skip]
        hung = next((phase for phase in phases if f"{name}/{phase}" in self.owner.hangs), None)
        if hung is not None:
            self.write(kind="event", severity="error", code="timeout", case=case.id, rank=0, node="n",
                       text=f"rank 0 on n made no progress for 30 s in {hung}: transfer")  # fmt: skip
        is_failed = name in self.owner.fails
        for phase in [] if hung else phases:
            self.phase(case, phase, access, is_failed=is_failed and phase == phases[-1])
        if access == "write" and not hung:
            self.enter(case.dataset, there=not is_failed)
        self.failed |= is_failed
        status = "timeout" if hung else "failed" if is_failed else "ok"
        self.write(kind="case", case=case.id, repetition=0, status=status, stop="count", target=case.target,
                   backend=case.backend.name, workload=case.workload.name, workload_parameters=parameters,
                   elapsed_ns=2 * NS)  # fmt: skip
        return hung is None

    def check_counts(self, case: Case) -> None:
        stem = case.workload.parameters.get("counts_of", "")
        if stem:
            assert {f"{stem}-{kind}" for kind in ("scatter", "shared", "separated")} & self.there

    def phase(self, case: Case, phase: str, access: str, *, is_failed: bool) -> None:
        done = {"elapsed_ns": NS, "bytes": 1 << 20, "operations": 1}
        self.write(kind="phase", case=case.id, repetition=0, phase=phase, status="failed" if is_failed else "ok",
                   grade="A", access="read" if access == "read" else "write", ranks=self.plan.layout.ranks, start_ns=0,
                   stages={}, first_done=done, last_done=done,
                   gauges={"pattern_s": {"sum": 1.0, "least": 1.0, "most": 1.0}},
                   facts={"repetitions": 1, "end": "scheduled", "chunk_bytes": 1024, "call_bytes": 1024,
                          "scheduled_s": 1.0, "shared_pointer": True}, **done)  # fmt: skip

    def end(self, status: str) -> None:
        stays = self.plan.keep or (status == "interrupted" and self.plan.keep_when_interrupted)
        if not stays and self.folder is not None:
            for path in self.folder.iterdir():
                path.unlink()
            self.folder.rmdir()
        self.write(kind="end", status=status, cases_ok=0, cases_failed=0, repetitions=0, elapsed_ns=NS)
