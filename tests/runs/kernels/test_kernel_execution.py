# SPDX-License-Identifier: Apache-2.0
"""The course of a run on cores and memory: time, tries, notes, ends."""

from dataclasses import replace
from pathlib import Path

import pytest

from support.cpu_world import CpuEngine, describe_cpu
from support.simulated_engine import Clock, SilentProgress
from ullage.launch.mpich import Mpich
from ullage.model.request import Request
from ullage.results.folder import ResultFolder
from ullage.runs.case_progress import RunProgress
from ullage.runs.inputs import EngineContext
from ullage.runs.kernels.options import CPU, KernelOptions
from ullage.runs.kernels.prepared import KernelCase, PreparedKernels, kernel_case
from ullage.runs.peer_runs import KernelPeers, PeerJob, PeerNumbers
from ullage.runs.session import Note, Session

REQUEST = Request(run_id="r1", suite="cpu", created="now", targets=[CPU])


def case(n: int, launch: str = "", *, optional: bool = False) -> KernelCase:
    made = kernel_case("gemm", {"n": n}, CPU, (str(n),), describe_cpu(), seconds=0.25, launch=launch)
    return KernelCase(made.case, made.target, made.words, made.seconds, made.launch, optional)


class Room:
    """A result and a simulated engine."""

    def __init__(self, path: Path) -> None:
        self.engine = CpuEngine(Clock())
        self.result = ResultFolder.create(path / "result", REQUEST)

    def run(self, prepared: PreparedKernels, seconds: float | None = None) -> tuple[int, Session]:
        engine_context = EngineContext(Path("/engine"), describe_cpu())
        launcher = Mpich(Path("/mpiexec"))
        session = Session(self.result, engine_context, launcher, SilentProgress(), seconds, self.engine.start)
        return prepared.run(session, now=self.engine.clock.now), session

    def counts(self, *cases: KernelCase) -> list[int]:
        progress = RunProgress(file.records for file in self.result.read_records())
        return [len(progress.of(one.case.id).counted) for one in cases]

    def events(self) -> list[str]:
        return [event.code for file in self.result.read_records() for event in file.events]


@pytest.fixture
def room(tmp_path: Path) -> Room:
    return Room(tmp_path)


def prepared(*cases: KernelCase, options: KernelOptions | None = None, **more: object) -> PreparedKernels:
    return PreparedKernels(REQUEST, options or KernelOptions(threads=[1], peer=True), ("n",), cases, **more)  # type: ignore[arg-type]


def test_every_case_gets_its_repetitions_in_one_launch(room: Room) -> None:
    first, second = case(8), case(16)
    code, session = room.run(prepared(first, second))
    assert (code, session.messages) == (0, [])
    assert room.counts(first, second) == [6, 6]
    assert len(room.engine.plans) == 1
    assert room.engine.plans[0].time_budget_s is None


def test_cases_take_turns_by_several_launches_where_starts_are_a_small_part(room: Room) -> None:
    long = [replace(case(size, launch), seconds=30.0) for size, launch in ((8, "a"), (16, "b"))]
    room.run(prepared(*long))
    assert room.counts(*long) == [6, 6]
    assert [plan.cases[0].id for plan in room.engine.plans] == [long[0].case.id, long[1].case.id] * 3
    assert [plan.stop_rule.parameters["count"] for plan in room.engine.plans] == [2, 2, 4, 4, 6, 6]


def test_a_try_is_made_by_one_launch(room: Room) -> None:
    room.engine.fails = lambda one: one.id == case(16, "b").case.id
    long = [replace(case(8, "a"), seconds=30.0), replace(case(16, "b"), seconds=30.0, optional=True)]
    assert room.run(prepared(*long))[0] == 0
    assert sum(plan.cases[0].id == long[1].case.id for plan in room.engine.plans) == 1


def test_launches_share_the_time(room: Room) -> None:
    options = KernelOptions(threads=[1], time_s=6.0)
    cases = [case(8, "a"), case(16, "b")]
    room.run(prepared(*cases, options=options))
    budgets = [plan.time_budget_s or 0 for plan in room.engine.plans]
    assert budgets[0] == pytest.approx(2.0, abs=0.2)
    assert sum(budgets) <= 6.0


@pytest.mark.parametrize("seconds", [0.1, 1.2])
def test_the_first_launch_has_time_to_begin_however_short_all_of_it_is(room: Room, seconds: float) -> None:
    room.run(prepared(case(8, "a"), options=KernelOptions(threads=[1], time_s=seconds)))
    assert room.engine.plans[0].time_budget_s == pytest.approx(2.0)


def test_what_the_first_results_ask_for_is_measured_until_nothing_new_comes(room: Room) -> None:
    first, second, third = case(8), case(16, "b"), case(32, "c")

    def more(session: Session) -> list[KernelCase]:
        seen = sum(len(file.cases) > 0 for file in session.result.read_records())
        return [[second], [second, third], [second, third]][seen - 1]

    room.run(prepared(first, more=more))
    assert room.counts(first, second, third) == [6, 6, 6]


def test_a_try_that_fails_is_a_note_and_no_failure(room: Room) -> None:
    first, tried = case(8), case(16, "a try", optional=True)
    room.engine.fails = lambda one: one.id == tried.case.id
    code, session = room.run(prepared(first, more=lambda _session: [tried]))
    assert (code, session.messages) == (0, [])
    assert room.events() == ["try-failed"]


def test_a_case_that_fails_is_a_failure_and_the_rest_goes_on(room: Room) -> None:
    first, second = case(8, "a"), case(16, "b")
    room.engine.fails = lambda one: one.id == first.case.id
    code, _ = room.run(prepared(first, second))
    assert code == 4
    assert room.counts(second) == [6]


def test_peers_come_after_all_of_our_own_and_not_when_interrupted(room: Room) -> None:
    seen: list[int] = []

    def jobs(session: Session) -> list[PeerJob]:
        seen.append(len(session.result.read_records()))
        return []

    ready = prepared(case(8, "a"), case(16, "b"), peers=KernelPeers(jobs))
    room.engine.ends = {1: "interrupted"}
    assert room.run(ready)[0] == 5
    assert seen == []
    assert room.run(ready)[0] == 0
    assert seen == [3]


def test_peers_that_do_not_fit_into_the_time_are_left_out_with_a_line(room: Room) -> None:
    def run(limit_s: float | None) -> list[PeerNumbers]:
        assert limit_s is not None
        return [PeerNumbers(one.case.id, "gemm", {"compute_rate": 1.0}, "1", ["tool"])]

    one, options = case(8), KernelOptions(threads=[1], peer=True, time_s=60.0)
    jobs = [PeerJob("short", (one.case.id,), run, 1.0), PeerJob("long", (one.case.id,), run, 600.0)]
    room.run(prepared(one, options=options, peers=KernelPeers(lambda _session: jobs)))
    assert {record.tool for record in room.result.read_peers()} == {"short"}
    (left,) = [event for file in room.result.read_records() for event in file.events if event.code == "peer-left-out"]
    assert left.text == "long was left out: it takes about 10m00s, more than was left of the time"


def test_a_headline_has_samples_enough_before_other_cases_have_any(room: Room) -> None:
    first, second = case(8), case(16)
    ready = prepared(first, second, options=KernelOptions(threads=[1], repetitions=3))
    _, session = room.run(ready)
    room.result = ResultFolder.create(session.result.path.parent / "again", REQUEST)
    session.result, session.needed = room.result, lambda one, _layout: one.id == second.case.id
    assert ready.run(session, room.engine.clock.now) == 0
    assert room.counts(first, second) == [0, 6]
    session.needed = None
    assert ready.run(session, room.engine.clock.now) == 0
    assert room.counts(first, second) == [3, 6]


def test_notes_become_events_once(room: Room) -> None:
    ready = prepared(case(8), notes=(Note("cpu-quota", "half a core", "use more"),))
    room.run(ready)
    room.run(ready)
    assert room.events() == ["cpu-quota"]


def test_a_run_gone_on_with_has_time_for_what_it_lacks(room: Room) -> None:
    options = KernelOptions(threads=[1], time_s=2.0)
    first, second = case(8), case(16)
    ready = prepared(first, second, options=options)
    room.run(ready)
    assert sum(room.counts(first, second)) < 12
    assert "time-too-short" in room.events()
    room.run(ready, seconds=60)
    assert room.counts(first, second) == [6, 6]
