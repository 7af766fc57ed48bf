# SPDX-License-Identifier: Apache-2.0
"""b_eff_io without an engine: CONSTRUCTED plans and records of a whole run, as suite and engine would write them.

No number in here was measured.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from support.make_records import SECOND_NS, make_case, make_phase, make_run
from ullage.identity import case_id
from ullage.model.plan import Case, Layout, Named, Parameters, Plan, Target
from ullage.model.record import EndRecord, EventRecord, Moved, PhaseRecord, RunRecord
from ullage.model.request import Request
from ullage.model.summary import Ceiling
from ullage.results.folder import ResultFolder
from ullage.results.records import AnyRecord
from ullage.results.rows import RowContext, TargetFacts
from ullage.suites.b_eff_io.options import BEffIoOptions
from ullage.suites.b_eff_io.patterns import (
    ACCESSES,
    MIB,
    Access,
    Pattern,
    PatternType,
    all_units,
    patterns_of,
    types_of,
)

VALID_S = 1800.0
STARTED = datetime(2026, 1, 1, tzinfo=UTC)
# From the end of a launch to the start of the next; what a launch does besides its patterns.
LAUNCH_S = 0.5
AROUND_S = 0.25
OPEN_S, CLOSE_S, SYNC_S, VIEW_S, PAYLOAD_S = 0.02, 0.01, 0.125, 0.002, 0.03
FOLDER = Target(name="disk", uri="posix:/scratch")


@dataclass(frozen=True)
class At:
    """Which pattern of which case of which round."""

    round: int
    hints: int
    ranks: int
    access: Access
    pattern: Pattern
    target: str = "disk"


def flat(_: At) -> float:
    """Every pattern as fast as every other: 100 MB/s."""
    return 100e6


@dataclass
class World:
    """A run to be written. ``bandwidth``: bytes/s of a pattern over its t_pattern; ``change``: its record's fields.

    ``hangs``: whether a case of these patterns hangs, and in which; ``fails``: the pattern in which it fails.
    """

    options: BEffIoOptions
    bandwidth: Callable[[At], float] = flat
    change: Callable[[At], dict[str, object]] = lambda _: {}
    facts: Callable[[At], dict[str, object]] = lambda _: {}
    hangs: Callable[[At], bool] = lambda _: False
    fails: Callable[[At], bool] = lambda _: False
    targets: Sequence[Target] = (FOLDER,)
    oversubscribed: bool = False
    stop_after: int | None = None
    together: bool = False
    _skip: dict[tuple[str, int, int, PatternType], list[int]] = field(
        default_factory=dict[tuple[str, int, int, PatternType], list[int]]
    )
    _clock_s: float = 100.0
    _number: int = 0

    def write(self, folder: Path) -> ResultFolder:
        """All launches of all rounds."""
        request = Request(
            run_id="r1",
            suite="b_eff_io",
            created="now",
            targets=list(self.targets),
            options=self.options.model_dump(mode="json"),
        )
        result = ResultFolder.create(folder, request)
        result.records_path(1).parent.mkdir()
        for number in range(self.options.repetitions):
            for target in self.targets:
                accesses = [ACCESSES] if self.together else [(access,) for access in ACCESSES]
                for together in accesses:
                    for ranks in self.options.partitions:
                        self._launches(result, number, target, ranks, together)
        return result

    def _launches(
        self, result: ResultFolder, number: int, target: Target, ranks: int, accesses: Sequence[Access]
    ) -> None:
        """Again without what hung, for what is lacking."""
        lacking = [
            (access, hints, kind)
            for access in accesses
            for hints in range(len(self.options.hint_sets))
            for kind in types_of(access, rewrite=self.options.rewrite)
        ]
        while lacking:
            if self.stop_after is not None and self._number >= self.stop_after:
                return
            self._number += 1
            cases = [self._case(target, ranks, *cell) for cell in lacking]
            plan = self._plan(number, target, ranks, cases, str(result.records_path(self._number)))
            result.prepare_launch(self._number, plan)
            records, done = self._records(number, target, ranks, list(zip(cases, lacking, strict=True)))
            lines = (record.model_dump_json(by_alias=True) for record in records)
            result.records_path(self._number).write_text("\n".join(lines) + "\n")
            lacking = lacking[done:]

    def _case(self, target: Target, ranks: int, access: Access, hints: int, kind: PatternType) -> Case:
        skip = self._skip.get((target.name, hints, ranks, kind), [])
        parameters: Parameters = {"type": kind, "access": access}
        if skip:
            parameters["skip"] = [str(one) for one in skip]
        workload = Named(name="b-eff-io", parameters=parameters)
        backend, dataset = Named(name="mpiio"), f"h{hints}-n{ranks}-{kind}"
        name = case_id(backend, workload, target, Layout(ranks=ranks), dataset)
        return Case(id=name, target=target.name, backend=backend, workload=workload, dataset=dataset)

    def _plan(self, number: int, target: Target, ranks: int, cases: list[Case], records: str) -> Plan:
        return Plan(
            schema="ullage.plan/1",
            run_id="r1",
            suite="b_eff_io",
            records=records,
            seed=number + 1,
            layout=Layout(ranks=ranks),
            targets=[target],
            stop_rule=Named(name="fixed", parameters={"repetitions": 1}),
            order="listed",
            cases=cases,
        )

    def _records(
        self, number: int, target: Target, ranks: int, cases: list[tuple[Case, tuple[Access, int, PatternType]]]
    ) -> tuple[list[AnyRecord], int]:
        """And how many cases need not be run again."""
        records: list[AnyRecord] = [self._run(ranks)]
        taken, done, status = AROUND_S, 0, "complete"
        for case, (access, hints, kind) in cases:
            own, seconds, hung = self._repetition(
                case, [At(number, hints, ranks, access, p, target.name) for p in patterns_of(kind)]
            )
            records += own
            taken += seconds
            if hung is not None:
                self._skip.setdefault((target.name, hints, ranks, kind), []).append(hung)
                status = "timeout"
                break
            done += 1
        records.append(
            EndRecord(
                status=status, cases_ok=done, cases_failed=0, repetitions=done, elapsed_ns=round(taken * SECOND_NS)
            )
        )
        self._clock_s += taken + LAUNCH_S
        return records, done

    def _run(self, ranks: int) -> RunRecord:
        run = make_run(ranks, oversubscribed=self.oversubscribed)
        started = (STARTED + timedelta(seconds=self._clock_s)).strftime("%Y-%m-%dT%H:%M:%SZ")
        pinning = run.pinning.model_copy(update={"cores_available": 2 if self.oversubscribed else ranks})
        return run.model_copy(
            update={
                "suite": "b_eff_io",
                "started": started,
                "origin_ns": round(self._clock_s * SECOND_NS),
                "pinning": pinning,
                "mpi_io": "romio",
            }
        )

    def _repetition(self, case: Case, places: Sequence[At]) -> tuple[list[AnyRecord], float, int | None]:
        """Records, seconds, and the pattern that hung."""
        skip = case.workload.parameters.get("skip", [])
        places = [at for at in places if str(at.pattern.number) not in (skip if isinstance(skip, list) else [])]
        phases: list[AnyRecord] = []
        taken = 0.0
        for at in places:
            if self.hangs(at):
                text = f"rank {at.ranks - 1} on n1 made no progress for 30 s in {at.pattern.phase}: execute"
                hang = EventRecord(
                    severity="error", code="timeout", text=text, case=case.id, rank=at.ranks - 1, node="n1"
                )
                ended = self._case_record(case, taken + 30, status="timeout")
                return [hang, ended], taken + 30, at.pattern.number
            is_bad = self.fails(at)
            phase, seconds = self._phase(case, at, places, is_bad=is_bad)
            phases.append(phase)
            taken += seconds
            if is_bad:
                return [*phases, self._case_record(case, taken, status="failed")], taken, None
        return [*phases, self._case_record(case, taken)], taken, None

    def _case_record(self, case: Case, seconds: float, **fields: object) -> AnyRecord:
        return make_case(
            case.id,
            target=case.target,
            backend="mpiio",
            workload="b-eff-io",
            workload_parameters=case.workload.parameters,
            elapsed_ns=round(seconds * SECOND_NS),
            **fields,
        )

    def _phase(self, case: Case, at: At, places: Sequence[At], *, is_bad: bool) -> tuple[PhaseRecord, float]:
        pattern, lmax = at.pattern, self.options.lmax or 2 * MIB
        chunk, call = pattern.chunk(lmax) or 4096, pattern.call(lmax) or 4096
        scheduled = pattern.units * self.options.partition_s / all_units(rewrite=self.options.rewrite)
        wanted_bytes = self.bandwidth(at) * max(scheduled, 1.0)
        repetitions = max(1, round(wanted_bytes / (call * at.ranks))) if pattern.units else 1
        moved = repetitions * call * at.ranks
        pattern_s = moved / self.bandwidth(at)
        is_read = at.access == "read"
        sync_s = 0.0 if is_read else min(SYNC_S, pattern_s / 2)
        first, last = at is places[0], at is places[-1]
        seconds = {
            "pattern_s": pattern_s,
            "calls_s": 0.75 * (pattern_s - sync_s),
            "barrier_s": 0.125 * (pattern_s - sync_s),
            "agree_s": 0.125 * (pattern_s - sync_s),
            "sync_s": sync_s,
            "open_s": OPEN_S if first else 0.0,
            "view_s": VIEW_S,
            "close_s": CLOSE_S if last else 0.0,
            "last_call_s": pattern_s / repetitions,
            "last_barrier_s": 1e-5,
            "payload_s": PAYLOAD_S,
        }
        elapsed = pattern_s + PAYLOAD_S + VIEW_S + (OPEN_S if first else 0.0) + (CLOSE_S if last else 0.0)
        is_timed = at.access == "write" and pattern.type in ("scatter", "shared", "separated") and pattern.units > 0
        facts: dict[str, object] = {
            "pattern": pattern.number,
            "type": pattern.type,
            "access": at.access,
            "size": pattern.size,
            "chunk_bytes": chunk,
            "call_bytes": call,
            "units": pattern.units,
            "position": pattern.position,
            "scheduled_s": scheduled,
            "repetitions": repetitions,
            "wanted": None if is_timed else repetitions,
            "end": "once" if pattern.units == 0 else "scheduled" if is_timed else "count",
            "displacement_bytes": 0,
            "shared_pointer": pattern.type == "shared" and self.options.shared_pointer,
            "verify": self.options.verify,
            **self.facts(at),
        }
        failed: dict[str, object] = {"status": "failed", "bad_blocks": 3} if is_bad else {}
        fields: dict[str, object] = {
            "access": "read" if is_read else "write",
            "gauges": {name: {"sum": s * at.ranks, "least": s, "most": s} for name, s in seconds.items()},
            "facts": facts,
            "syncs": 0 if is_read else at.ranks,
            "moved": Moved(requested_bytes=moved, process_bytes=moved, device_bytes=moved),
            **failed,
            **self.change(at),
        }
        phase = make_phase(
            case.id, phase=pattern.phase, elapsed_ns=round(elapsed * SECOND_NS), bytes_=moved, ranks=at.ranks, **fields
        )
        return phase, elapsed


def usual_options(**more: object) -> BEffIoOptions:
    """Valid: half an hour for each of two partitions, 4 processes of 2 GiB at most."""
    quiet: dict[str, object] = {
        "ranks": 4,
        "partitions": [2, 4],
        "time_s": 2 * VALID_S,
        "rewrite": True,
        "lmax": 16 * MIB,
        "memory": 2048 * MIB,
        "memory_total": 4 * 2048 * MIB,
    }
    return BEffIoOptions.model_validate({**quiet, **more})


def usual_context(**facts: object) -> RowContext:
    """Return the ceilings of a target on a drive that writes 1 GB/s and reads 2 GB/s."""
    ceilings = {
        "write": Ceiling(value=1e9, kind="declared", source="test"),
        "read": Ceiling(value=2e9, kind="declared", source="test"),
    }
    target = TargetFacts(ceilings=ceilings, **facts)  # type: ignore[arg-type]
    return RowContext(targets={"disk": target})
