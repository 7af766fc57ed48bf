# SPDX-License-Identifier: Apache-2.0
"""A start of launches that takes no time: plans are carried out on a clock of its own, by stated costs."""

import json
import os
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ullage.analysis.statistics.intervals import is_look, median_interval, relative_width
from ullage.launch.base import DeadRank, Launcher
from ullage.launch.process import EndStatus, LaunchOutcome
from ullage.model.describe import Describe, Registered
from ullage.model.plan import Case, Plan, Target
from ullage.model.system import Memory
from ullage.results.records import AnyRecord, parse_record
from ullage.runs.cells.planning import Cell, each_once
from ullage.runs.cells.prepared import Asked, Preparing
from ullage.runs.options.engine import engine_parameters
from ullage.runs.options.groups import StorageOptions
from ullage.runs.room import Machine

ENGINE = {
    "version": "0.1.0",
    "git": "x",
    "compiler": "x",
    "flags": "",
    "mpi": {"family": "mpich", "library": "simulated", "mpiexec": ""},
}


def built_engine() -> Path:
    """Where the engine under test is: $ULLAGE_ENGINE (`make test` sets it to each leg's), else the one in .venv."""
    root = Path(__file__).parent.parent.parent
    return Path(os.environ.get("ULLAGE_ENGINE") or root / ".venv" / "bin" / "ullage-engine")


def as_of_engine(name: str, *capabilities: str) -> Registered:
    """A backend or workload with all parameters that the engine has of it."""
    own = [*engine_parameters(name).values()]
    return Registered(name=name, doc=name, available=True, capabilities=[*capabilities], parameters=own)


DESCRIBE = Describe.model_validate(
    {
        "schema": "ullage.describe/1",
        "engine": ENGINE,
        "backends": [
            as_of_engine("posix", "path", "data", "file_threads=1024"),
            as_of_engine("mpiio", "path", "data", "collective"),
            as_of_engine("model"),
            as_of_engine("null"),
            Registered(name="pmem", doc="", available=False, reason="libpmem not found", capabilities=["path"]),
        ],
        "workloads": [as_of_engine("transfer")],
        "probes": [],
        "stop_rules": [],
    }
)


def cells_of(
    preparing: Preparing[Any],
    options: StorageOptions,
    uris: Mapping[str, str],
    description: Describe,
    cores: int | None = 4,
) -> list[Cell]:
    """All cases that a suite makes of ``options`` at the targets of these names, with the sizes of the built engine."""
    machine = Machine(cores, [], Memory())
    asked = Asked(options, "", [Target(name=name, uri=uri) for name, uri in uris.items()], machine, description)
    return preparing.sizing.by(built_engine())(each_once(preparing.make_cells(asked)))


def with_workloads(*names: str) -> Describe:
    """The simulated engine, which has these workloads besides."""
    return DESCRIBE.model_copy(update={"workloads": [*DESCRIBE.workloads, *map(as_of_engine, names)]})


@dataclass
class Clock:
    """Seconds; goes on only when told to."""

    at: float = 1000.0

    def now(self) -> float:
        return self.at


Cost = Callable[[Case, Plan], float]


@dataclass
class SimulatedEngine:
    """``cost``: seconds of each phase. ``spread``: relative noise. ``bad``: ids of cases that fail.

    ``ends``: what happens to the n-th launch (from 1) instead of a good end: ``die``, ``refuse``, ``interrupt``.
    """

    clock: Clock
    cost: Cost
    spread: float = 0.01
    launch_s: float = 0.4
    ends: dict[int, str] = field(default_factory=dict[int, str])
    bad: set[str] = field(default_factory=set[str])
    plans: list[Plan] = field(default_factory=list[Plan])
    _rng: random.Random = field(default_factory=lambda: random.Random(5))
    _records: list[AnyRecord] = field(default_factory=list[AnyRecord])

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
        began, fate = self.clock.at, self.ends.get(len(self.plans), "complete")
        self.clock.at += self.launch_s
        if fate == "refuse":
            return self._outcome(plan, began, None, 3, "ullage-engine: target 'a': is full")
        launch = _Launch(self, plan, on_record)
        launch.run(stop_after=2 if fate in ("die", "interrupt") else None)
        if fate == "die":
            return self._outcome(plan, began, None, 9, "", [DeadRank(1, "node7", "signal 9 (Killed)")])
        status: EndStatus = "interrupted" if fate == "interrupt" else "failed" if launch.failed else "complete"
        launch.end(status)
        return self._outcome(plan, began, status, 0, "")

    def _outcome(
        self,
        plan: Plan,
        began: float,
        status: EndStatus | None,
        code: int,
        stderr: str,
        dead: list[DeadRank] | None = None,
    ) -> LaunchOutcome:
        return LaunchOutcome(
            exit_code=code,
            signal=None,
            records_path=Path(plan.records),
            last_status=status,
            stderr_tail=stderr,
            dead_ranks=dead or [],
            stopped_by="signal" if status == "interrupted" else None,
            elapsed_s=self.clock.at - began,
        )

    def draw(self, seconds: float) -> float:
        return seconds * max(0.2, self._rng.gauss(1, self.spread))


class _Launch:
    """The engine's own rules, as docs/contract.md has them."""

    def __init__(self, owner: SimulatedEngine, plan: Plan, on_record: Callable[[AnyRecord], None]) -> None:
        self.owner, self.plan, self.on_record = owner, plan, on_record
        self.began = owner.clock.at
        self.samples = {case.id: {k: list(v) for k, v in case.prior_elapsed_ns.items()} for case in plan.cases}
        self.longest: dict[str, float] = {}
        self.made: dict[str, int] = {}
        self.failed: set[str] = set()
        Path(plan.records).parent.mkdir(parents=True, exist_ok=True)
        self.write(
            kind="run",
            schema="ullage.record/1",
            run_id=plan.run_id,
            suite=plan.suite,
            started="2026-01-01T00:00:00Z",
            origin_ns=0,
            engine=ENGINE,
            layout=plan.layout.model_dump(mode="json"),
            clock={
                "source": "x",
                "read_cost_ns": 30,
                "largest_offset_ns": 0,
                "largest_offset_rank": 0,
                "residual_ns": 0,
            },
            pinning={
                "pinned_ranks": 1,
                "unpinned_ranks": 0,
                "cores_available": 64,
                "most_ranks_on_a_node": plan.layout.ranks,
                "oversubscribed": False,
            },
        )

    def write(self, **record: object) -> None:
        line = json.dumps(record)
        with Path(self.plan.records).open("a") as stream:
            stream.write(line + "\n")
        parsed = parse_record(line.encode())
        assert hasattr(parsed, "kind"), parsed
        self.on_record(parsed)  # type: ignore[arg-type]

    def run(self, stop_after: int | None) -> None:
        open_cases = [case for case in self.plan.cases if not self.stop(case)]
        repetitions = 0
        while open_cases:
            for case in list(open_cases):
                elapsed = self.owner.clock.at - self.began
                budget = self.plan.time_budget_s
                if budget is not None and elapsed + self.longest.get(case.id, 0) > budget:
                    open_cases.remove(case)
                    continue
                if self.repetition(case):
                    open_cases.remove(case)
                repetitions += 1
                if repetitions == stop_after:
                    return

    def stop(self, case: Case) -> str:
        samples = self.samples[case.id]
        count = min((len(values) for values in samples.values()), default=0)
        rule = self.plan.stop_rule
        if rule.name == "fixed":
            return "count" if count >= int(str(rule.parameters["count"])) else ""
        minimum, maximum = (int(str(rule.parameters[name])) for name in ("minimum", "maximum"))
        width = self.width(case)
        narrow = width is not None and width <= float(str(rule.parameters["relative_width"]))
        if narrow and count >= minimum and is_look(count):
            return "converged"
        return "count" if count >= maximum else ""

    def width(self, case: Case) -> float | None:
        correlation = float(str(self.plan.stop_rule.parameters.get("correlation", 0)))
        phases = ([float(v) for v in values] for values in self.samples[case.id].values())
        intervals = [median_interval(values, 0.95, correlation) for values in phases if values]
        if not intervals or any(found.below_level for found in intervals):
            return None
        return max(relative_width(found) or 0.0 for found in intervals)

    def repetition(self, case: Case) -> bool:
        """Whether no further one follows."""
        number = self.made.get(case.id, 0)
        self.made[case.id] = number + 1
        is_bad = case.id in self.owner.bad
        parameters = dict(case.workload.parameters)
        total = 0.0
        for phase in parameters.get("phases", ["write", "read"]):  # type: ignore[union-attr]
            seconds = self.owner.draw(self.owner.cost(case, self.plan))
            total += seconds
            self.phase(case, number, str(phase), seconds, is_bad)
        self.owner.clock.at += total
        self.longest[case.id] = max(total, self.longest.get(case.id, 0.0))
        stop = "failed" if is_bad else self.stop(case)
        if is_bad:
            self.failed.add(case.id)
        self.write(
            kind="case",
            case=case.id,
            repetition=number,
            status="failed" if is_bad else "ok",
            stop=stop,
            relative_width=self.width(case),
            target=case.target,
            backend=case.backend.name,
            workload="transfer",
            backend_parameters=case.backend.parameters,
            workload_parameters=parameters,
            elapsed_ns=int(total * 1e9),
        )
        return bool(stop)

    def phase(self, case: Case, number: int, phase: str, seconds: float, is_bad: bool) -> None:
        parameters, elapsed_ns = case.workload.parameters, int(seconds * 1e9)
        volume = int(str(parameters.get("block_bytes", 1 << 20))) * self.plan.layout.ranks
        done = {"elapsed_ns": elapsed_ns, "bytes": volume, "operations": 1}
        if not is_bad:
            self.samples[case.id].setdefault(phase, []).append(elapsed_ns)
        self.write(
            kind="phase",
            case=case.id,
            repetition=number,
            phase=phase,
            status="failed" if is_bad else "ok",
            access="write" if "write" in phase else "read",
            grade="A",
            ranks=self.plan.layout.ranks,
            start_ns=0,
            elapsed_ns=elapsed_ns,
            bytes=volume,
            operations=1,
            stages={},
            first_done=done,
            last_done=done,
        )

    def end(self, status: str) -> None:
        elapsed_ns = int((self.owner.clock.at - self.began) * 1e9)
        self.write(
            kind="end", status=status, cases_ok=0, cases_failed=len(self.failed), repetitions=0, elapsed_ns=elapsed_ns
        )


@dataclass
class SilentProgress:
    """Keeps what it was told."""

    stages: list[str] = field(default_factory=list[str])
    said: list[str] = field(default_factory=list[str])

    def whole(self, left_s: float) -> None:
        self.said.append(f"{left_s:g} s in all")

    def part_time(self, left_s: float) -> None:
        del left_s

    def part(self, text: str) -> None:
        self.said.append(text)

    def stage(self, text: str, repetitions: int, left_s: float) -> None:
        del repetitions, left_s
        self.stages.append(text)

    def record(self, record: AnyRecord) -> None:
        del record

    def say(self, text: str) -> None:
        self.said.append(text)

    def close(self) -> None: ...


__all__ = ["DESCRIBE", "Clock", "SilentProgress", "SimulatedEngine"]
