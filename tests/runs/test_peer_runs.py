# SPDX-License-Identifier: Apache-2.0
"""Peers in turn with ours: who is due, who is given up, what is counted on after a break, and what is said."""

from collections.abc import Iterable
from pathlib import Path

import pytest

from support.simulated_engine import DESCRIBE, Clock, SilentProgress, SimulatedEngine
from ullage.launch.mpich import Mpich
from ullage.model.request import Request
from ullage.peers import PeerError
from ullage.results.folder import ResultFolder, write_atomically
from ullage.runs.execution import Deadline
from ullage.runs.inputs import EngineContext
from ullage.runs.peer_runs import PeerJob, PeerNumbers, PeerRuns
from ullage.runs.session import Note, Session


class Room:
    """A result, a clock, and a tool that takes a second for each job and fails where it is told to."""

    def __init__(self, path: Path) -> None:
        self.clock = Clock()
        self.result = ResultFolder.create(path / "result", Request(run_id="r1", suite="disk", created="now"))
        write_atomically(self.result.plan_path(1), b"{}")
        self.ran: list[str] = []
        self.fails: set[str] = set()
        self.limits: list[float | None] = []

    def runs(self) -> PeerRuns:
        start = SimulatedEngine(self.clock, cost=lambda *_: 0.1).start
        engine_context = EngineContext(Path("/engine"), DESCRIBE)
        session = Session(self.result, engine_context, Mpich(Path("/mpiexec")), SilentProgress(), None, start)
        return PeerRuns(session, self.clock.now)

    def job(self, *cases: str, tool: str = "tool", **more: object) -> PeerJob:
        def run(limit_s: float | None) -> Iterable[PeerNumbers]:
            self.ran.append(cases[0])
            self.limits.append(limit_s)
            self.clock.at += 1.0
            for case in cases:
                if case in self.fails:
                    raise PeerError("it is broken")
                yield PeerNumbers(case, "phase", {"bandwidth": 1.0}, "7", [tool])

        return PeerJob(tool, cases, run, **more)  # type: ignore[arg-type]

    def events(self) -> list[tuple[str, str]]:
        return [(event.code, event.text) for file in self.result.read_records() for event in file.events]

    def numbers(self) -> list[tuple[str, int]]:
        return [(record.case, record.repetition) for record in self.result.read_peers()]


@pytest.fixture
def room(tmp_path: Path) -> Room:
    return Room(tmp_path)


def test_each_job_has_as_many_numbers_as_rounds_also_after_a_break(room: Room) -> None:
    jobs = [room.job("a"), room.job("b", "c")]
    room.runs().measure(jobs, rounds=1)
    room.runs().measure(jobs, rounds=2)
    room.runs().measure(jobs, rounds=2)
    assert room.ran == ["a", "b"] * 2
    assert room.numbers() == [("a", 0), ("b", 0), ("c", 0), ("a", 1), ("b", 1), ("c", 1)]
    assert room.events() == []


def test_cases_that_have_their_number_get_no_other_by_a_job_that_others_lack(room: Room) -> None:
    room.runs().measure([room.job("a")], rounds=1)
    room.runs().measure([room.job("a", "b")], rounds=1)
    assert room.numbers() == [("a", 0), ("b", 0)]


def test_those_with_the_fewest_numbers_come_first_and_without_rounds_all_again(room: Room) -> None:
    runs = room.runs()
    runs.measure([room.job("a")])
    runs.measure([room.job("a"), room.job("b")])
    assert room.ran == ["a", "b", "a"]


def test_what_failed_is_noted_once_and_not_tried_again(room: Room) -> None:
    runs, jobs = room.runs(), [room.job("good"), room.job("bad", what=" for it")]
    room.fails = {"bad"}
    for count in (1, 2):
        runs.measure(jobs, rounds=count)
    assert room.ran == ["good", "bad", "good"]
    assert room.events() == [("peer-failed", "tool gave no number for it: it is broken")]


def test_a_job_may_have_several_tries_in_a_row(room: Room) -> None:
    runs, job = room.runs(), room.job("a", tries=2)
    room.fails = {"a"}
    runs.measure([job])
    room.fails = set()
    runs.measure([job])
    room.fails = {"a"}
    for _ in range(3):
        runs.measure([job])
    assert len(room.ran) == 4


def test_a_tool_that_never_works_is_given_up_and_no_other(room: Room) -> None:
    room.fails = {"a", "b", "c"}
    others = [room.job("d", tool="other")]
    room.runs().measure(
        [room.job("a", max_failures=2), room.job("b", max_failures=2), room.job("c", max_failures=2), *others]
    )
    assert room.ran == ["a", "b", "d"]


def test_nothing_begins_that_would_not_end_in_time(room: Room) -> None:
    runs, jobs = room.runs(), [room.job("a", start_s=2.0), room.job("b", start_s=2.0), room.job("c", start_s=2.0)]
    runs.measure(jobs, deadline=Deadline(room.clock.at + 2.5, room.clock.now))
    # It took half of what was expected, so the next one fits too.
    assert room.ran == ["a", "b"]
    assert runs.seconds(jobs[2]) == 1.0
    assert room.limits == [2.5, 2.0]
    runs.measure(jobs, deadline=Deadline(room.clock.at - 0.1, room.clock.now))
    assert room.ran == ["a", "b"]


def test_what_a_reader_of_its_numbers_must_know_is_said_once_it_has_some(room: Room) -> None:
    job = room.job("a", note=Note("peer-other-mpi", "another MPI"))
    room.fails = {"a"}
    room.runs().measure([job])
    assert [code for code, _ in room.events()] == ["peer-failed"]
    room.fails = set()
    for count in (1, 2):
        room.runs().measure([job], rounds=count)
    assert [code for code, _ in room.events()] == ["peer-failed", "peer-other-mpi"]
